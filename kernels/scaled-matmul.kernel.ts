import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  choice,
  dim,
  dot,
  ds,
  dtypes,
  f8e4m3fn,
  f8e5m2,
  f32,
  grid,
  i8,
  i32,
  kernel,
  loop,
  perTarget,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU. */
const gpuBlocks = { bm: 64, bn: 32, bk: 64 };

/**
 * Products of 8-bit numbers with scales, given as f32 and as bf16.
 *
 * i8: acc[m, n] = a[m, k] · b[k, n] in i32, c = acc sa[m] sb[n]. fp8: a scale for each row of a and `scaleBlock` of k, and
 * for each square of b: c = Σ over blocks of k of sa[m, k'] sb[k', n'] (a · b over that block), summed in f32. `scaleBlock` is
 * a multiple of bk and of bn.
 */
export const scaledMatmul = kernel(
  'scaled_matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    {
      dtype: dtypes(i8, f8e4m3fn, f8e5m2),
      bm: choice([64, 128, 32]),
      bn: choice([64, 128, 32]),
      bk: choice([64, 128, 32]),
      scaleBlock: 128,
    },
  ),
  ({ dtype, bm, bn, bk, scaleBlock }) => {
    const [m, n, k] = [dim('m'), dim('n'), dim('k')];
    const g = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
    const operands = {
      a: array(dtype, [m, k]).block([bm, k], [g.i, 0]),
      b: array(dtype, [k, n]).block([k, bn], [0, g.j]),
    };
    const results = {
      c: array(f32, [m, n]).block([bm, bn], [g.i, g.j]),
      c_bf16: array(bf16, [m, n]).block([bm, bn], [g.i, g.j]),
    };
    if (dtype === i8)
      return blockProgram(
        {
          grid: g,
          inputs: {
            ...operands,
            sa: array(f32, [m]).block([bm], [g.i]),
            sb: array(f32, [n]).block([bn], [g.j]),
          },
          outputs: { ...results, acc: array(i32, [m, n]).block([bm, bn], [g.i, g.j]) },
        },
        ({ a, b, sa, sb, acc, c, c_bf16 }) => {
          const product = loop({ to: cdiv(k, bk), carry: zeros(i32, [bm, bn]) }, (t, sum) => {
            const depth = ds(t.mul(bk), bk);
            return sum.add(dot(a.at(all, depth).load(), b.at(depth, all).load()) as never);
          });
          const scaled = product.to(f32).mul(sa.load().expand(1)).mul(sb.load());
          acc.store(product);
          c.store(scaled);
          c_bf16.store(scaled.to(bf16));
        },
      ) as never;
    const blocks = cdiv(k, scaleBlock);
    const square = g.j.mul(bn).div(scaleBlock);
    return blockProgram(
      {
        grid: g,
        inputs: {
          ...operands,
          sa: array(f32, [m, blocks]).block([bm, blocks], [g.i, 0]),
          sb: array(f32, [blocks, cdiv(n, scaleBlock)]).block([blocks, squeezed], [0, square]),
        },
        outputs: results,
      },
      ({ a, b, sa, sb, c, c_bf16 }) => {
        const product = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm, bn]) }, (t, sum) => {
          const depth = ds(t.mul(bk), bk);
          const block = t.mul(bk).div(scaleBlock);
          const scale = sa.at(all, block).load().mul(sb.at(block).load());
          const part = dot(a.at(all, depth).load(), b.at(depth, all).load());
          return sum.add((part as typeof sum).mul(scale.expand(1)));
        });
        c.store(product);
        c_bf16.store(product.to(bf16));
      },
    );
  },
);

export const cases: OracleCases = {
  id: 18,
  settings: ({ dtype }) => ({ params: { dtype: { e4m3: 'f8e4m3fn', e5m2: 'f8e5m2' }[dtype] ?? dtype } }),
};
