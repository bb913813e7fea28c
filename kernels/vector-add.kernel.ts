import { array, bf16, blockProgram, cdiv, choice, dim, dtypes, f16, f32, grid, i32, kernel } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** z[n] = x[n] + y[n]; floats are rounded once, integers wrap. */
export const vectorAdd = kernel(
  'vector_add',
  { dtype: dtypes(f32, f16, bf16, i32), block: choice([1024, 512, 256, 8192]) },
  ({ dtype, block }) => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    const vector = array(dtype, [n]).block([block], [g.i]);
    return blockProgram({ grid: g, inputs: { x: vector, y: vector }, outputs: { z: vector } }, ({ x, y, z }) => {
      z.store(x.load().add(y.load()));
    });
  },
);

export const cases: OracleCases = { id: 2, settings: ({ dtype }) => ({ params: { dtype } }) };
