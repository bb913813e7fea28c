/** Refs: arrays in memory, and the views of them that loads and stores address. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import { type Bool, type DType, type I32, i32, isInt } from '../ir/dtypes.js';
import {
  type AtomicKind,
  evictionPolicies,
  loadCaches,
  memoryOrders,
  memoryScopes,
  storeCaches,
} from '../ir/ops/memory.js';
import { printType, sameType, tileType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import { checkFlag, checkNotCaptured, checkOptions, checkWord, describe, Handle, refuse } from './handle.js';
import type { Dims, Pred, Rank } from './rank.js';
import {
  type AnyTile,
  asSymbol,
  asTile,
  binary,
  broadcastShape,
  constant,
  type Index,
  symbolTile,
  Tile,
  traced,
  useTile,
} from './tile.js';
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

/** A tile of integers, whatever TypeScript knows of it: `Tile` is invariant in its dtype. */
type IndexTile = AnyTile & { readonly dtype: DType<string, 'int'> };

type At = Extent | Slice | typeof all | IndexTile;
type AtRank<R extends Rank, I extends readonly unknown[]> = I extends readonly [infer H, ...infer T]
  ? H extends Slice | typeof all
    ? AtRank<R, T>
    : AtRank<Pred<R>, T>
  : R;
/** Extents of a view: plain numbers where those of the ref are. */
type AtShape<R extends Rank, S, I extends readonly unknown[]> = S extends readonly number[]
  ? Dims[AtRank<R, I>]
  : readonly Extent[];

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

const isSlice = (a: unknown): a is Slice => typeof a === 'object' && a !== null && 'start' in a && 'size' in a;

const badIndex = (message: string, help?: string): never =>
  mistake((c) => frontendCodes.badIndex({ message }, c), help === undefined ? {} : { help });
const badExtent = (message: string, help?: string): never =>
  mistake((c) => frontendCodes.badExtent({ message }, c), help === undefined ? {} : { help });

interface MaskOptions<R extends Rank> {
  readonly mask?: Tile<Bool, R>;
  readonly other?: number;
}

/** Hints to the caches of a GPU, by the names of PTX; where there is no such thing they change nothing. */
export interface LoadHints {
  /** `ca` all levels (the usual), `cg` the second only, `cs` likely used once, `cv` read anew. */
  readonly cacheModifier?: (typeof loadCaches)[number];
  readonly evictionPolicy?: (typeof evictionPolicies)[number];
  /** Whether every load of it must happen. */
  readonly volatile?: boolean;
}
export interface StoreHints {
  /** `wb` write back (the usual), `cg` the second level, `cs` likely used once, `wt` write through. */
  readonly cacheModifier?: (typeof storeCaches)[number];
  readonly evictionPolicy?: (typeof evictionPolicies)[number];
}

/** Checks the options of an access; gives its hints as attributes. */
function hintsOf<C extends string>(
  what: string,
  others: readonly string[],
  caches: readonly C[],
  options: { readonly cacheModifier?: C; readonly evictionPolicy?: string; readonly volatile?: boolean },
) {
  checkOptions(what, [...others, 'cacheModifier', 'evictionPolicy'], options);
  const { cacheModifier: cache, evictionPolicy: eviction, volatile } = options;
  if (cache !== undefined) checkWord(`the cache modifier of '${what}' is one of`, caches, cache);
  if (eviction !== undefined) checkWord(`the eviction policy of '${what}' is one of`, evictionPolicies, eviction);
  checkFlag('volatile', volatile);
  return { cache, eviction: eviction as (typeof evictionPolicies)[number] | undefined, volatile };
}

/** A view of an array in memory. Rank `R` counts the axes that it kept, `S` are their extents. */
export class Ref<
  D extends DType = DType,
  R extends Rank = Rank,
  S extends readonly Extent[] = readonly Extent[],
> extends Handle {
  declare protected readonly invariantDType: (d: D) => D;
  declare protected readonly rank: R;

  /** @internal */
  constructor(
    readonly array: ArrayHandle,
    readonly axes: readonly ViewAxis[],
  ) {
    super();
  }

  /** @internal */
  override get label(): string {
    return `the ref '${this.array.name}'`;
  }
  /** @internal */
  override get birth(): Loc {
    return this.array.loc;
  }

  get dtype(): D {
    return this.array.dtype as D;
  }

  /** Extents of the view: numbers for blocks and slices, run-time extents for whole axes. */
  get shape(): S {
    return this.axes.flatMap((a) => (a.size === undefined ? [] : [a.size])) as readonly Extent[] as S;
  }

  /** A smaller view: an index drops its axis, `ds(start, size)` takes a slice, `all` keeps the axis; missing indices are `all`. */
  at<const I extends readonly At[]>(...index: I): Ref<D, AtRank<R, I>, AtShape<R, S, I>> {
    const kept = this.axes.filter((a) => a.size !== undefined).length;
    if (index.length > kept)
      badIndex(`'${this.array.name}' has ${kept} ${kept === 1 ? 'axis' : 'axes'} here, got ${index.length} indices`);
    let next = 0;
    const axes = this.axes.map((axis) => {
      if (axis.size === undefined) return axis;
      return next < index.length ? this.narrow(axis, index[next++]!) : axis;
    });
    return new Ref(this.array, axes);
  }

  private narrow(axis: ViewAxis, index: At): ViewAxis {
    if (index === all) return axis;
    const base = axis.start ?? 0;
    if (isSlice(index)) {
      if (!Number.isInteger(index.size) || index.size < 1)
        badExtent(`a slice of '${this.array.name}' needs a size from 1 up, got ${describe(index.size)}`);
      return { start: plus(base, this.checkIndex(index.start)), size: index.size };
    }
    if (index instanceof Tile && index.type.shape.length > 0) {
      if (!isInt(index.dtype))
        badIndex(
          `'${this.array.name}' is indexed by ${index.label}; an index tile has an integer dtype`,
          'convert with .to(i32)',
        );
      return { tile: base === 0 ? index : binary('add', index, base) };
    }
    const start = this.checkIndex(index as Extent);
    if (typeof start === 'number' && typeof axis.size === 'number' && start >= axis.size)
      badIndex(`'${this.array.name}' has ${axis.size} elements along this axis, got index ${start}`);
    return { start: plus(base, start) };
  }

  private checkIndex(index: Extent): Extent {
    if (typeof index === 'number') {
      if (!Number.isInteger(index) || index < 0)
        badIndex(`'${this.array.name}' is indexed by ${describe(index)}; an index is an integer from 0 up`);
      return index;
    }
    checkNotCaptured(index);
    if (!(index instanceof Tile) || index.dtype !== i32 || index.type.shape.length > 0)
      badIndex(
        `'${this.array.name}' is indexed by ${describe(index)}; an index is an i32 scalar`,
        (index as unknown) instanceof Tile ? 'convert with .to(i32)' : undefined,
      );
    return index;
  }

  /**
   * Reads the view. Where the view reaches past the array the tile is valid up to the edge.
   *
   * @param options.mask elements to read; @param options.other what the others are (unspecified without it).
   */
  load(options: MaskOptions<R> & LoadHints = {}): Tile<D, R> {
    const trace = needTrace(`load of '${this.array.name}'`);
    const hints = hintsOf('load', ['mask', 'other', 'volatile'], loadCaches, options);
    const { index, valid, shape, axes } = block(this);
    const operands = {
      ref: trace.use(this.array.value) as never,
      index,
      valid,
      mask: maskOf('load', options.mask),
      other: otherOf(this.dtype, options.other),
    };
    return traced(trace.emit('load', operands, { axes, ...hints }, { types: [tileType(this.dtype, shape)] })[0]!);
  }

  /** Writes the view; elements past the array's edge, or masked off, are dropped. */
  store(value: Tile<D, R> | number, options: { readonly mask?: Tile<Bool, R> } & StoreHints = {}): void {
    const trace = needTrace(`store to '${this.array.name}'`);
    const hints = hintsOf('store', ['mask'], storeCaches, options);
    const { index, valid, shape, axes } = block(this);
    const expected = tileType(this.dtype, shape);
    const tile =
      typeof value === 'number'
        ? constant(value, this.dtype, shape)
        : asTile(`store to '${this.array.name}' takes a tile or a number`, value);
    if (!sameType(tile.type, expected))
      mistake(
        (c) => frontendCodes.storeShape({ ref: this.array.name, expected: printType(expected), got: tile.label }, c),
        {
          notes: [noteAt('the value was made here', tile.birth)],
          help:
            tile.dtype !== this.dtype
              ? `convert with .to(${this.dtype.name})`
              : 'broadcastTo, expand or reshape the value to the block',
        },
      );
    const operands = {
      ref: trace.use(this.array.value) as never,
      value: useTile(tile),
      index,
      valid,
      mask: maskOf('store', options.mask),
    };
    trace.emit('store', operands, { axes, cache: hints.cache, eviction: hints.eviction });
  }
}

function plus(a: Extent, b: Extent): Extent {
  if (a === 0) return b;
  if (b === 0) return a;
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  return typeof a === 'number' ? binary('add', b as Index, a) : binary('add', a, b);
}

/** An integer as an i32 scalar of the trace. */
export function indexValue(x: Extent): never {
  return useTile(typeof x === 'number' ? constant(x, i32, []) : x);
}

const maskOf = (op: string, mask: AnyTile | undefined): undefined =>
  (mask === undefined ? undefined : useTile(asTile(`the mask of '${op}' is a tile of bool`, mask))) as undefined;

const otherOf = (dtype: DType, other: number | undefined): undefined =>
  (other === undefined ? undefined : useTile(constant(other, dtype, []))) as undefined;

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
  if (ref.axes.some((a) => a.tile)) badIndex(`'${name}' is indexed by a tile; use gather, scatter or atomic`);
  const index = ref.axes.map((a) => indexValue(a.start ?? 0));
  const along = ref.axes.flatMap((a, axis) => (a.size === undefined ? [] : [axis]));
  const shape = along.map((axis) => {
    const { size } = ref.axes[axis]!;
    if (typeof size !== 'number')
      badExtent(
        `axis ${axis} of '${name}' has a run-time extent; a tile needs a static one`,
        'take a slice: .at(…, ds(start, size))',
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
    : along.map((axis, i) => indexValue(within[i] ? shape[i]! : remaining(extents[axis]!, ref.axes[axis]!)));
  const axes = along.length === ref.axes.length ? undefined : along;
  return { index: index as never[], valid: valid as never[], shape, axes };
}

/** How many elements of the array lie from the start of a view on; may be negative. */
function remaining(extent: Extent, axis: ViewAxis): Extent {
  const { start = 0 } = axis;
  if (start === 0) return extent;
  if (typeof extent === 'number' && typeof start === 'number') return extent - start;
  const symbol = remainingSymbol(extent, start, axis);
  if (symbol) return symbol;
  return binary('sub', typeof extent === 'number' ? constant(extent, i32, []) : extent, start);
}

/** As a symbol, so that all accesses of a view share one value. */
const knownRemaining = new WeakMap<ViewAxis, Index>();

function remainingSymbol(extent: Extent, start: Extent, axis: ViewAxis): Index | undefined {
  const known = knownRemaining.get(axis);
  if (known) return known;
  const loc = typeof start === 'number' ? (extent as Index).birth : start.birth;
  const [left, right] = [asSymbol(extent, loc), asSymbol(start, loc)];
  if (!left || !right) return undefined;
  const symbol = symbolTile({ kind: 'operation', op: 'sub', left, right, loc });
  knownRemaining.set(axis, symbol);
  return symbol;
}

// ---- element by element -------------------------------------------------------------------------------------------

/** Index tiles of a view that `.at` gave tiles to: one per axis of the array, broadcast to one shape. */
function indexTiles(ref: Pick<Ref, 'array' | 'axes'>, what: string): Tile[] {
  const tiles = ref.axes.map((a, axis): AnyTile => {
    if (a.tile) return a.tile;
    if (a.size !== undefined)
      badIndex(`${what} of '${ref.array.name}': axis ${axis} has no index`, 'give one index or index tile per axis');
    return typeof a.start === 'number' || a.start === undefined ? constant(a.start ?? 0, i32, []) : a.start;
  });
  const shape = tiles.reduce<readonly number[]>((s, t) => broadcastShape(what, s, t.type.shape), []);
  return tiles.map((t) => (t as Tile).broadcastTo(shape) as unknown as Tile);
}

const asRef = (takes: string, ref: unknown): Ref => (ref instanceof Ref ? (ref as Ref) : refuse(takes, ref));

/** The index tiles of `gather` and `scatter`, which take one or a list. */
const indexedBy = (ref: Ref, index: unknown, what: string): Tile[] =>
  indexTiles(ref.at(...([index].flat() as never[])), what);

/** A value for each element of the index tiles: a number is repeated, a tile broadcast. */
function valueOf(takes: string, value: unknown, dtype: DType, shape: readonly number[]): Tile {
  if (typeof value === 'number') return constant(value, dtype, shape) as Tile;
  return (asTile(takes, value) as Tile).broadcastTo(shape) as unknown as Tile;
}

/** Index tiles: one for each axis of the ref. They broadcast to one shape. */
type IndexTiles<R extends Rank> = Tile<I32, R> | readonly Tile<I32, R>[];

/** Reads one element of `ref` per element of the index tiles. */
export function gather<D extends DType, R extends Rank>(
  ref: Ref<D, Rank>,
  index: IndexTiles<R>,
  options: MaskOptions<R> & LoadHints = {},
): Tile<D, R> {
  const view = asRef("'gather' takes a ref", ref);
  const trace = needTrace(`gather of '${view.array.name}'`);
  const hints = hintsOf('gather', ['mask', 'other', 'volatile'], loadCaches, options);
  const operands = {
    ref: trace.use(view.array.value) as never,
    index: indexedBy(view, index, 'gather').map(useTile),
    mask: maskOf('gather', options.mask),
    other: otherOf(view.dtype, options.other),
  };
  return traced(trace.emit('gather', operands, hints)[0]!);
}

/** Writes one element of `ref` per element of the index tiles. */
export function scatter<D extends DType, R extends Rank>(
  ref: Ref<D, Rank>,
  index: IndexTiles<R>,
  value: Tile<D, R> | number,
  options: Omit<MaskOptions<R>, 'other'> & StoreHints = {},
): void {
  const view = asRef("'scatter' takes a ref", ref);
  const trace = needTrace(`scatter to '${view.array.name}'`);
  const hints = hintsOf('scatter', ['mask'], storeCaches, options);
  const tiles = indexedBy(view, index, 'scatter');
  const operands = {
    ref: trace.use(view.array.value) as never,
    value: useTile(valueOf("'scatter' takes a tile or a number", value, view.dtype, tiles[0]?.type.shape ?? [])),
    index: tiles.map(useTile),
    mask: maskOf('scatter', options.mask),
  };
  trace.emit('scatter', operands, { cache: hints.cache, eviction: hints.eviction });
}

export interface AtomicOptions<R extends Rank> {
  readonly mask?: Tile<Bool, R>;
  readonly order?: (typeof memoryOrders)[number];
  readonly scope?: (typeof memoryScopes)[number];
}

/** The place and the manner of an atomic update, and a value for each of its elements. */
function atomicAccess(what: string, ref: unknown, values: readonly unknown[], options: AtomicOptions<Rank>) {
  const view = asRef(`'${what}' takes a ref`, ref);
  const trace = needTrace(`${what} on '${view.array.name}'`);
  checkOptions(what, ['mask', 'order', 'scope'], options);
  const { order = 'relaxed', scope = 'device' } = options;
  checkWord(`the order of '${what}' is one of`, memoryOrders, order);
  checkWord(`the scope of '${what}' is one of`, memoryScopes, scope);
  const tiles = indexTiles(view, what);
  const { shape } = tiles[0]?.type ?? tileType(i32);
  const place = {
    ref: trace.use(view.array.value) as never,
    index: tiles.map(useTile),
    mask: maskOf(what, options.mask),
  };
  const tilesOf = values.map((v) => useTile(valueOf(`'${what}' takes a tile or a number`, v, view.dtype, shape)));
  return { trace, place, values: tilesOf, attrs: { order, scope } };
}

type AtomicUpdate = <D extends DType, R extends Rank>(
  ref: Ref<D, Rank>,
  value: Tile<D, R> | number,
  options?: AtomicOptions<R>,
) => Tile<D, R>;

function atomicOp(kind: AtomicKind, what = `atomic.${kind}`): AtomicUpdate {
  return (ref, value, options = {}) => {
    const { trace, place, values, attrs } = atomicAccess(what, ref, [value], options as AtomicOptions<Rank>);
    return traced(trace.emit('atomic_rmw', { ...place, value: values[0]! }, { ...attrs, kind })[0]!);
  };
}

/** Adds what is the negative of the value. */
const atomicSub: AtomicUpdate = (ref, value, options) => {
  const { dtype } = asRef("'atomic.sub' takes a ref", ref);
  const tile =
    typeof value === 'number' ? constant(value, dtype, []) : asTile("'atomic.sub' takes a tile or a number", value);
  return atomic.add(ref, (tile as Tile).neg() as never, options);
};

/** Atomic updates of `ref.at(index tile, …)`; each gives the old values. Relaxed and device-wide unless said otherwise. */
export const atomic = {
  add: atomicOp('add'),
  sub: atomicSub,
  /** Largest of both; -0 is less than 0, NaN wins. */
  max: atomicOp('max'),
  /** Smallest of both; -0 is less than 0, NaN wins. */
  min: atomicOp('min'),
  /** Of integers and bool, as `or` and `xor`. */
  and: atomicOp('and'),
  or: atomicOp('or'),
  xor: atomicOp('xor'),
  exchange: atomicOp('exchange'),
  /**
   * Compare and swap: elements that have the bits of `compare` become `value`. They did where what is given has those bits.
   */
  cas<D extends DType, R extends Rank>(
    ref: Ref<D, Rank>,
    compare: Tile<D, R> | number,
    value: Tile<D, R> | number,
    options: AtomicOptions<R> = {},
  ): Tile<D, R> {
    const access = atomicAccess('atomic.cas', ref, [compare, value], options as AtomicOptions<Rank>);
    const operands = { ...access.place, compare: access.values[0]!, value: access.values[1]! };
    return traced(access.trace.emit('atomic_cas', operands, access.attrs)[0]!);
  },
} as const;
