/** How tiles are held at run time: one typed array a tile, every element a value of its dtype. */

import type { DType, HostArray } from '../dtypes.js';
import { storageBytes } from '../dtypes.js';
import { codecOf, isNarrowFloat } from './formats.js';

/** Floats up to 32 bits are numbers in a Float32Array, already rounded to their dtype; integers lie in their own kind; 64-bit ones are bigints. */
export type RegisterArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Int16Array
  | Int32Array
  | BigInt64Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigUint64Array;

type ArrayConstructor<T> = new (
  source: number | ArrayBufferLike | ArrayLike<number>,
  offset?: number,
  length?: number,
) => T;

const registerKinds: Readonly<Record<string, ArrayConstructor<RegisterArray>>> = {
  bool: Uint8Array,
  i4: Int8Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array as never,
  u4: Uint8Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  u64: BigUint64Array as never,
  f64: Float64Array,
};

/** Zeroed registers for `n` elements. */
export function allocate(dtype: DType, n: number): RegisterArray {
  const kind = registerKinds[dtype.name];
  return kind ? new kind(n) : new Float32Array(n);
}

const hostKinds: Readonly<Record<string, ArrayConstructor<HostArray>>> = {
  bool: Uint8Array,
  i4: Uint8Array,
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array as never,
  u4: Uint8Array,
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  u64: BigUint64Array as never,
  f16: Uint16Array,
  bf16: Uint16Array,
  f32: Float32Array,
  f64: Float64Array,
};

/** A zeroed host array for `n` elements in memory layout; the 4-bit kinds take half a byte each. */
export function allocateHost(dtype: DType, n: number): HostArray {
  return new (hostKinds[dtype.name] ?? Uint8Array)(dtype.bits === 4 ? Math.ceil(n / 2) : n);
}

/** A host array over bytes that exist. `bytes` must be aligned to the element. */
export function hostView(dtype: DType, bytes: Uint8Array): HostArray {
  const kind = hostKinds[dtype.name] ?? Uint8Array;
  return new kind(bytes.buffer, bytes.byteOffset, bytes.byteLength / Math.ceil(storageBytes(dtype)));
}

/** Code of a value for arithmetic and memory: what is too large for a dtype of 8 bits saturates, but an infinity stays one where the dtype has it. */
function encoderOf(dtype: DType): (x: number) => number {
  const { decode, encode } = codecOf(dtype);
  if (dtype.bits > 8) return (x) => encode(x, false);
  const keepsInfinity = decode[encode(Infinity, false)] === Infinity;
  return (x) => encode(x, !(keepsInfinity && Math.abs(x) === Infinity));
}

/**
 * Settles results of arithmetic that were computed in double: undefined where the register array itself rounds (f32) or
 * wraps (integers). Narrow floats compute in f32 and round once more, to their own format.
 */
export function roundingOf(dtype: DType): ((x: number) => number) | undefined {
  if (!isNarrowFloat(dtype)) return dtype.bits === 4 ? wrapTo(dtype) : undefined;
  const { decode } = codecOf(dtype);
  const encode = encoderOf(dtype);
  return (x) => decode[encode(Math.fround(x))]!;
}

/** Wraps an integer of up to 32 bits to the range of a dtype. */
export function wrapTo({ bits, signed }: DType): (x: number) => number {
  const shift = 32 - bits;
  return signed ? (x) => (x << shift) >> shift : (x) => (x << shift) >>> shift;
}

/** Reads `n` elements from memory, from element `start` on, `stride` elements apart. */
export function decodeElements(
  dtype: DType,
  memory: HostArray,
  start: number,
  n: number,
  stride: number,
  into: RegisterArray,
  at: number,
): void {
  const to = into as Float64Array;
  if (isNarrowFloat(dtype) && dtype.bits !== 4) {
    const { decode } = codecOf(dtype);
    const from = memory as Uint16Array;
    for (let i = 0, j = start; i < n; i++, j += stride) to[at + i] = decode[from[j]!]!;
  } else if (dtype.bits === 4) {
    const from = memory as Uint8Array;
    const { decode } = dtype.cls === 'float' ? codecOf(dtype) : { decode: nibbles(dtype) };
    for (let i = 0, j = start; i < n; i++, j += stride) to[at + i] = decode[(from[j >> 1]! >> ((j & 1) * 4)) & 15]!;
  } else {
    const from = memory as Float64Array;
    if (stride === 1) to.set(from.subarray(start, start + n), at);
    else for (let i = 0, j = start; i < n; i++, j += stride) to[at + i] = from[j]!;
  }
}

/** The integer of each 4-bit code. */
const nibbles = (dtype: DType): readonly number[] => Array.from({ length: 16 }, (_, code) => wrapTo(dtype)(code));

/** Bit pattern of a value, for the dtypes that registers hold otherwise than memory does. */
function codeOf(dtype: DType): (x: number) => number {
  if (!isNarrowFloat(dtype)) return (x) => x & 15;
  return encoderOf(dtype);
}

/** Writes one element to memory. */
export function encodeElement(dtype: DType, x: number | bigint, memory: HostArray, at: number): void {
  const to = memory as Float64Array;
  if (dtype.bits === 4) {
    const shift = (at & 1) * 4;
    to[at >> 1] = (to[at >> 1]! & ~(15 << shift)) | (codeOf(dtype)(x as number) << shift);
  } else to[at] = isNarrowFloat(dtype) ? codeOf(dtype)(x as number) : (x as number);
}

/** Writes `n` elements to consecutive places in memory. */
export function encodeElements(
  dtype: DType,
  from: RegisterArray,
  at: number,
  n: number,
  memory: HostArray,
  start: number,
): void {
  const registers = from as Float64Array;
  const to = memory as Float64Array;
  if (dtype.bits === 4) {
    const code = codeOf(dtype);
    for (let i = 0, j = start; i < n; i++, j++) {
      const shift = (j & 1) * 4;
      to[j >> 1] = (to[j >> 1]! & ~(15 << shift)) | (code(registers[at + i]!) << shift);
    }
  } else if (isNarrowFloat(dtype)) {
    const code = codeOf(dtype);
    for (let i = 0; i < n; i++) to[start + i] = code(registers[at + i]!);
  } else to.set(registers.subarray(at, at + n), start);
}
