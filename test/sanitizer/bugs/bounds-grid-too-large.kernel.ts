import { array, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The grid has one program too many: its block lies behind the array. */
export const bug = kernel('bounds_grid_too_large', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: wrong ? n.floorDiv(8).add(1) : cdiv(n, 8) });
  const v = array(f32, [n]).block([8], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    y.store(x.load().mul(2)); // TW5111
  });
});

export const inputs = { x: nd.arange(f32, [16]) };
