import { array, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** An output is read, added to and written back before it holds anything. */
export const bug = kernel('uninit_read_modify_write', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  const v = array(f32, [n]).block([4], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    if (!wrong) y.store(0);
    y.store(y.load().add(x.load())); // TW5102
  });
});

export const inputs = { x: nd.arange(f32, [10]) };
