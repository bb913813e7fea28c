import {
  all,
  array,
  type BF16,
  bf16,
  blockProgram,
  cdiv,
  type DType,
  dim,
  dot,
  ds,
  dtypes,
  type F16,
  type F32,
  f16,
  f32,
  full,
  grid,
  type Index,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  perTarget,
  type Ref,
  type Scalar,
  scalar,
  select,
  sequence,
  squeezed,
  type Tile,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** What goes from one block of keys to the next: running maximum, sum and result of each query. */
interface Carried {
  readonly m: Tile<F32, 1>;
  readonly l: Tile<F32, 1>;
  readonly acc: Tile<F32, 2>;
}

type Float = F16 | BF16 | F32;
interface Handles {
  readonly q: Ref<Float, 2>;
  readonly k: Ref<Float, 2>;
  readonly v: Ref<Float, 2>;
  readonly scale: Scalar<F32>;
}

/** Blocks that fit the registers of a GPU; smaller ones for f32, which few have matrix instructions for. */
const gpuBlocks = ({ dtype }: { dtype: DType }) => (dtype === f32 ? { bq: 32, bk: 16 } : { bq: 64, bk: 32 });

/**
 * o[b, hq, s, d] = softmax(scale · q kᵀ) v and lse[b, hq, s], the natural log of each row's sum of exponentials; once
 * causal (key j is visible to query i where j <= i) and once over all keys. Heads are grouped: hq / hkv query heads share
 * one head of k and v. `bd` is at least d.
 *
 * One pass over the keys (Dao et al., FlashAttention). Of a causal row of blocks, those that every query sees are not
 * masked, those that none sees are not loaded.
 */
export const flashAttentionFwd = kernel(
  'flash_attention_fwd',
  perTarget({ cuda: gpuBlocks, hip: gpuBlocks }, { dtype: dtypes(f16, bf16, f32), bq: 64, bk: 64, bd: 64 }),
  ({ dtype, bq, bk, bd }) => {
    const [b, hq, hkv, s, d] = [dim('b'), dim('hq'), dim('hkv'), dim('s'), dim('d', { max: bd })];
    const g = grid({ b, h: hq, i: cdiv(s, bq) });
    const shared = g.h.div(hq.div(hkv));
    const rows = array(dtype, [b, hq, s, d]).block([squeezed, squeezed, bq, bd], [g.b, g.h, g.i, 0]);
    const keys = array(dtype, [b, hkv, s, d]).block([squeezed, squeezed, s, bd], [g.b, shared, 0, 0]);
    const sums = array(f32, [b, hq, s]).block([squeezed, squeezed, bq], [g.b, g.h, g.i]);
    const inputs = { q: rows, k: keys, v: keys, scale: scalar(f32) };

    const attend = (refs: Handles, causal: boolean) => {
      const { q, k, v, scale } = refs;
      const queries = q.load();
      const first = g.i.mul(bq);
      const queryIndex = first.add(iota([bq])).expand(1);
      const log2Scale = scale.mul(Math.LOG2E);
      const step =
        (masked: boolean) =>
        (j: Index, { m, l, acc }: Carried) => {
          const part = ds(j.mul(bk), bk);
          let score = dot(queries, k.at(part, all).load().transpose()).mul(log2Scale);
          if (masked) score = select(queryIndex.ge(j.mul(bk).add(iota([bk]))), score, -Infinity);
          const mNext = maximum(m, score.max(1));
          const alpha = m.sub(mNext).exp2();
          const p = score.sub(mNext.expand(1)).exp2();
          return {
            m: mNext,
            l: l.mul(alpha).add(p.sum(1)),
            acc: acc.mul(alpha.expand(1)).add(dot(p.to(dtype), v.at(part, all).load())),
          };
        };
      const start = { m: full(f32, [bq], -Infinity), l: zeros(f32, [bq]), acc: zeros(f32, [bq, bd]) };
      if (!causal) return loop({ to: cdiv(s, bk), carry: start }, step(false));
      const seenByAll = first.add(1).div(bk);
      const carry = loop({ to: seenByAll, carry: start }, step(false));
      return loop({ from: seenByAll, to: cdiv(minimum(s, first.add(bq)), bk), carry }, step(true));
    };

    return sequence({ temps: {} }, [
      blockProgram({ grid: g, inputs, outputs: { o_causal: rows, lse_causal: sums } }, (refs) => {
        const { m, l, acc } = attend(refs as never, true);
        refs.o_causal.store(acc.div(l.expand(1)).to(dtype));
        refs.lse_causal.store(m.add(l.log2()).mul(Math.LN2));
      }),
      blockProgram({ grid: g, inputs, outputs: { o_full: rows, lse_full: sums } }, (refs) => {
        const { m, l, acc } = attend(refs as never, false);
        refs.o_full.store(acc.div(l.expand(1)).to(dtype));
        refs.lse_full.store(m.add(l.log2()).mul(Math.LN2));
      }),
    ]);
  },
);

export const cases: OracleCases = { id: 25, settings: ({ dtype }) => ({ params: { dtype } }) };
