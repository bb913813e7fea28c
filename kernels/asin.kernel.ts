import { array, blockProgram, cdiv, choice, dim, dtypes, f32, f64, grid, kernel } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** y[n] = arcsine of x[n]; NaN outside of [-1, 1]. */
export const asin = kernel('asin', { dtype: dtypes(f32, f64), block: choice([1024, 256]) }, ({ dtype, block }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, block) });
  const vector = array(dtype, [n]).block([block], [g.i]);
  return blockProgram({ grid: g, inputs: { x: vector }, outputs: { y: vector } }, ({ x, y }) => {
    y.store(x.load().asin());
  });
});

export const cases: OracleCases = { id: 5, settings: ({ dtype }) => ({ params: { dtype } }) };
