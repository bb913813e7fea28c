/** Loads, stores and atomics on refs. */

import { attr } from '../attributes.js';
import { defineOp, one, optional, type Report, types, variadic } from '../define-op.js';
import { bool, type DType, isFloat } from '../dtypes.js';
import { printType, type RefType, sameShape, sameType, type TileType, type Type, tileType } from '../types.js';
import type { Value } from '../value.js';
import { raggedIndexed, raggedLoad } from './ragged-rules.js';

/**
 * A block of a ref: `index` gives its first element on every axis of the array; the tile's axes lie along the array's
 * `axes` (all of them, in order, when absent); on the other axes the block is one element. `valid` gives, per axis of
 * the tile, how many elements from there lie within the array (an extent may exceed the tile or be negative); loads
 * leave the rest unspecified, stores drop it. No `valid`: the whole block lies within.
 */
const block = { index: variadic(types.index), valid: variadic(types.index) };

interface BlockOperands {
  readonly ref: Value<RefType>;
  readonly index?: readonly Value[];
  readonly valid?: readonly Value[];
  readonly mask?: Value<TileType> | undefined;
}

/** The array axes that a block's tile axes lie along. */
export function blockAxes(rank: number, axes: readonly number[] | undefined): readonly number[] {
  return axes ?? Array.from({ length: rank }, (_, axis) => axis);
}

function verifyBlock(
  name: string,
  { ref, index = [], valid = [], mask }: BlockOperands,
  axes: readonly number[] | undefined,
  tile: Type,
  report: Report,
): void {
  if (tile.kind !== 'tile') return report(`'${name}' moves a tile, got ${printType(tile)}`);
  const rank = ref.type.shape.length;
  if (tile.dtype !== ref.type.dtype)
    report(`'${name}' needs a tile of the ref's dtype ${ref.type.dtype.name}, got ${printType(tile)}`);
  if (index.length !== rank) report(`'${name}' needs ${rank} indices for ${printType(ref.type)}, got ${index.length}`);
  const along = blockAxes(rank, axes);
  if (
    along.length !== tile.shape.length ||
    along.some((axis, i) => axis < 0 || axis >= rank || (i > 0 && axis <= along[i - 1]!))
  )
    report(`'${name}' of ${printType(tile)} cannot lie along axes [${along.join(', ')}] of ${printType(ref.type)}`);
  if (valid.length !== 0 && valid.length !== tile.shape.length)
    report(`'${name}' needs a valid extent for each of ${tile.shape.length} axes or none, got ${valid.length}`);
  verifyMask(name, mask, tile, report);
}

function verifyMask(name: string, mask: Value<TileType> | undefined, tile: TileType, report: Report): void {
  if (mask && !sameType(mask.type, tileType(bool, tile.shape)))
    report(`'${name}' needs a mask of shape [${tile.shape.join(', ')}], got ${printType(mask.type)}`);
}

function verifyOther(
  name: string,
  other: Value<TileType> | undefined,
  ref: Value<RefType>,
  mask: Value | undefined,
  report: Report,
): void {
  if (!other) return;
  if (!mask) report(`'${name}' has 'other' but no mask`);
  if (other.type.dtype !== ref.type.dtype)
    report(`'${name}' needs 'other' of dtype ${ref.type.dtype.name}, got ${printType(other.type)}`);
}

/** Element-by-element addresses: one integer tile per axis of the ref, all of one shape. */
function indexedType(
  name: string,
  ref: Value<RefType>,
  index: readonly Value<TileType>[],
  report: Report,
): TileType | undefined {
  const rank = ref.type.shape.length;
  if (index.length !== rank || rank === 0) {
    report(`'${name}' needs ${rank} index tiles for ${printType(ref.type)}, got ${index.length}`);
    return undefined;
  }
  const { shape } = index[0]!.type;
  if (index.every((i) => sameShape(i.type.shape, shape))) return tileType(ref.type.dtype, shape);
  report(`'${name}' needs index tiles of one shape, got ${index.map((i) => printType(i.type)).join(' and ')}`);
  return undefined;
}

export const atomicKinds = ['add', 'max', 'min', 'and', 'or', 'xor', 'exchange'] as const;
export type AtomicKind = (typeof atomicKinds)[number];
export const memoryOrders = ['relaxed', 'acquire', 'release', 'acq_rel'] as const;
export const memoryScopes = ['block', 'device', 'system'] as const;

export const loadCaches = ['ca', 'cg', 'cs', 'cv'] as const;
export const storeCaches = ['wb', 'cg', 'cs', 'wt'] as const;
export const evictionPolicies = ['normal', 'evict_first', 'evict_last'] as const;

/** Hints to caches, by the names of PTX; a back end that has no such thing passes them over. */
const loadHints = {
  cache: attr.optional(attr.word(...loadCaches)),
  eviction: attr.optional(attr.word(...evictionPolicies)),
  volatile: attr.optional(attr.flag),
};
const storeHints = {
  cache: attr.optional(attr.word(...storeCaches)),
  eviction: attr.optional(attr.word(...evictionPolicies)),
};

/** What every atomic op on elements needs to hold. */
function verifyAtomic(name: string, dtype: DType, kind: AtomicKind | 'cas', report: Report): void {
  const bitwise = kind === 'and' || kind === 'or' || kind === 'xor';
  const moves = kind === 'exchange' || kind === 'cas';
  if (isFloat(dtype) ? bitwise : dtype === bool && !bitwise && !moves)
    report(`'${name}' ${kind} does not take ${dtype.name}`);
}

export const memoryOps = [
  defineOp({
    name: 'load',
    summary: 'Read a block of a ref.',
    semantics:
      'Where the mask is false nothing is read: the element is `other`, or unspecified without it. The tile is valid up to its `valid` extents and those of the mask; with `whole` (after legalisation) it counts as full, and what lies beyond is unspecified.',
    operands: {
      ref: one(types.ref('gmem', 'smem', 'tmem', 'acc')),
      ...block,
      mask: optional(types.bool),
      other: optional(types.scalar),
    },
    attrs: { axes: attr.optional(attr.ints), whole: attr.optional(attr.flag), ...loadHints },
    results: { stated: 1 },
    verify: ({ operands, attrs, results }, report) => {
      verifyBlock('load', operands, attrs.axes, results[0]!.type, report);
      verifyOther('load', operands.other, operands.ref, operands.mask, report);
    },
    effects: ['reads'],
    ragged: raggedLoad,
  }),

  defineOp({
    name: 'store',
    summary: 'Write a tile to a block of a ref.',
    semantics:
      'Elements beyond a valid extent, of the block, the tile or the mask, and where the mask is false, are not written.',
    operands: {
      ref: one(types.ref('gmem', 'smem', 'tmem')),
      value: one(types.tile),
      ...block,
      mask: optional(types.bool),
    },
    attrs: { axes: attr.optional(attr.ints), ...storeHints },
    results: { infer: () => [] },
    verify: ({ operands, attrs }, report) => verifyBlock('store', operands, attrs.axes, operands.value.type, report),
    effects: ['writes'],
  }),

  defineOp({
    name: 'gather',
    summary: 'Read one element of a ref per element of the index tiles.',
    semantics: 'Elements beyond a valid extent, or masked off, read nothing: `other`, or unspecified without it.',
    operands: {
      ref: one(types.ref('gmem', 'smem')),
      index: variadic(types.int),
      mask: optional(types.bool),
      other: optional(types.scalar),
    },
    attrs: loadHints,
    results: {
      infer: ({ ref, index = [], mask, other }, _, report) => {
        const type = indexedType('gather', ref, index, report);
        if (type) verifyMask('gather', mask, type, report);
        verifyOther('gather', other, ref, mask, report);
        return type && [type];
      },
    },
    effects: ['reads'],
    ragged: raggedIndexed,
  }),

  defineOp({
    name: 'scatter',
    summary: 'Write one element of a ref per element of the index tiles.',
    semantics:
      'Two elements with one address leave either value. Elements beyond a valid extent, or masked off, are not written.',
    operands: {
      ref: one(types.ref('gmem', 'smem')),
      value: one(types.tile),
      index: variadic(types.int),
      mask: optional(types.bool),
    },
    attrs: storeHints,
    results: { infer: () => [] },
    verify: ({ operands: { ref, value, index = [], mask } }, report) => {
      const type = indexedType('scatter', ref, index, report);
      if (type && !sameType(type, value.type))
        report(`'scatter' needs a value ${printType(type)}, got ${printType(value.type)}`);
      if (type) verifyMask('scatter', mask, type, report);
    },
    effects: ['writes'],
  }),

  defineOp({
    name: 'atomic_rmw',
    summary: 'Combine each element of a tile with an element of a ref, atomically; gives the old values.',
    semantics:
      'Relaxed and device-wide unless said otherwise. Float `max` and `min` treat -0 as less than 0 and propagate NaN. Elements beyond a valid extent, or masked off, do nothing; their old value is unspecified.',
    operands: {
      ref: one(types.ref('gmem', 'smem')),
      value: one(types.tile),
      index: variadic(types.int),
      mask: optional(types.bool),
    },
    attrs: { kind: attr.word(...atomicKinds), order: attr.word(...memoryOrders), scope: attr.word(...memoryScopes) },
    results: {
      infer: ({ ref, value, index = [], mask }, { kind }, report) => {
        const type = indexedType('atomic_rmw', ref, index, report);
        if (!type) return undefined;
        if (!sameType(type, value.type))
          report(`'atomic_rmw' needs a value ${printType(type)}, got ${printType(value.type)}`);
        verifyAtomic('atomic_rmw', type.dtype, kind, report);
        verifyMask('atomic_rmw', mask, type, report);
        return [type];
      },
    },
    effects: ['atomic'],
    ragged: raggedIndexed,
  }),

  defineOp({
    name: 'atomic_cas',
    summary:
      'Replace each element of a ref that has the bits of `compare` by `value`, atomically; gives the old values.',
    semantics:
      'The element was replaced exactly where the old value has the bits of `compare`: a NaN equals itself, -0 is not 0. Relaxed and device-wide unless said otherwise. Elements beyond a valid extent, or masked off, do nothing; their old value is unspecified.',
    operands: {
      ref: one(types.ref('gmem', 'smem')),
      compare: one(types.tile),
      value: one(types.tile),
      index: variadic(types.int),
      mask: optional(types.bool),
    },
    attrs: { order: attr.word(...memoryOrders), scope: attr.word(...memoryScopes) },
    results: {
      infer: ({ ref, compare, value, index = [], mask }, _, report) => {
        const type = indexedType('atomic_cas', ref, index, report);
        if (!type) return undefined;
        for (const [name, x] of Object.entries({ compare, value }))
          if (!sameType(type, x.type))
            report(`'atomic_cas' needs '${name}' to be ${printType(type)}, got ${printType(x.type)}`);
        verifyAtomic('atomic_cas', type.dtype, 'cas', report);
        verifyMask('atomic_cas', mask, type, report);
        return [type];
      },
    },
    effects: ['atomic'],
    ragged: raggedIndexed,
  }),
] as const;
