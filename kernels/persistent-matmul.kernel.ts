import {
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
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; small ones for f32 at full precision, which few have matrix instructions for. */
const gpuBlocks = ({ dtype, precision }: { dtype: DType; precision: DotPrecision }) =>
  dtype === f32 && precision === 'ieee' ? { bm: 64, bn: 64, bk: 16 } : { bm: 128, bn: 64, bk: 64 };

/**
 * c[m, n] = a[m, k] · b[k, n], summed in f32, by `workers` programs (as many as the device runs at a time), each of which
 * takes every `workers`-th tile of c. Tiles are numbered in groups of `group` rows, so that those of one time share
 * operands.
 */
export const persistentMatmul = kernel(
  'persistent_matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    {
      dtype: dtypes(f16, bf16, f32),
      workers: 132,
      bm: 128,
      bn: 128,
      bk: 64,
      group: choice([8, 4]),
      precision: choice<DotPrecision>(['ieee', 'tf32']),
    },
  ),
  ({ dtype, workers, bm, bn, bk, group, precision }) => {
    const [m, n, k] = [dim('m'), dim('n'), dim('k')];
    const [rows, columns] = [cdiv(m, bm), cdiv(n, bn)];
    const g = grid({ worker: workers });
    return blockProgram(
      {
        grid: g,
        inputs: { a: array(dtype, [m, k]), b: array(dtype, [k, n]) },
        outputs: { c: array(dtype, [m, n]) },
        costEstimate: { flops: m.mul(n).mul(k).mul(2) },
      },
      ({ a, b, c }) => {
        loop({ from: g.worker, to: rows.mul(columns), step: workers }, (tile) => {
          const first = tile.floorDiv(columns.mul(group)).mul(group);
          const height = minimum(rows.sub(first), group);
          const within = tile.mod(columns.mul(group));
          const down = ds(first.add(within.mod(height)).mul(bm), bm);
          const right = ds(within.floorDiv(height).mul(bn), bn);
          const product = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (t, sum) => {
            const depth = ds(t.mul(bk), bk);
            return sum.add(dot(a.at(down, depth).load(), b.at(depth, right).load(), { precision }));
          });
          c.at(down, right).store(product.to(dtype));
        });
      },
    );
  },
);

export const cases: OracleCases = {
  id: 22,
  settings: ({ dtype, scalars }) => ({
    params: {
      workers: String(scalars.num_workers),
      ...(dtype === 'tf32' ? { dtype: 'f32', precision: 'tf32' } : { dtype }),
    },
  }),
};
