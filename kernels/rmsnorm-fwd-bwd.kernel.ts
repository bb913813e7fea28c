import {
  all,
  array,
  atomic,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dtypes,
  f16,
  f32,
  grid,
  type Handles,
  iota,
  kernel,
  loop,
  perTarget,
  scalar,
  sequence,
  squeezed,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Fewer rows, so that they fit in registers. */
const gpuBlocks = { bm: 4 };

/**
 * Root mean square norm of the rows of x[m, n], forward and backward (Zhang and Sennrich, Root Mean Square Layer
 * Normalization): rstd[m] = (mean(x²) + eps)^-½, y = x · rstd · w; with g = dy · w and h = x · rstd,
 * dx = rstd · (g - h · mean(g · h)) and dw[n] = Σ dy · h over the rows. `block` is at least n; all sums are f32.
 *
 * A program holds `bm` whole rows. Its part of dw goes into a row of a temporary, which a second launch sums in order, so
 * that dw is the same in every run; without `deterministic` programs add to dw atomically, in one launch.
 */
export const rmsnormFwdBwd = kernel(
  'rmsnorm_fwd_bwd',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    { dtype: dtypes(f32, f16, bf16), bm: 16, block: 1024, bn: 128, deterministic: true },
  ),
  ({ dtype, bm, block, bn, deterministic }) => {
    const [m, n] = [dim('m'), dim('n', { max: block })];
    const g = grid({ i: cdiv(m, bm) });
    const rows = array(dtype, [m, n]).block([bm, block], [g.i, 0]);
    const inputs = { x: rows, w: array(dtype, [n]).block([block], [0]), dy: rows, eps: scalar(f32) };
    const outputs = { y: rows, rstd: array(f32, [m]).block([bm], [g.i]), dx: rows };

    /** Everything but dw, of which it gives the part of these rows. */
    const normalise = ({ x, w, dy, eps, y, rstd, dx }: Handles<typeof inputs, typeof outputs>) => {
      const [wide, weight, upstream] = [x.load().to(f32), w.load().to(f32), dy.load().to(f32)];
      const count = n.to(f32);
      const scale = wide.mul(wide).sum(1).div(count).add(eps).rsqrt();
      const h = wide.mul(scale.expand(1));
      const gw = upstream.mul(weight);
      y.store(h.mul(weight).to(dtype));
      rstd.store(scale);
      const mean = gw.mul(h).sum(1).div(count);
      dx.store(
        gw
          .sub(h.mul(mean.expand(1)))
          .mul(scale.expand(1))
          .to(dtype),
      );
      return upstream.mul(h).sum(0);
    };

    if (!deterministic)
      return blockProgram(
        { grid: g, inputs, outputs: { ...outputs, dw: array(f32, [n]) }, zeroed: ['dw'] },
        ({ dw, ...refs }) => {
          atomic.add(dw.at(iota([block])), normalise(refs));
        },
        // To a caller it is the same kernel as the one below.
      ) as never;

    const parts = array(f32, [cdiv(m, bm), n]);
    const columns = grid({ j: cdiv(n, bn) });
    return sequence({ temps: { parts } }, [
      blockProgram(
        { grid: g, inputs, outputs: { ...outputs, parts: parts.block([squeezed, block], [g.i, 0]) } },
        ({ parts, ...refs }) => {
          parts.store(normalise(refs));
        },
      ),
      blockProgram(
        {
          grid: columns,
          inputs: { parts: parts.block([cdiv(m, bm), bn], [0, columns.j]) },
          outputs: { dw: array(f32, [n]).block([bn], [columns.j]) },
        },
        ({ parts, dw }) => {
          dw.store(loop({ to: cdiv(m, bm), carry: zeros(f32, [bn]) }, (i, sum) => sum.add(parts.at(i, all).load())));
        },
      ),
    ]);
  },
);

export const cases: OracleCases = { id: 10, settings: ({ dtype }) => ({ params: { dtype } }) };
