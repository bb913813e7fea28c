import { array, blockProgram, cdiv, dim, ds, f32, gather, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A stencil in place reads what its neighbours write. */
export const bug = kernel('race_in_place_alias', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  const v = array(f32, [n]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v }, aliases: { y: 'x' } }, ({ y }) => {
    const at = g.i.mul(4).add(iota([4]));
    const right = wrong ? at.add(1).rem(n) : at;
    const v = gather(y, right, { mask: at.lt(n), other: 0 });
    y.at(ds(g.i.mul(4), 4)).store(v.mul(2)); // TW5101
  });
});

export const inputs = { x: nd.arange(f32, [16]) };
