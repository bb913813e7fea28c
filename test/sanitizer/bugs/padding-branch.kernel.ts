import { array, blockProgram, dim, f32, full, gather, grid, ifElse, iota, kernel } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A branch on the sum of lanes that the mask leaves unspecified. */
export const bug = kernel('padding_branch', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: 2 });
  return blockProgram({ grid: g, inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [2]) } }, ({ x, y }) => {
    const at = iota([8]).add(g.i.mul(8));
    const mask = at.lt(n);
    const v = gather(x, at, wrong ? { mask } : { mask, other: 0 }); // TW5104
    y.at(g.i).store(
      ifElse(
        v.sum(0).gt(20),
        () => full(f32, [], 1),
        () => full(f32, [], 0),
      ),
    );
  });
});

export const inputs = { x: nd.arange(f32, [13]) };
