/** What loads, stores and atomics do to arrays in memory. */

import { type DType, type HostArray, isFloat, isWide } from '../dtypes.js';
import {
  allocate,
  allocateHost,
  decodeElements,
  encodeElement,
  encodeElements,
  type RegisterArray,
} from '../numerics/registers.js';
import type { AtomicKind } from '../ops/memory.js';
import { stridesOf } from '../ops/shape.js';
import type { TileValue } from '../tile-value.js';
import { elementCount } from '../types.js';

/** An array in memory at run time. */
export interface Buffer {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: HostArray;
}

/** Called for the first element of an access that lies outside of its array. */
export type OutOfBounds = (axis: number, index: number) => never;

/** A block of a buffer: where it starts, along which axes it lies, and how much of it takes part. */
export interface BlockAccess {
  readonly buffer: Buffer;
  readonly start: readonly number[];
  readonly axes: readonly number[];
  readonly shape: readonly number[];
  /** Elements per tile axis that take part, 0 … shape[axis]. */
  readonly limits: readonly number[];
  readonly mask?: TileValue | undefined;
  readonly outOfBounds: OutOfBounds;
}

/** Unspecified elements are given a value that shows when it leaks: NaN, or the least integer. */
export function poison(dtype: DType, registers: RegisterArray): void {
  const least = dtype.signed ? -(2 ** (dtype.bits - 1)) : 0;
  const value = isFloat(dtype) ? Number.NaN : isWide(dtype) ? BigInt(least) : dtype.cls === 'bool' ? 1 : least;
  (registers as Float64Array).fill(value as number);
}

function checkBlock({ buffer, start, axes, limits, outOfBounds }: BlockAccess): void {
  start.forEach((first, axis) => {
    const extent = buffer.shape[axis]!;
    const along = axes.indexOf(axis);
    const last = along < 0 ? first : first + limits[along]! - 1;
    if (first < 0) outOfBounds(axis, first);
    if (last >= extent) outOfBounds(axis, Math.max(first, extent));
  });
}

/**
 * Visits the rows of a block that take part: `visit(tileOffset, memoryOffset, count, stride)`, one call per line along
 * the last tile axis; element by element where there is a mask.
 */
export function forEachRun(
  access: BlockAccess,
  visit: (tile: number, memory: number, count: number, stride: number) => void,
): void {
  const { buffer, start, axes, shape, limits, mask } = access;
  if (limits.some((n) => n <= 0)) return;
  if (mask) checkMasked(access);
  else checkBlock(access);
  const memoryStrides = stridesOf(buffer.shape);
  const tileStrides = stridesOf(shape);
  const base = start.reduce((sum, s, axis) => sum + s * memoryStrides[axis]!, 0);
  const rank = shape.length;
  if (rank === 0) {
    if (!mask || mask.data[0]) visit(0, base, 1, 1);
    return;
  }
  const inner = limits[rank - 1]!;
  const stride = memoryStrides[axes[rank - 1]!]!;
  const outer = limits.slice(0, -1);
  const at = new Array<number>(rank - 1).fill(0);
  for (let line = elementCount(outer); line > 0; line--) {
    let tile = 0;
    let memory = base;
    for (let axis = 0; axis < rank - 1; axis++) {
      tile += at[axis]! * tileStrides[axis]!;
      memory += at[axis]! * memoryStrides[axes[axis]!]!;
    }
    if (!mask) visit(tile, memory, inner, stride);
    else for (let i = 0; i < inner; i++) if (mask.data[tile + i]) visit(tile + i, memory + i * stride, 1, stride);
    for (let axis = rank - 2; axis >= 0; axis--) {
      if (++at[axis]! < outer[axis]!) break;
      at[axis] = 0;
    }
  }
}

/** With a mask only the elements that it lets through must lie within the array. */
function checkMasked({ buffer, start, axes, shape, limits, mask, outOfBounds }: BlockAccess): void {
  const at = new Array<number>(shape.length).fill(0);
  for (let i = 0; i < mask!.data.length; i++) {
    if (mask!.data[i] && at.every((p, axis) => p < limits[axis]!)) {
      start.forEach((first, axis) => {
        const along = axes.indexOf(axis);
        const index = along < 0 ? first : first + at[along]!;
        if (index < 0 || index >= buffer.shape[axis]!) outOfBounds(axis, index);
      });
    }
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      if (++at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
  }
}

/** Reads a block; elements that take no part are `other` where the mask is false, else unspecified. */
export function loadBlock(access: BlockAccess, other: TileValue | undefined, whole: boolean): TileValue {
  const { buffer, shape, limits, mask } = access;
  const { dtype } = buffer;
  const data = allocate(dtype, elementCount(shape));
  const partial = mask !== undefined || limits.some((n, axis) => n < shape[axis]!);
  if (partial) poison(dtype, data);
  if (mask && other)
    for (let i = 0; i < data.length; i++) if (!mask.data[i]) (data as Float64Array)[i] = other.data[0] as number;
  forEachRun(access, (tile, memory, count, stride) =>
    decodeElements(dtype, buffer.data, memory, count, stride, data, tile),
  );
  const ragged = limits.some((n, axis) => n < shape[axis]!);
  return { dtype, shape, data, ...(ragged && !whole ? { valid: limits } : {}) };
}

export function storeBlock(access: BlockAccess, tile: TileValue): void {
  const { dtype, data } = access.buffer;
  forEachRun(access, (from, memory, count, stride) => {
    if (stride === 1) encodeElements(dtype, tile.data, from, count, data, memory);
    else for (let i = 0; i < count; i++) encodeElement(dtype, tile.data[from + i]!, data, memory + i * stride);
  });
}

/** Element-by-element access: one index tile per axis of the buffer. */
export interface IndexedAccess {
  readonly buffer: Buffer;
  readonly index: readonly TileValue[];
  readonly shape: readonly number[];
  readonly limits: readonly number[];
  readonly mask?: TileValue | undefined;
  readonly outOfBounds: OutOfBounds;
}

/** Visits the elements that take part: `visit(tileOffset, memoryOffset)`, in row-major order. */
export function forEachIndexed(
  { buffer, index, shape, limits, mask, outOfBounds }: IndexedAccess,
  visit: (tile: number, memory: number) => void,
): void {
  const strides = stridesOf(buffer.shape);
  const at = new Array<number>(shape.length).fill(0);
  const n = elementCount(shape);
  for (let i = 0; i < n; i++) {
    if ((!mask || mask.data[i]) && at.every((p, axis) => p < limits[axis]!)) {
      let memory = 0;
      for (let axis = 0; axis < strides.length; axis++) {
        const position = Number(index[axis]!.data[i]);
        if (position < 0 || position >= buffer.shape[axis]!) outOfBounds(axis, position);
        memory += position * strides[axis]!;
      }
      visit(i, memory);
    }
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      if (++at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
  }
}

export function gatherElements(access: IndexedAccess, other: TileValue | undefined): TileValue {
  const { buffer, shape, limits, mask } = access;
  const { dtype } = buffer;
  const data = allocate(dtype, elementCount(shape));
  const ragged = limits.some((n, axis) => n < shape[axis]!);
  if (mask || ragged) poison(dtype, data);
  if (mask && other)
    for (let i = 0; i < data.length; i++) if (!mask.data[i]) (data as Float64Array)[i] = other.data[0] as number;
  forEachIndexed(access, (tile, memory) => decodeElements(dtype, buffer.data, memory, 1, 1, data, tile));
  return { dtype, shape, data, ...(ragged ? { valid: limits } : {}) };
}

export function scatterElements(access: IndexedAccess, value: TileValue): void {
  const { dtype, data } = access.buffer;
  forEachIndexed(access, (tile, memory) => encodeElement(dtype, value.data[tile]!, data, memory));
}

type Combine = (old: number, value: number) => number;
const combines: Record<AtomicKind, Combine> = {
  add: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  exchange: (_, b) => b,
};
const wideCombines: Record<AtomicKind, (old: bigint, value: bigint) => bigint> = {
  add: (a, b) => a + b,
  max: (a, b) => (a > b ? a : b),
  min: (a, b) => (a < b ? a : b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  exchange: (_, b) => b,
};

/** Combines element by element in row-major order; gives the old values. */
export function atomicElements(kind: AtomicKind, access: IndexedAccess, value: TileValue): TileValue {
  const { buffer, shape, limits } = access;
  const { dtype } = buffer;
  const old = allocate(dtype, elementCount(shape));
  poison(dtype, old);
  const combine = (isWide(dtype) ? wideCombines : combines)[kind] as Combine;
  // A register wraps integers and rounds to f32, memory to what is narrower.
  const settled = allocate(dtype, 1) as Float64Array;
  forEachIndexed(access, (tile, memory) => {
    decodeElements(dtype, buffer.data, memory, 1, 1, old, tile);
    settled[0] = combine(old[tile] as number, value.data[tile] as number);
    encodeElement(dtype, settled[0], buffer.data, memory);
  });
  const ragged = limits.some((n, axis) => n < shape[axis]!);
  return { dtype, shape, data: old, ...(ragged ? { valid: limits } : {}) };
}

/** Replaces the elements that have the bits of `compare`, one after the other in row-major order; gives the old values. */
export function compareAndSwapElements(access: IndexedAccess, compare: TileValue, value: TileValue): TileValue {
  const { buffer, shape, limits } = access;
  const { dtype } = buffer;
  const old = allocate(dtype, elementCount(shape));
  poison(dtype, old);
  const [seen, wanted] = [allocateHost(dtype, 1), allocateHost(dtype, 1)];
  forEachIndexed(access, (tile, memory) => {
    decodeElements(dtype, buffer.data, memory, 1, 1, old, tile);
    encodeElement(dtype, old[tile]!, seen, 0);
    encodeElement(dtype, compare.data[tile]!, wanted, 0);
    if (bytesOf(seen).every((byte, i) => byte === bytesOf(wanted)[i]))
      encodeElement(dtype, value.data[tile]!, buffer.data, memory);
  });
  const ragged = limits.some((n, axis) => n < shape[axis]!);
  return { dtype, shape, data: old, ...(ragged ? { valid: limits } : {}) };
}

const bytesOf = (a: HostArray): Uint8Array => new Uint8Array(a.buffer);
