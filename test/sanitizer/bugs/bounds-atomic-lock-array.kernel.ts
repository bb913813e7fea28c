import { array, atomic, blockProgram, dim, f32, grid, kernel, squeezed } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Locks are kept for one item less than there are. */
export const bug = kernel('bounds_atomic_lock_array', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: n });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(f32, [n]).block([squeezed], [g.i]) },
      outputs: { total: array(f32, [wrong ? n.sub(1) : n]) },
      zeroed: ['total'],
    },
    ({ x, total }) => {
      atomic.add(total.at(g.i), x.load()); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [4]) };
