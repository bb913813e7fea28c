import { array, atomic, blockProgram, cdiv, dim, gather, grid, i32, kernel, scatter } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Counters are read, raised and written without atomics. */
export const bug = kernel('race_histogram', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram(
    { grid: g, inputs: { x: array(i32, [n]).block([4], [g.i]) }, outputs: { c: array(i32, [8]) }, zeroed: ['c'] },
    ({ x, c }) => {
      const bin = x.load();
      if (!wrong) return void atomic.add(c.at(bin), 1);
      const count = gather(c, bin);
      scatter(c, bin, count.add(1)); // TW5101
    },
  );
});

export const inputs = { x: nd.from(i32, [8], [0, 1, 2, 3, 3, 4, 5, 6]) };
