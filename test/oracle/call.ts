/** One call of a corpus kernel: seeded inputs, rounded to their dtype, and results in float64 from the rounded inputs. */

import type { NdArray } from '../../src/api/nd-array.js';
import { bf16, bool, f8e4m3fn, f8e5m2, f16, f32, f64, i8, i32, i64, u8, u32 } from '../../src/ir/dtypes.js';
import { nd, type OracleCall, type Tolerance, toleranceOf } from '../../src/testing/index.js';

export const caseNames = ['aligned', 'ragged', 'minimal'] as const;
export type CaseName = (typeof caseNames)[number];

const dtypes = { f64, f32, tf32: f32, f16, bf16, i64, i32, u32, u8, i8, bool, e4m3: f8e4m3fn, e5m2: f8e5m2 } as const;
export type OracleDType = keyof typeof dtypes;

/** Products of tf32 operands, summed in f32. */
const tf32Tolerance: Tolerance = { rtol: 1e-3, atol: 4e-3 };
/** Below this, neighbouring values of the dtype are further apart than any relative bound. */
const leastStep: Readonly<Record<string, number>> = { f16: 6e-8, bf16: 1e-38 };

export interface Expected {
  readonly shape: readonly number[];
  readonly values: ArrayLike<number>;
  readonly tolerance: Tolerance;
}

interface ResultOptions extends Partial<Tolerance> {
  readonly dtype?: OracleDType;
  /** Magnitude of the terms that one element sums. */
  readonly size?: number;
}

export const countOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Numbers from 0 up to 1 from a seed. */
export function uniforms(seed: number): () => number {
  const next = nd.words(seed);
  return () => next() / 2 ** 32;
}

export class OracleKernelCall implements OracleCall {
  readonly inputs: Record<string, NdArray> = {};
  readonly scalars: Record<string, number> = {};
  readonly expected: Record<string, Expected> = {};
  private drawn = 0;

  constructor(
    readonly kind: CaseName,
    readonly dtype: OracleDType,
    private readonly seed: number,
  ) {}

  get shapes(): Readonly<Record<string, readonly number[]>> {
    return Object.fromEntries(
      [...Object.entries(this.inputs), ...Object.entries(this.expected)].map(([n, x]) => [n, x.shape]),
    );
  }

  pick<T>(aligned: T, ragged: T, minimal: T): T {
    return { aligned, ragged, minimal }[this.kind];
  }

  nextSeed(): number {
    return this.seed * 7919 + this.drawn++;
  }

  /** An input of these numbers. @returns them as the kernel gets them. */
  put(name: string, shape: readonly number[], values: ArrayLike<number>, dtype = this.dtype): Float64Array {
    const array = nd.from(dtypes[dtype], shape, values);
    this.inputs[name] = array;
    return nd.toNumbers(array);
  }

  normal(name: string, shape: readonly number[], { scale = 1, shift = 0 } = {}): Float64Array {
    const next = nd.normals(this.nextSeed());
    return this.put(
      name,
      shape,
      Float64Array.from({ length: countOf(shape) }, () => next() * scale + shift),
    );
  }

  /** Numbers from `low` up to `high`. */
  uniform(name: string, shape: readonly number[], low: number, high: number, dtype = this.dtype): Float64Array {
    const next = uniforms(this.nextSeed());
    return this.put(
      name,
      shape,
      Float64Array.from({ length: countOf(shape) }, () => low + next() * (high - low)),
      dtype,
    );
  }

  /** Integers from `low` up to, but not including, `high`. */
  integers(name: string, shape: readonly number[], low: number, high: number): Float64Array {
    const next = uniforms(this.nextSeed());
    return this.put(
      name,
      shape,
      Float64Array.from({ length: countOf(shape) }, () => low + Math.floor(next() * (high - low))),
    );
  }

  /** @returns the scalar as the kernel gets it. */
  scalar(name: string, value: number, dtype: OracleDType = 'f32'): number {
    this.scalars[name] = value;
    return dtype === 'f32' ? Math.fround(value) : value;
  }

  /** A result; within the dtype's tolerance, unless it states its own. */
  result(name: string, shape: readonly number[], at: (i: number) => number, options: ResultOptions = {}): void {
    const dtype = options.dtype ?? this.dtype;
    const own = toleranceOf(dtypes[dtype]);
    const base = dtype === 'tf32' ? tf32Tolerance : own;
    const atol = options.atol ?? Math.max(base.atol * (options.size ?? 1), leastStep[dtype] ?? 0);
    const values = Float64Array.from({ length: countOf(shape) }, (_, i) => at(i));
    this.expected[name] = { shape, values, tolerance: { rtol: options.rtol ?? base.rtol, atol } };
  }
}
