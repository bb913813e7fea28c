/** Matrix products in float64. */

import { type OracleKernelCall, uniforms } from './call.js';
import { sum } from './sums.js';

/** Size of the terms that an element of a product of length k sums. */
const sizeOf = (c: OracleKernelCall, k: number): number => (c.dtype === 'tf32' ? 1 : 3) * Math.sqrt(k);

export function batchedMatmul(c: OracleKernelCall): void {
  type Sizes = [number, number, number, number];
  const [b, m, n, k] = c.pick<Sizes>([4, 128, 128, 64], [3, 35, 131, 67], [1, 1, 1, 1]);
  const [left, right] = [c.normal('a', [b, m, k]), c.normal('b', [b, k, n])];
  const turned = c.normal('bt', [b, n, k]);
  const product = (rightAt: (batch: number, t: number, j: number) => number) => (at: number) => {
    const [j, i, batch] = [at % n, Math.floor(at / n) % m, Math.floor(at / (n * m))];
    return sum(k, (t) => left[(batch * m + i) * k + t]! * rightAt(batch, t, j));
  };
  const size = sizeOf(c, k);
  const [plain, transposed] = [
    product((batch, t, j) => right[(batch * k + t) * n + j]!),
    product((batch, t, j) => turned[(batch * n + j) * k + t]!),
  ];
  c.result('c_nn', [b, m, n], plain, { size });
  c.result('c_nt', [b, m, n], transposed, { size });
}

export function int4Matmul(c: OracleKernelCall): void {
  const [m, n, k] = c.pick([64, 128, 256], [33, 71, 130], [1, 1, 2]) as [number, number, number];
  const group = c.scalar('group', 64, 'i32');
  const a = c.normal('a', [m, k]);
  const next = uniforms(c.nextSeed());
  const q = Uint8Array.from({ length: k * n }, () => Math.floor(next() * 16));
  const low = (at: number): number => 2 * Math.floor(at / n) * n + (at % n);
  const packed = Float64Array.from({ length: (k / 2) * n }, (_, at) => q[low(at)]! | (q[low(at) + n]! << 4));
  c.put('bq', [k / 2, n], packed, 'u8');
  const scale = c.uniform('scale', [Math.ceil(k / group), n], 0.02, 0.1);
  const weight = (t: number, j: number): number => (q[t * n + j]! - 8) * scale[Math.floor(t / group) * n + j]!;
  const at = (i: number): number => sum(k, (t) => a[Math.floor(i / n) * k + t]! * weight(t, i % n));
  // A weight may be rounded to the element type before it is multiplied.
  const ulp = c.dtype === 'f16' ? 2 ** -11 : 2 ** -8;
  c.result('c', [m, n], at, { atol: 2 * ulp * Math.sqrt(k) });
}

export function persistentMatmul(c: OracleKernelCall): void {
  const [m, n, k] = c.pick([256, 384, 128], [201, 139, 77], [1, 1, 1]) as [number, number, number];
  c.scalar('num_workers', c.pick(4, 3, 2), 'i32');
  const [a, b] = [c.normal('a', [m, k]), c.normal('b', [k, n])];
  const at = (i: number): number => sum(k, (t) => a[Math.floor(i / n) * k + t]! * b[t * n + (i % n)]!);
  c.result('c', [m, n], at, { size: sizeOf(c, k) });
}
