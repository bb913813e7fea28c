import { array, atomic, blockProgram, grid, type I32, i32, kernel, type Scalar, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Two programs each wait for the other before they signal. */
export const bug = kernel('deadlock_each_other', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 2 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [2]) },
      outputs: { flags: array(i32, [2]), y: array(i32, [2]) },
      zeroed: ['flags'],
    },
    ({ x, flags, y }) => {
      const signal = () => void atomic.exchange(flags.at(g.i), 1);
      const look = (): Scalar<I32> => atomic.add(flags.at(g.i.neg().add(1)), 0);
      if (!wrong) signal();
      whileLoop(look(), (seen) => seen.eq(0), look); // TW5110
      if (wrong) signal();
      y.at(g.i).store(x.at(g.i).load());
    },
  );
});

export const inputs = { x: nd.arange(i32, [2]) };
