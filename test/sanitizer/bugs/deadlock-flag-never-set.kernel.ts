import { array, atomic, blockProgram, grid, type I32, i32, kernel, type Scalar, when, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Programs wait for a flag that none of them sets. */
export const bug = kernel('deadlock_flag_never_set', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 3 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [3]) },
      outputs: { flag: array(i32, [1]), y: array(i32, [3]) },
      zeroed: ['flag'],
    },
    ({ x, flag, y }) => {
      when(g.i.eq(wrong ? 3 : 0), () => void atomic.exchange(flag.at(0), 1));
      const look = (): Scalar<I32> => atomic.add(flag.at(0), 0);
      whileLoop(look(), (seen) => seen.eq(0), look); // TW5110
      y.at(g.i).store(x.at(g.i).load());
    },
  );
});

export const inputs = { x: nd.arange(i32, [3]) };
