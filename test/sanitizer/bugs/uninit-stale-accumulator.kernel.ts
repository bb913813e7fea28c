import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel, loop, when } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The accumulator is cleared at the second step instead of the first. */
export const bug = kernel('uninit_stale_accumulator', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  return blockProgram(
    { grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [4]) } },
    ({ x, y }) => {
      loop({ to: cdiv(n, 4) }, (k) => {
        when(k.eq(wrong ? 1 : 0), () => y.store(0));
        const next = x.at(ds(k.mul(4), 4)).load();
        y.store(y.load().add(next.pad(0))); // TW5102
      });
    },
  );
});

export const inputs = { x: nd.arange(f32, [14]) };
