import { array, blockProgram, dim, ds, f32, grid, kernel, loop, zeros } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Rows are counted by the extent of the columns. */
export const bug = kernel('bounds_extent_of_another_axis', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n')];
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [m, n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      const sum = loop({ to: wrong ? n : m, carry: zeros(f32, [8]) }, (i, sum) => {
        const row = x.at(i, ds(0, 8)).load(); // TW5001
        return sum.add(row.pad(0));
      });
      y.at(ds(0, 8)).store(sum);
    },
  );
});

export const inputs = { x: nd.arange(f32, [3, 7]) };
