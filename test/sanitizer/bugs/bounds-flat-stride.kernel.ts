import { array, blockProgram, dim, f32, grid, kernel, squeezed } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A flat offset with the wrong stride leaves the array in the last row. */
export const bug = kernel('bounds_flat_stride', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n')];
  const g = grid({ i: m });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(f32, [m.mul(n)]), like: array(f32, [m, n]) },
      outputs: { y: array(f32, [m]).block([squeezed], [g.i]) },
    },
    ({ x, y }) => {
      y.store(x.at(g.i.mul(wrong ? n.add(1) : n).add(n.sub(1))).load()); // TW5001
    },
  );
});

export const inputs = { x: nd.arange(f32, [12]), like: nd.arange(f32, [3, 4]) };
