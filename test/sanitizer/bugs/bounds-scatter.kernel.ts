import { array, blockProgram, dim, ds, f32, grid, iota, kernel, scatter } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A scatter to the position behind the last. */
export const bug = kernel('bounds_scatter', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      const next = iota([4]).add(1);
      scatter(y, wrong ? next : next.rem(4), x.at(ds(0, 4)).load()); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [4]) };
