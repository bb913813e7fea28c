import { array, blockProgram, cdiv, dim, f32, gather, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A mask lets one element too many through: `<=` for `<`. */
export const bug = kernel('bounds_mask_off_by_one', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 8) });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]).block([8], [g.i]) } },
    ({ x, y }) => {
      const at = g.i.mul(8).add(iota([8]));
      const mask = wrong ? at.le(n) : at.lt(n);
      y.store(gather(x, at, { mask, other: 0 })); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [13]) };
