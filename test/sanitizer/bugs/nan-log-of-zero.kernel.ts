import { array, blockProgram, dim, ds, f32, grid, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The logarithm of a probability of zero. */
export const bug = kernel('nan_log_of_zero', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { p: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ p, y }) => {
      const v = p.at(ds(0, 4)).load();
      y.at(ds(0, 4)).store((wrong ? v : maximum(v, 1e-6)).log()); // TW5109
    },
  );
});

export const inputs = { p: nd.from(f32, [3], [0.5, 0, 1]) };
export const options = { trapNaN: true };
