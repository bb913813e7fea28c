import { array, blockProgram, dim, f32, grid, kernel, loop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A recurrence looks at the element behind instead of the one before. */
export const bug = kernel('uninit_gather_ahead', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      y.at(0).store(x.at(0).load());
      loop({ from: 1, to: n }, (i) => {
        const before = y.at(wrong ? i : i.sub(1)).load(); // TW5102
        y.at(i).store(before.mul(0.5).add(x.at(i).load()));
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [6]) };
