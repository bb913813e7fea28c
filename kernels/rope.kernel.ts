import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  dim,
  ds,
  dtypes,
  f16,
  f32,
  grid,
  type Index,
  iota,
  kernel,
  sequence,
  squeezed,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/**
 * Rotary position embedding (Su et al., RoFormer) of q[b, s, h, d] and k[b, s, hk, d] by the angles whose cos[s, d / 2]
 * and sin[s, d / 2] are given. The two halves of a head are the parts of its complex numbers:
 * lo' = lo · cos - hi · sin, hi' = hi · cos + lo · sin, in f32. `bd` is at least d / 2; the dim `half` is d / 2.
 *
 * With `inPlace` q_out and k_out take over the memory of q and k: each element is read and written by one program.
 */
export const rope = kernel(
  'rope',
  { dtype: dtypes(f32, f16, bf16), bs: 32, bd: 64, inPlace: false },
  ({ dtype, bs, bd, inPlace }) => {
    const [b, s, half] = [dim('b'), dim('s'), dim('half', { max: bd })];

    /** The launch for one of the two arrays. */
    const rotate = <In extends string, Out extends string>(from: In, to: Out, heads: Index) => {
      const g = grid({ b, i: cdiv(s, bs), h: heads });
      const x = array(dtype, [b, s, heads, half.mul(2)]).block(
        [squeezed, bs, squeezed, half.mul(2)],
        [g.b, g.i, g.h, 0],
      );
      const angles = array(f32, [s, half]).block([bs, bd], [g.i, 0]);
      const inputs = { [from]: x, cos: angles, sin: angles };
      return blockProgram(
        { grid: g, inputs, outputs: { [to]: x }, ...(inPlace ? { aliases: { [to]: from } } : {}) },
        ({ cos, sin, ...refs }) => {
          // What lies beyond a half belongs to the other one, or to another head.
          const mask = iota([bd]).lt(half).expand(0).broadcastTo([bs, bd]);
          const parts = [ds(0, bd), ds(half, bd)] as const;
          const [lo, hi] = parts.map((part) => refs[from]!.at(all, part).load({ mask }).pad(0).to(f32));
          const [c, t] = [cos!.load().pad(0), sin!.load().pad(0)];
          refs[to]!.at(all, parts[0]).store(lo!.mul(c).sub(hi!.mul(t)).to(dtype), { mask });
          refs[to]!.at(all, parts[1]).store(hi!.mul(c).add(lo!.mul(t)).to(dtype), { mask });
        },
      );
    };
    return sequence({ temps: {} }, [rotate('q', 'q_out', dim('h')), rotate('k', 'k_out', dim('hk'))]);
  },
);

export const cases: OracleCases = {
  id: 12,
  settings: ({ dtype, shapes }) => ({ params: { dtype }, dims: { half: shapes.cos![1]! } }),
};
