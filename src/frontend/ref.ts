/** Refs: arrays in memory, and the views of them that loads and stores address. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import { type Bool, type DType, type I32, i32, isInt } from '../ir/dtypes.js';
import type { AtomicKind, memoryOrders, memoryScopes } from '../ir/ops/memory.js';
import { printType, sameType, tileType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import type { Pred, Rank } from './rank.js';
import { type AnyTile, binary, type Index, locOf, Tile, traced, useTile } from './tile.js';
import { needTrace, type TracedValue } from './trace.js';

/** A JavaScript number or an i32 scalar. */
export type Extent = number | Index;

/** `size` elements of an axis from `start` on. */
export interface Slice {
  readonly start: Extent;
  readonly size: number;
}

/** A slice of a dynamic start and a static size. */
export const ds = (start: Extent, size: number): Slice => ({ start, size });

/** The whole axis. */
export const all: unique symbol = Symbol('all');

type At = Extent | Slice | typeof all | AnyTile;
type AtRank<R extends Rank, I extends readonly unknown[]> = I extends readonly [infer H, ...infer T]
  ? H extends Slice | typeof all
    ? AtRank<R, T>
    : AtRank<Pred<R>, T>
  : R;

/** One axis of the array, as a view sees it. */
export interface ViewAxis {
  /** First element; undefined is 0. */
  readonly start?: Index | number;
  /** Elements of the view along this axis; undefined where the view has a single element there and no axis. */
  readonly size?: Extent;
  /** Index tile: the view is addressed element by element. */
  readonly tile?: AnyTile;
}

/** An array argument or temporary while a body is traced. */
export interface ArrayHandle {
  readonly name: string;
  readonly dtype: DType;
  readonly extents: readonly Extent[];
  readonly value: TracedValue;
  readonly loc: Loc;
}

const sliceOf = (a: unknown): a is Slice => typeof a === 'object' && a !== null && 'start' in a && 'size' in a;

/** A view of an array in memory. Rank `R` counts the axes that it kept. */
export class Ref<D extends DType = DType, R extends Rank = Rank> {
  declare private readonly invariantDType: (d: D) => D;
  declare private readonly rank: R;

  /** @internal */
  constructor(
    readonly array: ArrayHandle,
    readonly axes: readonly ViewAxis[],
  ) {}

  get dtype(): D {
    return this.array.dtype as D;
  }

  /** Extents of the view: numbers for blocks and slices, run-time extents for whole axes. */
  get shape(): readonly Extent[] {
    return this.axes.flatMap((a) => (a.size === undefined ? [] : [a.size]));
  }

  /** A smaller view: an index drops its axis, `ds(start, size)` takes a slice, `all` keeps the axis; missing indices are `all`. */
  at<const I extends readonly At[]>(...index: I): Ref<D, AtRank<R, I>> {
    const kept = this.axes.filter((a) => a.size !== undefined).length;
    if (index.length > kept)
      mistake((c) =>
        frontendCodes.badIndex(
          { message: `'${this.array.name}' has ${kept} axes here, got ${index.length} indices` },
          c,
        ),
      );
    let next = 0;
    const axes = this.axes.map((axis) => {
      if (axis.size === undefined) return axis;
      return this.narrow(axis, next < index.length ? index[next++]! : all);
    });
    return new Ref(this.array, axes);
  }

  private narrow(axis: ViewAxis, index: At): ViewAxis {
    if (index === all) return axis;
    const base = axis.start ?? 0;
    if (sliceOf(index)) {
      if (!Number.isInteger(index.size) || index.size < 1)
        mistake((c) =>
          frontendCodes.badExtent(
            { message: `a slice of '${this.array.name}' needs a size from 1 up, got ${String(index.size)}` },
            c,
          ),
        );
      return { start: plus(base, this.checkIndex(index.start)), size: index.size };
    }
    if (index instanceof Tile && index.type.shape.length > 0) {
      if (!isInt(index.dtype))
        mistake((c) =>
          frontendCodes.badIndex(
            {
              message: `'${this.array.name}' is indexed by ${printType(index.type)}; an index tile has an integer dtype`,
            },
            c,
          ),
        );
      return { tile: base === 0 ? index : binary('add', index, base) };
    }
    return { start: plus(base, this.checkIndex(index as Extent)) };
  }

  private checkIndex(index: Extent): Extent {
    if (typeof index === 'number') {
      if (!Number.isInteger(index) || index < 0)
        mistake((c) =>
          frontendCodes.badIndex(
            { message: `'${this.array.name}' is indexed by ${index}; an index is an integer from 0 up` },
            c,
          ),
        );
      return index;
    }
    if (!(index instanceof Tile) || index.dtype !== i32 || index.type.shape.length > 0)
      mistake(
        (c) =>
          frontendCodes.badIndex(
            {
              message: `'${this.array.name}' is indexed by ${index instanceof Tile ? printType(index.type) : typeof index}; an index is an i32 scalar`,
            },
            c,
          ),
        { help: 'convert with .to(i32)' },
      );
    return index;
  }

  /**
   * Reads the view. Where the view reaches past the array the tile is valid up to the edge.
   *
   * @param options.mask elements to read; @param options.other what the others are (unspecified without it).
   */
  load(options: { readonly mask?: Tile<Bool, R>; readonly other?: number } = {}): Tile<D, R> {
    const trace = needTrace(`load of '${this.array.name}'`);
    const { index, valid, shape, axes } = block(this);
    const operands = {
      ref: trace.use(this.array.value) as never,
      index,
      valid,
      mask: options.mask && useTile(options.mask),
      other: otherOf(this.dtype, options.other),
    };
    return traced(trace.emit('load', operands, { axes }, { types: [tileType(this.dtype, shape)] })[0]!);
  }

  /** Writes the view; elements past the array's edge, or masked off, are dropped. */
  store(value: Tile<D, R> | number, options: { readonly mask?: Tile<Bool, R> } = {}): void {
    const trace = needTrace(`store to '${this.array.name}'`);
    const { index, valid, shape, axes } = block(this);
    const expected = tileType(this.dtype, shape);
    const tile: AnyTile = typeof value === 'number' ? constantOf(value, this.dtype, shape) : value;
    if (!(tile instanceof Tile) || !sameType(tile.type, expected))
      mistake(
        (c) =>
          frontendCodes.storeShape(
            {
              ref: this.array.name,
              expected: printType(expected),
              got: tile instanceof Tile ? printType(tile.type) : typeof tile,
            },
            c,
          ),
        {
          ...(tile instanceof Tile ? { notes: [noteAt('the value was made here', locOf(tile))] } : {}),
          help:
            tile instanceof Tile && (tile.dtype as DType) !== this.dtype
              ? `convert with .to(${this.dtype.name})`
              : 'broadcastTo, expand or reshape the value to the block',
        },
      );
    trace.stored.add(this.array.name);
    const operands = {
      ref: trace.use(this.array.value) as never,
      value: useTile(tile),
      index,
      valid,
      mask: options.mask && useTile(options.mask),
    };
    trace.emit('store', operands, { axes });
  }
}

function plus(a: Extent, b: Extent): Extent {
  if (a === 0) return b;
  if (b === 0) return a;
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  return typeof a === 'number' ? binary('add', b as Index, a) : binary('add', a, b);
}

/** An integer as an i32 scalar of the trace. */
function indexValue(x: Extent): never {
  return useTile(typeof x === 'number' ? constantOf(x, i32, []) : x);
}

function constantOf(x: number, dtype: DType, shape: readonly number[]): Tile {
  return traced(needTrace('a constant').emit('constant', {}, { value: x }, { types: [tileType(dtype, shape)] })[0]!);
}

const otherOf = (dtype: DType, other: number | undefined): never =>
  (other === undefined ? undefined : useTile(constantOf(other, dtype, []))) as never;

/**
 * The addressing of a view: first elements, and how many elements lie within the array on each axis of the tile. An
 * axis whose block lies within by plain numbers states its size; `elide-masks` proves more.
 */
function block(ref: Pick<Ref, 'array' | 'axes'>): {
  index: never[];
  valid: never[];
  shape: number[];
  axes: readonly number[] | undefined;
} {
  const { name, extents } = ref.array;
  if (ref.axes.some((a) => a.tile))
    mistake((c) =>
      frontendCodes.badIndex({ message: `'${name}' is indexed by a tile; use gather, scatter or atomic` }, c),
    );
  const index = ref.axes.map((a) => indexValue(a.start ?? 0));
  const along = ref.axes.flatMap((a, axis) => (a.size === undefined ? [] : [axis]));
  const shape = along.map((axis) => {
    const { size } = ref.axes[axis]!;
    if (typeof size !== 'number')
      mistake(
        (c) =>
          frontendCodes.badExtent(
            { message: `axis ${axis} of '${name}' has a run-time extent; a tile needs a static one` },
            c,
          ),
        { help: `take a slice: .at(…, ds(start, size))` },
      );
    return size as number;
  });
  const within = along.map((axis) => {
    const { start = 0, size } = ref.axes[axis]!;
    const extent = extents[axis]!;
    return typeof extent === 'number' && typeof start === 'number' && start + (size as number) <= extent;
  });
  const valid = within.every((w) => w)
    ? []
    : along.map((axis, i) =>
        within[i] ? indexValue(shape[i]!) : indexValue(remaining(extents[axis]!, ref.axes[axis]!.start ?? 0)),
      );
  const axes = along.length === ref.axes.length ? undefined : along;
  return { index: index as never[], valid: valid as never[], shape, axes };
}

/** How many elements of an axis lie from `start` on; may be negative. */
function remaining(extent: Extent, start: Extent): Extent {
  if (start === 0) return extent;
  if (typeof extent !== 'number') return binary('sub', extent, start);
  return typeof start === 'number' ? extent - start : binary('sub', constantOf(extent, i32, []), start);
}

// ---- element by element -------------------------------------------------------------------------------------------

/** Index tiles of a view that `.at` gave tiles to: one per axis of the array, broadcast to one shape. */
function indexTiles(ref: Ref, what: string): Tile[] {
  const tiles = ref.axes.map((a, axis): AnyTile => {
    if (a.tile) return a.tile;
    if (a.size !== undefined)
      mistake(
        (c) => frontendCodes.badIndex({ message: `${what} of '${ref.array.name}': axis ${axis} has no index` }, c),
        { help: 'give .at one index or index tile per axis' },
      );
    return typeof a.start === 'number' || a.start === undefined ? constantOf(a.start ?? 0, i32, []) : a.start;
  });
  const shape = tiles.reduce<readonly number[]>((s, t) => (t.type.shape.length > s.length ? t.type.shape : s), []);
  return tiles.map((t) => (t as Tile).broadcastTo(shape) as unknown as Tile);
}

interface MaskOptions<R extends Rank> {
  readonly mask?: Tile<Bool, R>;
  readonly other?: number;
}

/** Reads one element of `ref` per element of the index tiles (one for each axis, of one shape). */
export function gather<D extends DType, R extends Rank>(
  ref: Ref<D, Rank>,
  index: Tile<I32, R> | readonly Tile<I32, R>[],
  options: MaskOptions<R> = {},
): Tile<D, R> {
  const trace = needTrace(`gather of '${ref.array.name}'`);
  const view = ref.at(...([index].flat() as never[])) as unknown as Ref;
  const operands = {
    ref: trace.use(ref.array.value) as never,
    index: indexTiles(view, 'gather').map(useTile),
    mask: options.mask && useTile(options.mask),
    other: otherOf(ref.dtype, options.other),
  };
  return traced(trace.emit('gather', operands, {})[0]!);
}

/** Writes one element of `ref` per element of the index tiles. */
export function scatter<D extends DType, R extends Rank>(
  ref: Ref<D, Rank>,
  index: Tile<I32, R> | readonly Tile<I32, R>[],
  value: Tile<D, R>,
  options: Omit<MaskOptions<R>, 'other'> = {},
): void {
  const trace = needTrace(`scatter to '${ref.array.name}'`);
  const view = ref.at(...([index].flat() as never[])) as unknown as Ref;
  trace.stored.add(ref.array.name);
  trace.emit(
    'scatter',
    {
      ref: trace.use(ref.array.value) as never,
      value: useTile(value),
      index: indexTiles(view, 'scatter').map(useTile),
      mask: options.mask && useTile(options.mask),
    },
    {},
  );
}

export interface AtomicOptions<R extends Rank> {
  readonly mask?: Tile<Bool, R>;
  readonly order?: (typeof memoryOrders)[number];
  readonly scope?: (typeof memoryScopes)[number];
}

function atomicOp(kind: AtomicKind) {
  return <D extends DType, R extends Rank>(
    ref: Ref<D, Rank>,
    value: Tile<D, R> | number,
    options: AtomicOptions<R> = {},
  ): Tile<D, R> => {
    const trace = needTrace(`atomic.${kind} on '${ref.array.name}'`);
    const index = indexTiles(ref as unknown as Ref, `atomic.${kind}`);
    const { shape } = index[0]!.type;
    const tile: AnyTile =
      typeof value === 'number' ? constantOf(value, ref.dtype, shape) : (value as unknown as Tile).broadcastTo(shape);
    trace.stored.add(ref.array.name);
    const operands = {
      ref: trace.use(ref.array.value) as never,
      value: useTile(tile),
      index: index.map(useTile),
      mask: options.mask && useTile(options.mask),
    };
    return traced(
      trace.emit('atomic_rmw', operands, {
        kind,
        order: options.order ?? 'relaxed',
        scope: options.scope ?? 'device',
      })[0]!,
    );
  };
}

/** Atomic updates of `ref.at(index tile, …)`; each gives the old values. Relaxed and device-wide unless said otherwise. */
export const atomic = {
  add: atomicOp('add'),
  max: atomicOp('max'),
  min: atomicOp('min'),
  and: atomicOp('and'),
  or: atomicOp('or'),
  xor: atomicOp('xor'),
  exchange: atomicOp('exchange'),
} as const;
