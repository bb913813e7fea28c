import { array, blockProgram, dim, ds, f32, gather, grid, i32, kernel, select } from 'tilewright';
import { nd } from 'tilewright/testing';

/** An index that comes from data is used as it is. */
export const bug = kernel('bounds_data_index', { wrong: false }, ({ wrong }) => {
  const [n, m] = [dim('n'), dim('m')];
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [m]), at: array(i32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, at, y }) => {
      const given = at.at(ds(0, 8)).load();
      const known = given.ge(0).and(given.lt(m));
      const index = wrong ? given : select(known, given, 0);
      y.at(ds(0, 8)).store(gather(x, index)); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [4]), at: nd.from(i32, [5], [0, 3, 4, 1, -1]) };
