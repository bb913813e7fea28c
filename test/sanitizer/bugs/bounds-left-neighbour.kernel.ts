import { array, blockProgram, dim, f32, grid, kernel, maximum, squeezed } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The left neighbour of the first element lies outside. */
export const bug = kernel('bounds_left_neighbour', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: n });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]).block([squeezed], [g.i]) } },
    ({ x, y }) => {
      const left = g.i.sub(1);
      y.store(x.at(wrong ? left : maximum(left, 0)).load()); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [5]) };
