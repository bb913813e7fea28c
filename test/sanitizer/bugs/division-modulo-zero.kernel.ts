import { array, blockProgram, dim, ds, grid, i32, iota, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A position modulo a size of zero. */
export const bug = kernel('division_modulo_zero', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { size: array(i32, [n]) }, outputs: { y: array(i32, [n]) } },
    ({ size, y }) => {
      const ring = size.at(ds(0, 4)).load();
      y.at(ds(0, 4)).store(iota([4]).mod(wrong ? ring : maximum(ring, 1))); // TW5105
    },
  );
});

export const inputs = { size: nd.from(i32, [4], [2, 3, 0, 1]) };
