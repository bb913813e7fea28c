import { array, blockProgram, cdiv, dim, ds, f32, grid, i32, iota, kernel, scatter } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Indices that should be a permutation name an element twice, from two programs. */
export const bug = kernel('race_scatter_permutation', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 2) });
  return blockProgram(
    { grid: g, inputs: { p: array(i32, [n]), x: array(f32, [n]) }, outputs: { y: array(f32, [n]) }, zeroed: ['y'] },
    ({ p, x, y }) => {
      const part = ds(g.i.mul(2), 2);
      const to = p.at(part).load();
      scatter(y, wrong ? to : g.i.mul(2).add(iota([2])), x.at(part).load()); // TW5101
    },
  );
});

export const inputs = { p: nd.from(i32, [4], [0, 2, 2, 1]), x: nd.arange(f32, [4]) };
