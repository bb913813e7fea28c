/** Parts of networks, forward and backward, in float64. */

import { type OracleKernelCall, uniforms } from './call.js';
import { largest, sum } from './sums.js';

export function rmsnormFwdBwd(c: OracleKernelCall): void {
  const [m, n] = c.pick([32, 512], [19, 389], [1, 1]) as [number, number];
  const [x, w] = [c.normal('x', [m, n]), c.normal('w', [n], { scale: 0.5, shift: 1 })];
  const dy = c.normal('dy', [m, n]);
  const eps = c.scalar('eps', 1e-5);
  const rstd = Float64Array.from({ length: m }, (_, i) => 1 / Math.sqrt(sum(n, (j) => x[i * n + j]! ** 2) / n + eps));
  const row = (at: number): number => Math.floor(at / n);
  const h = (at: number): number => x[at]! * rstd[row(at)]!;
  const g = (at: number): number => dy[at]! * w[at % n]!;
  const mean = Float64Array.from({ length: m }, (_, i) => sum(n, (j) => g(i * n + j) * h(i * n + j)) / n);
  c.result('y', [m, n], (at) => h(at) * w[at % n]!, { size: 4 });
  c.result('rstd', [m], (i) => rstd[i]!, { dtype: 'f32' });
  const size = 4 * largest(m * n, (at) => Math.abs(rstd[row(at)]! * g(at)));
  c.result('dx', [m, n], (at) => rstd[row(at)]! * (g(at) - h(at) * mean[row(at)]!), { size });
  const dw = (j: number): number => sum(m, (i) => dy[i * n + j]! * h(i * n + j));
  c.result('dw', [n], dw, { dtype: 'f32', size: 4 * Math.sqrt(m) + 4 });
}

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
