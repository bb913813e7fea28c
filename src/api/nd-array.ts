/** Arrays at the host: elements as they lie in memory, row-major. */

import type { DType, HostArrayOf } from '../ir/dtypes.js';
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

/** An array from numbers, rounded to the dtype. */
export function fromNumbers<D extends DType>(
  dtype: D,
  shape: readonly number[],
  numbers: ArrayLike<number | bigint>,
): NdArray<D> {
  const array = makeNdArray(dtype, shape);
  const registers = allocate(dtype, elementCount(shape)) as Float64Array;
  for (let i = 0; i < registers.length; i++) registers[i] = numbers[i] as number;
  encodeElements(dtype, registers, 0, registers.length, array.data, 0);
  return array;
}
