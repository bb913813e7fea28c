import {
  array,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dtypes,
  f16,
  f32,
  full,
  gather,
  grid,
  i32,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  scalar,
  select,
  sequence,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Attention of one new query per sequence over keys and values that lie in pages (Kwon et al., PagedAttention): o[b, hq, d] =
 * softmax(scale · q kᵀ) v over the first seq_lens[b] tokens, and lse[b, hq], the natural log of the sum of exponentials.
 * Token t of sequence b is row t mod page of k_pages[block_table[b, t / page], :, h]; slots that hold no page are never read.
 * Query heads are grouped: hq / hkv of them share one head of k and v. `bd` is at least d.
 *
 * Long sequences are cut into `splits` stretches, one program each; a second launch merges them by their lse (Dao et al.,
 * Flash-Decoding).
 */
export const pagedDecodeAttention = kernel(
  'paged_decode_attention',
  { dtype: dtypes(f16, bf16, f32), bk: 32, bd: 128, splits: 4 },
  ({ dtype, bk, bd, splits }) => {
    const [b, hq, hkv, d] = [dim('b'), dim('hq'), dim('hkv'), dim('d', { max: bd })];
    const [pages, page, slots] = [dim('pages'), dim('page'), dim('slots')];
    const g = grid({ b, h: hq, split: splits });
    const shared = g.h.div(hq.div(hkv));
    const paged = array(dtype, [pages, page, hkv, d]);
    const parts = array(f32, [b, hq, splits, d]);
    const sums = array(f32, [b, hq, splits]);
    const attend = blockProgram(
      {
        grid: g,
        inputs: {
          q: array(dtype, [b, hq, d]).block([squeezed, squeezed, bd], [g.b, g.h, 0]),
          k_pages: paged,
          v_pages: paged,
          block_table: array(i32, [b, slots]).block([squeezed, slots], [g.b, 0]),
          seq_lens: array(i32, [b]).block([squeezed], [g.b]),
          scale: scalar(f32),
        },
        outputs: {
          o_part: parts.block([squeezed, squeezed, squeezed, bd], [g.b, g.h, g.split, 0]),
          lse_part: sums.block([squeezed, squeezed, squeezed], [g.b, g.h, g.split]),
        },
      },
      ({ q, k_pages, v_pages, block_table, seq_lens, scale, o_part, lse_part }) => {
        const length = seq_lens.load();
        // Stretches of whole blocks; the last ones of a short sequence are empty.
        const each = cdiv(cdiv(length, bk), splits).mul(bk);
        const [from, end] = [g.split.mul(each), minimum(length, g.split.add(1).mul(each))];
        const query = q.load().to(f32).mul(scale).pad(0);
        const column = iota([bd]);
        const carry = { m: full(f32, [], -Infinity), l: zeros(f32, []), acc: zeros(f32, [bd]) };
        const { m, l, acc } = loop({ from, to: end, step: bk, carry }, (start, { m, l, acc }) => {
          const token = start.add(iota([bk]));
          const exists = token.lt(end);
          const slot = gather(block_table, token.div(page), { mask: exists, other: 0 });
          const mask = exists.expand(1).and(column.lt(d));
          const index = [slot.expand(1), token.rem(page).expand(1), shared.broadcastTo([1, 1]), column.expand(0)];
          const k = gather(k_pages, index, { mask, other: 0 }).to(f32);
          const v = gather(v_pages, index, { mask, other: 0 }).to(f32);
          const score = select(exists, k.mul(query).sum(1), -Infinity);
          const next = maximum(m, score.max(0));
          const alpha = m.sub(next).exp();
          const p = score.sub(next).exp();
          return {
            m: next,
            l: l.mul(alpha).add(p.sum(0)),
            acc: acc.mul(alpha).add(p.expand(1).mul(v).sum(0)),
          };
        });
        o_part.store(select(l.gt(0), acc.div(l), 0));
        lse_part.store(m.add(l.log()));
      },
    );
    const heads = grid({ b, h: hq });
    const merge = blockProgram(
      {
        grid: heads,
        inputs: {
          o_part: parts.block([squeezed, squeezed, splits, bd], [heads.b, heads.h, 0, 0]),
          lse_part: sums.block([squeezed, squeezed, splits], [heads.b, heads.h, 0]),
        },
        outputs: {
          o: array(dtype, [b, hq, d]).block([squeezed, squeezed, bd], [heads.b, heads.h, 0]),
          lse: array(f32, [b, hq]).block([squeezed, squeezed], [heads.b, heads.h]),
        },
      },
      ({ o_part, lse_part, o, lse }) => {
        const logs = lse_part.load();
        const top = logs.max(0);
        const weights = logs.sub(top).exp();
        const total = weights.sum(0);
        o.store(weights.expand(1).mul(o_part.load()).sum(0).div(total).to(dtype));
        lse.store(top.add(total.log()));
      },
    );
    return sequence({ temps: { o_part: parts, lse_part: sums } }, [attend, merge]);
  },
);

export const cases: OracleCases = { id: 27, settings: ({ dtype }) => ({ params: { dtype } }) };
