/** Slow references for number formats: they share no code with the product. */

import type { DType } from '../../src/ir/dtypes.js';

/** Non-negative numbers of a format in the order of their codes, and what comes after the largest. */
interface Ladder {
  readonly steps: readonly number[];
  /** Where the next number would lie if the format went on. */
  readonly beyond: number;
  /** What lies there instead. */
  readonly overflow: number;
  readonly negativeZero: boolean;
}

/** `exponents` by `fractions` of the format, less what the codes at the top are used for otherwise. */
function ladder(
  exponents: number,
  fractions: number,
  least: number,
  unused: number,
  overflow: number,
  negativeZero = true,
): Ladder {
  const steps: number[] = [];
  for (let e = 0; e <= exponents; e++)
    for (let f = 0; f < fractions; f++) steps.push((e === 0 ? f : fractions + f) * least * 2 ** Math.max(0, e - 1));
  // One step more than the codes, then back by those that mean something else.
  const finite = steps.slice(0, exponents * fractions - unused);
  return { steps: finite, beyond: steps[finite.length]!, overflow, negativeZero };
}

const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
const ladders: Readonly<Record<string, Ladder>> = {
  f16: ladder(32, 1024, 2 ** -24, 1024, infinity),
  bf16: ladder(256, 128, 2 ** -133, 128, infinity),
  f8e4m3fn: ladder(16, 8, 2 ** -9, 1, nan),
  f8e5m2: ladder(32, 4, 2 ** -16, 4, infinity),
  f8e4m3fnuz: ladder(16, 8, 2 ** -10, 0, nan, false),
  f8e5m2fnuz: ladder(32, 4, 2 ** -17, 0, nan, false),
  f4e2m1fn: ladder(4, 2, 0.5, 0, 6),
};

/** Non-negative numbers of a narrow format in the order of their codes. */
export const numbersOf = (dtype: DType): readonly number[] => ladders[dtype.name]!.steps;

/** The points half way between neighbours, the last one to where the format ends: where rounding turns. Exact in double. */
export function middlesOf(dtype: DType): readonly number[] {
  const { steps, beyond } = ladders[dtype.name]!;
  return steps.map((x, i) => (x + (steps[i + 1] ?? beyond)) / 2);
}

/** A double rounded to a narrow float, to nearest even in one step: by search among its numbers. */
export function roundTo(dtype: DType, x: number, saturate = false): number {
  const { steps, beyond, overflow, negativeZero } = ladders[dtype.name]!;
  if (Number.isNaN(x)) return nan;
  const negative = x < 0 || Object.is(x, -0);
  const size = Math.abs(x);
  let low = 0;
  for (let high = steps.length; high - low > 1; ) {
    const at = (low + high) >> 1;
    if (steps[at]! <= size) low = at;
    else high = at;
  }
  const middle = (steps[low]! + (steps[low + 1] ?? beyond)) / 2;
  const up = size > middle || (size === middle && low % 2 === 1);
  const nearest = up ? (steps[low + 1] ?? (saturate ? steps[low]! : overflow)) : steps[low]!;
  return nearest === 0 && !negativeZero ? 0 : negative ? -nearest : nearest;
}

/** An integer rounded to f32, to nearest even in one step. */
export function roundToF32(x: bigint): number {
  const size = x < 0n ? -x : x;
  const spare = Math.max(0, size.toString(2).length - 24);
  const unit = 1n << BigInt(spare);
  const [down, rest] = [size / unit, size % unit];
  const up = rest * 2n > unit || (rest * 2n === unit && down % 2n === 1n);
  const rounded = Number((down + (up ? 1n : 0n)) * unit);
  return x < 0n ? -rounded : rounded;
}

/** A whole number wrapped to an integer dtype. */
export function wrap({ bits, signed }: DType, x: bigint): bigint {
  const span = 1n << BigInt(bits);
  const low = ((x % span) + span) % span;
  return signed && low >= span / 2n ? low - span : low;
}
