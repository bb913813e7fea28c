import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel, loop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** With fewer elements than a block the loop makes no trip at all. */
export const bug = kernel('unstored_no_trip', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      loop({ to: wrong ? n.floorDiv(8) : cdiv(n, 8) }, (k) => {
        y.at(ds(k.mul(8), 8)).store(x.at(ds(k.mul(8), 8)).load()); // TW5103
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [5]) };
