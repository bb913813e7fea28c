import { array, atomic, blockProgram, grid, type I32, i32, kernel, type Scalar, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A lock is taken by every program and given back by none. */
export const bug = kernel('deadlock_lock_not_released', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 3 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [3]) },
      outputs: { lock: array(i32, [1]), sum: array(i32, [1]) },
      zeroed: ['lock', 'sum'],
    },
    ({ x, lock, sum }) => {
      const take = (): Scalar<I32> => atomic.cas(lock.at(0), 0, 1, { order: 'acquire' });
      whileLoop(take(), (old) => old.ne(0), take); // TW5110
      sum.at(0).store(sum.at(0).load().add(x.at(g.i).load()));
      if (!wrong) atomic.exchange(lock.at(0), 0, { order: 'release' });
    },
  );
});

export const inputs = { x: nd.arange(i32, [3]) };
