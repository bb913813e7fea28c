/**
 * Tensor maps and the copies that use them. The encoding of the 128 bytes is the simulator's own, since the hardware's
 * is not public; `tensormap.replace` and the launcher write it.
 */

import type { Views } from '../memory.js';
import type { Block } from './block.js';
import { sharedBase } from './symbols.js';
import type { Warp } from './warp.js';

/** Words of the map. Extents and strides are innermost first; the innermost stride is the element. */
const field = {
  rank: 0,
  elementType: 1,
  interleave: 2,
  swizzle: 3,
  fill: 4,
  address: 6,
  box: 8,
  size: 13,
  elementStride: 18,
  stride: 22,
  strideHigh: 27,
} as const;

/** Bytes of the element types, by the numbers of `tensormap.replace`. */
const elementBytes = [1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4] as const;

export interface TensorMap {
  readonly address: bigint;
  readonly elementBytes: 1 | 2 | 4 | 8;
  /** Innermost first. */
  readonly sizes: readonly number[];
  /** In bytes, from the second dimension on. */
  readonly strides: readonly number[];
  readonly box: readonly number[];
  /** 0: none, 1: 32, 2: 64, 3: 128 bytes. */
  readonly swizzle: number;
}

const typeOfBytes = { 1: 0, 2: 1, 4: 2, 8: 4 } as const;

export function encodeTensorMap(map: TensorMap): Uint8Array {
  const words = new Int32Array(32);
  words[field.rank] = map.sizes.length - 1;
  words[field.elementType] = typeOfBytes[map.elementBytes];
  words[field.swizzle] = map.swizzle;
  words[field.address] = Number(BigInt.asIntN(32, map.address));
  words[field.address + 1] = Number(BigInt.asIntN(32, map.address >> 32n));
  map.sizes.forEach((size, d) => {
    words[field.box + d] = map.box[d]!;
    words[field.size + d] = size;
    words[field.elementStride + d] = 1;
    if (d > 0) words[field.stride + d] = map.strides[d - 1]!;
  });
  return new Uint8Array(words.buffer);
}

const replaceable: Readonly<Record<string, number>> = {
  global_address: field.address,
  rank: field.rank,
  elemtype: field.elementType,
  interleave_layout: field.interleave,
  swizzle_mode: field.swizzle,
  fill_mode: field.fill,
  box_dim: field.box,
  global_dim: field.size,
  element_stride: field.elementStride,
  // Strides are counted without the innermost one.
  global_stride: field.stride + 1,
};

/** The word that `tensormap.replace` of a field writes. */
export const replacedWord = (name: string, index: number): number | undefined => {
  const word = replaceable[name];
  return word === undefined ? undefined : word + index;
};

export type Direction = 'load' | 'store' | 'add' | 'min' | 'max';

/** Copies one box between global memory and shared memory of a block. Gives the bytes of the whole box: zero fill counts. */
export function copyBox(
  block: Block,
  warp: Warp,
  map: { readonly memory: Views; readonly at: number },
  coordinates: readonly number[],
  shared: number,
  direction: Direction,
): number {
  const words = map.memory.i32.subarray(map.at >> 2, (map.at >> 2) + 32);
  const word = (n: number): number => words[n]!;
  const rank = word(field.rank) + 1;
  if (rank < 1 || rank > 5) warp.misuse('a tensor map that nobody wrote');
  if (coordinates.length !== rank) warp.misuse(`a tensor map of rank ${rank} with ${coordinates.length} coordinates`);
  const bytes = elementBytes[word(field.elementType)] ?? warp.misuse('a tensor map of an unknown element type');
  const swizzle = [0, 1, 3, 7][word(field.swizzle)] ?? warp.misuse(`swizzle ${word(field.swizzle)} of a tensor map`);
  const row = word(field.box) * bytes;
  if (swizzle !== 0 && row > (swizzle + 1) * 16)
    warp.misuse(`an inner box of ${row} bytes under a swizzle of ${(swizzle + 1) * 16}`);
  const alignment = swizzle === 0 ? 16 : 128;
  if (shared % alignment !== 0)
    warp.misuse(`a tensor copy at shared offset ${shared - sharedBase}, not a multiple of ${alignment}`);
  if (word(field.elementStride) !== 1) warp.misuse('a tensor map with a stride of elements');
  let rows = 1;
  for (let d = 1; d < rank; d++) rows *= word(field.box + d);
  const load = direction === 'load';
  block.sharedRange(shared, rows * row, load ? 'asyncWrite' : 'asyncRead', warp);
  const global = block.global.views.u8;
  const own = block.shared.u8;
  const unit = Math.min(16, row);
  const window = word(field.address + 1);
  const combine = load || direction === 'store' ? undefined : elementReducer(direction, bytes, warp);
  for (let r = 0; r < rows; r++) {
    let rest = r;
    let inside = true;
    let line = word(field.address) >>> 0;
    for (let d = 1; d < rank; d++) {
      const x = coordinates[d]! + (rest % word(field.box + d));
      rest = Math.floor(rest / word(field.box + d));
      if (x < 0 || x >= word(field.size + d)) inside = false;
      line += x * (word(field.stride + d) >>> 0);
    }
    for (let b = 0; b < row; b += unit) {
      const linear = shared + r * row + b;
      const to = linear ^ (((linear >> 7) & swizzle) << 4);
      const x = coordinates[0]! + b / bytes;
      const size = Math.min(unit, row - b);
      const first = Math.max(0, -x);
      const last = inside ? Math.min(size / bytes, word(field.size) - x) : 0;
      if (load && (first > 0 || last < size / bytes)) own.fill(0, to, to + size);
      if (last <= first) continue;
      const [skip, count] = [first * bytes, (last - first) * bytes];
      const from = block.globalRange(
        line + x * bytes + skip,
        window,
        count,
        load ? 'asyncRead' : combine ? 'atomic' : 'asyncWrite',
        warp,
      );
      if (load) own.set(global.subarray(from, from + count), to + skip);
      else if (combine) combine(block, to + skip, from, count);
      else global.set(own.subarray(to + skip, to + skip + count), from);
    }
  }
  return rows * row;
}

/** Reductions of f32 and 32-bit integers alone: others are refused. */
function elementReducer(
  direction: Direction,
  bytes: number,
  warp: Warp,
): (block: Block, from: number, to: number, count: number) => void {
  if (direction !== 'add' || bytes !== 4)
    return warp.misuse(`a reducing tensor copy '${direction}' of ${bytes}-byte elements`);
  return ({ shared, global: { views } }, from, to, count) => {
    for (let b = 0; b < count; b += 4) views.f32[(to + b) >> 2]! += shared.f32[(from + b) >> 2]!;
  };
}
