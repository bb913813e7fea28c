import { array, atomic, blockProgram, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The last program to come by leaves its number. */
export const bug = kernel('schedule_last_writer', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 8 });
  return blockProgram(
    { grid: g, inputs: { x: array(i32, [8]) }, outputs: { y: array(i32, [1]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const v = x.at(g.i).load();
      if (wrong)
        atomic.exchange(y.at(0), v); // TW5108
      else atomic.max(y.at(0), v);
    },
  );
});

export const inputs = { x: nd.arange(i32, [8]) };
export const options = { seeds: 10 };
