/** Making host arrays: constants, counts and seeded random numbers. */

import { type DType, intRange, isFloat } from '../ir/dtypes.js';
import { elementCount } from '../ir/types.js';
import { fromNumbers, makeNdArray, type NdArray, toRegisters } from './nd-array.js';

export type { NdArray } from './nd-array.js';

export const zeros = makeNdArray;

/** An array of numbers in row-major order, rounded to the dtype. */
export const from = fromNumbers;

export function full<D extends DType>(dtype: D, shape: readonly number[], value: number): NdArray<D> {
  return fromNumbers(dtype, shape, new Float64Array(elementCount(shape)).fill(value));
}

/** 0, 1, 2, … in row-major order; where a dtype ends, it wraps or rounds. */
export function arange<D extends DType>(dtype: D, shape: readonly number[]): NdArray<D> {
  return fromNumbers(
    dtype,
    shape,
    Float64Array.from({ length: elementCount(shape) }, (_, i) => i),
  );
}

/** A generator of 32-bit words from a seed: the same everywhere (mulberry32). */
export function words(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Normally distributed numbers with mean 0 and deviation 1, by Box and Muller. */
export function normals(seed: number): () => number {
  const next = words(seed);
  return () => {
    const u = (next() + 1) / 4294967297;
    const v = next() / 4294967296;
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  };
}

export interface RandomOptions {
  readonly seed: number;
  /** Factor on floats. */
  readonly scale?: number;
}

/** Seeded random elements: normally distributed floats, integers over their range (at most ±100), fair bools. */
export function random<D extends DType>(
  dtype: D,
  shape: readonly number[],
  { seed, scale = 1 }: RandomOptions,
): NdArray<D> {
  const n = elementCount(shape);
  if (isFloat(dtype)) {
    const next = normals(seed);
    return fromNumbers(
      dtype,
      shape,
      Float64Array.from({ length: n }, () => next() * scale),
    );
  }
  const next = words(seed);
  const [low, high] =
    dtype.cls === 'bool' ? [0, 1] : intRange(dtype).map((x) => Math.max(-100, Math.min(100, Number(x))));
  const span = high! - low! + 1;
  return fromNumbers(
    dtype,
    shape,
    Float64Array.from({ length: n }, () => low! + (next() % span)),
  );
}

/** The elements as double-precision numbers. */
export function toNumbers(array: NdArray): Float64Array {
  const registers = toRegisters(array);
  return Float64Array.from({ length: registers.length }, (_, i) => Number(registers[i]));
}
