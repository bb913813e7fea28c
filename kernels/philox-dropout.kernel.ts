import {
  array,
  bf16,
  blockProgram,
  cdiv,
  choice,
  dim,
  dtypes,
  f16,
  f32,
  grid,
  i64,
  iota,
  kernel,
  random,
  scalar,
  select,
  u32,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * y[n] = x / (1 - p) where u > p, else 0, with u[n] uniform in [0, 1) drawn from Philox-4x32-10: bits[n] is word 0 for
 * the counter (i, 0, 0, 0) and the key (low, high word of seed).
 */
export const philoxDropout = kernel(
  'philox_dropout',
  { dtype: dtypes(f32, f16, bf16), block: choice([1024, 256]) },
  ({ dtype, block }) => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    const vector = <D extends Parameters<typeof array>[0]>(d: D) => array(d, [n]).block([block], [g.i]);
    return blockProgram(
      {
        grid: g,
        inputs: { x: vector(dtype), p: scalar(f32), seed: scalar(i64) },
        outputs: { bits: vector(u32), u: vector(f32), y: vector(dtype) },
      },
      ({ x, p, seed, bits, u, y }) => {
        const words = random.bits(seed, g.i.mul(block).add(iota([block])));
        const uniform = random.toUniform(words);
        bits.store(words);
        u.store(uniform);
        const kept = x.load().to(f32).div(p.neg().add(1));
        y.store(select(uniform.gt(p), kept, 0).to(dtype));
      },
    );
  },
);

export const cases: OracleCases = { id: 4, settings: ({ dtype }) => ({ params: { dtype } }) };
