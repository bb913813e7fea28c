import { array, atomic, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Atomics of block scope do not hold between programs. */
export const bug = kernel('race_block_scope', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]).block([4], [g.i]) }, outputs: { y: array(f32, [1]) }, zeroed: ['y'] },
    ({ x, y }) => {
      atomic.add(y.at(0), x.load().sum(0), { scope: wrong ? 'block' : 'device' }); // TW5101
    },
  );
});

export const inputs = { x: nd.arange(f32, [9]) };
