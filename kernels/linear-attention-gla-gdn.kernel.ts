import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  choice,
  dim,
  dot,
  ds,
  dtypes,
  f16,
  f32,
  grid,
  iota,
  kernel,
  loop,
  scalar,
  select,
  sequence,
  squeezed,
  type Tile,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Linear attention with a state S[k, v] for each head, read as o_t = scale · S_tᵀ q_t, over q and k[b, h, t, dk] and
 * v[b, h, t, dv]:
 *
 * - gated (Yang et al., Gated Linear Attention): S_t = diag(e^g_t) S_(t-1) + k_t v_tᵀ, with log decays g[b, h, t, dk];
 * - gated delta rule (Yang et al., Gated Delta Networks): S_t = e^gs_t (I - beta_t k_t k_tᵀ) S_(t-1) + beta_t k_t v_tᵀ, with
 *   gs and beta[b, h, t]; keys have length 1.
 *
 * A program keeps `bv` columns of a state, all of its rows (`bk` is at least dk), and takes `chunk` steps at once by matrix
 * products: with G the running sum of log decays in a chunk, S_t = e^G_t S_0 + Σ_(j ≤ t) e^(G_t - G_j) k_j u_jᵀ, where u is v,
 * or for the delta rule the solution of a triangular system. `recurrent` takes step by step; the gated chunks need it where
 * log decays of half a chunk sum to less than -80, which e^-G does not hold.
 */
export const linearAttentionGlaGdn = kernel(
  'linear_attention_gla_gdn',
  {
    dtype: dtypes(f32, bf16, f16),
    form: choice(['chunked', 'recurrent']),
    chunk: choice([16, 32, 64]),
    bk: 32,
    bv: choice([32, 64, 16]),
  },
  ({ dtype, form, chunk, bk, bv }) => {
    const [b, h, t, dk, dv] = [dim('b'), dim('h'), dim('t'), dim('dk', { max: bk }), dim('dv')];
    const g = grid({ b, h, j: cdiv(dv, bv) });
    const keys = array(dtype, [b, h, t, dk]).block([squeezed, squeezed, t, bk], [g.b, g.h, 0, 0]);
    const values = array(dtype, [b, h, t, dv]).block([squeezed, squeezed, t, bv], [g.b, g.h, 0, g.j]);
    const state = array(f32, [b, h, dk, dv]).block([squeezed, squeezed, bk, bv], [g.b, g.h, 0, g.j]);
    const decays = array(f32, [b, h, t, dk]).block([squeezed, squeezed, t, bk], [g.b, g.h, 0, 0]);
    const perStep = <D extends typeof dtype | typeof f32>(d: D) =>
      array(d, [b, h, t]).block([squeezed, squeezed, t], [g.b, g.h, 0]);
    const shared = { q: keys, k: keys, v: values, scale: scalar(f32) };
    const start = (): Tile<typeof f32, 2> => zeros(f32, [bk, bv]);

    /** Product of what the matrix units take. */
    const product = (x: Tile<typeof f32, 2>, y: Tile<typeof f32, 2>) =>
      dot(x.to(dtype), y.to(dtype)) as Tile<typeof f32, 2>;
    const steps = () => {
      const [row, column] = [iota([chunk]).expand(1), iota([chunk]).expand(0)];
      return { upTo: row.ge(column), before: row.gt(column), row, column };
    };

    const gated = blockProgram(
      { grid: g, inputs: { ...shared, g: decays }, outputs: { gla_o: values, gla_state: state } },
      ({ q, k, v, scale, g: decay, gla_o, gla_state }) => {
        if (form === 'recurrent') {
          const last = loop({ to: t, carry: start() }, (i, s) => {
            const [key, value] = [k.at(i, all).load().to(f32), v.at(i, all).load().to(f32)];
            const next = s.mul(decay.at(i, all).load().exp().expand(1)).add(key.expand(1).mul(value));
            const read = q.at(i, all).load().to(f32).mul(scale);
            gla_o.at(i, all).store(next.mul(read.expand(1)).sum(0).to(dtype));
            return next;
          });
          gla_state.store(last);
          return;
        }
        const last = loop({ to: cdiv(t, chunk), carry: start() }, (i, s) => {
          const part = ds(i.mul(chunk), chunk);
          // Steps past the end neither decay nor add.
          const [query, key] = [q, k].map((x) => x.at(part, all).load().to(f32).pad(0)) as [typeof s, typeof s];
          const [value, log] = [v.at(part, all).load().to(f32).pad(0), decay.at(part, all).load().pad(0)];
          const { upTo, row } = steps();
          const [running, total] = [log.cumsum(0), log.sum(0)];
          // Measured from the middle of the chunk, so that neither factor leaves the range of the dtype.
          const middle = select(row.lt(chunk / 2), log, 0).sum(0);
          const [fromMiddle, toMiddle] = [running.sub(middle).exp(), middle.sub(running).exp()];
          const weights = select(upTo, product(query.mul(fromMiddle), key.mul(toMiddle).transpose()), 0);
          const o = product(query.mul(running.exp()), s).add(product(weights, value)).mul(scale);
          gla_o.at(part, all).store(o.to(dtype));
          const kept = key.mul(total.sub(running).exp());
          return s.mul(total.exp().expand(1)).add(product(kept.transpose(), value));
        });
        gla_state.store(last);
      },
    );

    const delta = blockProgram(
      {
        grid: g,
        inputs: { ...shared, gs: perStep(f32), beta: perStep(dtype) },
        outputs: { gdn_o: values, gdn_state: state },
      },
      ({ q, k, v, scale, gs, beta, gdn_o, gdn_state }) => {
        if (form === 'recurrent') {
          const last = loop({ to: t, carry: start() }, (i, s) => {
            const [key, value] = [k.at(i, all).load().to(f32).expand(1), v.at(i, all).load().to(f32)];
            const faded = s.mul(gs.at(i).load().exp());
            const missing = value.sub(faded.mul(key).sum(0)).mul(beta.at(i).load().to(f32));
            const next = faded.add(key.mul(missing));
            const read = q.at(i, all).load().to(f32).mul(scale);
            gdn_o.at(i, all).store(next.mul(read.expand(1)).sum(0).to(dtype));
            return next;
          });
          gdn_state.store(last);
          return;
        }
        const last = loop({ to: cdiv(t, chunk), carry: start() }, (i, s) => {
          const part = ds(i.mul(chunk), chunk);
          const [query, key] = [q, k].map((x) => x.at(part, all).load().to(f32).pad(0)) as [typeof s, typeof s];
          const value = v.at(part, all).load().to(f32).pad(0);
          const [log, rate] = [gs.at(part).load().pad(0), beta.at(part).load().to(f32).pad(0).expand(1)];
          const { upTo, before, row, column } = steps();
          const [running, total] = [log.cumsum(0), log.sum(0)];
          const between = select(upTo, running.expand(1).sub(running), -Infinity).exp();
          const faded = running.exp().expand(1);
          // (1 + A) u = beta (v - e^G k S_0) by the rows of the inverse of 1 + A, each from those above it.
          const a = select(before, product(key, key.transpose()).mul(between), 0).mul(rate);
          const unit = select(row.eq(column), 1, zeros(f32, [chunk, chunk]));
          const inverse = loop({ from: 1, to: chunk, carry: unit }, (r, rows) => {
            const own = select(row.eq(r), a, 0).sum(0);
            return select(row.eq(r), unit.sub(own.expand(1).mul(rows).sum(0)), rows);
          });
          const u = product(inverse, value.sub(product(key, s).mul(faded)).mul(rate));
          const weights = product(query, key.transpose()).mul(between);
          const o = product(query, s).mul(faded).add(product(weights, u)).mul(scale);
          gdn_o.at(part, all).store(o.to(dtype));
          const kept = key.mul(total.sub(running).exp().expand(1));
          return s.mul(total.exp()).add(product(kept.transpose(), u));
        });
        gdn_state.store(last);
      },
    );
    return sequence({ temps: {} }, [gated, delta]);
  },
);

export const cases: OracleCases = { id: 28, settings: ({ dtype }) => ({ params: { dtype } }) };
