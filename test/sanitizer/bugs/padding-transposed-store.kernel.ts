import { array, blockProgram, dim, f32, gather, grid, iota, kernel, select } from 'tilewright';
import { nd } from 'tilewright/testing';

/** A mask that was made for rows is used for columns. */
export const bug = kernel('padding_transposed_store', { wrong: false }, ({ wrong }) => {
  const [m, n] = [dim('m'), dim('n')];
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [m, n]) }, outputs: { y: array(f32, [4, 4]) } },
    ({ x, y }) => {
      const [i, j] = [iota([4, 4], 0), iota([4, 4], 1)];
      const mask = i.lt(m).and(j.lt(n));
      const v = gather(x, [i, j], { mask }).transpose(); // TW5104
      y.store(select(wrong ? mask : mask.transpose(), v, 0));
    },
  );
});

export const inputs = { x: nd.arange(f32, [2, 3]) };
