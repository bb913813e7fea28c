/** Distances between floats, and how far a math function may be off. */

import { bf16, type DType, f16, f32, f64 } from '../../src/ir/dtypes.js';

/** Bits of the significand and exponents of the least and the largest number. */
const formats = new Map<DType, { readonly bits: number; readonly least: number; readonly most: number }>([
  [f32, { bits: 24, least: -149, most: 127 }],
  [f64, { bits: 53, least: -1074, most: 1023 }],
  [f16, { bits: 11, least: -24, most: 15 }],
  [bf16, { bits: 8, least: -133, most: 127 }],
]);

export const exponentsOf = (dtype: DType): readonly [number, number] => {
  const { least, most } = formats.get(dtype)!;
  return [least, most];
};

/** Distance in units of the last place of the dtype at the expected value; -0 and NaN are like nothing but themselves. */
export function ulps(actual: number, expected: number, dtype: DType): number {
  if (Object.is(actual, expected)) return 0;
  if (Number.isNaN(actual) || Number.isNaN(expected) || actual === expected) return Infinity;
  const { bits, least, most } = formats.get(dtype)!;
  // Infinity is the step after the largest number; by halves, which a double can hold.
  const half = (x: number): number => (Number.isFinite(x) ? x / 2 : Math.sign(x) * 2 ** most);
  const finite = Number.isFinite(actual) && Number.isFinite(expected);
  const distance = finite ? Math.abs(actual - expected) : Math.abs(half(actual) - half(expected)) * 2;
  const exponent = Number.isFinite(expected) ? Math.floor(Math.log2(Math.abs(expected))) : most;
  return distance / 2 ** Math.max(exponent - bits + 1, least);
}

/** Units that the CPU may be off from the interpreter, by op: what the op allows, and what the interpreter's own rounding of f64 adds. */
export function allowedUlps(name: string, dtype: DType): number {
  const bound = name === 'pow' ? 4 : name === 'fma' || name === 'sqrt' ? 0 : 2;
  return bound + (dtype === f64 ? 2 : 0);
}
