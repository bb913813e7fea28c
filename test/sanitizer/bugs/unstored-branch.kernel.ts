import { array, blockProgram, cdiv, dim, f32, grid, kernel, when } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A branch that excludes the first program. */
export const bug = kernel('unstored_branch', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  const v = array(f32, [n]).block([4], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    when(wrong ? g.i.gt(0) : g.i.ge(0), () => y.store(x.load())); // TW5103
  });
});

export const inputs = { x: nd.arange(f32, [12]) };
