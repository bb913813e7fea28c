import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel, loop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Only the blocks of the diagonal are stored. */
export const bug = kernel('unstored_diagonal', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 4) });
  return blockProgram(
    { grid: g, inputs: { x: array(f32, [n, n]) }, outputs: { y: array(f32, [n, n]) } },
    ({ x, y }) => {
      const rows = ds(g.i.mul(4), 4);
      loop({ to: cdiv(n, 4) }, (j) => {
        const columns = ds(wrong ? g.i.mul(4) : j.mul(4), 4);
        y.at(rows, columns).store(x.at(rows, columns).load()); // TW5103
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [8, 8]) };
