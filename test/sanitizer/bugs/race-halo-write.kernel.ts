import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Each program also writes the halo that belongs to its neighbour. */
export const bug = kernel('race_halo_write', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } }, ({ x, y }) => {
    const size = wrong ? 5 : 4;
    y.at(ds(g.i.mul(4), size)).store(x.at(ds(g.i.mul(4), size)).load()); // TW5101
  });
});

export const inputs = { x: nd.arange(f32, [16]) };
