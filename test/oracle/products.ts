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

export function scaledMatmul(c: OracleKernelCall): void {
  const [m, n, k] = c.pick([128, 128, 256], [65, 97, 200], [1, 1, 1]) as [number, number, number];
  if (c.dtype === 'i8') {
    const [a, b] = [c.integers('a', [m, k], -127, 128), c.integers('b', [k, n], -127, 128)];
    const [sa, sb] = [c.uniform('sa', [m], 0.005, 0.02, 'f32'), c.uniform('sb', [n], 0.005, 0.02, 'f32')];
    const acc = (i: number): number => sum(k, (t) => a[Math.floor(i / n) * k + t]! * b[t * n + (i % n)]!);
    const scaled = (i: number): number => acc(i) * sa[Math.floor(i / n)]! * sb[i % n]!;
    c.result('acc', [m, n], acc, { dtype: 'i32' });
    c.result('c', [m, n], scaled, { dtype: 'f32', size: 1e-4 });
    c.result('c_bf16', [m, n], scaled, { dtype: 'bf16', size: 1e-2 });
    return;
  }
  const block = c.scalar('block', 128, 'i32');
  const [kb, nb] = [Math.ceil(k / block), Math.ceil(n / block)];
  const [a, b] = [c.normal('a', [m, k], { scale: 2 }), c.normal('b', [k, n], { scale: 2 })];
  const [sa, sb] = [c.uniform('sa', [m, kb], 0.5, 2, 'f32'), c.uniform('sb', [kb, nb], 0.5, 2, 'f32')];
  const at = (i: number): number => {
    const [row, column] = [Math.floor(i / n), i % n];
    return sum(k, (t) => {
      const part = Math.floor(t / block);
      const scale = sa[row * kb + part]! * sb[part * nb + Math.floor(column / block)]!;
      return a[row * k + t]! * b[t * n + column]! * scale;
    });
  };
  c.result('c', [m, n], at, { dtype: 'f32', rtol: 1e-4, atol: 2e-4 * Math.sqrt(k) });
  c.result('c_bf16', [m, n], at, { dtype: 'bf16', rtol: 9e-3, atol: 1e-3 * Math.sqrt(k) });
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

export function groupedMatmul(c: OracleKernelCall): void {
  const { m, n, k, sizes } = c.pick(
    { m: 256, n: 128, k: 64, sizes: [64, 0, 128, 64] },
    { m: 133, n: 67, k: 45, sizes: [17, 0, 1, 90, 12] },
    { m: 1, n: 1, k: 1, sizes: [1] },
  );
  const groups = sizes.length;
  const [lhs, rhs] = [c.normal('lhs', [m, k]), c.normal('rhs', [groups, k, n])];
  const dout = c.normal('dout', [m, n]);
  c.put('group_sizes', [groups], sizes, 'i32');
  const starts = sizes.map((_, i) => sum(i, (j) => sizes[j]!));
  const groupOf = (row: number): number => sizes.findIndex((size, i) => row >= starts[i]! && row < starts[i]! + size);
  const y = (i: number): number => {
    const [row, column] = [Math.floor(i / n), i % n];
    const group = groupOf(row);
    return group < 0 ? 0 : sum(k, (t) => lhs[row * k + t]! * rhs[(group * k + t) * n + column]!);
  };
  const drhs = (i: number): number => {
    const [group, t, column] = [Math.floor(i / (k * n)), Math.floor(i / n) % k, i % n];
    const start = starts[group]!;
    return sum(sizes[group]!, (row) => lhs[(start + row) * k + t]! * dout[(start + row) * n + column]!);
  };
  c.result('y', [m, n], y, { size: 3 * Math.sqrt(k) });
  c.result('drhs', [groups, k, n], drhs, { size: 3 * Math.sqrt(Math.max(...sizes)) });
}

export function persistentMatmul(c: OracleKernelCall): void {
  const [m, n, k] = c.pick([256, 384, 128], [201, 139, 77], [1, 1, 1]) as [number, number, number];
  c.scalar('num_workers', c.pick(4, 3, 2), 'i32');
  const [a, b] = [c.normal('a', [m, k]), c.normal('b', [k, n])];
  const at = (i: number): number => sum(k, (t) => a[Math.floor(i / n) * k + t]! * b[t * n + (i % n)]!);
  c.result('c', [m, n], at, { size: sizeOf(c, k) });
}
