/** What atomics make of the old value and the operand, as bits. */

import { bitsOf, brainValues, floatOf, halfValues, highOf, lowOf, maxNumber, minNumber } from '../formats.js';
import { toBrain, toHalf } from './numbers.js';

/** On one word. */
export type WordFunction = (old: number, operand: number) => number;

const float =
  (f: (a: number, b: number) => number): WordFunction =>
  (a, b) =>
    bitsOf(f(floatOf(a), floatOf(b)));
const pair =
  (values: Float32Array, encode: (x: number) => number): WordFunction =>
  (a, b) =>
    encode(values[a & 0xffff]! + values[b & 0xffff]!) | (encode(values[a >>> 16]! + values[b >>> 16]!) << 16);

export const wordFunctions: Readonly<Record<string, WordFunction>> = {
  add: (a, b) => (a + b) | 0,
  sub: (a, b) => (a - b) | 0,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  swap: (_, b) => b,
  imin: Math.min,
  imax: Math.max,
  umin: (a, b) => (a >>> 0 < b >>> 0 ? a : b),
  umax: (a, b) => (a >>> 0 > b >>> 0 ? a : b),
  inc: (a, b) => (a >>> 0 >= b >>> 0 ? 0 : (a + 1) | 0),
  dec: (a, b) => (a === 0 || a >>> 0 > b >>> 0 ? b : (a - 1) | 0),
  add_f32: float((a, b) => a + b),
  min_f32: float(minNumber),
  max_f32: float(maxNumber),
  pk_add_f16: pair(halfValues, toHalf),
  pk_add_bf16: pair(brainValues, toBrain),
};

/** On two words. */
export type WideFunction = (old: bigint, operand: bigint) => bigint;
const signed = (x: bigint): bigint => BigInt.asIntN(64, x);
const unsigned = (x: bigint): bigint => BigInt.asUintN(64, x);
const double = new Float64Array(1);
const doubleBits = new BigInt64Array(double.buffer);
const ofBits = (x: bigint): number => {
  doubleBits[0] = signed(x);
  return double[0]!;
};
const toBits = (x: number): bigint => (BigInt(highOf(x)) << 32n) | BigInt(lowOf(x) >>> 0);

export const wideFunctions: Readonly<Record<string, WideFunction>> = {
  add_x2: (a, b) => signed(a + b),
  sub_x2: (a, b) => signed(a - b),
  and_x2: (a, b) => a & b,
  or_x2: (a, b) => a | b,
  xor_x2: (a, b) => a ^ b,
  swap_x2: (_, b) => b,
  smin_x2: (a, b) => (signed(a) < signed(b) ? a : b),
  smax_x2: (a, b) => (signed(a) > signed(b) ? a : b),
  umin_x2: (a, b) => (unsigned(a) < unsigned(b) ? a : b),
  umax_x2: (a, b) => (unsigned(a) > unsigned(b) ? a : b),
  add_f64: (a, b) => toBits(ofBits(a) + ofBits(b)),
  min_f64: (a, b) => toBits(minNumber(ofBits(a), ofBits(b))),
  max_f64: (a, b) => toBits(maxNumber(ofBits(a), ofBits(b))),
};
