import {
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
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** Fewer rows, so that they fit in registers. */
const gpuBlocks = { bm: 4 };

/**
 * Layer normalisation of the rows of x[m, n] (Ba et al., Layer Normalization) and its gradient: mean[m], rstd[m] =
 * (var + eps)^-½ of the biased variance, h = (x - mean) rstd and y = h w[n] + b[n]; with g = dy w,
 * dx = rstd (g - mean(g) - h mean(g h)), dw[n] = Σ dy h and db[n] = Σ dy over the rows. `block` is at least n.
 *
 * A program holds `bm` whole rows. Its parts of dw and db go into rows of temporaries, which a third launch sums in order, so
 * that they are the same in every run; without `deterministic` programs add to dw and db atomically.
 */
export const layernormFwdBwd = kernel(
  'layernorm_fwd_bwd',
  perTarget(
    { cuda: gpuBlocks, hip: gpuBlocks },
    { dtype: dtypes(f32, f16, bf16), bm: 16, block: 1024, bn: 128, deterministic: true },
  ),
  ({ dtype, bm, block, bn, deterministic }) => {
    const [m, n] = [dim('m'), dim('n', { max: block })];
    const parts = cdiv(m, bm);
    const g = grid({ i: parts });
    const rows = array(dtype, [m, n]).block([bm, block], [g.i, 0]);
    const weights = array(dtype, [n]).block([block], [0]);
    const perRow = array(f32, [m]).block([bm], [g.i]);

    const forward = blockProgram(
      {
        grid: g,
        inputs: { x: rows, w: weights, b: weights, eps: scalar(f32) },
        outputs: { y: rows, mean: perRow, rstd: perRow },
      },
      ({ x, w, b, eps, y, mean, rstd }) => {
        const v = x.load().to(f32);
        const average = v.sum(1).div(n.to(f32));
        const centred = v.sub(average.expand(1));
        const r = centred.mul(centred).sum(1).div(n.to(f32)).add(eps).rsqrt();
        mean.store(average);
        rstd.store(r);
        y.store(centred.mul(r.expand(1)).mul(w.load().to(f32)).add(b.load().to(f32)).to(dtype));
      },
    );
    const inputs = { x: rows, w: weights, dy: rows, mean: perRow, rstd: perRow };
    /** Stores dx; gives this program's shares of dw and db. */
    const gradient = ({ x, w, dy, mean, rstd, dx }: Handles<typeof inputs, { dx: typeof rows }>) => {
      const r = rstd.load().expand(1);
      const h = x.load().to(f32).sub(mean.load().expand(1)).mul(r);
      const up = dy.load().to(f32);
      const scaled = up.mul(w.load().to(f32));
      const [average, along] = [scaled, scaled.mul(h)].map((t) => t.sum(1).div(n.to(f32)).expand(1));
      dx.store(scaled.sub(average!).sub(h.mul(along!)).mul(r).to(dtype));
      return { dw: up.mul(h).sum(0), db: up.sum(0) };
    };

    const sums = array(f32, [n]).block([block], [0]);
    if (!deterministic)
      return sequence({ temps: {} }, [
        forward,
        blockProgram(
          {
            grid: g,
            inputs,
            outputs: { dx: rows, dw: sums, db: sums },
            zeroed: ['dw', 'db'],
          },
          (refs) => {
            const share = gradient(refs);
            atomic.add(refs.dw.at(iota([block])), share.dw);
            atomic.add(refs.db.at(iota([block])), share.db);
          },
        ),
      ]);
    const shares = array(f32, [parts, n]);
    const share = shares.block([1, block], [g.i, 0]);
    const columns = grid({ j: cdiv(n, bn) });
    const all = shares.block([parts, bn], [0, columns.j]);
    const total = array(f32, [n]).block([bn], [columns.j]);
    return sequence({ temps: { dw_shares: shares, db_shares: shares } }, [
      forward,
      blockProgram({ grid: g, inputs, outputs: { dx: rows, dw_shares: share, db_shares: share } }, (refs) => {
        const { dw, db } = gradient(refs);
        refs.dw_shares.store(dw.expand(0));
        refs.db_shares.store(db.expand(0));
      }),
      blockProgram(
        { grid: columns, inputs: { dw_shares: all, db_shares: all }, outputs: { dw: total, db: total } },
        ({ dw_shares, db_shares, dw, db }) => {
          const carry = { dw: zeros(f32, [bn]), db: zeros(f32, [bn]) };
          const totals = loop({ to: parts, carry }, (i, sum) => ({
            dw: sum.dw.add(dw_shares.at(i).load()),
            db: sum.db.add(db_shares.at(i).load()),
          }));
          dw.store(totals.dw);
          db.store(totals.db);
        },
      ),
    ]);
  },
);

export const cases: OracleCases = { id: 11, settings: ({ dtype }) => ({ params: { dtype } }) };
