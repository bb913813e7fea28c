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

/** f32 at full precision, which few GPUs have matrix instructions for. */
const isSlow = ({ dtype, precision }: { dtype: DType; precision: DotPrecision }): boolean =>
  dtype === f32 && precision === 'ieee';

/** Blocks whose sums fit the registers of a GPU. */
const gpuBlocks = (params: Parameters<typeof isSlow>[0]) =>
  isSlow(params) ? { bm: 64, bn: 64, bk: 32 } : { bm: 128, bn: 128, bk: 32 };
const hopperBlocks = (params: Parameters<typeof isSlow>[0]) => (isSlow(params) ? {} : { bk: 64 });

/**
 * c[m, n] = a[m, k] · b[k, n], products summed in f32.
 * Each program makes one bm × bn block of c from a row of blocks of a and a column of blocks of b.
 */
export const matmul = kernel(
  'matmul',
  perTarget(
    // TMA of sm_90 copies rows that begin at multiples of 16 bytes.
    { cuda: gpuBlocks, hip: gpuBlocks, sm_90: (params) => ({ ...hopperBlocks(params), rows: 8 }) },
    {
      dtype: dtypes(f32, f16, bf16),
      bm: choice([256, 128, 64]),
      bn: choice([256, 128, 64]),
      bk: choice([128, 64, 32]),
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
