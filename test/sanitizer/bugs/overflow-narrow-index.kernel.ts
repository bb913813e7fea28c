import { array, blockProgram, dim, f32, gather, grid, i16, i32, iota, kernel, u8 } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Indices are computed in 8 bits. */
export const bug = kernel('overflow_narrow_index', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [4]) } },
    ({ x, y }) => {
      const lane = iota([4]).to(wrong ? u8 : i16);
      const offset = lane.mul(100); // TW5106
      y.store(gather(x, offset.to(i32)));
    },
  );
});

export const inputs = { x: nd.arange(f32, [301]) };
