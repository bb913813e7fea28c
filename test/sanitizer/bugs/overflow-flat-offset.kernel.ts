import { array, blockProgram, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A flat offset of a large matrix wraps around to the start. */
export const bug = kernel('overflow_flat_offset', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 3 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [3]) } }, ({ x, y }) => {
    const row = g.i.mul(wrong ? 2 ** 30 : 1);
    const offset = row.mul(4); // TW5106
    y.at(g.i).store(x.at(offset).load());
  });
});

export const inputs = { x: nd.arange(f32, [12]) };
