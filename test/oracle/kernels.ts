/** The corpus in float64, straight from its formulas: what `kernels/` is held to on every back end. */

import { attentionBounds, flashAttentionBwd, linearAttentionGlaGdn, pagedDecodeAttention } from './attention.js';
import { countOf, type OracleDType, type OracleKernelCall, uniforms } from './call.js';
import { conv2dAndDepthwise } from './convolution.js';
import { erf } from './erf.js';
import { crossEntropyOnline, embeddingGatherScatter, layernormFwdBwd, rmsnormFwdBwd, rope } from './networks.js';
import { philox } from './philox.js';
import { batchedMatmul, groupedMatmul, int4Matmul, persistentMatmul, scaledMatmul } from './products.js';
import { largest, sum } from './sums.js';

export interface OracleKernel {
  readonly id: number;
  readonly name: string;
  readonly dtypes: readonly OracleDType[];
  readonly call: (c: OracleKernelCall) => void;
}

const exact = { rtol: 0, atol: 0 };
const floats = ['f32', 'f16', 'bf16'] as const;

const geluTanh = (x: number): number => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function fillIota(c: OracleKernelCall): void {
  const shape = c.pick([16, 256], [7, 143], [1, 1]);
  const value = c.scalar('value', c.dtype === 'i32' ? 3 : 3.25, c.dtype);
  c.result('fill', shape, () => value, exact);
  c.result('iota', shape, (i) => i, { dtype: 'i32' });
}

function vectorAdd(c: OracleKernelCall): void {
  const shape = [c.pick(4096, 1003, 1)];
  const [x, y] =
    c.dtype === 'i32'
      ? ['x', 'y'].map((name) => c.integers(name, shape, -(2 ** 30), 2 ** 30))
      : ['x', 'y'].map((name) => c.normal(name, shape));
  c.result('z', shape, (i) => x![i]! + y![i]!);
}

function gatedActivations(c: OracleKernelCall): void {
  const shape = c.pick([64, 256], [33, 301], [1, 1]);
  const [x, g] = [c.normal('x', shape, { scale: 2 }), c.normal('g', shape)];
  c.result('gelu_tanh', shape, (i) => geluTanh(x[i]!));
  c.result('gelu_erf', shape, (i) => 0.5 * x[i]! * (1 + erf(x[i]! / Math.SQRT2)));
  c.result('silu', shape, (i) => x[i]! * sigmoid(x[i]!));
  c.result('geglu', shape, (i) => geluTanh(x[i]!) * g[i]!, { size: 4 });
  c.result('swiglu', shape, (i) => x[i]! * sigmoid(x[i]!) * g[i]!, { size: 4 });
}

function philoxDropout(c: OracleKernelCall): void {
  const shape = [c.pick(4096, 1003, 1)];
  const x = c.normal('x', shape);
  const p = c.scalar('p', 0.25);
  const seed = c.scalar('seed', 123456789, 'i64');
  const bits = (i: number): number => philox([i, 0, 0, 0], [seed >>> 0, Math.floor(seed / 2 ** 32)])[0]!;
  const uniform = (i: number): number => {
    const signed = bits(i) | 0;
    return Math.fround(Math.fround(signed < 0 ? -signed - 1 : signed) * Math.fround(4.6566127342e-10));
  };
  c.result('bits', shape, bits, { dtype: 'u32' });
  c.result('u', shape, uniform, { dtype: 'f32', rtol: 1.2e-7, atol: 0 });
  c.result('y', shape, (i) => (uniform(i) > p ? x[i]! / (1 - p) : 0), { atol: 1e-7 });
}

function asin(c: OracleKernelCall): void {
  const n = c.pick(2048, 517, 1);
  const next = uniforms(c.nextSeed());
  const values = Float64Array.from({ length: n }, () => 2 * next() - 1);
  if (n > 8) values.set([1, -1, 0, -0, 1.5, -2, Number.NaN, 1 - 2 ** -24]);
  const x = c.put('x', [n], values);
  c.result(
    'y',
    [n],
    (i) => Math.asin(x[i]!),
    c.dtype === 'f32' ? { rtol: 2e-6, atol: 1e-7 } : { rtol: 1e-14, atol: 1e-15 },
  );
}

function transpose(c: OracleKernelCall): void {
  const [m, n] = c.pick([128, 256], [67, 131], [1, 1]) as [number, number];
  const x = c.dtype === 'i8' ? c.integers('x', [m, n], -128, 128) : c.normal('x', [m, n]);
  c.result('y', [n, m], (i) => x[(i % m) * n + Math.floor(i / m)]!, exact);
}

function rowReductions(c: OracleKernelCall): void {
  const [m, n] = c.pick([64, 512], [37, 301], [1, 1]) as [number, number];
  const whole = c.dtype === 'i32';
  const x = whole ? c.integers('x', [m, n], -1000, 1000) : c.normal('x', [m, n], { shift: 0.5 });
  const row = (i: number): Float64Array => x.subarray(i * n, (i + 1) * n);
  const rowSum = (i: number): number => sum(n, (j) => row(i)[j]!);
  const rowMax = (i: number): number => largest(n, (j) => row(i)[j]!);
  const dtype = whole ? 'i32' : 'f32';
  const size = (terms: number): number => 2 * Math.sqrt(terms) + terms / 4;
  c.result('row_sum', [m], rowSum, { dtype, size: size(n) });
  if (!whole) c.result('row_mean', [m, 1], (i) => rowSum(i) / n, { size: 2 });
  c.result('row_max', [m], rowMax, exact);
  c.result('row_argmax', [m], (i) => row(i).indexOf(rowMax(i)), { dtype: 'i32' });
  c.result('col_sum', [n], (j) => sum(m, (i) => x[i * n + j]!), { dtype, size: size(m) });
}

function softmax(c: OracleKernelCall): void {
  const [m, n] = c.pick([64, 1024], [37, 781], [1, 1]) as [number, number];
  const x = c.normal('x', [m, n], { scale: 3 });
  const rows = Array.from({ length: m }, (_, i) => {
    const row = x.subarray(i * n, (i + 1) * n);
    const top = largest(n, (j) => row[j]!);
    return { top, total: sum(n, (j) => Math.exp(row[j]! - top)) };
  });
  c.result('y', [m, n], (i) => Math.exp(x[i]! - rows[Math.floor(i / n)]!.top) / rows[Math.floor(i / n)]!.total, {
    size: 0.01,
  });
}

function matvec(c: OracleKernelCall): void {
  const [m, k] = c.pick([256, 1024], [131, 517], [1, 1]) as [number, number];
  const [a, x] = [c.normal('a', [m, k]), c.normal('x', [k])];
  c.result('y', [m], (i) => sum(k, (t) => a[i * k + t]! * x[t]!), { size: 4 * Math.sqrt(k) });
}

function cumsumSegmented(c: OracleKernelCall): void {
  const shape = c.pick([16, 1024], [7, 709], [1, 1]) as [number, number];
  const [, n] = shape;
  const x = c.dtype === 'i32' ? c.integers('x', shape, -100, 100) : c.normal('x', shape);
  const next = uniforms(c.nextSeed());
  const flags = Float64Array.from({ length: countOf(shape) }, () => (next() < 0.02 ? 1 : 0));
  const start = c.put('start', shape, flags, 'bool');
  const running = (combine: (before: number, i: number) => number): Float64Array => {
    const out = new Float64Array(x.length);
    for (let i = 0; i < x.length; i++) out[i] = i % n === 0 ? x[i]! : combine(out[i - 1]!, i);
    return out;
  };
  const size = 4 * Math.sqrt(n);
  const [sums, segments] = [running((s, i) => s + x[i]!), running((s, i) => (start[i] ? x[i]! : s + x[i]!))];
  const tops = running((s, i) => Math.max(s, x[i]!));
  c.result('cumsum', shape, (i) => sums[i]!, { size });
  c.result('segsum', shape, (i) => segments[i]!, { size });
  c.result('cummax', shape, (i) => tops[i]!, exact);
}

function matmulEpilogue(c: OracleKernelCall): void {
  const [m, n, k] = c.pick([256, 256, 256], [129, 67, 93], [1, 1, 1]) as [number, number, number];
  const [a, b] = [c.normal('a', [m, k]), c.normal('b', [k, n])];
  const bias = c.normal('bias', [n]);
  const slope = c.scalar('slope', 0.01);
  const size = (c.dtype === 'tf32' ? 1 : 3) * Math.sqrt(k);
  const at = (i: number): number => {
    const [row, column] = [Math.floor(i / n), i % n];
    const r = sum(k, (t) => a[row * k + t]! * b[t * n + column]!) + bias[column]!;
    return r >= 0 ? r : slope * r;
  };
  c.result('c', [m, n], at, { size });
}

function flashAttentionFwd(c: OracleKernelCall): void {
  type Sizes = [number, number, number, number, number];
  const [b, hq, hkv, s, d] = c.pick<Sizes>([1, 4, 2, 256, 64], [2, 3, 1, 197, 64], [1, 1, 1, 1, 16]);
  const [q, k, v] = [c.normal('q', [b, hq, s, d]), c.normal('k', [b, hkv, s, d]), c.normal('v', [b, hkv, s, d])];
  const scale = c.scalar('scale', 1 / Math.sqrt(d));
  for (const causal of [true, false]) {
    const [o, lse] = [new Float64Array(q.length), new Float64Array(b * hq * s)];
    for (let row = 0; row < lse.length; row++) {
      const [i, head] = [row % s, Math.floor(row / s)];
      const shared = (Math.floor(head / hq) * hkv + Math.floor((head % hq) / (hq / hkv))) * s;
      const seen = causal ? i + 1 : s;
      const scores = Float64Array.from(
        { length: seen },
        (_, j) => scale * sum(d, (t) => q[row * d + t]! * k[(shared + j) * d + t]!),
      );
      const top = largest(seen, (j) => scores[j]!);
      const weights = scores.map((x) => Math.exp(x - top));
      const total = sum(seen, (j) => weights[j]!);
      lse[row] = top + Math.log(total);
      for (let t = 0; t < d; t++) o[row * d + t] = sum(seen, (j) => weights[j]! * v[(shared + j) * d + t]!) / total;
    }
    const tag = causal ? 'causal' : 'full';
    c.result(`o_${tag}`, [b, hq, s, d], (i) => o[i]!, attentionBounds(c));
    c.result(`lse_${tag}`, [b, hq, s], (i) => lse[i]!, { dtype: 'f32', rtol: 1e-5, atol: 2e-5 });
  }
}

const matrices = ['f16', 'bf16', 'f32', 'tf32'] as const;

export const oracle: readonly OracleKernel[] = [
  { id: 1, name: 'fill_iota', dtypes: [...floats, 'i32'], call: fillIota },
  { id: 2, name: 'vector_add', dtypes: [...floats, 'i32'], call: vectorAdd },
  { id: 3, name: 'gated_activations', dtypes: floats, call: gatedActivations },
  { id: 4, name: 'philox_dropout', dtypes: floats, call: philoxDropout },
  { id: 5, name: 'asin', dtypes: ['f32', 'f64'], call: asin },
  { id: 6, name: 'transpose', dtypes: [...floats, 'i8'], call: transpose },
  { id: 7, name: 'row_reductions', dtypes: [...floats, 'i32'], call: rowReductions },
  { id: 8, name: 'softmax', dtypes: floats, call: softmax },
  { id: 9, name: 'matvec', dtypes: floats, call: matvec },
  { id: 10, name: 'rmsnorm_fwd_bwd', dtypes: floats, call: rmsnormFwdBwd },
  { id: 11, name: 'layernorm_fwd_bwd', dtypes: floats, call: layernormFwdBwd },
  { id: 12, name: 'rope', dtypes: floats, call: rope },
  { id: 13, name: 'embedding_gather_scatter', dtypes: floats, call: embeddingGatherScatter },
  { id: 14, name: 'cumsum_segmented', dtypes: ['f32', 'i32'], call: cumsumSegmented },
  { id: 15, name: 'cross_entropy_online', dtypes: ['f32', 'bf16', 'f16'], call: crossEntropyOnline },
  { id: 16, name: 'matmul_epilogue', dtypes: matrices, call: matmulEpilogue },
  { id: 17, name: 'batched_matmul', dtypes: matrices, call: batchedMatmul },
  { id: 18, name: 'scaled_matmul', dtypes: ['i8', 'e4m3', 'e5m2'], call: scaledMatmul },
  { id: 19, name: 'int4_matmul', dtypes: ['f16', 'bf16'], call: int4Matmul },
  { id: 20, name: 'conv2d_and_depthwise', dtypes: floats, call: conv2dAndDepthwise },
  { id: 21, name: 'grouped_matmul', dtypes: floats, call: groupedMatmul },
  { id: 22, name: 'persistent_matmul', dtypes: matrices, call: persistentMatmul },
  { id: 25, name: 'flash_attention_fwd', dtypes: ['f16', 'bf16', 'f32'], call: flashAttentionFwd },
  { id: 26, name: 'flash_attention_bwd', dtypes: ['f16', 'bf16', 'f32'], call: flashAttentionBwd },
  { id: 27, name: 'paged_decode_attention', dtypes: floats, call: pagedDecodeAttention },
  { id: 28, name: 'linear_attention_gla_gdn', dtypes: ['f32', 'bf16', 'f16'], call: linearAttentionGlaGdn },
];
