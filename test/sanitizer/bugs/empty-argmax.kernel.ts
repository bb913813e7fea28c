import { array, blockProgram, dim, ds, f32, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The position of the maximum of a block that lies behind the array. */
export const bug = kernel('empty_argmax', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(i32, [2]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const v = x.at(ds(wrong ? g.i.mul(8) : g.i.mul(4), 8)).load();
      y.at(g.i).store(v.argmax(0)); // TW5004
    },
  );
});

export const inputs = { x: nd.arange(f32, [8]) };
