import {
  array,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dtypes,
  type F32,
  f16,
  f32,
  grid,
  kernel,
  logistic,
  type Rank,
  type Tile,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))) */
function geluTanh<R extends Rank>(x: Tile<F32, R>): Tile<F32, R> {
  const inner = x.add(x.mul(x).mul(x).mul(0.044715)).mul(Math.sqrt(2 / Math.PI));
  return inner.tanh().add(1).mul(x.mul(0.5));
}

/** x/2 (1 + erf(x/√2)) */
function geluErf<R extends Rank>(x: Tile<F32, R>): Tile<F32, R> {
  return x.mul(Math.SQRT1_2).erf().add(1).mul(x.mul(0.5));
}

/**
 * Of x[m, n] and the gate g[m, n]: gelu_tanh, gelu_erf, silu = x / (1 + e^-x), geglu = gelu_tanh · g and
 * swiglu = silu · g; computed in f32, each rounded once.
 */
export const gatedActivations = kernel(
  'gated_activations',
  { dtype: dtypes(f16, bf16, f32), bm: 8, bn: 256 },
  ({ dtype, bm, bn }) => {
    const [m, n] = [dim('m'), dim('n')];
    const at = grid({ i: cdiv(m, bm), j: cdiv(n, bn) });
    const block = array(dtype, [m, n]).block([bm, bn], [at.i, at.j]);
    return blockProgram(
      {
        grid: at,
        inputs: { x: block, g: block },
        outputs: { gelu_tanh: block, gelu_erf: block, silu: block, geglu: block, swiglu: block },
      },
      ({ x, g, gelu_tanh, gelu_erf, silu, geglu, swiglu }) => {
        const [wide, gate] = [x.load().to(f32), g.load().to(f32)];
        const [gelu, swish] = [geluTanh(wide), wide.mul(logistic(wide))];
        gelu_tanh.store(gelu.to(dtype));
        gelu_erf.store(geluErf(wide).to(dtype));
        silu.store(swish.to(dtype));
        geglu.store(gelu.mul(gate).to(dtype));
        swiglu.store(swish.mul(gate).to(dtype));
      },
    );
  },
);

export const cases: OracleCases = { id: 3, settings: ({ dtype }) => ({ params: { dtype } }) };
