import { array, blockProgram, full, grid, i32, kernel, loop, minimum, scalar } from 'tilewright';

/** The number of trips wraps around and the loop makes none. */
export const bug = kernel('overflow_loop_bound', { wrong: false }, ({ wrong }) => {
  return blockProgram(
    { grid: grid({}), inputs: { rows: scalar(i32), stride: scalar(i32) }, outputs: { y: array(i32, [1]) } },
    ({ rows, stride, y }) => {
      const total = wrong ? rows.mul(stride) : rows; // TW5106
      y.at(0).store(loop({ to: minimum(total, 10), carry: full(i32, [], 0) }, (_, sum) => sum.add(1)));
    },
  );
});

export const inputs = { rows: 65536, stride: 65536 - 1 };
