import { array, atomic, blockProgram, grid, type I32, i32, kernel, type Scalar, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A barrier of all programs waits for one arrival too many. */
export const bug = kernel('deadlock_barrier_count', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 4 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [4]) },
      outputs: { c: array(i32, [1]), t: array(i32, [4]), y: array(i32, [4]) },
      zeroed: ['c'],
    },
    ({ x, c, t, y }) => {
      t.at(g.i).store(x.at(g.i).load());
      atomic.add(c.at(0), 1, { order: 'release' });
      const look = (): Scalar<I32> => atomic.add(c.at(0), 0, { order: 'acquire' });
      whileLoop(look(), (n) => n.lt(wrong ? 5 : 4), look); // TW5110
      y.at(g.i).store(t.at(g.i.neg().add(3)).load());
    },
  );
});

export const inputs = { x: nd.arange(i32, [4]) };
