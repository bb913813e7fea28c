import { array, blockProgram, dim, f32, grid, kernel, maximum } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Each program goes on from what the one before it has stored. */
export const bug = kernel('race_chain_of_programs', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: n });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) }, zeroed: ['y'] },
    ({ x, y }) => {
      const before = y.at(wrong ? maximum(g.i.sub(1), 0) : g.i).load(); // TW5101
      y.at(g.i).store(before.add(x.at(g.i).load()));
    },
  );
});

export const inputs = { x: nd.arange(f32, [6]) };
