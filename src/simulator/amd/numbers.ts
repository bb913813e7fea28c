/** Number formats and arithmetic that AMD instructions have of their own. Generated code calls them beside `formats.ts`. */

import { bf16, type DType, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f16 } from '../../ir/dtypes.js';
import { codecOf } from '../../ir/numerics/formats.js';
import { fma as exactFma } from '../../ir/numerics/special.js';
import { bitsOf, fma, halfValues, highOf, maxNumber, minNumber } from '../formats.js';

const { fround } = Math;

const encoder = (dtype: DType, saturate: boolean): ((x: number) => number) => {
  const { encode } = codecOf(dtype);
  return (x) => encode(x, saturate);
};
export const toHalf = encoder(f16, false);
export const toBrain = encoder(bf16, false);
/** Values and encoders of the 8-bit floats by kind: `fp8` has a longer mantissa, `bf8` a longer exponent. */
export const eightBits = {
  fnuz: {
    fp8: { values: codecOf(f8e4m3fnuz).decode, encode: encoder(f8e4m3fnuz, true) },
    bf8: { values: codecOf(f8e5m2fnuz).decode, encode: encoder(f8e5m2fnuz, true) },
  },
  ocp: {
    fp8: { values: codecOf(f8e4m3fn).decode, encode: encoder(f8e4m3fn, true) },
    bf8: { values: codecOf(f8e5m2).decode, encode: encoder(f8e5m2, true) },
  },
} as const;
export type EightBits = keyof typeof eightBits;

/** f16 of a double, toward zero. */
export function toHalfTowardZero(x: number): number {
  const code = toHalf(x);
  return Math.abs(halfValues[code]!) > Math.abs(x) ? code - 1 : code;
}

/** The double fma, exact. */
export const fmaDouble = exactFma(53);
export const fmaHalf = (a: number, b: number, c: number): number => toHalf(a * b + c);

export const exp2 = (x: number): number => fround(2 ** x);
export const log2 = (x: number): number => fround(Math.log2(x));
export const sine = (turns: number): number => fround(Math.sin(turns * 2 * Math.PI));
export const cosine = (turns: number): number => fround(Math.cos(turns * 2 * Math.PI));
export const median = (a: number, b: number, c: number): number =>
  maxNumber(minNumber(a, b), minNumber(maxNumber(a, b), c));
export const fraction = (x: number): number => {
  const rest = fround(x - Math.floor(x));
  return rest >= 1 ? fround(1 - 2 ** -24) : rest;
};

const scaled = (x: number, e: number): number => {
  if (e > 2200) return x * Number.POSITIVE_INFINITY;
  if (e < -2200) return x * 0;
  let [value, rest] = [x, e];
  for (; rest > 1000; rest -= 1000) value *= 2 ** 1000;
  for (; rest < -1000; rest += 1000) value *= 2 ** -1000;
  return value * 2 ** rest;
};
/** x 2^e as an f32: in a double nothing is lost before the one rounding. */
export const ldexp = (x: number, e: number): number =>
  x === 0 || !Number.isFinite(x) ? x : fround(e > 300 ? x * 2 ** 300 : e < -300 ? x * 2 ** -300 : x * 2 ** e);
export function ldexpDouble(x: number, e: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  if (e >= -1000) return scaled(x, e);
  // One rounding only: a normal number is brought close to its place before the step that may cut bits off.
  const own = Math.floor(Math.log2(Math.abs(x)));
  const near = scaled(x, -own);
  return own + e < -1100 ? x * 0 : near * 2 ** -1000 * 2 ** (own + e + 1000);
}

/** Mantissa in [0.5, 1) and exponent, as `frexp` splits a number. */
export function frexpExponent(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return 0;
  let e = Math.floor(Math.log2(Math.abs(x))) + 1;
  if (Math.abs(x) >= 2 ** e) e++;
  if (Math.abs(x) < 2 ** (e - 1)) e--;
  return e;
}
export const frexpMantissa = (x: number): number =>
  x === 0 || !Number.isFinite(x) ? x : ldexpDouble(x, -frexpExponent(x));

// Division: scale numerator and denominator into range, refine by fma, undo the scale, put special values right.
const exponentOf = (x: number): number => (bitsOf(x) >>> 23) & 255;
const exponentOfDouble = (x: number): number => (highOf(x) >>> 20) & 2047;

interface Division {
  readonly exponent: (x: number) => number;
  readonly bias: number;
  /** Scales by 2^±shift keep all in range. */
  readonly shift: number;
  readonly mantissa: number;
  readonly smallest: number;
  readonly scale: (x: number, e: number) => number;
  readonly fma: (a: number, b: number, c: number) => number;
  /** The same, times a power of 2, rounded once. */
  readonly exact: (a: number, b: number, c: number, power: number) => number;
}
const singleDivision: Division = {
  exponent: exponentOf,
  bias: 127,
  shift: 64,
  mantissa: 23,
  smallest: 2 ** -126,
  scale: ldexp,
  fma,
  exact: exactFma(24),
};
const doubleDivision: Division = {
  exponent: exponentOfDouble,
  bias: 1023,
  shift: 128,
  mantissa: 52,
  smallest: 2 ** -1022,
  scale: ldexpDouble,
  fma: fmaDouble,
  exact: fmaDouble,
};

/** What `div_scale` last said of its scale; the instruction writes it into a mask. */
let scaleFlag = false;
export const divisionScaled = (): boolean => scaleFlag;

/** `x` is the operand to scale, `d` the denominator, `n` the numerator. */
function divideScale(f: Division, x: number, d: number, n: number): number {
  const { exponent, shift, scale, smallest, mantissa } = f;
  const subnormal = (y: number): boolean => y !== 0 && Math.abs(y) < smallest;
  const wide = f === singleDivision ? 96 : 768;
  scaleFlag = false;
  if (n === 0 || d === 0) return Number.NaN;
  if (exponent(n) - exponent(d) >= wide) {
    scaleFlag = true;
    return x === d ? scale(x, shift) : x;
  }
  if (subnormal(d)) return scale(x, shift);
  const small = { inverse: subnormal(1 / d) || 1 / d === 0, quotient: subnormal(n / d) || n / d === 0 };
  if (small.inverse && small.quotient) {
    scaleFlag = true;
    return x === d ? scale(x, -shift) : x;
  }
  if (small.inverse) return scale(x, -shift);
  if (small.quotient) {
    scaleFlag = true;
    return x === n ? scale(x, shift) : x;
  }
  return exponent(n) <= mantissa ? scale(x, shift) : x;
}
const scaledFma = (f: Division, a: number, b: number, c: number, flag: boolean): number => {
  if (!flag) return f.fma(a, b, c);
  const power = f.exponent(c) > f.bias ? f.shift : -f.shift;
  return f.exact(a, b, c, power);
};
function fixup(f: Division, q: number, d: number, n: number): number {
  const negative = (x: number): boolean => x < 0 || Object.is(x, -0);
  const sign = negative(d) !== negative(n) ? -1 : 1;
  if (Number.isNaN(n) || Number.isNaN(d)) return Number.NaN;
  const infinite = (x: number): boolean => Math.abs(x) === Number.POSITIVE_INFINITY;
  if ((n === 0 && d === 0) || (infinite(n) && infinite(d))) return Number.NaN;
  if (d === 0 || infinite(n)) return sign * Number.POSITIVE_INFINITY;
  if (infinite(d) || n === 0) return sign * 0;
  if (f.exponent(n) - f.exponent(d) < -(f.bias + f.mantissa)) return sign * 0;
  return Number.isNaN(q) ? sign * Number.POSITIVE_INFINITY : sign * Math.abs(q);
}
export const divScale = (x: number, d: number, n: number): number => divideScale(singleDivision, x, d, n);
export const divScaleDouble = (x: number, d: number, n: number): number => divideScale(doubleDivision, x, d, n);
export const divFmas = (a: number, b: number, c: number, flag: boolean): number =>
  scaledFma(singleDivision, a, b, c, flag);
export const divFmasDouble = (a: number, b: number, c: number, flag: boolean): number =>
  scaledFma(doubleDivision, a, b, c, flag);
export const divFixup = (q: number, d: number, n: number): number => fixup(singleDivision, q, d, n);
export const divFixupDouble = (q: number, d: number, n: number): number => fixup(doubleDivision, q, d, n);

/** Field of 5-bit position and length. */
export const fieldUnsigned = (a: number, p: number, n: number): number =>
  (n & 31) === 0 ? 0 : (a >>> (p & 31)) & (2 ** (n & 31) - 1);
export function fieldSigned(a: number, p: number, n: number): number {
  const [at, length] = [p & 31, n & 31];
  if (length === 0) return 0;
  return at + length >= 32 ? a >> at : (a << (32 - at - length)) >> (32 - length);
}
/** Bytes by selector: 0 to 3 of the second word, 4 to 7 of the first, 8 to 11 fill with a sign, 12 is 0, more 255. */
export function permute(a: number, b: number, selector: number): number {
  let result = 0;
  for (let i = 0; i < 4; i++) {
    const q = (selector >>> (8 * i)) & 255;
    let byte = q === 12 ? 0 : 255;
    if (q < 4) byte = b >>> (8 * q);
    else if (q < 8) byte = a >>> (8 * (q - 4));
    else if (q < 12) byte = (q & 2 ? a : b) >> (q & 1 ? 31 : 15);
    result |= (byte & 255) << (8 * i);
  }
  return result;
}
/** Bits `n` from the lower end of two words. */
export const align = (high: number, low: number, n: number): number =>
  n === 0 ? low : (low >>> n) | (high << (32 - n));
export const trailingZeros = (x: number): number => (x === 0 ? -1 : 31 - Math.clz32(x & -x));
export const leadingZeros = (x: number): number => (x === 0 ? -1 : Math.clz32(x));
/** First bit that differs from the sign, from the upper end. */
export const leadingSigns = (x: number): number => {
  const bits = x < 0 ? ~x : x;
  return bits === 0 ? -1 : Math.clz32(bits);
};
/** Classes of floats as bits: signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, 0, subnormal, normal, inf. */
export function isOfClass(x: number, smallest: number, mask: number): boolean {
  if (Number.isNaN(x)) return (mask & 3) !== 0;
  const negative = x < 0 || Object.is(x, -0);
  const size = Math.abs(x);
  const magnitude = size === Number.POSITIVE_INFINITY ? 0 : size >= smallest ? 1 : size > 0 ? 2 : 3;
  return ((mask >> (negative ? 2 + magnitude : 9 - magnitude)) & 1) === 1;
}
