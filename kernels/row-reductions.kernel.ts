import {
  array,
  atomic,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dtypes,
  f16,
  f32,
  grid,
  i32,
  iota,
  kernel,
  perTarget,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Fewer rows, so that they fit in registers. */
const gpuBlocks = { bm: 16 };

/**
 * Of x[m, n]: row_sum[m], row_mean[m, 1], row_max[m], row_argmax[m] (lowest index among equals) and col_sum[n]. Sums are
 * f32, of i32 they are i32 and there is no mean. One pass: a program holds `bm` whole rows (`block` is at least n) and
 * adds its part of col_sum atomically.
 */
export const rowReductions = kernel(
  'row_reductions',
  perTarget({ cuda: gpuBlocks, hip: gpuBlocks }, { dtype: dtypes(f32, f16, bf16, i32), bm: 64, block: 1024 }),
  ({ dtype, bm, block }) => {
    const [m, n] = [dim('m'), dim('n', { max: block })];
    const g = grid({ i: cdiv(m, bm) });
    const summed = dtype === i32 ? i32 : f32;
    const perRow = { i32: array(i32, [m]).block([bm], [g.i]), max: array(dtype, [m]).block([bm], [g.i]) };
    const outputs = {
      row_sum: array(summed, [m]).block([bm], [g.i]),
      row_max: perRow.max,
      row_argmax: perRow.i32,
      col_sum: array(summed, [n]),
    };
    const inputs = { x: array(dtype, [m, n]).block([bm, block], [g.i, 0]) };
    const zeroed = ['col_sum'] as const;
    if (dtype === i32)
      return blockProgram({ grid: g, inputs, outputs, zeroed }, ({ x, row_sum, row_max, row_argmax, col_sum }) => {
        const v = x.load();
        row_sum.store(v.sum(1) as never);
        row_max.store(v.max(1));
        row_argmax.store(v.argmax(1));
        atomic.add(col_sum.at(iota([block])), v.sum(0) as never);
      });
    const mean = array(dtype, [m, 1]).block([bm, 1], [g.i, 0]);
    return blockProgram(
      { grid: g, inputs, outputs: { ...outputs, row_mean: mean }, zeroed },
      ({ x, row_sum, row_mean, row_max, row_argmax, col_sum }) => {
        const v = x.load();
        const wide = v.to(f32);
        const sum = wide.sum(1);
        row_sum.store(sum as never);
        row_mean.store(sum.div(n.to(f32)).expand(1).to(dtype));
        row_max.store(v.max(1));
        row_argmax.store(v.argmax(1));
        atomic.add(col_sum.at(iota([block])), wide.sum(0) as never);
      },
    );
  },
);

export const cases: OracleCases = { id: 7, settings: ({ dtype }) => ({ params: { dtype } }) };
