import { array, blockProgram, cdiv, dim, ds, f32, grid, kernel, sequence } from 'tilewright';
import { nd } from 'tilewright/testing';

/** The second launch reads all of a temporary of which the first writes half. */
export const bug = kernel('uninit_temporary', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: wrong ? cdiv(n, 8) : cdiv(n, 4) });
  const t = array(f32, [n]);
  const fill = blockProgram({ grid: g, inputs: { x: t }, outputs: { t } }, ({ x, t }) => {
    t.at(ds(g.i.mul(4), 4)).store(x.at(ds(g.i.mul(4), 4)).load());
  });
  const all8 = grid({ j: cdiv(n, 8) });
  const use = blockProgram({ grid: all8, inputs: { t }, outputs: { y: t } }, ({ t, y }) => {
    y.at(ds(all8.j.mul(8), 8)).store(t.at(ds(all8.j.mul(8), 8)).load()); // TW5102
  });
  return sequence({ temps: { t } }, [fill, use]);
});

export const inputs = { x: nd.arange(f32, [16]) };
