/** What a program declares: arrays and their blocks, scalars, the grid. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import { maxRank } from '../ir/types.js';
import { mistake } from './errors.js';
import { checkList, checkNotCaptured, checkOptions, describe, isRecord, refuse } from './handle.js';
import type { Dims, Rank, RankOf } from './rank.js';
import type { Extent } from './ref.js';
import { userLoc } from './site.js';
import { asSymbol, checkDType, type Index, maxExtent, symbolTile, Tile } from './tile.js';

/** A block dimension that drops the axis: the program sees one element of it. */
export interface Squeezed {
  readonly kind: 'squeezed';
}
export const squeezed: Squeezed = Object.freeze({ kind: 'squeezed' });

/** A block dimension whose index counts elements, not blocks. */
export interface ElementDim {
  readonly kind: 'element';
  readonly size: number;
}
export const element = (size: number): ElementDim => ({ kind: 'element', size });

/** Extent of a block along one axis: a number, a dim for the whole axis, `squeezed`, or `element(n)`. */
export type BlockDim = Extent | Squeezed | ElementDim;

type KeptDims<B> = B extends readonly [infer H, ...infer T]
  ? H extends Squeezed
    ? KeptDims<T>
    : [H, ...KeptDims<T>]
  : [];
type Each<S extends readonly unknown[], T> = { readonly [K in keyof S]: T };
/** Extents that the body sees: plain numbers, unless one is a dim. */
type ShapeOf<K extends readonly unknown[]> = K extends readonly (number | ElementDim)[]
  ? Dims[RankOf<K>]
  : readonly Extent[];

/** An array argument of dtype `D`; `R` and `S` are the rank and the extents of the ref that the body gets. */
export class ArraySpec<D extends DType, R extends Rank, S extends readonly Extent[] = readonly Extent[]> {
  declare protected readonly view: [R, S];

  /** @internal */
  constructor(
    readonly dtype: D,
    readonly extents: readonly Extent[],
    readonly loc: Loc,
    readonly blocked?: Block,
  ) {}
}

/** A block of each program: its extents, and its place by the program's position on the grid. */
export interface Block {
  readonly dims: readonly BlockDim[];
  readonly index: readonly Extent[];
  readonly loc: Loc;
}

/** An array argument without blocks: the body gets a ref of the whole array. */
export class WholeArray<D extends DType, E extends readonly Extent[]> extends ArraySpec<D, RankOf<E>> {
  /** Gives each program a block: `dims` extents, at block `index` (in blocks; in elements for `squeezed` and `element`). */
  block<const B extends Each<E, BlockDim>>(
    dims: B,
    index: Each<E, Extent>,
  ): ArraySpec<D, RankOf<KeptDims<B>>, ShapeOf<KeptDims<B>>> {
    return declareBlock(this, dims as unknown as readonly BlockDim[], index as never, userLoc()) as never;
  }
}

/** `loc` is where the declaration stands, for messages and for the IR. */
export function checkExtent(x: unknown, what: string, least: number, loc: Loc): void {
  if (x instanceof Tile && asSymbol(x as Index)) return;
  if (Number.isInteger(x) && (x as number) >= least && (x as number) <= maxExtent) return;
  checkNotCaptured(x, { loc });
  const kind = `an integer from ${least} up or a dim`;
  const got = x instanceof Tile ? 'a value of a kernel body' : describe(x);
  mistake((c) => frontendCodes.badExtent({ message: `${what} must be ${kind}, got ${got}` }, c), { loc });
}

function checkBlockDim(x: BlockDim, loc: Loc): void {
  const special = typeof x === 'object' && x !== null && 'kind' in x ? x : undefined;
  if (special?.kind === 'squeezed') return;
  if (special?.kind !== 'element') return checkExtent(x, 'a block extent', 1, loc);
  if (!Number.isInteger(special.size) || special.size < 1 || special.size > maxExtent)
    mistake(
      (c) =>
        frontendCodes.badExtent({ message: `element(…) takes an integer from 1 up, got ${describe(special.size)}` }, c),
      { loc },
    );
}

/** The block of an array. */
export function declareBlock<D extends DType>(
  { dtype, extents, loc: arrayLoc }: ArraySpec<D, Rank>,
  dims: readonly BlockDim[],
  index: readonly Extent[],
  loc: Loc,
): ArraySpec<D, Rank> {
  checkList('a block is a list of extents', dims, { loc });
  checkList('a block index is a list', index, { loc });
  if (dims.length !== extents.length)
    mistake((c) => frontendCodes.blockRank({ block: dims.length, array: extents.length }, c), { loc });
  if (index.length !== dims.length)
    mistake((c) => frontendCodes.indexRank({ got: index.length, expected: dims.length }, c), { loc });
  for (const x of dims) checkBlockDim(x, loc);
  for (const x of index) checkExtent(x, 'a block index', 0, loc);
  return new ArraySpec(dtype, extents, arrayLoc, { dims, index, loc });
}

export function declareArray<D extends DType, E extends readonly Extent[]>(
  dtype: D,
  shape: E,
  loc: Loc,
): WholeArray<D, E> {
  checkDType("'array' takes a dtype", dtype, { loc });
  checkList('a shape is a list of extents', shape, { loc });
  for (const x of shape) checkExtent(x, 'an array extent', 0, loc);
  if (shape.length > maxRank)
    mistake(
      (c) => frontendCodes.badExtent({ message: `an array has at most ${maxRank} axes, got ${shape.length}` }, c),
      { loc },
    );
  return new WholeArray(dtype, shape, loc);
}

/** An array in memory: dtype and extents (numbers, dims, and integer arithmetic on them), row-major. */
export function array<D extends DType, const E extends readonly Extent[]>(dtype: D, shape: E): WholeArray<D, E> {
  return declareArray(dtype, shape, userLoc());
}

/** A scalar argument. */
export class ScalarSpec<D extends DType> {
  /** @internal */
  constructor(
    readonly dtype: D,
    readonly loc: Loc,
  ) {}
}

export function scalar<D extends DType>(dtype: D): ScalarSpec<D> {
  checkDType("'scalar' takes a dtype", dtype);
  return new ScalarSpec(dtype, userLoc());
}

/** Extents of a grid, by axis name, in order: the last axis is the fastest. */
export const gridExtents: unique symbol = Symbol('grid');

/** The axes of a grid as index scalars. */
export type Grid<G extends Readonly<Record<string, Extent>> = Readonly<Record<string, Extent>>> = {
  readonly [K in keyof G]: Index;
} & {
  readonly [gridExtents]: { readonly extents: G; readonly sequential: readonly string[]; readonly loc: Loc };
};

export interface GridOptions<G> {
  /** Axes along which programs run one after the other, inside of one program. */
  readonly sequential?: readonly (keyof G & string)[];
}

/** Whether a value is what `grid(…)` gives. */
export const isGrid = (x: unknown): x is Grid => typeof x === 'object' && x !== null && gridExtents in x;

export function declareGrid<const G extends Readonly<Record<string, Extent>>>(
  extents: G,
  { sequential = [] }: GridOptions<G>,
  loc: Loc,
): Grid<G> {
  if (!isRecord(extents))
    refuse('a grid is a record of axes and their extents', extents, { loc, help: 'grid({ i: cdiv(n, block) })' });
  checkList("'sequential' lists axes", sequential, { loc });
  for (const [axis, x] of Object.entries(extents)) checkExtent(x, `the extent of grid axis '${axis}'`, 0, loc);
  for (const axis of sequential)
    if (!Object.hasOwn(extents, axis))
      mistake((c) => frontendCodes.badIndex({ message: `${describe(axis)} is not an axis of the grid` }, c), {
        loc,
        help: `its axes are ${Object.keys(extents).join(', ') || 'none'}`,
      });
  const self: Record<PropertyKey, unknown> = {};
  for (const axis of Object.keys(extents)) self[axis] = symbolTile({ kind: 'axis', axis, grid: self, loc });
  self[gridExtents] = { extents, sequential, loc };
  return self as Grid<G>;
}

/**
 * Named grid axes and their extents. A program runs for each point, in no order; along `sequential` axes the programs of
 * a point run in order, as a loop inside one program.
 */
export function grid<const G extends Readonly<Record<string, Extent>>>(
  extents: G,
  options: GridOptions<G> = {},
): Grid<G> {
  checkOptions('grid', ['sequential'], options);
  return declareGrid(extents, options, userLoc());
}
