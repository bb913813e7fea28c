import { array, assume, blockProgram, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** What the kernel assumes of its input does not hold. */
export const bug = kernel('promise_assume', { wrong: false }, ({ wrong }) => {
  return blockProgram(
    { grid: grid({}), inputs: { x: array(i32, [1]) }, outputs: { y: array(i32, [1]) } },
    ({ x, y }) => {
      const v = x.at(0).load();
      assume(v.ge(wrong ? 4 : 0)); // TW5006
      y.at(0).store(v);
    },
  );
});

export const inputs = { x: nd.full(i32, [1], 3) };
