/** Narrow float formats: bit patterns to numbers and back, by tables and one encoder. */

import { invariant } from '../../diagnostics/diagnostic.js';
import type { DType } from '../dtypes.js';

/** How the codes of a signed narrow float format are laid out. */
interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  /**
   * What the top of the code space means: `ieee`: infinities and NaNs at the largest exponent; `fn`: one NaN (all ones),
   * no infinity; `fnuz`: NaN is the code of -0, no infinity and no -0; `finite`: every code is a number.
   */
  readonly specials: 'ieee' | 'fn' | 'fnuz' | 'finite';
}

// f16: IEEE 754 binary16. bf16: the upper half of binary32. fp8: OCP 8-bit floating point specification; the fnuz kinds
// as in LLVM's APFloat. e2m1 (and e8m0 below): OCP microscaling formats.
const formats: Readonly<Record<string, FloatFormat>> = {
  f16: { exponentBits: 5, mantissaBits: 10, bias: 15, specials: 'ieee' },
  bf16: { exponentBits: 8, mantissaBits: 7, bias: 127, specials: 'ieee' },
  f8e4m3fn: { exponentBits: 4, mantissaBits: 3, bias: 7, specials: 'fn' },
  f8e5m2: { exponentBits: 5, mantissaBits: 2, bias: 15, specials: 'ieee' },
  f8e4m3fnuz: { exponentBits: 4, mantissaBits: 3, bias: 8, specials: 'fnuz' },
  f8e5m2fnuz: { exponentBits: 5, mantissaBits: 2, bias: 16, specials: 'fnuz' },
  f4e2m1fn: { exponentBits: 2, mantissaBits: 1, bias: 1, specials: 'finite' },
};

export interface FloatCodec {
  /** Number of each code. */
  readonly decode: Float32Array;
  /** Code nearest to a double: one rounding, ties to even. `saturate`: too large becomes the largest finite number instead of the format's overflow. */
  readonly encode: (x: number, saturate: boolean) => number;
  readonly largest: number;
}

const codecs = new Map<string, FloatCodec>();

/** Codec of a float dtype of at most 16 bits. */
export function codecOf(dtype: DType): FloatCodec {
  let codec = codecs.get(dtype.name);
  if (!codec) {
    const format = formats[dtype.name];
    invariant(format || dtype.name === 'f8e8m0fnu', `${dtype.name} has no narrow float format`);
    codec = format ? makeCodec(format) : makePowerCodec();
    codecs.set(dtype.name, codec);
  }
  return codec;
}

export const isNarrowFloat = (dtype: DType): boolean => dtype.cls === 'float' && dtype.bits <= 16;

function decodeCode({ exponentBits, mantissaBits, bias, specials }: FloatFormat, code: number): number {
  const signBit = 1 << (exponentBits + mantissaBits);
  const negative = (code & signBit) !== 0;
  const magnitude = code & (signBit - 1);
  const exponent = magnitude >> mantissaBits;
  const mantissa = magnitude & ((1 << mantissaBits) - 1);
  const topExponent = (1 << exponentBits) - 1;
  if (specials === 'fnuz' && code === signBit) return Number.NaN;
  if (specials === 'fn' && magnitude === signBit - 1) return Number.NaN;
  if (specials === 'ieee' && exponent === topExponent) {
    if (mantissa !== 0) return Number.NaN;
    return negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  const value =
    exponent === 0
      ? mantissa * 2 ** (1 - bias - mantissaBits)
      : (1 + mantissa * 2 ** -mantissaBits) * 2 ** (exponent - bias);
  return negative ? -value : value;
}

const single = new Float32Array(1);
const pattern = new Int32Array(single.buffer);

/**
 * Bits of an f32 that every narrower format rounds to where it would round `x` itself: the f32 next to `x` toward zero,
 * its last bit set where something was cut off. Nearest even twice over (to f32, then narrower) could see a tie where
 * there is none.
 */
function stickyBits(x: number): number {
  single[0] = x;
  const nearest = single[0];
  const bits = pattern[0]!;
  if (nearest === x || Number.isNaN(x)) return bits;
  return (Math.abs(nearest) > Math.abs(x) ? bits - 1 : bits) | 1;
}

const f32Infinity = 0x7f800000;

/** Numbers from which a format's conversions are made, here and on a target. */
export interface FormatCodes extends FloatFormat {
  /** Place of the sign bit. */
  readonly signShift: number;
  readonly nan: number;
  readonly topFinite: number;
  /** Code of what is beyond the largest finite number. */
  readonly overflow: number;
  /** Bits of the f32 that is the format's least normal number. */
  readonly leastNormal: number;
  /** What an exponent of f32 is above the format's, in f32 bits. */
  readonly rebase: number;
  /** Bits of mantissa that f32 has and the format lacks. */
  readonly drop: number;
  /** Added to a number below the normal range, it leaves the format's last bit in the last place of the f32 sum. */
  readonly aligner: number;
}

/** @throws for f8e8m0fnu, whose codes are exponents alone. */
export function codesOf(dtype: DType): FormatCodes {
  const format = formats[dtype.name];
  invariant(format, `${dtype.name} has no narrow float format`);
  return makeCodes(format);
}

function makeCodes(format: FloatFormat): FormatCodes {
  const { exponentBits, mantissaBits, bias, specials } = format;
  const signShift = exponentBits + mantissaBits;
  const signBit = 1 << signShift;
  const infinity = ((1 << exponentBits) - 1) << mantissaBits;
  const nan = { ieee: infinity | (1 << (mantissaBits - 1)), fn: signBit - 1, fnuz: signBit, finite: 0 }[specials];
  const topFinite = { ieee: infinity - 1, fn: signBit - 2, fnuz: signBit - 1, finite: signBit - 1 }[specials];
  // Beyond the largest finite number: infinity where there is one, NaN where there is not, and the largest number in the
  // format that has neither.
  const overflow = { ieee: infinity, fn: nan, fnuz: nan, finite: topFinite }[specials];
  const leastNormal = (128 - bias) << 23;
  const rebase = (127 - bias) << 23;
  const drop = 23 - mantissaBits;
  const aligner = 2 ** (24 - bias - mantissaBits);
  return { ...format, signShift, nan, topFinite, overflow, leastNormal, rebase, drop, aligner };
}

function makeCodec(format: FloatFormat): FloatCodec {
  const { specials, signShift, nan, topFinite, overflow, leastNormal, rebase, drop, aligner } = makeCodes(format);
  const decode = Float32Array.from({ length: 2 << signShift }, (_, code) => decodeCode(format, code));
  const hasNegativeZero = specials !== 'fnuz';
  const belowHalf = (1 << (drop - 1)) - 1;
  single[0] = aligner;
  const alignerBits = pattern[0]!;

  const encode = (x: number, saturate: boolean): number => {
    const bits = stickyBits(x);
    const magnitude = bits & 0x7fffffff;
    if (magnitude > f32Infinity) return nan;
    let code: number;
    if (magnitude >= leastNormal) {
      const rebased = magnitude - rebase;
      code = (rebased + belowHalf + ((rebased >>> drop) & 1)) >>> drop;
      if (code > topFinite) code = saturate ? topFinite : overflow;
    } else {
      pattern[0] = magnitude;
      single[0] = single[0]! + aligner;
      code = pattern[0]! - alignerBits;
    }
    return code === 0 && !hasNegativeZero ? 0 : ((bits >>> 31) << signShift) | code;
  };
  return { decode, encode, largest: decode[topFinite]! };
}

/** e8m0: the powers of two from 2^-127 to 2^127, and NaN. */
function makePowerCodec(): FloatCodec {
  const largestCode = 0xfe;
  const nan = 0xff;
  const decode = Float32Array.from({ length: 256 }, (_, code) => (code === nan ? Number.NaN : 2 ** (code - 127)));
  // Upward from the middle of two powers: the one mantissa bit of a power is odd. 0 becomes the least power, a negative
  // number NaN.
  const encode = (x: number, saturate: boolean): number => {
    if (x === 0) return 0;
    if (!(x > 0)) return nan;
    const bits = stickyBits(x);
    // Below 2^-126 the exponent field of f32 says nothing: 2^-127 is its highest mantissa bit.
    const code = bits < 0x800000 ? (bits >= 0x600000 ? 1 : 0) : (bits + 0x400000) >>> 23;
    return code <= largestCode ? code : saturate ? largestCode : nan;
  };
  return { decode, encode, largest: decode[largestCode]! };
}
