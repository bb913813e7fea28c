import { array, blockProgram, dim, ds, f32, gather, grid, iota, kernel, topK } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The largest of lanes that the mask leaves unspecified. */
export const bug = kernel('padding_top_k', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [4]) } }, ({ x, y }) => {
    const at = iota([8]).add(g.i.mul(8));
    const mask = at.lt(n);
    const v = gather(x, at, wrong ? { mask } : { mask, other: -Infinity }); // TW5104
    y.at(ds(g.i.mul(2), 2)).store(topK(v, 2, 0).values);
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
