import { array, bf16, blockProgram, dim, dtypes, f16, f32, grid, kernel, squeezed } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * y[m, n] = softmax of each row of x[m, n], its maximum subtracted first.
 * One program holds one row: x is read once. `block` is at least n.
 */
export const softmax = kernel('softmax', { dtype: dtypes(f32, f16, bf16), block: 1024 }, ({ dtype, block }) => {
  const [m, n] = [dim('m'), dim('n', { max: block })];
  const g = grid({ row: m });
  const row = array(dtype, [m, n]).block([squeezed, block], [g.row, 0]);
  return blockProgram({ grid: g, inputs: { x: row }, outputs: { y: row } }, ({ x, y }) => {
    const v = x.load().to(f32);
    const e = v.sub(v.max(0)).exp();
    y.store(e.div(e.sum(0)).to(dtype));
  });
});

export const cases: OracleCases = { id: 8, settings: ({ dtype }) => ({ params: { dtype } }) };
