import { array, atomic, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Every program stores the one result instead of adding to it. */
export const bug = kernel('race_one_result', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]).block([4], [g.i]) }, outputs: { y: array(f32, [1]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const sum = x.load().sum(0);
      if (wrong)
        y.at(0).store(sum); // TW5101
      else atomic.add(y.at(0), sum);
    },
  );
});

export const inputs = { x: nd.arange(f32, [9]) };
