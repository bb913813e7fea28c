import { array, blockProgram, cdiv, dim, f32, grid, kernel, squeezed } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The output's index map forgets an axis of the grid. */
export const bug = kernel('race_forgotten_axis', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n')];
  const g = grid({ i: m, j: cdiv(n, 4) });
  const x = array(f32, [m, n]).block([squeezed, 4], [g.i, g.j]);
  const y = array(f32, [m, n]).block([squeezed, 4], wrong ? [0, g.j] : [g.i, g.j]);
  return blockProgram({ grid: g, inputs: { x }, outputs: { y } }, ({ x, y }) => {
    y.store(x.load()); // TW5101
  });
});

export const inputs = { x: nd.arange(f32, [3, 8]) };
