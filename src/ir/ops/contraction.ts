/** Reductions along an axis and matrix products. */

import { attr } from '../attributes.js';
import { defineOp, one, optional, types } from '../define-op.js';
import { bf16, bool, type DType, f32, f64, i32, i64, intRange, isFloat, isWide, u32, u64 } from '../dtypes.js';
import { allocate, type RegisterArray, roundingOf } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, printType, sameType, type TileType, tileType } from '../types.js';
import { raggedDot, raggedReduce } from './ragged-rules.js';

export const reduceKinds = [
  'sum',
  'prod',
  'max',
  'min',
  'max_num',
  'min_num',
  'argmax',
  'argmin',
  'any',
  'all',
] as const;
export type ReduceKind = (typeof reduceKinds)[number];

/** Dtype of a reduction's result: float sums keep theirs, integer sums widen to 32 bits at least, positions are i32. */
export function reducedDType(kind: ReduceKind, dtype: DType): DType {
  if (kind === 'argmax' || kind === 'argmin') return i32;
  if ((kind !== 'sum' && kind !== 'prod') || isFloat(dtype)) return dtype;
  if (isWide(dtype)) return dtype;
  return dtype.signed || dtype.bits < 32 ? i32 : u32;
}

/**
 * The value that leaves a reduction unchanged, in the input's dtype; undefined for argmax and argmin, which skip
 * positions instead. Empty reductions give it.
 */
export function reduceIdentity(kind: ReduceKind, dtype: DType): number | bigint | undefined {
  const [low, high] = isFloat(dtype) ? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] : extremes(dtype);
  const small = isWide(dtype) ? BigInt : Number;
  switch (kind) {
    case 'sum':
    case 'any':
      return small(0);
    case 'prod':
    case 'all':
      return small(1);
    case 'max':
    case 'max_num':
      return low;
    case 'min':
    case 'min_num':
      return high;
    case 'argmax':
    case 'argmin':
      return undefined;
  }
}

function extremes(dtype: DType): [number | bigint, number | bigint] {
  const [low, high] = intRange(dtype);
  return isWide(dtype) ? [low, high] : [Number(low), Number(high)];
}

type Step = (acc: number, x: number) => number;
const steps: Record<Exclude<ReduceKind, 'argmax' | 'argmin'>, Step> = {
  sum: (a, x) => a + x,
  prod: (a, x) => a * x,
  max: Math.max,
  min: Math.min,
  max_num: (a, x) => (Number.isNaN(x) ? a : Number.isNaN(a) ? x : Math.max(a, x)),
  min_num: (a, x) => (Number.isNaN(x) ? a : Number.isNaN(a) ? x : Math.min(a, x)),
  any: (a, x) => (a || x ? 1 : 0),
  all: (a, x) => (a && x ? 1 : 0),
};
const wideSteps: Partial<Record<ReduceKind, (acc: bigint, x: bigint) => bigint>> = {
  sum: (a, x) => a + x,
  prod: (a, x) => a * x,
  max: (a, x) => (a > x ? a : x),
  min: (a, x) => (a < x ? a : x),
};

/**
 * How a reduction goes on: the value it starts from and one step. Sums and products of narrow floats accumulate in f32;
 * those of integers wrap as they go, or a double would lose low bits. bigints for 64-bit integers, numbers else.
 */
export function accumulation(
  kind: Exclude<ReduceKind, 'argmax' | 'argmin'>,
  dtype: DType,
): { readonly start: number; readonly step: Step } {
  const start = reduceIdentity(kind, dtype) as number;
  if (isWide(dtype)) {
    const step = wideSteps[kind]!;
    const wrap = dtype.signed ? BigInt.asIntN : BigInt.asUintN;
    return { start, step: ((a: bigint, x: bigint) => wrap(64, step(a, x))) as never };
  }
  const step = steps[kind];
  if (kind === 'sum' || kind === 'prod') {
    if (isFloat(dtype)) return { start, step: dtype === f64 ? step : (a, x) => Math.fround(step(a, x)) };
    const settle = reducedDType(kind, dtype) === u32 ? (x: number) => x >>> 0 : (x: number) => x | 0;
    return { start, step: kind === 'prod' ? (a, x) => settle(Math.imul(a, x)) : (a, x) => settle(a + x) };
  }
  return { start, step };
}

/** Reduces elements `start, start + stride, …` (`count` of them) to one. */
function reduceLine(
  kind: ReduceKind,
  from: RegisterArray,
  dtype: DType,
  start: number,
  stride: number,
  count: number,
): number | bigint {
  if (kind === 'argmax' || kind === 'argmin') return bestPosition(kind, from, start, stride, count);
  const { start: identity, step } = accumulation(kind, dtype);
  let acc = identity;
  for (let i = 0, at = start; i < count; i++, at += stride) acc = step(acc, from[at] as number);
  return acc;
}

function bestPosition(
  kind: 'argmax' | 'argmin',
  from: RegisterArray,
  start: number,
  stride: number,
  count: number,
): number {
  const better =
    kind === 'argmax'
      ? (x: number | bigint, y: number | bigint) => x > y
      : (x: number | bigint, y: number | bigint) => x < y;
  let best = 0;
  for (let i = 0; i < count; i++) {
    const x = from[start + i * stride]!;
    if (Number.isNaN(x as number)) return i;
    if (i > 0 && better(x, from[start + best * stride]!)) best = i;
  }
  return best;
}

function evaluateReduce(kind: ReduceKind, axis: number, x: TileValue, type: TileType): TileValue {
  const { dtype, shape, valid } = x;
  const count = Math.min(shape[axis]!, valid?.[axis] ?? shape[axis]!);
  const inner = elementCount(shape.slice(axis + 1));
  const outer = elementCount(shape.slice(0, axis));
  const data = allocate(type.dtype, outer * inner);
  const round = roundingOf(type.dtype);
  for (let o = 0; o < outer; o++) {
    for (let i = 0; i < inner; i++) {
      const y = reduceLine(kind, x.data, dtype, o * shape[axis]! * inner + i, inner, count);
      (data as Float64Array)[o * inner + i] = (round ? round(y as number) : y) as number;
    }
  }
  return { dtype: type.dtype, shape: type.shape, data };
}

export const dotPrecisions = ['ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6'] as const;
export type DotPrecision = (typeof dotPrecisions)[number];

/** Dtype in which products of two operands of `dtype` are summed. */
export function accumulatorDType(dtype: DType): DType {
  if (isFloat(dtype)) return dtype === f64 ? f64 : f32;
  return dtype === i64 || dtype === u64 ? dtype : i32;
}

/** Rounds an f32 to tf32: 10 bits of mantissa, nearest even; NaN and infinities stay. */
function toTf32(x: number): number {
  if (!Number.isFinite(x)) return x;
  word[0] = x;
  const bits = pattern[0]!;
  pattern[0] = (bits + 0xfff + ((bits >>> 13) & 1)) & 0xffffe000;
  return word[0];
}
const word = new Float32Array(1);
const pattern = new Uint32Array(word.buffer);

function evaluateDot(
  precision: DotPrecision,
  a: TileValue,
  b: TileValue,
  acc: TileValue | undefined,
  type: TileType,
): TileValue {
  const rank = a.shape.length;
  const [m, k] = [a.shape[rank - 2]!, a.shape[rank - 1]!];
  const n = b.shape[rank - 1]!;
  // What lies beyond the valid extent of the contracted axis takes no part, on either side.
  const depth = Math.min(k, a.valid?.[rank - 1] ?? k, b.valid?.[rank - 2] ?? k);
  const batch = elementCount(a.shape.slice(0, rank - 2));
  const data = allocate(type.dtype, batch * m * n);
  if (acc) (data as Float64Array).set(acc.data as Float64Array);
  if (isWide(type.dtype)) multiplyWide(a.data as never, b.data as never, data as never, batch, m, k, n, depth);
  else if (!isFloat(type.dtype)) multiplyInt(a.data as never, b.data as never, data as never, batch, m, k, n, depth);
  else {
    const { parts, round } = precisions[a.dtype === f32 ? precision : 'ieee'];
    const [left, right] = [a, b].map((x) => splitInto(parts, round, x.data as Float32Array));
    const rest = new Float32Array(parts > 1 ? data.length : 0);
    for (let order = parts - 1; order > 0; order--)
      for (let i = 0; i <= order; i++) multiplyFloat(left![i]!, right![order - i]!, rest, batch, m, k, n, depth);
    multiplyFloat(left![0]!, right![0]!, data as Float32Array, batch, m, k, n, depth);
    // An infinity has no lower part: what the small products make of it says nothing.
    rest.forEach((x, i) => {
      if (Number.isFinite(x)) (data as Float32Array)[i]! += x;
    });
  }
  return { dtype: type.dtype, shape: type.shape, data };
}

let bf16Rounding: ((x: number) => number) | undefined;
/** Its table takes longer to make than most commands have: it is made at the first use. */
const toBf16 = (x: number): number => {
  bf16Rounding ??= roundingOf(bf16)!;
  return bf16Rounding(x);
};

/** How many parts of how many bits an f32 is split into; of their products those are summed that reach the result's precision. */
const precisions: Record<DotPrecision, { readonly parts: number; readonly round?: (x: number) => number }> = {
  ieee: { parts: 1 },
  tf32: { parts: 1, round: toTf32 },
  tf32x3: { parts: 2, round: toTf32 },
  bf16x3: { parts: 2, round: toBf16 },
  bf16x6: { parts: 3, round: toBf16 },
};

/** Each number as a sum: what it rounds to, then what is left of it, rounded in turn. */
function splitInto(
  parts: number,
  round: ((x: number) => number) | undefined,
  x: Float32Array,
): readonly Float32Array[] {
  if (!round) return [x];
  const split: Float32Array[] = [];
  for (let rest = x; split.length < parts; ) {
    const part = rest.map(round);
    split.push(part);
    rest = rest.map((v, i) => (Number.isFinite(part[i]!) ? v - part[i]! : 0));
  }
  return split;
}

/** i, k, j order: the inner loop runs along rows of `b` and of the result, which V8 keeps in typed arrays without checks. */
function multiplyFloat(
  a: Float32Array,
  b: Float32Array,
  c: Float32Array,
  batch: number,
  m: number,
  k: number,
  n: number,
  depth: number,
): void {
  for (let t = 0; t < batch; t++)
    for (let i = 0; i < m; i++) {
      const row = (t * m + i) * n;
      for (let p = 0; p < depth; p++) {
        const x = a[(t * m + i) * k + p]!;
        const from = (t * k + p) * n;
        for (let j = 0; j < n; j++) c[row + j]! += x * b[from + j]!;
      }
    }
}

function multiplyInt(
  a: Int32Array,
  b: Int32Array,
  c: Int32Array,
  batch: number,
  m: number,
  k: number,
  n: number,
  depth: number,
): void {
  for (let t = 0; t < batch; t++)
    for (let i = 0; i < m; i++)
      for (let p = 0; p < depth; p++) {
        const x = a[(t * m + i) * k + p]!;
        for (let j = 0; j < n; j++) c[(t * m + i) * n + j]! += Math.imul(x, b[(t * k + p) * n + j]!);
      }
}

function multiplyWide(
  a: BigInt64Array,
  b: BigInt64Array,
  c: BigInt64Array,
  batch: number,
  m: number,
  k: number,
  n: number,
  depth: number,
): void {
  for (let t = 0; t < batch; t++)
    for (let i = 0; i < m; i++)
      for (let p = 0; p < depth; p++)
        for (let j = 0; j < n; j++) c[(t * m + i) * n + j]! += a[(t * m + i) * k + p]! * b[(t * k + p) * n + j]!;
}

export const contractionOps = [
  defineOp({
    name: 'reduce',
    summary: 'Reduce along an axis, which goes.',
    semantics:
      'Sums of f16, bf16 and fp8 accumulate in f32 and round once; integer sums give i32 (u32, i64, u64 for those). `max` and `min` propagate NaN, `max_num` and `min_num` ignore it. `argmax` and `argmin`: first index among equals, the first NaN wins. Elements beyond a valid extent take no part; an empty reduction gives the identity.',
    operands: { input: one(types.tile) },
    attrs: { kind: attr.word(...reduceKinds), axis: attr.int },
    results: {
      infer: ({ input }, { kind, axis }, report) => {
        const { dtype, shape } = input.type;
        if (axis < 0 || axis >= shape.length) {
          report(`axis ${axis} is not one of ${printType(input.type)}`);
          return undefined;
        }
        if ((kind === 'any' || kind === 'all') !== (dtype === bool) && !(dtype === bool && kind === 'sum')) {
          report(`'reduce' ${kind} does not take ${printType(input.type)}`);
          return undefined;
        }
        return [
          tileType(
            reducedDType(kind, dtype),
            shape.filter((_, i) => i !== axis),
          ),
        ];
      },
    },
    ragged: raggedReduce,
    evaluate: ([x], { kind, axis }, [type]) => [evaluateReduce(kind, axis, x!, type!)],
  }),

  defineOp({
    name: 'dot',
    summary: 'Multiply matrices: `a[…, m, k] · b[…, k, n] + acc[…, m, n]`.',
    semantics:
      'Products are exact and summed in the accumulator’s dtype: f32 for f16, bf16, fp8 and f32, i32 for small integers, f64 for f64. The order of summation is free. Elements beyond a valid extent of k take no part. `precision` is the least that products of f32 keep: `ieee` all of it; `tf32` that of operands with 10 bits of mantissa, the rest rounded (interpreter, CPU) or dropped (NVIDIA’s tensor cores); `tf32x3`, `bf16x3` and `bf16x6` sum the products of two (three) parts of each operand that add up to it, about as exact as f32 with `tf32x3` and `bf16x6`. A back end may keep more.',
    operands: { a: one(types.numeric), b: one(types.numeric), acc: optional(types.numeric) },
    attrs: { precision: attr.word(...dotPrecisions) },
    results: {
      infer: ({ a, b, acc }, _, report) => {
        const [x, y] = [a.type, b.type];
        const rank = x.shape.length;
        const batch = x.shape.slice(0, -2);
        if (
          rank < 2 ||
          rank !== y.shape.length ||
          x.shape[rank - 1] !== y.shape[rank - 2] ||
          batch.some((n, i) => n !== y.shape[i])
        ) {
          report(`'dot' needs a[…, m, k] and b[…, k, n], got ${printType(x)} and ${printType(y)}`);
          return undefined;
        }
        if (x.dtype !== y.dtype) {
          report(`'dot' needs operands of one dtype, got ${printType(x)} and ${printType(y)}`);
          return undefined;
        }
        const type = tileType(accumulatorDType(x.dtype), [...batch, x.shape[rank - 2]!, y.shape[rank - 1]!]);
        if (acc && !sameType(acc.type, type)) {
          report(`'dot' needs an accumulator ${printType(type)}, got ${printType(acc.type)}`);
          return undefined;
        }
        return [type];
      },
    },
    ragged: raggedDot,
    evaluate: ([a, b, acc], { precision }, [type]) => [evaluateDot(precision, a!, b!, acc, type!)],
  }),
] as const;
