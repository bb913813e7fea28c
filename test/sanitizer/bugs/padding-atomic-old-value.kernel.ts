import { array, atomic, blockProgram, dim, ds, grid, i32, iota, kernel, select } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The old value of an atomic that was masked off is used. */
export const bug = kernel('padding_atomic_old_value', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    {
      grid: grid({}),
      inputs: { x: array(i32, [n]) },
      outputs: { c: array(i32, [4]), y: array(i32, [4]) },
      zeroed: ['c'],
    },
    ({ x, c, y }) => {
      const mask = x.at(ds(0, 4)).load().gt(1);
      const old = atomic.add(c.at(iota([4])), 1, { mask }); // TW5104
      y.store(wrong ? old : select(mask, old, 0));
    },
  );
});

export const inputs = { x: nd.arange(i32, [4]) };
