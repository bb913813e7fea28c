import { all, array, blockProgram, cdiv, dim, dot, ds, f16, f32, grid, kernel, loop, zeros } from 'tilewright';
import { doubled, relu } from './lib/activation.js';

/** c = relu(2³ a · b): ops in the body, in a loop, in helpers, and in a helper of a loop of a helper. */
export const fused = kernel('fused', { bm: 64, bn: 64, bk: 32 }, ({ bm, bn, bk }) => {
  const [m, n, k] = [dim('m'), dim('n'), 512];
  const g = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
  const a = array(f16, [m, k]).block([bm, k], [g.i, 0]);
  const b = array(f16, [k, n]).block([k, bn], [0, g.j]);
  const c = array(f32, [m, n]).block([bm, bn], [g.i, g.j]);
  return blockProgram({ grid: g, inputs: { a, b }, outputs: { c } }, (refs) => {
    const sum = loop({ to: k / bk, carry: zeros(f32, [bm, bn]) }, (i, acc) => {
      const ks = ds(i.mul(bk), bk);
      return acc.add(dot(refs.a.at(all, ks).load(), refs.b.at(ks, all).load()));
    });
    refs.c.store([sum].map((x) => relu(doubled(x, 3)))[0]!);
  });
});
