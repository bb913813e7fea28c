import { array, blockProgram, dim, f32, grid, kernel, sequence } from 'tilewright';
import { nd } from 'tilewright/testing';

/** All programs use the same row of a temporary. */
export const bug = kernel('race_scratch_shared', { wrong: false }, ({ wrong }) => {
  const n = dim('n');
  const g = grid({ i: n });
  const t = array(f32, [n]);
  const body = blockProgram({ grid: g, inputs: { x: t }, outputs: { t, y: t } }, ({ x, t, y }) => {
    const slot = wrong ? g.i.mul(0) : g.i;
    t.at(slot).store(x.at(g.i).load()); // TW5101
    y.at(g.i).store(t.at(slot).load());
  });
  return sequence({ temps: { t } }, [body]);
});

export const inputs = { x: nd.arange(f32, [5]) };
