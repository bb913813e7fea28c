/** What a program declares: arrays and their blocks, scalars, the grid. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import { mistake } from './errors.js';
import type { Rank, RankOf } from './rank.js';
import type { Extent } from './ref.js';
import { userLoc } from './site.js';
import { type Index, symbolTile, Tile } from './tile.js';

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

/** An array argument of dtype `D`; `R` is the rank of the ref that the body gets. */
export class ArraySpec<D extends DType, R extends Rank> {
  declare private readonly rank: R;

  /** @internal */
  constructor(
    readonly dtype: D,
    readonly extents: readonly Extent[],
    readonly loc: Loc,
    readonly block_?: { readonly dims: readonly BlockDim[]; readonly index: readonly Extent[]; readonly loc: Loc },
  ) {}
}

/** An array argument without blocks: the body gets a ref of the whole array. */
export class WholeArray<D extends DType, E extends readonly Extent[]> extends ArraySpec<D, RankOf<E>> {
  /** Gives each program a block: `dims` extents, at block `index` (in blocks; in elements for `squeezed` and `element`). */
  block<const B extends Each<E, BlockDim>>(dims: B, index: Each<E, Extent>): ArraySpec<D, RankOf<KeptDims<B>>> {
    const loc = userLoc();
    const [d, i] = [dims as unknown as readonly BlockDim[], index as unknown as readonly Extent[]];
    if (d.length !== this.extents.length)
      mistake((c) => frontendCodes.blockRank({ block: d.length, array: this.extents.length }, c));
    if (i.length !== d.length) mistake((c) => frontendCodes.indexRank({ got: i.length, expected: d.length }, c));
    d.forEach((x) => checkBlockDim(x));
    i.forEach((x) => checkExtent(x, 'a block index', 0));
    return new ArraySpec(this.dtype, this.extents, this.loc, { dims: d, index: i, loc });
  }
}

function checkExtent(x: unknown, what: string, least: number): void {
  if (x instanceof Tile || (Number.isInteger(x) && (x as number) >= least)) return;
  mistake((c) =>
    frontendCodes.badExtent({ message: `${what} must be an integer from ${least} up or a dim, got ${String(x)}` }, c),
  );
}

function checkBlockDim(x: BlockDim): void {
  if (typeof x === 'object' && 'kind' in x) {
    if (x.kind === 'element') checkExtent(x.size, 'a block extent', 1);
  } else checkExtent(x, 'a block extent', 1);
}

/** An array in memory: dtype and extents (numbers, dims, and integer arithmetic on them), row-major. */
export function array<D extends DType, const E extends readonly Extent[]>(dtype: D, shape: E): WholeArray<D, E> {
  shape.forEach((x) => checkExtent(x, 'an array extent', 0));
  if (shape.length > 6)
    mistake((c) => frontendCodes.badExtent({ message: `an array has at most 6 axes, got ${shape.length}` }, c));
  return new WholeArray(dtype, shape, userLoc());
}

/** A scalar argument. */
export class ScalarSpec<D extends DType> {
  /** @internal */
  constructor(
    readonly dtype: D,
    readonly loc: Loc,
  ) {}
}

export const scalar = <D extends DType>(dtype: D): ScalarSpec<D> => new ScalarSpec(dtype, userLoc());

/** Extents of a grid, by axis name, in order: the last axis is the fastest. */
export const gridExtents: unique symbol = Symbol('grid');

/** The axes of a grid as index scalars. */
export type Grid<G extends Readonly<Record<string, Extent>> = Readonly<Record<string, Extent>>> = {
  readonly [K in keyof G]: Index;
} & {
  readonly [gridExtents]: { readonly extents: G; readonly sequential: readonly string[]; readonly loc: Loc };
};

/**
 * Named grid axes and their extents. A program runs for each point, in no order; along `sequential` axes the programs of
 * a point run in order, as a loop inside one program.
 */
export function grid<const G extends Readonly<Record<string, Extent>>>(
  extents: G,
  options: { readonly sequential?: readonly (keyof G & string)[] } = {},
): Grid<G> {
  const loc = userLoc();
  for (const x of Object.values(extents)) checkExtent(x, 'a grid extent', 0);
  const self: Record<PropertyKey, unknown> = {};
  for (const axis of Object.keys(extents)) self[axis] = symbolTile({ kind: 'axis', axis, grid: self, loc });
  self[gridExtents] = { extents, sequential: options.sequential ?? [], loc };
  return self as Grid<G>;
}
