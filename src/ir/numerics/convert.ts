/** Conversions between dtypes, as `semantics.md` fixes them: one function of a value, one of whole registers. */

import { type DType, intRange, isFloat, isWide } from '../dtypes.js';
import { codecOf, isNarrowFloat } from './formats.js';
import { allocate, type RegisterArray } from './registers.js';

export interface ConvertOptions {
  /** To fp8: too large becomes the largest finite number (the default) instead of the format's overflow. */
  readonly saturate: boolean;
}

/** Converter of one value from one dtype's registers to another's. */
export function converter(
  from: DType,
  to: DType,
  { saturate }: ConvertOptions,
): (x: number | bigint) => number | bigint {
  if (to.cls === 'bool') return (x) => (Number(x) === 0 ? 0 : 1);
  if (isFloat(to)) {
    if (!isNarrowFloat(to)) return to.bits === 64 ? Number : isWide(from) ? wideToF32 : (x) => Math.fround(Number(x));
    const { decode, encode } = codecOf(to);
    const clamp = to.bits <= 8 && saturate;
    const narrow = isWide(from) ? wideToF32 : Number;
    return (x) => decode[encode(narrow(x as never), clamp)]!;
  }
  if (isFloat(from)) return floatToInt(to);
  if (isWide(to)) return (x) => (to.signed ? BigInt.asIntN(64, BigInt(x)) : BigInt.asUintN(64, BigInt(x)));
  const { bits, signed } = to;
  if (isWide(from)) return (x) => Number(signed ? BigInt.asIntN(bits, x as bigint) : BigInt.asUintN(bits, x as bigint));
  const shift = 32 - bits;
  return signed ? (x) => ((x as number) << shift) >> shift : (x) => ((x as number) << shift) >>> shift;
}

function floatToInt(to: DType): (x: number | bigint) => number | bigint {
  const [low, high] = intRange(to);
  const [lowest, highest] = [Number(low), Number(high)];
  const wide = isWide(to);
  return (x) => {
    const t = Math.trunc(x as number);
    if (Number.isNaN(t)) return wide ? 0n : 0;
    if (t <= lowest) return wide ? low : lowest;
    if (t >= highest) return wide ? high : highest;
    return wide ? BigInt(t) : t + 0;
  };
}

/** Nearest f32 of a 64-bit integer in one rounding: through double, ties would be rounded twice. */
function wideToF32(x: bigint | number): number {
  if (typeof x === 'number') return Math.fround(x);
  const magnitude = x < 0n ? -x : x;
  if (magnitude < 1n << 53n) return Math.fround(Number(x));
  // Keep 40 bits and fold the rest into a sticky bit, which cannot change where a 24-bit rounding goes.
  const shift = BigInt(magnitude.toString(2).length - 40);
  const kept = magnitude >> shift;
  const sticky = kept << shift === magnitude ? kept : kept | 1n;
  const value = Math.fround(Number(sticky)) * 2 ** Number(shift);
  return x < 0n ? -value : value;
}

/** Converts whole registers. */
export function convertRegisters(
  from: DType,
  to: DType,
  registers: RegisterArray,
  options: ConvertOptions,
): RegisterArray {
  const data = allocate(to, registers.length);
  const convert = converter(from, to, options);
  for (let i = 0; i < registers.length; i++) (data as Float64Array)[i] = convert(registers[i]!) as number;
  return data;
}
