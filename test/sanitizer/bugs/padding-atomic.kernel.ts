import { array, atomic, blockProgram, cdiv, dim, f32, gather, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A masked lane is added to a total. */
export const bug = kernel('padding_atomic', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { total: array(f32, [1]) }, zeroed: ['total'] },
    ({ x, total }) => {
      const at = g.i.mul(4).add(iota([4]));
      const v = gather(x, at, { mask: at.lt(n) }); // TW5104
      atomic.add(total.at(iota([4]).mul(0)), v, wrong ? {} : { mask: at.lt(n) });
    },
  );
});

export const inputs = { x: nd.arange(f32, [10]) };
