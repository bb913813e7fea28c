import { array, blockProgram, dim, ds, f32, gather, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A running sum from the end starts in lanes that the mask leaves unspecified. */
export const bug = kernel('padding_scan', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [16]) } }, ({ x, y }) => {
    const at = iota([8]).add(g.i.mul(8));
    const mask = at.lt(n);
    const v = gather(x, at, wrong ? { mask } : { mask, other: 0 }); // TW5104
    y.at(ds(g.i.mul(8), 8)).store(v.cumsum(0, { reverse: true }));
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
