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
  i32,
  kernel,
  maximum,
  minimum,
} from 'tilewright';

/**
 * counts[bins]: how many of x[n] fall into each of `bins` equal parts of [0, 1); what lies outside counts at the ends.
 * Programs add to the same counters, so they add atomically; the counters start at zero.
 */
export const histogram = kernel(
  'histogram',
  { dtype: dtypes(f32, f16, bf16), bins: 64, block: 1024 },
  ({ dtype, bins, block }) => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, block) });
    return blockProgram(
      {
        grid: g,
        inputs: { x: array(dtype, [n]).block([block], [g.i]) },
        outputs: { counts: array(i32, [bins]) },
        zeroed: ['counts'],
      },
      ({ x, counts }) => {
        const bin = x.load().to(f32).mul(bins).floor().to(i32);
        atomic.add(counts.at(minimum(maximum(bin, 0), bins - 1)), 1);
      },
    );
  },
);
