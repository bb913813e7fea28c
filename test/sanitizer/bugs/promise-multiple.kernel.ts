import { array, blockProgram, ds, f32, grid, i32, kernel, multipleOf, scalar } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A start that is promised to be a multiple of 8 is none. */
export const bug = kernel('promise_multiple', { wrong: false }, ({ wrong }) => {
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [32]), at: scalar(i32) }, outputs: { y: array(f32, [8]) } },
    ({ x, at, y }) => {
      const start = multipleOf(at, wrong ? 8 : 4); // TW5006
      y.store(x.at(ds(start, 8)).load());
    },
  );
});

export const inputs = { x: nd.arange(f32, [32]), at: 12 };
