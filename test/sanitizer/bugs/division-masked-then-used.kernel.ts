import { array, blockProgram, dim, ds, full, grid, i32, kernel, select } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Lanes that divide by zero are kept by the wrong condition. */
export const bug = kernel('division_masked_then_used', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(i32, [n]) }, outputs: { y: array(i32, [n]) } },
    ({ x, y }) => {
      const d = x.at(ds(0, 4)).load();
      const q = full(i32, [4], 12).div(d); // TW5105
      y.at(ds(0, 4)).store(select(wrong ? d.ge(0) : d.gt(0), q, 0));
    },
  );
});

export const inputs = { x: nd.from(i32, [4], [3, 0, -2, 4]) };
