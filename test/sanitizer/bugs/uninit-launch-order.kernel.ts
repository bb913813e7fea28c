import { array, blockProgram, dim, ds, f32, grid, kernel, sequence } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The launch that uses a temporary comes before the one that fills it. */
export const bug = kernel('uninit_launch_order', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const t = array(f32, [n]);
  const fill = blockProgram({ grid: grid({}), inputs: { x: t }, outputs: { t } }, ({ x, t }) => {
    t.at(ds(0, 8)).store(x.at(ds(0, 8)).load().mul(2));
  });
  const use = blockProgram({ grid: grid({}), inputs: { t }, outputs: { y: t } }, ({ t, y }) => {
    y.at(ds(0, 8)).store(t.at(ds(0, 8)).load()); // TW5102
  });
  return sequence({ temps: { t } }, wrong ? [use, fill] : [fill, use]);
});

export const inputs = { x: nd.arange(f32, [8]) };
