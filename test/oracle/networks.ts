/** Parts of networks, forward and backward, in float64. */

import { type OracleKernelCall, uniforms } from './call.js';
import { largest, sum } from './sums.js';

/** What normalisation of rows gives back and takes, for x centred on `mean` of each row. */
function normalised(c: OracleKernelCall, centred: boolean): void {
  const [m, n] = c.pick([32, 512], [19, 389], [1, 1]) as [number, number];
  const x = c.normal('x', [m, n], { shift: centred ? 0.3 : 0 });
  const w = c.normal('w', [n], { scale: 0.5, shift: 1 });
  const b = centred ? c.normal('b', [n]) : undefined;
  const dy = c.normal('dy', [m, n]);
  const eps = c.scalar('eps', 1e-5);
  const average = (i: number, at: (k: number) => number): number => sum(n, (j) => at(i * n + j)) / n;
  const rows = Array.from({ length: m }, (_, i) => {
    const mean = centred ? average(i, (k) => x[k]!) : 0;
    return { mean, rstd: 1 / Math.sqrt(average(i, (k) => (x[k]! - mean) ** 2) + eps) };
  });
  const of = (k: number) => rows[Math.floor(k / n)]!;
  const h = x.map((v, k) => (v - of(k).mean) * of(k).rstd);
  const g = dy.map((v, k) => v * w[k % n]!);
  const means = rows.map((_, i) => ({
    g: centred ? average(i, (k) => g[k]!) : 0,
    gh: average(i, (k) => g[k]! * h[k]!),
  }));
  const perColumn = { dtype: 'f32', size: 4 * Math.sqrt(m) + 4 } as const;
  c.result('y', [m, n], (k) => h[k]! * w[k % n]! + (b?.[k % n] ?? 0), { size: 4 });
  if (centred) c.result('mean', [m], (i) => rows[i]!.mean, { dtype: 'f32', size: 2 });
  c.result('rstd', [m], (i) => rows[i]!.rstd, { dtype: 'f32' });
  const dx = (k: number): number => {
    const { g: mean, gh } = means[Math.floor(k / n)]!;
    return of(k).rstd * (g[k]! - mean - h[k]! * gh);
  };
  c.result('dx', [m, n], dx, { size: 4 * largest(m * n, (k) => Math.abs(of(k).rstd * g[k]!)) });
  c.result('dw', [n], (j) => sum(m, (i) => dy[i * n + j]! * h[i * n + j]!), perColumn);
  if (centred) c.result('db', [n], (j) => sum(m, (i) => dy[i * n + j]!), perColumn);
}

export const rmsnormFwdBwd = (c: OracleKernelCall): void => normalised(c, false);
export const layernormFwdBwd = (c: OracleKernelCall): void => normalised(c, true);

export function rope(c: OracleKernelCall): void {
  type Sizes = [number, number, number, number, number];
  const [b, s, h, hk, d] = c.pick<Sizes>([2, 64, 4, 2, 64], [1, 37, 3, 1, 80], [1, 1, 1, 1, 2]);
  const half = d / 2;
  const [q, k] = [c.normal('q', [b, s, h, d]), c.normal('k', [b, s, hk, d])];
  const angle = (at: number): number => Math.floor(at / half) * 10000 ** ((-2 * (at % half)) / d);
  const angles = Float64Array.from({ length: s * half }, (_, at) => angle(at));
  const [cos, sin] = [
    c.put('cos', [s, half], angles.map(Math.cos), 'f32'),
    c.put('sin', [s, half], angles.map(Math.sin), 'f32'),
  ];
  const turned = (x: Float64Array, heads: number) => (at: number) => {
    const [t, head] = [at % d, Math.floor(at / d)];
    const a = (Math.floor(head / heads) % s) * half + (t % half);
    return t < half ? x[at]! * cos[a]! - x[at + half]! * sin[a]! : x[at]! * cos[a]! + x[at - half]! * sin[a]!;
  };
  c.result('q_out', [b, s, h, d], turned(q, h), { size: 4 });
  c.result('k_out', [b, s, hk, d], turned(k, hk), { size: 4 });
}

export function embeddingGatherScatter(c: OracleKernelCall): void {
  const [v, d, t] = c.pick([512, 128, 256], [301, 67, 143], [1, 1, 1]) as [number, number, number];
  const table = c.normal('table', [v, d]);
  const next = uniforms(c.nextSeed());
  const number = (): number => Math.floor(next() * v);
  // The smaller of two: low numbers come often.
  const drawn = Float64Array.from({ length: t }, () => Math.min(number(), number()));
  const idx = c.put('idx', [t], drawn, 'i32');
  const grad = c.normal('grad', [t, d]);
  c.result('y', [t, d], (at) => table[idx[Math.floor(at / d)]! * d + (at % d)]!, { rtol: 0, atol: 0 });
  const [dtable, count] = [new Float64Array(v * d), new Float64Array(v)];
  for (const [i, row] of idx.entries()) {
    count[row]!++;
    for (let j = 0; j < d; j++) dtable[row * d + j]! += grad[i * d + j]!;
  }
  const size = 4 * Math.sqrt(largest(v, (row) => count[row]!)) + 4;
  c.result('dtable', [v, d], (at) => dtable[at]!, { dtype: 'f32', size });
}

export function crossEntropyOnline(c: OracleKernelCall): void {
  const [t, v] = c.pick([2, 128256], [3, 50257], [1, 1]) as [number, number];
  const ignored = -100;
  const x = c.normal('logits', [t, v], { scale: 2 });
  const next = uniforms(c.nextSeed());
  const drawn = Float64Array.from({ length: t }, (_, i) => (t > 2 && i === 1 ? ignored : Math.floor(next() * v)));
  const target = c.put('target', [t], drawn, 'i32');
  c.scalar('ignore_index', ignored, 'i32');
  const lse = Float64Array.from({ length: t }, (_, i) => {
    const top = largest(v, (j) => x[i * v + j]!);
    return top + Math.log(sum(v, (j) => Math.exp(x[i * v + j]! - top)));
  });
  const counts = (i: number): boolean => target[i] !== ignored;
  c.result('loss', [t], (i) => (counts(i) ? lse[i]! - x[i * v + target[i]!]! : 0), { dtype: 'f32', size: 10 });
  c.result('lse', [t], (i) => lse[i]!, { dtype: 'f32', size: 10 });
  const gradient = (at: number): number => {
    const i = Math.floor(at / v);
    return counts(i) ? Math.exp(x[at]! - lse[i]!) - (at % v === target[i] ? 1 : 0) : 0;
  };
  c.result('dlogits', [t, v], gradient, { size: c.dtype === 'f32' ? 1e-2 : 1e-3 });
}
