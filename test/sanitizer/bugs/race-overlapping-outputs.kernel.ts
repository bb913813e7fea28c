import { array, blockProgram, dim, ds, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Blocks of four are stored three apart. */
export const bug = kernel('race_overlapping_outputs', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 4 });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]).block([4], [g.i]) }, outputs: { y: array(f32, [n]) }, zeroed: ['y'] },
    ({ x, y }) => {
      y.at(ds(g.i.mul(wrong ? 3 : 4), 4)).store(x.load()); // TW5101
    },
  );
});

export const inputs = { x: nd.arange(f32, [16]) };
