import { array, blockProgram, dim, f32, gather, grid, i32, iota, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Indices of masked lanes are unspecified, and used. */
export const bug = kernel('padding_address', { wrong: false }, ({ wrong }) => {
  const [n, m] = [dim('n'), dim('m')];
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [m]), at: array(i32, [n]) }, outputs: { y: array(f32, [8]) } },
    ({ x, at, y }) => {
      const lanes = iota([8]);
      const mask = lanes.lt(n);
      const index = gather(at, lanes, wrong ? { mask } : { mask, other: 0 }); // TW5104
      y.store(gather(x, maximum(index, 0)));
    },
  );
});

export const inputs = { x: nd.arange(f32, [6]), at: nd.from(i32, [5], [0, 3, 4, 1, 5]) };
