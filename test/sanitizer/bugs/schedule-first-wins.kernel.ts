import { array, atomic, blockProgram, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The first program to swap keeps the element. */
export const bug = kernel('schedule_first_wins', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 8 });
  return blockProgram(
    { grid: g, inputs: { x: array(i32, [8]) }, outputs: { y: array(i32, [1]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const v = x.at(g.i).load().add(1);
      if (wrong)
        atomic.cas(y.at(0), 0, v); // TW5108
      else atomic.max(y.at(0), v);
    },
  );
});

export const inputs = { x: nd.arange(i32, [8]) };
export const options = { seeds: 10 };
