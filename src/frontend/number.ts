/** JavaScript numbers as constants of a dtype. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { ScalarConstant } from '../ir/attributes.js';
import { bool, type DType, intRange, isFloat, isWide } from '../ir/dtypes.js';
import { codecOf, isNarrowFloat } from '../ir/numerics/formats.js';
import { mistake } from './errors.js';
import { checkNotCaptured, describe } from './handle.js';

/** Why a number is none of an integer dtype's values. */
function whyNoInteger(x: number, dtype: DType): string | undefined {
  if (dtype === bool) return x === 0 || x === 1 ? undefined : 'it is neither 0 nor 1';
  if (Number.isNaN(x)) return 'integers have no NaN';
  if (!Number.isFinite(x)) return 'integers have no infinity';
  if (!Number.isInteger(x)) return 'it has a fraction';
  if (Object.is(x, -0)) return 'integers have no negative zero';
  const [low, high] = intRange(dtype);
  return BigInt(x) < low || BigInt(x) > high ? `the range is ${low} to ${high}` : undefined;
}

const f32Largest = 2 ** 128 - 2 ** 104;

/** A number rounded to a float dtype, or why it has no counterpart there: out of range, or a special value that the format lacks. */
function toFloat(x: number, dtype: DType): number | string {
  if (dtype.bits === 64) return x;
  if (!isNarrowFloat(dtype)) {
    const rounded = Math.fround(x);
    return Number.isFinite(x) && !Number.isFinite(rounded) ? `the largest number is ${f32Largest}` : rounded;
  }
  const { encode, decode, largest } = codecOf(dtype);
  const round = (v: number): number => decode[encode(v, false)]!;
  const rounded = round(x);
  if (Number.isNaN(x)) return Number.isNaN(rounded) ? rounded : 'it has no NaN';
  if (!Number.isFinite(x)) return rounded === x ? rounded : 'it has no infinity';
  if (x === 0) return Object.is(rounded, x) ? rounded : Object.is(x, -0) ? 'it has no negative zero' : 'it has no zero';
  if (x < 0 && !dtype.signed) return 'it has no negative numbers';
  const saturates = Number.isFinite(round(Number.POSITIVE_INFINITY));
  return Number.isFinite(rounded) && !(saturates && Math.abs(x) > largest)
    ? rounded
    : `the largest number is ${largest}`;
}

/**
 * A JavaScript number as a constant of `dtype`. Floats round to nearest even; integers must fit exactly; NaN,
 * infinities and -0 keep their meaning.
 *
 * @throws CompileError TW1012 for what the dtype has no value for.
 */
export function constantValue(x: unknown, dtype: DType): ScalarConstant {
  const refuse = (why: string): never =>
    mistake((c) => frontendCodes.badNumber({ value: describe(x), dtype: dtype.name, why }, c));
  checkNotCaptured(x);
  if (typeof x !== 'number') return refuse('it is not a number');
  if (isFloat(dtype)) {
    const rounded = toFloat(x, dtype);
    return typeof rounded === 'number' ? rounded : refuse(rounded);
  }
  const why = whyNoInteger(x, dtype);
  if (why !== undefined) return refuse(why);
  return isWide(dtype) ? BigInt(x) : x;
}
