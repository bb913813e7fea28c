import { array, blockProgram, dim, ds, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A row of zeros is divided by its sum. */
export const bug = kernel('nan_zero_by_zero', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      const v = x.at(ds(0, 4)).load();
      y.at(ds(0, 4)).store(v.div(wrong ? v.sum(0) : v.sum(0).add(1e-6))); // TW5109
    },
  );
});

export const inputs = { x: nd.zeros(f32, [3]) };
export const options = { trapNaN: true };
