import { array, blockProgram, dim, ds, grid, i32, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The mean of a group without members. */
export const bug = kernel('division_empty_group', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { sum: array(i32, [n]), count: array(i32, [n]) }, outputs: { y: array(i32, [n]) } },
    ({ sum, count, y }) => {
      const at = ds(0, 4);
      const members = count.at(at).load();
      const total = sum.at(at).load();
      y.at(at).store(total.div(wrong ? members : maximum(members, 1))); // TW5105
    },
  );
});

export const inputs = { sum: nd.from(i32, [3], [6, 0, 4]), count: nd.from(i32, [3], [3, 0, 2]) };
