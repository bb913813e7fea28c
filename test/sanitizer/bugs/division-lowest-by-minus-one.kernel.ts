import { array, blockProgram, dim, ds, grid, i32, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The smallest i32 divided by -1 has no result. */
export const bug = kernel('division_lowest_by_minus_one', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(i32, [n]) }, outputs: { y: array(i32, [n]) } },
    ({ x, y }) => {
      const v = x.at(ds(0, 2)).load();
      y.at(ds(0, 2)).store((wrong ? v : maximum(v, -5)).div(-1)); // TW5105
    },
  );
});

export const inputs = { x: nd.from(i32, [2], [-(2 ** 31), 7]) };
