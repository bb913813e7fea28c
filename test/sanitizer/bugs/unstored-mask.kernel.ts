import { array, blockProgram, cdiv, dim, f32, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The mask of a store leaves out the last element. */
export const bug = kernel('unstored_mask', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 8) });
  const v = array(f32, [n]).block([8], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    const at = g.i.mul(8).add(iota([8]));
    y.store(x.load(), { mask: at.lt(wrong ? n.sub(1) : n) }); // TW5103
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
