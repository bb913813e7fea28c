/** Scratch memory of explicit programs: where it is, and how it is laid out. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import { mistake } from './errors.js';
import { checkList, checkOptions, describe, isRecord, refuse } from './handle.js';
import { userLoc } from './site.js';
import { checkDType } from './tile.js';

export type MemorySpace = 'gmem' | 'smem' | 'tmem';

/** How a buffer in shared or tensor memory is laid out. */
export type Transform =
  | { readonly kind: 'tiling'; readonly tile: readonly number[] }
  | { readonly kind: 'swizzle'; readonly bytes: 16 | 32 | 64 | 128 }
  | { readonly kind: 'transpose'; readonly permutation: readonly number[] };

const transformKinds: readonly string[] = ['tiling', 'swizzle', 'transpose'];

/** The trailing axes in tiles, each of which is contiguous. */
export function tiling(tile: readonly number[]): Transform {
  checkCounts("'tiling' takes the extents of a tile", tile, 1);
  return { kind: 'tiling', tile };
}

/** Rows permuted in units of 16 bytes, so that neither rows nor columns collide in the banks. */
export function swizzle(bytes: 16 | 32 | 64 | 128): Transform {
  if (![16, 32, 64, 128].includes(bytes)) refuse("'swizzle' takes 16 (none), 32, 64 or 128 bytes", bytes);
  return { kind: 'swizzle', bytes };
}

/** Axes in another order. */
export function transpose(permutation: readonly number[]): Transform {
  checkCounts("'transpose' takes the axes in their new order", permutation, 0);
  if (![...permutation].sort((a, b) => a - b).every((axis, i) => axis === i))
    refuse("'transpose' names every axis once", permutation.join(', '));
  return { kind: 'transpose', permutation };
}

function checkCounts(takes: string, list: readonly number[], least: number): void {
  checkList(takes, list);
  for (const n of list) if (!Number.isInteger(n) || n < least) refuse(`${takes}, integers from ${least} up`, n);
}

/** A buffer that a program allocates. */
export interface ScratchSpec<D extends DType = DType, S extends readonly number[] = readonly number[]> {
  readonly space: MemorySpace;
  readonly dtype: D;
  readonly shape: S;
  readonly transforms: readonly Transform[];
  /** @internal Where it was declared. */
  readonly loc: Loc;
}

/** Sums of products in the registers of a warpgroup. They start as zeros. */
export interface AccumulatorSpec<D extends DType = DType, S extends readonly number[] = readonly number[]> {
  readonly space: 'acc';
  readonly dtype: D;
  readonly shape: S;
  /** @internal Where it was declared. */
  readonly loc: Loc;
}

/** Barriers in shared memory, of one name. */
export interface BarrierSpec {
  readonly space: 'barrier';
  readonly arrivals: number;
  readonly count: number;
  /** @internal Where they were declared. */
  readonly loc: Loc;
}

/** Sums of a warpgroup: f32 in a shape of two axes. */
export function accumulator<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
): AccumulatorSpec<D, S> {
  checkDType("'accumulator' takes a dtype", dtype);
  checkCounts("'accumulator' takes a shape", shape, 1);
  return { space: 'acc', dtype, shape, loc: userLoc() };
}

export interface BarrierOptions {
  /** Arrivals that complete a phase: a copy counts as one, as does each warpgroup that arrives. 1 unless said otherwise. */
  readonly arrivals?: number;
  /** How many barriers; `.at(i)` chooses one. */
  readonly count?: number;
}

/** Barriers that copies and warpgroups arrive on. */
export function barrier(options: BarrierOptions = {}): BarrierSpec {
  checkOptions('barrier', ['arrivals', 'count'], options);
  const { arrivals = 1, count = 1 } = options;
  checkCounts("'arrivals' and 'count' of a barrier are numbers", [arrivals, count], 1);
  return { space: 'barrier', arrivals, count, loc: userLoc() };
}

export interface ScratchOptions {
  readonly transforms?: readonly Transform[];
}

const declare =
  (space: MemorySpace) =>
  <D extends DType, const S extends readonly number[]>(
    dtype: D,
    shape: S,
    options: ScratchOptions = {},
  ): ScratchSpec<D, S> => {
    checkDType(`'${space}' takes a dtype`, dtype);
    checkCounts(`'${space}' takes a shape`, shape, 1);
    checkOptions(space, ['transforms'], options);
    const { transforms = [] } = options;
    checkTransforms(space, transforms);
    return { space, dtype, shape, transforms, loc: userLoc() };
  };

/** A buffer in global memory. */
export const gmem = declare('gmem');
/** A buffer in the shared memory of a block. */
export const smem = declare('smem');
/** Columns of tensor memory (sm_100a). */
export const tmem = declare('tmem');

/**
 * A view of a buffer with one more transform.
 *
 * @throws CompileError TW2038 for memory whose layout is the host's, TW2039 for a transform that there is none of.
 */
export function transformRef<D extends DType>(buffer: ScratchSpec<D>, transform: Transform): ScratchSpec<D> {
  checkTransforms(buffer.space, [transform]);
  return { ...buffer, transforms: [...buffer.transforms, transform], loc: userLoc() };
}

function checkTransforms(space: MemorySpace, transforms: readonly unknown[]): void {
  checkList("'transforms' is a list", transforms);
  for (const transform of transforms) {
    const kind = isRecord(transform) ? transform.kind : undefined;
    if (!transformKinds.includes(kind as string))
      mistake(
        (c) => backendCodes.badTransform({ transform: typeof kind === 'string' ? kind : describe(transform) }, c),
        {
          help: 'the transforms are plgpu.tiling([…]), plgpu.swizzle(bytes) and plgpu.transpose([…])',
        },
      );
    if (space === 'gmem')
      mistake((c) => backendCodes.transformSpace({}, c), {
        help: 'arrays in global memory are row-major: transform the buffer in shared memory that it is copied to',
      });
  }
}
