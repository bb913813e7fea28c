import { array, blockProgram, dim, f32, gather, grid, i32, iota, kernel, minimum, u32 } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A difference of unsigned positions that is negative, then clamped. */
export const bug = kernel('overflow_unsigned_difference', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [4]) } },
    ({ x, y }) => {
      const lane = iota([4]).to(u32);
      const back = wrong ? lane.sub(2) : lane.add(2); // TW5106
      y.store(gather(x, minimum(back, 3).to(i32)));
    },
  );
});

export const inputs = { x: nd.arange(f32, [4]) };
