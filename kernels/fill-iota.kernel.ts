import { array, bf16, blockProgram, cdiv, dim, dtypes, f16, f32, grid, i32, iota, kernel, scalar } from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** fill[m, n] = value everywhere; iota[m, n] = i n + j, each element's place in row-major order. Stores only. */
export const fillIota = kernel(
  'fill_iota',
  { dtype: dtypes(f32, f16, bf16, i32), bm: 16, bn: 256 },
  ({ dtype, bm, bn }) => {
    const [m, n] = [dim('m'), dim('n')];
    const g = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
    return blockProgram(
      {
        grid: g,
        inputs: { value: scalar(dtype) },
        outputs: {
          fill: array(dtype, [m, n]).block([bm, bn], [g.i, g.j]),
          iota: array(i32, [m, n]).block([bm, bn], [g.i, g.j]),
        },
      },
      ({ value, fill, iota: places }) => {
        fill.store(value.broadcastTo([bm, bn]));
        const row = g.i.mul(bm).add(iota([bm]));
        const column = g.j.mul(bn).add(iota([bn]));
        places.store(row.mul(n).expand(1).add(column));
      },
    );
  },
);

export const cases: OracleCases = {
  id: 1,
  settings: ({ dtype, shapes: { fill } }) => ({ params: { dtype }, dims: { m: fill![0]!, n: fill![1]! } }),
};
