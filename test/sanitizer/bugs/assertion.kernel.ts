import { array, assertTrue, blockProgram, dim, ds, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A check that the kernel itself makes. */
export const bug = kernel('assertion', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(i32, [n]) }, outputs: { y: array(i32, [n]) } },
    ({ x, y }) => {
      const v = x.at(ds(0, 4)).load();
      assertTrue(v.lt(wrong ? 3 : 4), 'too large'); // TW5005
      y.at(ds(0, 4)).store(v);
    },
  );
});

export const inputs = { x: nd.arange(i32, [4]) };
