import { array, blockProgram, dim, f32, gather, grid, i32, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The position of the maximum of lanes that the mask leaves unspecified. */
export const bug = kernel('padding_argmax', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(i32, [2]) } }, ({ x, y }) => {
    const at = iota([8]).add(g.i.mul(8));
    const mask = at.lt(n);
    const v = gather(x, at, wrong ? { mask } : { mask, other: -Infinity }); // TW5104
    y.at(g.i).store(v.argmax(0));
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
