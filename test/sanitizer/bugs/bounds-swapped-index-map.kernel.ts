import { array, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** An index map names the axes of the grid in the wrong order. */
export const bug = kernel('bounds_swapped_index_map', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n')];
  const g = grid({ i: cdiv(m, 4), j: cdiv(n, 4) });
  const x = array(f32, [m, n]).block([4, 4], wrong ? [g.j, g.i] : [g.i, g.j]);
  const y = array(f32, [m, n]).block([4, 4], [g.i, g.j]);
  return blockProgram({ grid: g, inputs: { x }, outputs: { y } }, ({ x, y }) => {
    y.store(x.load().pad(0)); // TW5111
  });
});

export const inputs = { x: nd.arange(f32, [5, 12]) };
