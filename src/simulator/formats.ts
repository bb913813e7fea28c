/** Number formats and exact arithmetic of device code, as functions of bit patterns. Generated code calls them. */

import { bf16, type DType, f8e4m3fn, f8e5m2, f16 } from '../ir/dtypes.js';
import { codecOf } from '../ir/numerics/formats.js';

const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);
const double = new Float64Array(1);
const doubleBits = new Int32Array(double.buffer);
const { fround } = Math;

const codec = (dtype: DType, saturate: boolean) => {
  const { decode, encode } = codecOf(dtype);
  return { decode, encode: (x: number): number => encode(x, saturate) };
};
/** NaN of the 16-bit formats is 0x7fff on NVIDIA devices. */
const withNan =
  (encode: (x: number) => number, nan: number) =>
  (x: number): number =>
    Number.isNaN(x) ? nan : encode(x);

/** Value of each code. */
export const halfValues: Float32Array = codecOf(f16).decode;
export const brainValues: Float32Array = codecOf(bf16).decode;
export const e4m3Values: Float32Array = codecOf(f8e4m3fn).decode;
export const e5m2Values: Float32Array = codecOf(f8e5m2).decode;
/** Code nearest to a double, one rounding. */
export const toHalf = withNan(codec(f16, false).encode, 0x7fff);
export const toBrain = withNan(codec(bf16, false).encode, 0x7fff);
/** The 8-bit formats saturate: PTX has no other form. */
export const toE4m3 = withNan(codec(f8e4m3fn, true).encode, 0x7f);
export const toE5m2 = withNan(codec(f8e5m2, true).encode, 0x7f);

export function floatOf(bits: number): number {
  singleBits[0] = bits;
  return single[0]!;
}
export function bitsOf(x: number): number {
  single[0] = x;
  return singleBits[0]!;
}
export function doubleOf(low: number, high: number): number {
  doubleBits[0] = low;
  doubleBits[1] = high;
  return double[0]!;
}
export function lowOf(x: number): number {
  double[0] = x;
  return doubleBits[0]!;
}
export function highOf(x: number): number {
  double[0] = x;
  return doubleBits[1]!;
}

export const flush = (x: number): number => (Math.abs(x) < 2 ** -126 ? x * 0 : x);
export const saturate = (x: number): number => (x > 0 ? (x < 1 ? x : 1) : 0);
/** The number where one operand is NaN. */
export const maxNumber = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b));
export const minNumber = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b));

/** To an integer, ties to even. */
export function roundEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  const up = rest > 0.5 || (rest === 0.5 && low % 2 !== 0);
  const rounded = up ? low + 1 : low;
  return rounded === 0 && (x < 0 || Object.is(x, -0)) ? -0 : rounded;
}

/** Error of `s = p + c` in doubles (Knuth's TwoSum). */
function sumError(p: number, c: number, s: number): number {
  const b = s - p;
  return p - (s - b) + (c - b);
}

/** f32 fma with one rounding: the product is exact in doubles, and the error of the sum decides ties. */
export function fma(a: number, b: number, c: number): number {
  const p = a * b;
  const s = p + c;
  const r = fround(s);
  const rest = s - r;
  if (rest === 0 || Number.isNaN(rest)) return r;
  const other = r + 2 * rest;
  if (fround(other) !== other) return r;
  const e = sumError(p, c, s);
  if (e === 0) return r;
  return e > 0 ? Math.max(r, other) : Math.min(r, other);
}

function neighbour(x: number, up: boolean): number {
  if (x === 0) return up ? 2 ** -149 : -(2 ** -149);
  single[0] = x;
  singleBits[0] = singleBits[0]! + (x > 0 === up ? 1 : -1);
  return single[0]!;
}

/** f32 of a double whose true value is `x + rest`, rounded down, up or toward zero. */
export function roundTo(x: number, rest: number, mode: 'rm' | 'rp' | 'rz'): number {
  const r = fround(x);
  if (!Number.isFinite(r)) return r;
  const d = x - r || rest;
  if (d === 0) return r;
  if (mode === 'rm') return d < 0 ? neighbour(r, false) : r;
  if (mode === 'rp') return d > 0 ? neighbour(r, true) : r;
  if (r > 0) return d < 0 ? neighbour(r, false) : r;
  return r < 0 && d > 0 ? neighbour(r, true) : r;
}
export function fmaTo(a: number, b: number, c: number, mode: 'rm' | 'rp' | 'rz'): number {
  const p = a * b;
  const s = p + c;
  return roundTo(s, sumError(p, c, s), mode);
}

function product(a: number, b: number): readonly [number, number] {
  const split = (x: number): readonly [number, number] => {
    const t = 134217729 * x;
    const high = t - (t - x);
    return [high, x - high];
  };
  const p = a * b;
  const [ah, al] = split(a);
  const [bh, bl] = split(b);
  return [p, al * bl - (p - ah * bh - al * bh - ah * bl)];
}

/** f64 fma: exact product by Dekker's splitting, summed with its error; the last bit may be off where both errors round. */
export function fmaDouble(a: number, b: number, c: number): number {
  const [p, low] = product(a, b);
  if (!Number.isFinite(low)) return a * b + c;
  const s = p + c;
  return s + (sumError(p, c, s) + low);
}

const clampTo = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.max(low, Math.min(high, x));
export const toSigned = (x: number, bits: number): number => clampTo(x, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1) | 0;
export const toUnsigned = (x: number, bits: number): number => clampTo(x, 0, 2 ** bits - 1) | 0;

/** Upper word of the product of two words. */
export function mulHighUnsigned(a: number, b: number): number {
  const [al, ah, bl, bh] = [a & 0xffff, a >>> 16, b & 0xffff, b >>> 16];
  const middle = ah * bl + ((al * bl) >>> 16);
  const cross = al * bh + (middle % 65536);
  return (ah * bh + Math.floor(middle / 65536) + Math.floor(cross / 65536)) | 0;
}
export const mulHighSigned = (a: number, b: number): number =>
  (mulHighUnsigned(a, b) - (a < 0 ? b : 0) - (b < 0 ? a : 0)) | 0;

// 64-bit shifts by word; amounts are unsigned and clamp at 64.
export const shiftLeftHigh = (low: number, high: number, n: number): number =>
  n >>> 0 > 63 ? 0 : n > 31 ? low << (n - 32) : n === 0 ? high : (high << n) | (low >>> (32 - n));
export const shiftLeftLow = (low: number, n: number): number => (n >>> 0 > 31 ? 0 : low << n);
export const shiftRightLow = (low: number, high: number, n: number): number =>
  n >>> 0 > 63 ? 0 : n > 31 ? high >>> (n - 32) : n === 0 ? low : (low >>> n) | (high << (32 - n));
export const shiftRightHigh = (high: number, n: number): number => (n >>> 0 > 31 ? 0 : high >>> n);
export const arithmeticRightLow = (low: number, high: number, n: number): number =>
  n >>> 0 > 63 ? high >> 31 : n > 31 ? high >> (n - 32) : n === 0 ? low : (low >>> n) | (high << (32 - n));
export const arithmeticRightHigh = (high: number, n: number): number => high >> (n >>> 0 > 31 ? 31 : n);

export const wide = (low: number, high: number): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0);
export const wideUnsigned = (low: number, high: number): bigint => BigInt.asUintN(64, wide(low, high));
export const lowWord = (x: bigint): number => Number(BigInt.asIntN(32, x));
export const highWord = (x: bigint): number => Number(BigInt.asIntN(32, x >> 32n));
export const divideWide = (a: bigint, b: bigint): bigint => (b === 0n ? -1n : a / b);
export const remainderWide = (a: bigint, b: bigint): bigint => (b === 0n ? a : a % b);
/** A double to a 64-bit integer, clamped, NaN to 2^63. */
export function toWide(x: number, signed: boolean): bigint {
  if (Number.isNaN(x)) return 1n << 63n;
  const [least, most] = signed ? [-(2n ** 63n), 2n ** 63n - 1n] : [0n, 2n ** 64n - 1n];
  if (x <= Number(least)) return least;
  return x >= Number(most) ? most : BigInt(Math.trunc(x));
}

/** -1, 0 or 1. */
export function compareWide(al: number, ah: number, bl: number, bh: number, signed: boolean): number {
  if (ah !== bh) return (signed ? ah < bh : ah >>> 0 < bh >>> 0) ? -1 : 1;
  return al === bl ? 0 : al >>> 0 < bl >>> 0 ? -1 : 1;
}

/** Field of `length` bits at `position`, extended by its sign where asked for. */
export function extractField(a: number, position: number, length: number, signed: boolean): number {
  const [p, n] = [position & 255, length & 255];
  if (n === 0) return 0;
  if (p > 31) return signed ? a >> 31 : 0;
  const kept = Math.min(n, 32 - p);
  const field = a << (32 - p - kept);
  return signed ? field >> (32 - kept) : field >>> (32 - kept);
}
export function insertField(field: number, into: number, position: number, length: number): number {
  const [p, n] = [position & 255, length & 255];
  if (n === 0 || p > 31) return into;
  const mask = (n > 31 ? -1 : (1 << n) - 1) << p;
  return (into & ~mask) | ((field << p) & mask);
}
/** Bytes chosen out of two words by the nibbles of `selector`; bit 3 of a nibble replicates the sign. */
export function permuteBytes(a: number, b: number, selector: number): number {
  let result = 0;
  for (let i = 0; i < 4; i++) {
    const nibble = (selector >>> (4 * i)) & 15;
    let byte = ((nibble & 4 ? b : a) >>> ((nibble & 3) * 8)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
/** Any logic function of three words by its truth table. */
export function logic3(a: number, b: number, c: number, table: number): number {
  let result = 0;
  for (let i = 0; i < 8; i++) if (table & (1 << i)) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}
export function countOnes(x: number): number {
  let n = 0;
  for (let rest = x >>> 0; rest !== 0; rest &= rest - 1) n++;
  return n;
}
export function reverseBits(x: number): number {
  let result = 0;
  for (let i = 0; i < 32; i++) if ((x >>> i) & 1) result |= 1 << (31 - i);
  return result;
}
export const highestBit = (x: number): number => (x === 0 ? -1 : 31 - Math.clz32(x));

type Unary = (a: number) => number;
type Ternary = (a: number, b: number, c: number) => number;
const functions: Readonly<Record<string, Ternary>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  fma: fmaDouble,
  max: maxNumber,
  min: minNumber,
  maxNaN: (a, b) => Math.max(a, b),
  minNaN: (a, b) => Math.min(a, b),
};
const scalarOf =
  (values: Float32Array, encode: Unary) =>
  (f: Ternary): Ternary =>
  (a, b, c) =>
    encode(f(values[a & 0xffff]!, values[b & 0xffff]!, values[c & 0xffff]!));
const pairOf =
  (values: Float32Array, encode: Unary) =>
  (f: Ternary): Ternary =>
  (a, b, c) =>
    encode(f(values[a & 0xffff]!, values[b & 0xffff]!, values[c & 0xffff]!)) |
    (encode(f(values[a >>> 16]!, values[b >>> 16]!, values[c >>> 16]!)) << 16);
const table = (of: (f: Ternary) => Ternary): Readonly<Record<string, Ternary>> =>
  Object.fromEntries(Object.entries(functions).map(([name, f]) => [name, of(f)]));

/** Arithmetic of the 16-bit floats by name, on one code or on two in a word. */
export const half = table(scalarOf(halfValues, toHalf));
export const half2 = table(pairOf(halfValues, toHalf));
export const brain = table(scalarOf(brainValues, toBrain));
export const brain2 = table(pairOf(brainValues, toBrain));
