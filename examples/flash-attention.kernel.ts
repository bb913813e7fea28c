import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  type DType,
  dim,
  dot,
  ds,
  dtypes,
  f16,
  f32,
  full,
  grid,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  perTarget,
  scalar,
  select,
  squeezed,
  zeros,
} from 'tilewright';

/** Blocks that fit the registers of a GPU; smaller ones for f32, which few have matrix instructions for. */
const gpuBlocks = ({ dtype }: { dtype: DType }) => (dtype === f32 ? { bq: 32, bk: 16 } : { bq: 64, bk: 32 });

/** TMA copies rows that begin at multiples of 16 bytes; wgmma takes blocks of 64 keys. */
const hopper = ({ dtype }: { dtype: DType }) => (dtype === f32 ? {} : { bk: 64, align: 8 });

/**
 * o[h, s, d] = softmax(scale · q kᵀ) v for each head h, in one pass over the keys (Dao et al., FlashAttention).
 * With `causal`, key j is visible to query i where j <= i. `bd` is at least d.
 *
 * A running maximum m and sum l of each row keep the softmax exact while blocks of keys stream by: what has been
 * summed so far is scaled by 2^(m_old - m_new) whenever the maximum grows.
 */
export const flashAttention = kernel(
  'flash_attention',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks, sm_90: hopper },
    {
      dtype: dtypes(f32, f16, bf16),
      bq: 64,
      bk: 64,
      bd: 64,
      causal: false,
      /** What the caller promises that d is a multiple of. */
      align: 1,
    },
  ),
  ({ dtype, bq, bk, bd, causal, align }) => {
    const [h, s, d] = [dim('h'), dim('s'), dim('d', { max: bd, multipleOf: align })];
    const g = grid({ h, i: cdiv(s, bq) });
    const rows = array(dtype, [h, s, d]).block([squeezed, bq, bd], [g.h, g.i, 0]);
    const head = array(dtype, [h, s, d]).block([squeezed, s, bd], [g.h, 0, 0]);
    return blockProgram(
      {
        grid: g,
        inputs: { q: rows, k: head, v: head, scale: scalar(f32) },
        outputs: { o: rows },
      },
      ({ q, k, v, scale, o }) => {
        const queries = q.load();
        const first = g.i.mul(bq);
        const queryIndex = first.add(iota([bq])).expand(1);
        const keysSeen = causal ? minimum(s, first.add(bq)) : s;
        const { l, acc } = loop(
          {
            to: cdiv(keysSeen, bk),
            carry: { m: full(f32, [bq], -Infinity), l: zeros(f32, [bq]), acc: zeros(f32, [bq, bd]) },
          },
          (j, { m, l, acc }) => {
            const keys = ds(j.mul(bk), bk);
            let score = dot(queries, k.at(keys, all).load().transpose()).mul(scale.mul(Math.LOG2E));
            if (causal) score = select(queryIndex.ge(j.mul(bk).add(iota([bk]))), score, -Infinity);
            const mNext = maximum(m, score.max(1));
            const alpha = m.sub(mNext).exp2();
            const p = score.sub(mNext.expand(1)).exp2();
            return {
              m: mNext,
              l: l.mul(alpha).add(p.sum(1)),
              acc: acc.mul(alpha.expand(1)).add(dot(p.to(dtype), v.at(keys, all).load())),
            };
          },
        );
        o.store(acc.div(l.expand(1)).to(dtype));
      },
    );
  },
);
