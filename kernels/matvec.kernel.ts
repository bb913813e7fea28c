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
  kernel,
  loop,
  perTarget,
  zeros,
} from 'tilewright';
import type { OracleCases } from 'tilewright/testing';

/** What a GPU's program reads at once: long stretches of few rows. */
const gpuBlocks = { bm: 4, bk: 1024 };

/**
 * y[m] = a[m, k] · x[k], summed in f32: whole rows of `a` stream by, a few of them in each program. A CPU reads short
 * stretches of many rows, so that more of them are on their way from memory.
 */
export const matvec = kernel(
  'matvec',
  perTarget({ cuda: gpuBlocks, hip: gpuBlocks }, { dtype: dtypes(f32, f16, bf16), bm: 16, bk: 128 }),
  ({ dtype, bm, bk }) => {
    const [m, k] = [dim('m'), dim('k')];
    const g = grid({ i: cdiv(m, bm) });
    return blockProgram(
      {
        grid: g,
        inputs: { a: array(dtype, [m, k]).block([bm, k], [g.i, 0]), x: array(dtype, [k]) },
        outputs: { y: array(dtype, [m]).block([bm], [g.i]) },
      },
      ({ a, x, y }) => {
        const sum = loop({ to: cdiv(k, bk), carry: zeros(f32, [bm]) }, (i, sum) => {
          const part = ds(i.mul(bk), bk);
          return sum.add(a.at(all, part).load().to(f32).mul(x.at(part).load().to(f32)).sum(1));
        });
        y.store(sum.to(dtype));
      },
    );
  },
);

export const cases: OracleCases = { id: 9, settings: ({ dtype }) => ({ params: { dtype } }) };
