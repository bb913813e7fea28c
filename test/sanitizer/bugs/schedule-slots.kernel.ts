import { array, atomic, blockProgram, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Results are put where a shared counter says. */
export const bug = kernel('schedule_slots', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 8 });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [8]) },
      outputs: { c: array(i32, [1]), y: array(i32, [8]) },
      zeroed: ['c', 'y'],
    },
    ({ x, c, y }) => {
      const slot = atomic.add(c.at(0), 1);
      y.at(wrong ? slot : g.i).store(x.at(g.i).load()); // TW5108
    },
  );
});

export const inputs = { x: nd.arange(i32, [8]) };
export const options = { seeds: 10 };
