import { array, atomic, blockProgram, f32, full, grid, i32, kernel, when, whileLoop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The flag is set before the data that it tells of. */
export const bug = kernel('race_flag_before_data', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 2 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(f32, [1]) },
      outputs: { d: array(f32, [1]), flag: array(i32, [1]), y: array(f32, [1]) },
      zeroed: ['d', 'flag', 'y'],
    },
    ({ x, d, flag, y }) => {
      const tell = () => atomic.exchange(flag.at(0), 1, { order: 'release' });
      when(g.i.eq(0), () => {
        if (wrong) tell();
        d.at(0).store(x.at(0).load());
        if (!wrong) tell();
      });
      when(g.i.eq(1), () => {
        whileLoop(
          full(i32, [], 0),
          (seen) => seen.eq(0),
          () => atomic.add(flag.at(0), 0, { order: 'acquire' }),
        );
        y.at(0).store(d.at(0).load()); // TW5101
      });
    },
  );
});

export const inputs = { x: nd.full(f32, [1], 3) };
