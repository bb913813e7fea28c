import { array, bf16, blockProgram, cdiv, choice, dim, dtypes, f16, f32, grid, i8, kernel } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** y[n, m] = x[m, n] with its axes exchanged, a square block at a time. */
export const transpose = kernel(
  'transpose',
  { dtype: dtypes(f32, f16, bf16, i8), block: choice([64, 32, 128]) },
  ({ dtype, block }) => {
    const [m, n] = [dim('m'), dim('n')];
    const g = grid({ i: cdiv(m, block), j: cdiv(n, block) });
    return blockProgram(
      {
        grid: g,
        inputs: { x: array(dtype, [m, n]).block([block, block], [g.i, g.j]) },
        outputs: { y: array(dtype, [n, m]).block([block, block], [g.j, g.i]) },
      },
      ({ x, y }) => {
        y.store(x.load().transpose());
      },
    );
  },
);

export const cases: OracleCases = { id: 6, settings: ({ dtype }) => ({ params: { dtype } }) };
