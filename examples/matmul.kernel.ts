import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  choice,
  type DotPrecision,
  type DType,
  dim,
  dot,
  ds,
  dtypes,
  f16,
  f32,
  grid,
  kernel,
  loop,
  perTarget,
  zeros,
} from 'tilewright';

/**
 * Blocks whose sums fit the registers of a GPU: small ones for f32 at full precision, which few have matrix instructions for.
 * Rows that begin at multiples of 16 bytes are copied whole and ahead of their use.
 */
const gpuBlocks = ({ dtype, precision }: { dtype: DType; precision: DotPrecision }) => ({
  rows: 8,
  ...(dtype === f32 && precision === 'ieee' ? { bm: 64, bn: 64, bk: 16 } : { bm: 128, bn: 128, bk: 64 }),
});

/**
 * c[m, n] = a[m, k] · b[k, n], products summed in f32.
 * Each program makes one bm × bn block of c from a row of blocks of a and a column of blocks of b.
 */
export const matmul = kernel(
  'matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks, gfx1100: { bk: 32 }, gfx1201: { bk: 32 } },
    {
      dtype: dtypes(f32, f16, bf16),
      bm: choice([256, 128, 64]),
      bn: choice([256, 128, 64]),
      bk: choice([128, 64, 32, 16]),
      precision: choice<DotPrecision>(['ieee', 'tf32']),
      /** What the caller promises that n and k are multiples of. */
      rows: 1,
    },
  ),
  ({ dtype, bm, bn, bk, precision, rows }) => {
    const [m, n, k] = [dim('m'), dim('n', { multipleOf: rows }), dim('k', { multipleOf: rows })];
    const g = grid({ m: cdiv(m, bm), n: cdiv(n, bn) });
    return blockProgram(
      {
        grid: g,
        inputs: {
          a: array(dtype, [m, k]).block([bm, k], [g.m, 0]),
          b: array(dtype, [k, n]).block([k, bn], [0, g.n]),
        },
        outputs: { c: array(dtype, [m, n]).block([bm, bn], [g.m, g.n]) },
        costEstimate: { flops: m.mul(n).mul(k).mul(2) },
      },
      ({ a, b, c }) => {
        const acc = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (i, acc) => {
          const depth = ds(i.mul(bk), bk);
          return acc.add(dot(a.at(all, depth).load(), b.at(depth, all).load(), { precision }));
        });
        c.store(acc.to(dtype));
      },
    );
  },
);
