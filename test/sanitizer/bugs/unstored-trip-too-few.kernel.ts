import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel, loop } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The loop makes one trip too few. */
export const bug = kernel('unstored_trip_too_few', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [n]) } },
    ({ x, y }) => {
      const trips = cdiv(n, 4);
      loop({ to: wrong ? trips.sub(1) : trips }, (k) => {
        y.at(ds(k.mul(4), 4)).store(x.at(ds(k.mul(4), 4)).load()); // TW5103
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [9]) };
