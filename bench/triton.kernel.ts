/**
 * The kernels of `npm run bench:triton`, as `bench/triton_peers.py` has them for Triton's Python front end. `fast` gives up
 * what Triton does not promise: correctly rounded division, no contraction; and the dims promise what its run time finds out.
 */

import {
  all,
  array,
  atomic,
  blockProgram,
  cdiv,
  dim,
  dot,
  ds,
  f16,
  f32,
  full,
  grid,
  i32,
  kernel,
  loop,
  maximum,
  scalar,
  squeezed,
  zeros,
} from 'tilewright';
import * as pltriton from 'tilewright/triton';

const options = (fast: boolean, numWarps: number, numStages = 3) => ({
  compilerParams: new pltriton.CompilerParams({ numWarps, numStages }),
  ...(fast ? { fastMath: { approx: true, contract: true } } : {}),
});

/** Multiples of 16, and small enough that every array has less than 2 GiB, as Triton's side promises too. */
const size = (name: string, max = 2 ** 14) => dim(name, { multipleOf: 16, max });

export const vectorAdd = kernel('vector_add', { fast: true }, ({ fast }) => {
  const n = size('n', 2 ** 28);
  const g = grid({ i: cdiv(n, 1024) });
  const v = array(f32, [n]).block([1024], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v, y: v }, outputs: { z: v }, ...options(fast, 4) }, ({ x, y, z }) => {
    z.store(x.load().add(y.load()));
  });
});

export const softmax = kernel('softmax', { fast: true }, ({ fast }) => {
  const [m, n] = [size('m'), size('n', 2048)];
  const g = grid({ row: m });
  const row = array(f32, [m, n]).block([squeezed, 2048], [g.row, 0]);
  return blockProgram({ grid: g, inputs: { x: row }, outputs: { y: row }, ...options(fast, 8) }, ({ x, y }) => {
    const v = x.load();
    const e = v.sub(fast ? v.maxNum(0) : v.max(0)).exp();
    y.store(e.div(e.sum(0)));
  });
});

export const layerNorm = kernel('layer_norm', { fast: true }, ({ fast }) => {
  const [m, n] = [size('m'), size('n', 1024)];
  const g = grid({ row: m });
  const row = array(f16, [m, n]).block([squeezed, 1024], [g.row, 0]);
  const column = array(f16, [n]).block([1024], [0]);
  return blockProgram(
    {
      grid: g,
      inputs: { x: row, w: column, b: column, eps: scalar(f32) },
      outputs: { y: row },
      ...options(fast, 4),
    },
    ({ x, w, b, eps, y }) => {
      const v = x.load().to(f32);
      const centred = v.sub(v.sum(0).div(n.to(f32)));
      const variance = centred.mul(centred).sum(0).div(n.to(f32));
      const normal = centred.mul(variance.add(eps).rsqrt());
      y.store(normal.mul(w.load().to(f32)).add(b.load().to(f32)).to(f16));
    },
  );
});

export const histogram = kernel('histogram', { fast: true }, ({ fast }) => {
  const n = size('n', 2 ** 28);
  const g = grid({ i: cdiv(n, 1024) });
  return blockProgram(
    {
      grid: g,
      inputs: { x: array(i32, [n]).block([1024], [g.i]) },
      outputs: { counts: array(i32, [256]) },
      zeroed: ['counts'],
      ...options(fast, 4),
    },
    ({ x, counts }) => {
      atomic.add(counts.at(x.load()), 1);
    },
  );
});

export const matmul = kernel('matmul', { fast: true }, ({ fast }) => {
  const [m, n, k] = [size('m'), size('n'), size('k')];
  const g = grid({ m: cdiv(m, 128), n: cdiv(n, 128) });
  return blockProgram(
    {
      grid: g,
      inputs: {
        a: array(f16, [m, k]).block([128, k], [g.m, 0]),
        b: array(f16, [k, n]).block([k, 128], [0, g.n]),
      },
      outputs: { c: array(f32, [m, n]).block([128, 128], [g.m, g.n]) },
      ...options(fast, 8),
    },
    ({ a, b, c }) => {
      const sum = loop({ to: cdiv(k, 64), carry: zeros(f32, [128, 128]) }, (i, sum) => {
        const depth = ds(i.mul(64), 64);
        return sum.add(dot(a.at(all, depth).load(), b.at(depth, all).load()));
      });
      c.store(sum);
    },
  );
});

export const attention = kernel('attention', { fast: true }, ({ fast }) => {
  const [h, s] = [dim('h', { max: 256 }), dim('s', { multipleOf: 128, max: 2 ** 15 })];
  const g = grid({ h, i: cdiv(s, 128) });
  const rows = array(f16, [h, s, 64]).block([squeezed, 128, 64], [g.h, g.i, 0]);
  const head = array(f16, [h, s, 64]).block([squeezed, s, 64], [g.h, 0, 0]);
  return blockProgram(
    {
      grid: g,
      inputs: { q: rows, k: head, v: head, scale: scalar(f32) },
      outputs: { o: rows },
      ...options(fast, 4),
    },
    ({ q, k, v, scale, o }) => {
      const queries = q.load();
      const { l, acc } = loop(
        {
          to: cdiv(s, 64),
          carry: { m: full(f32, [128], -Infinity), l: zeros(f32, [128]), acc: zeros(f32, [128, 64]) },
        },
        (j, { m, l, acc }) => {
          const keys = ds(j.mul(64), 64);
          const score = dot(queries, k.at(keys, all).load().transpose()).mul(scale.mul(Math.LOG2E));
          const next = maximum(m, fast ? score.maxNum(1) : score.max(1));
          const alpha = m.sub(next).exp2();
          const p = score.sub(next.expand(1)).exp2();
          return {
            m: next,
            l: l.mul(alpha).add(p.sum(1)),
            acc: acc.mul(alpha.expand(1)).add(dot(p.to(f16), v.at(keys, all).load())),
          };
        },
      );
      o.store(acc.div(l.expand(1)).to(f16));
    },
  );
});
