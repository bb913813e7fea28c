import {
  array,
  bf16,
  blockProgram,
  cdiv,
  dim,
  ds,
  dtypes,
  f16,
  f32,
  full,
  grid,
  i32,
  iota,
  kernel,
  loop,
  maximum,
  scalar,
  select,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Cross entropy of the rows of logits[t, v], for classes that no program holds at once: lse[t] = log Σ exp(logits),
 * loss[t] = lse - logits[target], and dlogits = softmax(logits) - onehot(target); loss and gradient are 0 where target is
 * `ignore_index`. Computed in f32.
 *
 * The maximum and the sum are found in one pass, block by block; what was summed so far is scaled down when the maximum
 * grows (Milakov and Gimelshein, Online normalizer calculation for softmax). A second pass writes the gradient.
 */
export const crossEntropyOnline = kernel(
  'cross_entropy_online',
  { dtype: dtypes(f32, bf16, f16), block: 2048 },
  ({ dtype, block }) => {
    const [t, v] = [dim('t'), dim('v')];
    const g = grid({ row: t });
    const row = array(dtype, [t, v]).block([squeezed, v], [g.row, 0]);
    const perRow = array(f32, [t]).block([1], [g.row]);
    return blockProgram(
      {
        grid: g,
        inputs: { logits: row, target: array(i32, [t]).block([squeezed], [g.row]), ignore_index: scalar(i32) },
        outputs: { loss: perRow, lse: perRow, dlogits: row },
      },
      ({ logits, target, ignore_index, loss, lse, dlogits }) => {
        const start = { top: full(f32, [], -Infinity), total: zeros(f32, []) };
        const { top, total } = loop({ to: cdiv(v, block), carry: start }, (i, { top, total }) => {
          const x = logits
            .at(ds(i.mul(block), block))
            .load()
            .to(f32);
          const next = maximum(top, x.max(0));
          return { top: next, total: total.mul(top.sub(next).exp()).add(x.sub(next).exp().sum(0)) };
        });
        const sum = top.add(total.log());
        const wanted = target.load();
        const counts = wanted.ne(ignore_index);
        const own = logits
          .at(select(counts, wanted, 0))
          .load()
          .to(f32);
        lse.store(sum.expand(0));
        loss.store(select(counts, sum.sub(own), 0).expand(0));
        loop({ to: cdiv(v, block) }, (i) => {
          const part = dlogits.at(ds(i.mul(block), block));
          const p = logits
            .at(ds(i.mul(block), block))
            .load()
            .to(f32)
            .sub(sum)
            .exp();
          const isTarget = i
            .mul(block)
            .add(iota([block]))
            .eq(wanted);
          part.store(select(counts, select(isTarget, p.sub(1), p), 0).to(dtype));
        });
      },
    );
  },
);

export const cases: OracleCases = { id: 15, settings: ({ dtype }) => ({ params: { dtype } }) };
