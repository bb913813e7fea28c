import { array, blockProgram, grid, i32, kernel, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The counter of a loop is never raised. */
export const bug = kernel('endless_loop', { wrong: false }, ({ wrong }) => {
  return blockProgram(
    { grid: grid({}), inputs: { x: array(i32, [1]) }, outputs: { y: array(i32, [1]) } },
    ({ x, y }) => {
      const start = x.at(0).load();
      const next = (i: typeof start) => i.add(wrong ? 0 : 1);
      const last = whileLoop(start, (i) => i.lt(10), next); // TW5002
      y.at(0).store(last);
    },
  );
});

export const inputs = { x: nd.full(i32, [1], 3) };
export const options = { maxSteps: 10_000 };
