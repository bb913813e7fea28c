import { array, blockProgram, dim, ds, f32, grid, kernel, loop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Rows are stored two apart. */
export const bug = kernel('unstored_stride', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n', { max: 8 })];
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [m, n]) }, outputs: { y: array(f32, [m, n]) } },
    ({ x, y }) => {
      loop({ to: m, step: wrong ? 2 : 1 }, (i) => {
        y.at(i, ds(0, 8)).store(x.at(i, ds(0, 8)).load()); // TW5103
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [5, 6]) };
