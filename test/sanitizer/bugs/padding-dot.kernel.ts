import { array, blockProgram, dim, dot, ds, f32, gather, grid, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** Columns of the left operand beyond k are unspecified and multiply zeros. */
export const bug = kernel('padding_dot', { wrong: false }, ({ wrong }) => {
  const [m, n, k] = [dim('m'), dim('n'), dim('k')];
  return blockProgram(
    { grid: grid({}), inputs: { a: array(f32, [m, k]), b: array(f32, [k, n]) }, outputs: { c: array(f32, [m, n]) } },
    ({ a, b, c }) => {
      const [rows, depth] = [iota([4, 8], 0), iota([4, 8], 1)];
      const mask = rows.lt(m).and(depth.lt(k));
      const left = gather(a, [rows, depth], wrong ? { mask } : { mask, other: 0 }); // TW5104
      const right = b.at(ds(0, 8), ds(0, 4)).load().pad(0);
      c.at(ds(0, 4), ds(0, 4)).store(dot(left, right));
    },
  );
});

export const inputs = { a: nd.arange(f32, [3, 5]), b: nd.arange(f32, [5, 2]) };
