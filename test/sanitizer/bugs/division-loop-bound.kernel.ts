import { array, blockProgram, cdiv, dim, full, grid, i32, kernel, loop, maximum, scalar } from 'tilewright';

/** A loop whose number of trips is divided by zero. */
export const bug = kernel('division_loop_bound', { wrong: false }, ({ wrong }) => {
  return blockProgram(
    { grid: grid({}), inputs: { step: scalar(i32) }, outputs: { y: array(i32, [1]) } },
    ({ step, y }) => {
      const trips = cdiv(dim('n'), wrong ? step : maximum(step, 1)); // TW5105
      y.at(0).store(loop({ to: trips, carry: full(i32, [], 0) }, (_, sum) => sum.add(1)));
    },
  );
});

export const inputs = { n: 5, step: 0 };
