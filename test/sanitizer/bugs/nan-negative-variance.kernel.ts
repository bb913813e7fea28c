import { array, blockProgram, dim, ds, f32, grid, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The root of a variance that cancellation made negative. */
export const bug = kernel('nan_negative_variance', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [1]) } },
    ({ x, y }) => {
      const v = x.at(ds(0, 4)).load();
      const variance = v.sum(0).sub(100);
      y.at(0).store((wrong ? variance : maximum(variance, 0)).sqrt()); // TW5109
    },
  );
});

export const inputs = { x: nd.from(f32, [3], [1, 2, 3]) };
export const options = { trapNaN: true };
