/** Conversions between dtypes, as `semantics.md` fixes them: one function of a value, one of whole registers. */

import { type DType, intRange, isFloat, isWide } from '../dtypes.js';
import { codecOf, isNarrowFloat } from './formats.js';
import { allocate, type RegisterArray, wrapTo } from './registers.js';

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
    if (to.bits === 64) return Number;
    const number = isWide(from) ? stickyNumber : Number;
    if (!isNarrowFloat(to)) return (x) => Math.fround(number(x as bigint));
    const { decode, encode } = codecOf(to);
    const clamp = to.bits <= 8 && saturate;
    return (x) => decode[encode(number(x as bigint), clamp)]!;
  }
  if (isFloat(from)) return floatToInt(to);
  if (isWide(to)) return (x) => (to.signed ? BigInt.asIntN(64, BigInt(x)) : BigInt.asUintN(64, BigInt(x)));
  const { bits, signed } = to;
  if (isWide(from)) return (x) => Number(signed ? BigInt.asIntN(bits, x as bigint) : BigInt.asUintN(bits, x as bigint));
  return wrapTo(to) as (x: number | bigint) => number;
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

/**
 * A double that every narrower float format rounds to where it would round the 64-bit integer itself: 40 bits of it, the
 * last one set where something was cut off. The nearest double could be taken for a tie that the integer is not.
 */
function stickyNumber(x: bigint): number {
  const magnitude = x < 0n ? -x : x;
  if (magnitude < 1n << 53n) return Number(x);
  const shift = BigInt(magnitude.toString(2).length - 40);
  const kept = magnitude >> shift;
  const sticky = kept << shift === magnitude ? kept : kept | 1n;
  const value = Number(sticky) * 2 ** Number(shift);
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
