import { array, blockProgram, dim, ds, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A softmax without its maximum taken off. */
export const bug = kernel('nan_exp_overflow', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      const v = x.at(ds(0, 4)).load();
      const e = (wrong ? v : v.sub(v.max(0))).exp(); // TW5109
      y.at(ds(0, 4)).store(e.div(e.sum(0)));
    },
  );
});

export const inputs = { x: nd.from(f32, [3], [1, 100, 3]) };
export const options = { trapNaN: true };
