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
  sequence,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU; small ones for f32 at full precision, which few have matrix instructions for. */
const gpuBlocks = ({ dtype, precision }: { dtype: DType; precision: DotPrecision }) =>
  dtype === f32 && precision === 'ieee' ? { bm: 64, bn: 64, bk: 16 } : { bm: 64, bn: 128, bk: 32 };

/**
 * Of each batch a[m, k] times b[k, n], and times the transpose of bt[n, k]: c_nn[m, n] and c_nt[m, n], summed in
 * f32. A transposed operand is loaded as it lies and turned where it is used; no copy of it is made.
 */
export const batchedMatmul = kernel(
  'batched_matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    {
      dtype: dtypes(f16, bf16, f32),
      bm: 128,
      bn: 128,
      bk: 64,
      precision: choice<DotPrecision>(['ieee', 'tf32']),
    },
  ),
  ({ dtype, bm, bn, bk, precision }) => {
    const [batch, m, n, k] = [dim('batch'), dim('m'), dim('n'), dim('k')];
    const g = grid({ b: batch, i: cdiv(m, bm), j: cdiv(n, bn) });
    const a = array(dtype, [batch, m, k]).block([squeezed, bm, k], [g.b, g.i, 0]);
    const b = array(dtype, [batch, k, n]).block([squeezed, k, bn], [g.b, 0, g.j]);
    const bt = array(dtype, [batch, n, k]).block([squeezed, bn, k], [g.b, g.j, 0]);
    const c = array(dtype, [batch, m, n]).block([squeezed, bm, bn], [g.b, g.i, g.j]);
    return sequence({ temps: {} }, [
      blockProgram({ grid: g, inputs: { a, b }, outputs: { c_nn: c } }, ({ a, b, c_nn }) => {
        const product = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (t, acc) => {
          const depth = ds(t.mul(bk), bk);
          return acc.add(dot(a.at(all, depth).load(), b.at(depth, all).load(), { precision }));
        });
        c_nn.store(product.to(dtype));
      }),
      blockProgram({ grid: g, inputs: { a, bt }, outputs: { c_nt: c } }, ({ a, bt, c_nt }) => {
        const product = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (t, acc) => {
          const depth = ds(t.mul(bk), bk);
          return acc.add(dot(a.at(all, depth).load(), bt.at(all, depth).load().transpose(), { precision }));
        });
        c_nt.store(product.to(dtype));
      }),
    ]);
  },
);

export const cases: OracleCases = {
  id: 17,
  settings: ({ dtype }) => ({ params: dtype === 'tf32' ? { dtype: 'f32', precision: 'tf32' } : { dtype } }),
};
