import { array, atomic, blockProgram, f32, full, grid, i32, kernel, when, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The flag that tells of data is read without an acquire. */
export const bug = kernel('race_no_acquire', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 2 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(f32, [1]) },
      outputs: { d: array(f32, [1]), flag: array(i32, [1]), y: array(f32, [1]) },
      zeroed: ['d', 'flag', 'y'],
    },
    ({ x, d, flag, y }) => {
      when(g.i.eq(0), () => {
        d.at(0).store(x.at(0).load());
        atomic.exchange(flag.at(0), 1, { order: 'release' });
      });
      when(g.i.eq(1), () => {
        whileLoop(
          full(i32, [], 0),
          (seen) => seen.eq(0),
          () => atomic.add(flag.at(0), 0, { order: wrong ? 'relaxed' : 'acquire' }),
        );
        y.at(0).store(d.at(0).load()); // TW5101
      });
    },
  );
});

export const inputs = { x: nd.full(f32, [1], 3) };
