import { array, blockProgram, dim, ds, f32, grid, iota, kernel, minimum, scatter } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Two lanes of one scatter go to one element. */
export const bug = kernel('scatter_conflict', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [4]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const lanes = iota([8]);
      const to = wrong ? lanes.rem(4) : minimum(lanes, 3);
      scatter(y, to, x.at(ds(0, 8)).load(), { mask: wrong ? lanes.lt(8) : lanes.lt(4) }); // TW5107
    },
  );
});

export const inputs = { x: nd.arange(f32, [8]) };
