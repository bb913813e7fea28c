import { array, atomic, blockProgram, grid, i32, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A counter that others raise atomically is read by a plain load. */
export const bug = kernel('race_plain_read_of_counter', { wrong: false }, ({ wrong }) => {
  const g = grid({ i: 4 });
  return blockProgram(
    { grid: g, inputs: { x: array(i32, [4]) }, outputs: { c: array(i32, [1]), y: array(i32, [4]) }, zeroed: ['c'] },
    ({ x, c, y }) => {
      atomic.add(c.at(0), x.at(g.i).load()); // TW5101
      y.at(g.i).store(wrong ? c.at(0).load() : x.at(g.i).load());
    },
  );
});

export const inputs = { x: nd.arange(i32, [4]) };
