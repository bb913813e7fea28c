import { array, blockProgram, dim, ds, f32, gather, grid, i32, i64, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** An offset in 64 bits is cut to 32. */
export const bug = kernel('overflow_truncated', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]), at: array(i64, [2]) }, outputs: { y: array(f32, [2]) } },
    ({ x, at, y }) => {
      const offset = at.at(ds(0, 2)).load();
      const index = (wrong ? offset : offset.and(7)).to(i32); // TW5106
      y.store(gather(x, index));
    },
  );
});

export const inputs = { x: nd.arange(f32, [8]), at: nd.from(i64, [2], [3, 2 ** 32 + 4]) };
