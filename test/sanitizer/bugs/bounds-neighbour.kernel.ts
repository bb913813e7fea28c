import { array, blockProgram, dim, f32, grid, kernel, minimum, squeezed } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The right neighbour of the last element lies outside. */
export const bug = kernel('bounds_neighbour', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: n });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]).block([squeezed], [g.i]) } },
    ({ x, y }) => {
      const right = g.i.add(1);
      y.store(x.at(wrong ? right : minimum(right, n.sub(1))).load()); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [5]) };
