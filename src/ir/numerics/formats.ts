/** Narrow float formats: bit patterns to numbers and back, by tables and one generic encoder. */

import { invariant } from '../../diagnostics/diagnostic.js';
import type { DType } from '../dtypes.js';

/** How the codes of a narrow float format are laid out. */
interface FloatFormat {
  readonly exponentBits: number;
  readonly mantissaBits: number;
  readonly bias: number;
  readonly signed: boolean;
  /**
   * What the top of the code space means: `ieee`: infinities and NaNs at the largest exponent; `fn`: one NaN (all ones),
   * no infinity; `fnuz`: NaN is the code of -0, no infinity and no -0; `finite`: every code is a number;
   * `powers`: unsigned powers of two with one NaN (all ones).
   */
  readonly specials: 'ieee' | 'fn' | 'fnuz' | 'finite' | 'powers';
}

// f16: IEEE 754 binary16. bf16: the upper half of binary32. fp8: OCP 8-bit floating point specification; the fnuz kinds
// as in LLVM's APFloat. e8m0 and e2m1: OCP microscaling formats.
const formats: Readonly<Record<string, FloatFormat>> = {
  f16: { exponentBits: 5, mantissaBits: 10, bias: 15, signed: true, specials: 'ieee' },
  bf16: { exponentBits: 8, mantissaBits: 7, bias: 127, signed: true, specials: 'ieee' },
  f8e4m3fn: { exponentBits: 4, mantissaBits: 3, bias: 7, signed: true, specials: 'fn' },
  f8e5m2: { exponentBits: 5, mantissaBits: 2, bias: 15, signed: true, specials: 'ieee' },
  f8e4m3fnuz: { exponentBits: 4, mantissaBits: 3, bias: 8, signed: true, specials: 'fnuz' },
  f8e5m2fnuz: { exponentBits: 5, mantissaBits: 2, bias: 16, signed: true, specials: 'fnuz' },
  f8e8m0fnu: { exponentBits: 8, mantissaBits: 0, bias: 127, signed: false, specials: 'powers' },
  f4e2m1fn: { exponentBits: 2, mantissaBits: 1, bias: 1, signed: true, specials: 'finite' },
};

export interface FloatCodec {
  /** Number of each code. */
  readonly decode: Float32Array;
  /** Code nearest to a number (ties to even). `saturate`: too large becomes the largest finite number instead of the format's overflow. */
  readonly encode: (x: number, saturate: boolean) => number;
  readonly largest: number;
}

const codecs = new Map<string, FloatCodec>();

/** Codec of a float dtype of at most 16 bits. */
export function codecOf(dtype: DType): FloatCodec {
  let codec = codecs.get(dtype.name);
  if (!codec) {
    const format = formats[dtype.name];
    invariant(format, `${dtype.name} has no narrow float format`);
    codec = makeCodec(format);
    codecs.set(dtype.name, codec);
  }
  return codec;
}

export const isNarrowFloat = (dtype: DType): boolean => dtype.cls === 'float' && dtype.bits <= 16;

function decodeCode(format: FloatFormat, code: number): number {
  const { exponentBits, mantissaBits, bias, specials } = format;
  if (specials === 'powers') return code === 0xff ? Number.NaN : 2 ** (code - bias);
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

const bits32 = new Float32Array(1);
const word32 = new Uint32Array(bits32.buffer);

function makeCodec(format: FloatFormat): FloatCodec {
  const { exponentBits, mantissaBits, bias, signed, specials } = format;
  const width = exponentBits + mantissaBits + (signed ? 1 : 0);
  const decode = Float32Array.from({ length: 1 << width }, (_, code) => decodeCode(format, code));
  const signBit = signed ? 1 << (width - 1) : 0;
  const nan = { ieee: signBit - (1 << (mantissaBits - 1)), fn: signBit - 1, fnuz: signBit, finite: 0, powers: 0xff }[
    specials
  ];
  const topFinite = {
    ieee: (((1 << exponentBits) - 1) << mantissaBits) - 1,
    fn: signBit - 2,
    fnuz: signBit - 1,
    finite: signBit - 1,
    powers: 0xfe,
  }[specials];
  // Beyond the largest finite number: infinity where there is one, NaN where there is not, and the largest number in the
  // formats that have neither.
  const overflow = { ieee: topFinite + 1, fn: nan, fnuz: nan, finite: topFinite, powers: nan }[specials];
  const largest = decode[topFinite]!;

  const encode = (x: number, saturate: boolean): number => {
    if (Number.isNaN(x)) return nan;
    bits32[0] = x;
    const word = word32[0]!;
    const negative = word >>> 31 !== 0;
    const sign = negative ? signBit : 0;
    if (specials === 'powers' && (negative || x === 0)) return negative && x !== 0 ? nan : 0;
    const magnitude = word & 0x7fffffff;
    const infinite = magnitude >= 0x7f800000;
    const code = infinite ? topFinite + 1 : roundMagnitude(magnitude, mantissaBits, bias);
    if (code > topFinite) {
      const top = saturate && !(infinite && specials === 'ieee' && width > 8) ? topFinite : overflow;
      return specials === 'fnuz' && top === nan ? nan : sign | top;
    }
    return specials === 'fnuz' && code === 0 ? 0 : sign | code;
  };
  return { decode, encode, largest };
}

/** Code of a finite magnitude given as f32 bits, rounded to nearest even; may run past the largest finite code. */
function roundMagnitude(magnitude: number, mantissaBits: number, bias: number): number {
  const exponent = magnitude >>> 23;
  if (exponent === 0 && bias < 127) return 0; // an f32 subnormal is far below half of the smallest code
  const significand = exponent === 0 ? magnitude << 1 : (magnitude & 0x7fffff) | 0x800000;
  const biased = exponent - 127 + bias;
  // A result below the normal range loses one bit more for each step that its exponent lacks.
  const drop = 23 - mantissaBits + (biased < 1 ? 1 - biased : 0);
  if (drop > 25) return 0;
  const kept = Math.floor(significand / 2 ** drop);
  const rest = significand - kept * 2 ** drop;
  const half = 2 ** (drop - 1);
  const rounded = kept + (rest > half || (rest === half && kept % 2 === 1) ? 1 : 0);
  return biased < 1 ? rounded : ((biased - 1) << mantissaBits) + rounded;
}
