/** Attention and its relatives in float64. */

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
