/** Arrays at the host: elements as they lie in memory, row-major. */

import { bool, type DType, type HostArrayOf, isWide } from '../ir/dtypes.js';
import { isNarrowFloat } from '../ir/numerics/formats.js';
import {
  allocate,
  allocateHost,
  decodeElements,
  encodeElements,
  hostView,
  type RegisterArray,
} from '../ir/numerics/registers.js';
import { elementCount } from '../ir/types.js';

/** An array of a dtype: f16, bf16 and fp8 as bit patterns, the 4-bit kinds packed two to a byte. */
export interface NdArray<D extends DType = DType> {
  readonly dtype: D;
  readonly shape: readonly number[];
  readonly data: HostArrayOf<D>;
}

/** An array of zeros. */
export function makeNdArray<D extends DType>(dtype: D, shape: readonly number[]): NdArray<D> {
  return { dtype, shape, data: allocateHost(dtype, elementCount(shape)) as HostArrayOf<D> };
}

/** The array's bytes in memory, without a copy. */
export function bytesOf({ data }: NdArray): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** An array over bytes that lie in memory; copied only where they are not aligned to the element. */
export function fromBytes<D extends DType>(dtype: D, shape: readonly number[], bytes: Uint8Array): NdArray<D> {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  return { dtype, shape, data: hostView(dtype, aligned) as HostArrayOf<D> };
}

/** The elements as numbers (bigint for the 64-bit integers). */
export function toRegisters({ dtype, shape, data }: NdArray): RegisterArray {
  const n = elementCount(shape);
  const registers = allocate(dtype, n);
  decodeElements(dtype, data, 0, n, 1, registers, 0);
  return registers;
}

/**
 * An array from numbers in row-major order: floats are rounded to nearest even, integers wrap, anything but 0 is true.
 *
 * @throws RangeError where there are more or fewer numbers than elements.
 */
export function fromNumbers<D extends DType>(
  dtype: D,
  shape: readonly number[],
  numbers: ArrayLike<number | bigint>,
): NdArray<D> {
  const n = elementCount(shape);
  if (numbers.length !== n)
    throw new RangeError(`shape [${shape.join(', ')}] holds ${n} elements, got ${numbers.length}`);
  const array = makeNdArray(dtype, shape);
  // Narrow floats are rounded once, from double: their registers are f32.
  const registers = (isNarrowFloat(dtype) ? new Float64Array(n) : allocate(dtype, n)) as Float64Array;
  if (isWide(dtype)) for (let i = 0; i < n; i++) registers[i] = BigInt(numbers[i]!) as never;
  else if (dtype === bool) for (let i = 0; i < n; i++) registers[i] = Number(numbers[i]) === 0 ? 0 : 1;
  else for (let i = 0; i < n; i++) registers[i] = numbers[i] as number;
  encodeElements(dtype, registers, 0, n, array.data, 0);
  return array;
}
