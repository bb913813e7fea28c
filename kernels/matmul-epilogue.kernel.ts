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
  minimum,
  perTarget,
  scalar,
  select,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; small ones for f32 at full precision, which few have matrix instructions for. */
const gpuBlocks = ({ dtype, precision }: { dtype: DType; precision: DotPrecision }) =>
  dtype === f32 && precision === 'ieee' ? { bm: 64, bn: 64, bk: 16 } : { bm: 128, bn: 64, bk: 64 };

/**
 * c[m, n] = leaky(a[m, k] · b[k, n] + bias[n]), leaky(r) = r where r >= 0, else slope · r; products summed in f32.
 *
 * Programs are numbered so that those which run at about the same time share operands: `group` blocks of rows take every
 * block of columns before the next `group` begins, and what one program has fetched the next finds in the cache.
 */
export const matmulEpilogue = kernel(
  'matmul_epilogue',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    {
      dtype: dtypes(f16, bf16, f32),
      bm: choice([256, 128, 64]),
      bn: choice([256, 128, 64]),
      bk: choice([128, 64, 32, 16]),
      group: choice([8, 4]),
      precision: choice<DotPrecision>(['ieee', 'tf32']),
    },
  ),
  ({ dtype, bm, bn, bk, group, precision }) => {
    const [m, n, k] = [dim('m'), dim('n'), dim('k')];
    const [rows, columns] = [cdiv(m, bm), cdiv(n, bn)];
    const g = grid({ tile: rows.mul(columns) });
    // Place of this program's tile: the group it is in, and where in that group, whose last one may have fewer rows.
    const first = g.tile.floorDiv(columns.mul(group)).mul(group);
    const height = minimum(rows.sub(first), group);
    const within = g.tile.mod(columns.mul(group));
    const [i, j] = [first.add(within.mod(height)), within.floorDiv(height)];
    return blockProgram(
      {
        grid: g,
        inputs: {
          a: array(dtype, [m, k]).block([bm, k], [i, 0]),
          b: array(dtype, [k, n]).block([k, bn], [0, j]),
          bias: array(dtype, [n]).block([bn], [j]),
          slope: scalar(f32),
        },
        outputs: { c: array(dtype, [m, n]).block([bm, bn], [i, j]) },
        costEstimate: { flops: m.mul(n).mul(k).mul(2) },
      },
      ({ a, b, bias, slope, c }) => {
        const product = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (t, sum) => {
          const depth = ds(t.mul(bk), bk);
          return sum.add(dot(a.at(all, depth).load(), b.at(depth, all).load(), { precision }));
        });
        const r = product.add(bias.load().to(f32));
        c.store(select(r.ge(0), r, r.mul(slope)).to(dtype));
      },
    );
  },
);

export const cases: OracleCases = {
  id: 16,
  settings: ({ dtype }) => ({ params: dtype === 'tf32' ? { dtype: 'f32', precision: 'tf32' } : { dtype } }),
};
