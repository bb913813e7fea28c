import { array, blockProgram, dim, ds, f32, gather, grid, iota, kernel, sort } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Lanes that the mask leaves unspecified are sorted in. */
export const bug = kernel('padding_sort', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [16]) } }, ({ x, y }) => {
    const at = iota([8]).add(g.i.mul(8));
    const mask = at.lt(n);
    const v = gather(x, at, wrong ? { mask } : { mask, other: Infinity }); // TW5104
    y.at(ds(g.i.mul(8), 8)).store(sort(v, 0).values);
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
