import { array, bf16, blockProgram, cdiv, choice, dim, dtypes, f16, f32, grid, kernel } from 'tilewright';

/** z[n] = x[n] + y[n]. The last block may reach past n: it loads and stores what is there, no mask needed. */
export const vectorAdd = kernel(
  'vector_add',
  { dtype: dtypes(f32, f16, bf16), block: choice([1024, 256, 512]) },
  ({ dtype, block }) => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    const vector = array(dtype, [n]).block([block], [g.i]);
    return blockProgram({ grid: g, inputs: { x: vector, y: vector }, outputs: { z: vector } }, ({ x, y, z }) => {
      z.store(x.load().add(y.load()));
    });
  },
);
