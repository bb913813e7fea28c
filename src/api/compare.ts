/** Comparison of arrays with a reference: an element passes where |actual - expected| <= atol + rtol * |expected|. */

import type { DType } from '../ir/dtypes.js';
import { type NdArray, toRegisters } from './nd-array.js';

export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

const tolerances: Readonly<Record<string, Tolerance>> = {
  f64: { rtol: 1e-12, atol: 1e-13 },
  f32: { rtol: 4e-6, atol: 1e-6 },
  f16: { rtol: 1.5e-3, atol: 1e-4 },
  bf16: { rtol: 9e-3, atol: 1e-4 },
  f8e4m3fn: { rtol: 7e-2, atol: 2e-3 },
  f8e5m2: { rtol: 1.4e-1, atol: 2e-3 },
  f8e4m3fnuz: { rtol: 7e-2, atol: 2e-3 },
  f8e5m2fnuz: { rtol: 1.4e-1, atol: 2e-3 },
};

/**
 * Tolerance of a result of a dtype. Integers, bool and copies are exact.
 *
 * @param size of the terms that are summed into one element; scales `atol`.
 */
export function toleranceOf(dtype: DType, size = 1): Tolerance {
  const own = tolerances[dtype.name];
  return own ? { rtol: own.rtol, atol: own.atol * size } : { rtol: 0, atol: 0 };
}

export interface Mismatch {
  readonly index: readonly number[];
  readonly actual: number | bigint;
  readonly expected: number | bigint;
}

export interface Comparison {
  readonly count: number;
  readonly failed: number;
  /** Largest |actual - expected|. */
  readonly maxError: number;
  /** Largest error by what is allowed there: above 1 is a failure. */
  readonly maxShare: number;
  /** The first that failed, in row-major order. */
  readonly first: readonly Mismatch[];
}

const positionOf = (shape: readonly number[], flat: number): number[] => {
  const index: number[] = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    index.unshift(flat % shape[axis]!);
    flat = Math.floor(flat / shape[axis]!);
  }
  return index;
};

/** |a - b|, exact between 64-bit integers, which doubles would run together. */
function distance(a: number | bigint, b: number | bigint): number {
  if (a === b) return 0;
  if (typeof a === 'bigint' && typeof b === 'bigint') return Math.abs(Number(a - b));
  const [x, y] = [Number(a), Number(b)];
  return Object.is(x, y) || x === y ? 0 : Math.abs(x - y);
}

/**
 * Compares element by element. NaN must meet NaN, an infinity the same infinity.
 *
 * @throws RangeError where the arrays have different numbers of elements.
 */
export function compareArrays(
  actual: NdArray,
  expected: NdArray | ArrayLike<number | bigint>,
  { rtol, atol }: Tolerance,
): Comparison {
  const got = toRegisters(actual);
  const want = 'dtype' in expected ? toRegisters(expected) : expected;
  if (got.length !== want.length) throw new RangeError(`expected ${want.length} elements, got ${got.length}`);
  let failed = 0;
  let maxError = 0;
  let maxShare = 0;
  const first: Mismatch[] = [];
  for (let i = 0; i < got.length; i++) {
    const error = distance(got[i]!, want[i]!);
    if (error === 0) continue;
    if (error > maxError || Number.isNaN(error)) maxError = Number.isNaN(error) ? Number.POSITIVE_INFINITY : error;
    const bound = Math.abs(Number(want[i]));
    const share = Number.isFinite(bound) ? error / (atol + rtol * bound) : Number.POSITIVE_INFINITY;
    if (share > maxShare || Number.isNaN(share)) maxShare = Number.isNaN(share) ? Number.POSITIVE_INFINITY : share;
    if (share <= 1) continue;
    failed++;
    if (first.length < 5) first.push({ index: positionOf(actual.shape, i), actual: got[i]!, expected: want[i]! });
  }
  return { count: got.length, failed, maxError, maxShare, first };
}

/**
 * Throws a plain Error that lists the first mismatches.
 *
 * @param tolerance by default that of the actual array's dtype.
 */
export function expectClose(
  actual: NdArray,
  expected: NdArray | ArrayLike<number | bigint>,
  tolerance: Partial<Tolerance> = {},
): void {
  const used = { ...toleranceOf(actual.dtype), ...tolerance };
  const shape = 'dtype' in expected ? expected.shape : actual.shape;
  if (shape.length !== actual.shape.length || shape.some((n, axis) => n !== actual.shape[axis]))
    throw new Error(`expected shape [${shape.join(', ')}], got [${actual.shape.join(', ')}]`);
  const { count, failed, maxError, first } = compareArrays(actual, expected, used);
  if (failed === 0) return;
  const lines = first.map(({ index, actual: a, expected: e }) => `  [${index.join(', ')}]: expected ${e}, got ${a}`);
  throw new Error(
    `${failed} of ${count} elements differ by more than ${used.atol} + ${used.rtol} |expected| (largest error ${maxError}):\n${lines.join('\n')}`,
  );
}
