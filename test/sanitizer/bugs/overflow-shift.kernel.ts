import { array, blockProgram, dim, f32, grid, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A shift pushes the upper bits of an offset out. */
export const bug = kernel('overflow_shift', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [2]) } }, ({ x, y }) => {
    const offset = g.i.add(2).shl(wrong ? 31 : 1); // TW5106
    y.at(g.i).store(x.at(maximum(offset, 0)).load());
  });
});

export const inputs = { x: nd.arange(f32, [8]) };
