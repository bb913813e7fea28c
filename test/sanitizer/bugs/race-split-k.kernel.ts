import { array, atomic, blockProgram, cdiv, dim, dot, ds, f32, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Parts of a product along k are stored to the same block. */
export const bug = kernel('race_split_k', { wrong: false }, ({ wrong }) => {
  const [m, n, k] = [dim('m'), dim('n'), dim('k')];
  const g = grid({ s: cdiv(k, 4) });
  return blockProgram(
    {
      grid: g,
      inputs: { a: array(f32, [m, k]), b: array(f32, [k, n]) },
      outputs: { c: array(f32, [m, n]) },
      zeroed: ['c'],
    },
    ({ a, b, c }) => {
      const depth = ds(g.s.mul(4), 4);
      const part = dot(a.at(ds(0, 4), depth).load(), b.at(depth, ds(0, 4)).load());
      const [i, j] = [iota([4, 4], 0), iota([4, 4], 1)];
      if (wrong)
        c.at(ds(0, 4), ds(0, 4)).store(part); // TW5101
      else atomic.add(c.at(i, j), part);
    },
  );
});

export const inputs = { a: nd.arange(f32, [4, 8]), b: nd.arange(f32, [8, 4]) };
