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
  f16,
  f32,
  grid,
  join,
  kernel,
  loop,
  perTarget,
  u8,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Blocks that fit the registers of a GPU. */
const gpuBlocks = { bm: 64, bn: 64 };

/**
 * c[m, n] = a[m, k] · w[k, n] for weights of four bits: bq[k / 2, n] holds rows 2i in its low and 2i + 1 in its high
 * half, w = (q - 8) · scale, one row of scale[⌈k / group⌉, n] for each `group` rows of w. k is even, `group` a power of
 * two. The weights are rounded to a's dtype before they are multiplied, products are summed in f32.
 *
 * A step of the loop takes one group, so its scales are one row. Weights are unpacked in registers and never stored; those
 * beyond k meet what is no element of a, and take no part.
 */
export const int4Matmul = kernel(
  'int4_matmul',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    { dtype: dtypes(f16, bf16), group: choice([64, 32, 128]), bm: 64, bn: 128 },
  ),
  ({ dtype, group, bm, bn }) => {
    const [m, n, k] = [dim('m'), dim('n'), dim('k')];
    const g = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
    return blockProgram(
      {
        grid: g,
        inputs: {
          a: array(dtype, [m, k]).block([bm, k], [g.i, 0]),
          bq: array(u8, [k.div(2), n]).block([k.div(2), bn], [0, g.j]),
          scale: array(dtype, [cdiv(k, group), n]).block([cdiv(k, group), bn], [0, g.j]),
        },
        outputs: { c: array(dtype, [m, n]).block([bm, bn], [g.i, g.j]) },
      },
      ({ a, bq, scale, c }) => {
        const product = loop({ to: cdiv(k, group), carry: zeros(f32, [bm, bn]) }, (t, sum) => {
          const packed = bq
            .at(ds(t.mul(group / 2), group / 2), all)
            .load()
            .pad(0);
          const [low, high] = [packed.and(15), packed.shr(4)];
          const weights = join(low, high).transpose([0, 2, 1]).reshape([group, bn]);
          const scales = scale.at(t, all).load().pad(0).to(f32);
          const w = weights.to(f32).sub(8).mul(scales.expand(0)).to(dtype);
          return sum.add(dot(a.at(all, ds(t.mul(group), group)).load(), w));
        });
        c.store(product.to(dtype));
      },
    );
  },
);

export const cases: OracleCases = {
  id: 19,
  settings: ({ dtype, scalars }) => ({ params: { dtype, group: String(scalars.group) } }),
};
