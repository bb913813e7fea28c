/** Attention and its relatives in float64. */

import { nd } from '../../src/testing/index.js';
import { type OracleKernelCall, uniforms } from './call.js';
import { largest, sum } from './sums.js';

/** What results of attention are held to. */
export function attentionBounds(c: OracleKernelCall): { rtol: number; atol: number } {
  const bounds = { f32: [2e-5, 1e-5], f16: [3e-3, 1.5e-3], bf16: [1.5e-2, 1e-2] } as const;
  const [rtol, atol] = bounds[c.dtype as keyof typeof bounds];
  return { rtol, atol };
}

export function pagedDecodeAttention(c: OracleKernelCall): void {
  const { b, hq, hkv, d, page, pages, lengths } = c.pick(
    { b: 4, hq: 8, hkv: 2, d: 64, page: 16, pages: 64, lengths: [256, 128, 16, 240] },
    { b: 3, hq: 6, hkv: 2, d: 80, page: 16, pages: 40, lengths: [201, 1, 77] },
    { b: 1, hq: 1, hkv: 1, d: 16, page: 1, pages: 1, lengths: [1] },
  );
  const q = c.normal('q', [b, hq, d]);
  const [k, v] = [c.normal('k_pages', [pages, page, hkv, d]), c.normal('v_pages', [pages, page, hkv, d])];
  const slots = Math.ceil(Math.max(...lengths) / page);
  const next = uniforms(c.nextSeed());
  const free = Array.from({ length: pages }, (_, i) => i);
  const table = new Float64Array(b * slots).fill(-1);
  lengths.forEach((length, i) => {
    for (let j = 0; j * page < length; j++)
      [table[i * slots + j]] = free.splice(Math.floor(next() * free.length), 1) as [number];
  });
  c.put('block_table', [b, slots], table, 'i32');
  c.put('seq_lens', [b], lengths, 'i32');
  const scale = c.scalar('scale', 1 / Math.sqrt(d));
  const [o, lse] = [new Float64Array(b * hq * d), new Float64Array(b * hq)];
  for (let row = 0; row < lse.length; row++) {
    const [i, head] = [Math.floor(row / hq), Math.floor((row % hq) / (hq / hkv))];
    const length = lengths[i]!;
    const at = (token: number): number =>
      ((table[i * slots + Math.floor(token / page)]! * page + (token % page)) * hkv + head) * d;
    const score = (token: number): number => scale * sum(d, (t) => q[row * d + t]! * k[at(token) + t]!);
    const scores = Float64Array.from({ length }, (_, token) => score(token));
    const top = largest(length, (token) => scores[token]!);
    const weights = scores.map((x) => Math.exp(x - top));
    const total = sum(length, (token) => weights[token]!);
    lse[row] = top + Math.log(total);
    for (let t = 0; t < d; t++) o[row * d + t] = sum(length, (token) => weights[token]! * v[at(token) + t]!) / total;
  }
  c.result('o', [b, hq, d], (i) => o[i]!, attentionBounds(c));
  c.result('lse', [b, hq], (i) => lse[i]!, { dtype: 'f32', rtol: 1e-5, atol: 2e-5 });
}

export function flashAttentionBwd(c: OracleKernelCall): void {
  type Sizes = [number, number, number, number, number];
  const [b, hq, hkv, s, d] = c.pick<Sizes>([1, 4, 2, 256, 64], [2, 3, 1, 197, 64], [1, 1, 1, 1, 16]);
  const [q, k, v] = [c.normal('q', [b, hq, s, d]), c.normal('k', [b, hkv, s, d]), c.normal('v', [b, hkv, s, d])];
  const scale = c.scalar('scale', 1 / Math.sqrt(d));
  const upstream = c.normal('do', [b, hq, s, d]);
  const [o, lse] = [new Float64Array(q.length), new Float64Array(b * hq * s)];
  const [dq, dk, dv] = [new Float64Array(q.length), new Float64Array(k.length), new Float64Array(k.length)];
  const inner = (x: Float64Array, i: number, y: Float64Array, j: number): number =>
    sum(d, (t) => x[i * d + t]! * y[j * d + t]!);
  const addTo = (x: Float64Array, i: number, factor: number, y: Float64Array, j: number): void => {
    for (let t = 0; t < d; t++) x[i * d + t]! += factor * y[j * d + t]!;
  };
  for (let row = 0; row < lse.length; row++) {
    const [i, head] = [row % s, Math.floor(row / s)];
    const first = (Math.floor(head / hq) * hkv + Math.floor((head % hq) / (hq / hkv))) * s;
    const scores = Float64Array.from({ length: i + 1 }, (_, j) => scale * inner(q, row, k, first + j));
    const top = largest(i + 1, (j) => scores[j]!);
    lse[row] = top + Math.log(sum(i + 1, (j) => Math.exp(scores[j]! - top)));
    const p = scores.map((x) => Math.exp(x - lse[row]!));
    for (const [j, weight] of p.entries()) addTo(o, row, weight, v, first + j);
    const dp = p.map((_, j) => inner(upstream, row, v, first + j));
    const mean = sum(i + 1, (j) => p[j]! * dp[j]!);
    for (const [j, weight] of p.entries()) {
      const gradient = scale * weight * (dp[j]! - mean);
      addTo(dq, row, gradient, k, first + j);
      addTo(dk, first + j, gradient, q, row);
      addTo(dv, first + j, weight, upstream, row);
    }
  }
  c.put('o', [b, hq, s, d], o);
  c.put('lse', [b, hq, s], lse, 'f32');
  const bounds = { f32: [1e-4, 5e-5], f16: [6e-3, 6e-3], bf16: [3e-2, 4e-2] } as const;
  const [rtol, atol] = bounds[c.dtype as keyof typeof bounds];
  c.result('dq', [b, hq, s, d], (at) => dq[at]!, { rtol, atol });
  c.result('dk', [b, hkv, s, d], (at) => dk[at]!, { rtol, atol });
  c.result('dv', [b, hkv, s, d], (at) => dv[at]!, { rtol, atol });
}

export function linearAttentionGlaGdn(c: OracleKernelCall): void {
  type Sizes = [number, number, number, number, number];
  const [b, h, t, dk, dv] = c.pick<Sizes>([1, 2, 128, 32, 64], [1, 3, 83, 24, 40], [1, 1, 1, 4, 4]);
  const steps = b * h * t;
  const q = c.normal('q', [b, h, t, dk]);
  const normal = nd.normals(c.nextSeed());
  const raw = Float64Array.from({ length: steps * dk }, normal);
  const length = (step: number): number => Math.sqrt(sum(dk, (i) => raw[step * dk + i]! ** 2));
  const unit = raw.map((x, at) => x / length(Math.floor(at / dk)));
  const k = c.put('k', [b, h, t, dk], unit);
  const v = c.normal('v', [b, h, t, dv]);
  const next = uniforms(c.nextSeed());
  const logDecay = (): number => 0.1 * Math.log(1 - next());
  const g = c.put('g', [b, h, t, dk], Float64Array.from({ length: steps * dk }, logDecay), 'f32');
  const gs = c.put('gs', [b, h, t], Float64Array.from({ length: steps }, logDecay), 'f32');
  const beta = c.uniform('beta', [b, h, t], 0.1, 1);
  const scale = c.scalar('scale', 1 / Math.sqrt(dk));
  const bounds = { f32: [1e-4, 5e-5], f16: [5e-3, 6e-3], bf16: [3e-2, 4e-2] } as const;
  const [rtol, atol] = bounds[c.dtype as keyof typeof bounds];

  /** Runs every head; `update` changes the state of a head by one step. */
  const run = (name: string, update: (s: Float64Array, step: number) => void): void => {
    const [o, states] = [new Float64Array(steps * dv), new Float64Array(b * h * dk * dv)];
    for (let head = 0; head < b * h; head++) {
      const s = states.subarray(head * dk * dv, (head + 1) * dk * dv);
      for (let step = head * t; step < (head + 1) * t; step++) {
        update(s, step);
        for (let j = 0; j < dv; j++) o[step * dv + j] = scale * sum(dk, (i) => q[step * dk + i]! * s[i * dv + j]!);
      }
    }
    c.result(`${name}_o`, [b, h, t, dv], (at) => o[at]!, { rtol, atol });
    c.result(`${name}_state`, [b, h, dk, dv], (at) => states[at]!, { dtype: 'f32', rtol, atol });
  };
  run('gla', (s, step) => {
    for (let i = 0; i < dk; i++)
      for (let j = 0; j < dv; j++)
        s[i * dv + j] = Math.exp(g[step * dk + i]!) * s[i * dv + j]! + k[step * dk + i]! * v[step * dv + j]!;
  });
  run('gdn', (s, step) => {
    for (let at = 0; at < s.length; at++) s[at]! *= Math.exp(gs[step]!);
    for (let j = 0; j < dv; j++) {
      const missing = v[step * dv + j]! - sum(dk, (i) => k[step * dk + i]! * s[i * dv + j]!);
      for (let i = 0; i < dk; i++) s[i * dv + j]! += beta[step]! * k[step * dk + i]! * missing;
    }
  });
}
