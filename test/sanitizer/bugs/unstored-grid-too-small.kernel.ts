import { array, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Division rounds down: the last, ragged block has no program. */
export const bug = kernel('unstored_grid_too_small', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: wrong ? n.floorDiv(8) : cdiv(n, 8) });
  const v = array(f32, [n]).block([8], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    y.store(x.load().exp()); // TW5103
  });
});

export const inputs = { x: nd.arange(f32, [20]) };
