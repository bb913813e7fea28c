import { array, atomic, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A sum is built up in an output that is not zeroed. */
export const bug = kernel('uninit_accumulate', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  const total = array(f32, [1]);
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]).block([4], [g.i]) }, outputs: { total }, zeroed: wrong ? [] : ['total'] },
    ({ x, total }) => {
      atomic.add(total.at(0), x.load().sum(0)); // TW5102
    },
  );
});

export const inputs = { x: nd.arange(f32, [10]) };
