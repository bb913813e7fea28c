import { array, atomic, blockProgram, dim, ds, f32, grid, i32, kernel, minimum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A value of exactly 1 falls behind the last of the bins of [0, 1). */
export const bug = kernel('bounds_histogram_last_bin', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { counts: array(i32, [4]) }, zeroed: ['counts'] },
    ({ x, counts }) => {
      const bin = x.at(ds(0, 8)).load().mul(4).floor().to(i32);
      atomic.add(counts.at(wrong ? bin : minimum(bin, 3)), 1); // TW5001
    },
  );
});

export const inputs = { x: nd.from(f32, [5], [0, 0.3, 0.5, 1, 0.9]) };
