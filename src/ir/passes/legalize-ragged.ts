/** Makes raggedness explicit, so that back ends need not know of it: masks where elements beyond an extent would count. */

import { CompileError } from '../../diagnostics/diagnostic.js';
import { fusedLoc } from '../../diagnostics/location.js';
import { type Extents, RaggedAnalysis } from '../analyses/ragged.js';
import type { ScalarConstant } from '../attributes.js';
import { createOp, RegionBuilder } from '../builder.js';
import { bool, isWide } from '../dtypes.js';
import type { Kernel } from '../kernel.js';
import { reduceIdentity } from '../ops/contraction.js';
import { terminatorValues } from '../ops/control.js';
import { isOp, type OpOf } from '../ops/index.js';
import { indexedTiles } from '../ops/ragged-rules.js';
import { lastValue } from '../ops/sort.js';
import type { Pass } from '../pass.js';
import { mapBodies, Rewriter } from '../rewrite.js';
import { indexType, type TileType, tileType } from '../types.js';
import { type GenericOp, type Region, type Value, value } from '../value.js';
import { operandsOf } from '../walk.js';

const typeOf = (v: Value): TileType => v.type as TileType;

/** Masks for one op of one launch. */
class Masks {
  constructor(
    private readonly rewriter: Rewriter,
    private readonly origin: GenericOp,
    private readonly ragged: RaggedAnalysis,
  ) {}

  /** The smallest of several extents; undefined if there is none. */
  least(extents: readonly (Value | undefined)[]): Value | undefined {
    const distinct: Value[] = [];
    for (const e of extents) if (e && !distinct.some((d) => this.ragged.same(d, e))) distinct.push(e);
    return distinct
      .map((e) => this.rewriter.mapped(e))
      .reduce<Value | undefined>((a, b) => (a ? this.min(a, b) : b), undefined);
  }

  private min(left: Value, right: Value): Value {
    return this.rewriter.emit('min', { left, right } as never, {}, this.origin).results[0]!;
  }

  /** Axis by axis, up to where all of several tiles are valid. */
  common(tiles: readonly Value[]): Extents {
    return typeOf(tiles[0]!).shape.map((_, axis) => this.least(tiles.map((t) => this.ragged.of(t)[axis])));
  }

  size(n: number): Value {
    return this.constant(n, indexType);
  }

  private constant(x: ScalarConstant, type: TileType): Value {
    return this.rewriter.emit('constant', {}, { value: x }, this.origin, { types: [type] }).results[0]!;
  }

  /** True where an element lies within `extents`; full axes count whole. */
  within(shape: readonly number[], extents: Extents): Value {
    const limits = shape.map((n, axis) => (extents[axis] ? this.rewriter.mapped(extents[axis]) : this.size(n)));
    return this.rewriter.emit('extent_mask', { extents: limits as never }, {}, this.origin, {
      types: [tileType(bool, shape)],
    }).results[0]!;
  }

  /** `v` where it is valid, `fill` beyond. */
  neutralise(v: Value, extents: Extents, fill: ScalarConstant): Value {
    const type = typeOf(v);
    const condition = this.within(type.shape, extents);
    const operands = { condition, on_true: this.rewriter.mapped(v), on_false: this.constant(fill, type) };
    return this.rewriter.emit('select', operands as never, {}, this.origin).results[0]!;
  }

  /** The user's mask and the extents' together. */
  combine(mask: Value | undefined, shape: readonly number[], extents: Extents): Value {
    const within = this.within(shape, extents);
    if (!mask) return within;
    return this.rewriter.emit('and', { left: this.rewriter.mapped(mask), right: within } as never, {}, this.origin)
      .results[0]!;
  }
}

const onAxis = (extents: Extents, axis: number): Extents => extents.map((e, i) => (i === axis ? e : undefined));

/** Rebuilds one launch without raggedness. */
function legalizeBody(body: Region, ragged: RaggedAnalysis): Region {
  const moved = new Set<GenericOp>();
  const visit = (op: GenericOp, rewriter: Rewriter): void => {
    if (moved.has(op)) return;
    // Masks behind a loop or branch need the extents of what it gives, and so does its first trip.
    for (const inner of ragged.escaping(op)) {
      visit(inner, rewriter);
      moved.add(inner);
    }
    legalize(op, rewriter, ragged);
  };
  return new Rewriter('legalize-ragged', visit).region(body);
}

function legalize(op: GenericOp, rewriter: Rewriter, ragged: RaggedAnalysis): void {
  const masks = new Masks(rewriter, op, ragged);
  if (isOp(op, 'reduce')) return reduce(op, rewriter, ragged, masks);
  if (isOp(op, 'scan')) return scan(op, rewriter, ragged, masks);
  if (isOp(op, 'sort')) return sort(op, rewriter, ragged, masks);
  if (isOp(op, 'reduce_with') || isOp(op, 'scan_with')) return combine(op, rewriter, masks);
  if (isOp(op, 'dot')) return dot(op, rewriter, ragged, masks);
  if (isOp(op, 'load')) return load(op, rewriter, ragged, masks);
  if (isOp(op, 'store')) return store(op, rewriter, ragged, masks);
  if (isOp(op, 'gather') || isOp(op, 'scatter') || isOp(op, 'atomic_rmw') || isOp(op, 'atomic_cas'))
    return indexed(op, rewriter, ragged, masks);
  if (isOp(op, 'debug_print') || isOp(op, 'assert')) return visited(op, rewriter, ragged, masks);
  if (isOp(op, 'pad')) return pad(op, rewriter, ragged, masks);
  rewriter.keep(op);
}

function reduce(op: OpOf<'reduce'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { input } = op.operands;
  const extents = onAxis(ragged.of(input), op.attrs.axis);
  if (extents[op.attrs.axis] === undefined) return void rewriter.keep(op);
  const { dtype } = typeOf(input);
  // Positions beyond the extent come last, so a value that never beats another keeps them from being chosen.
  const { kind } = op.attrs;
  const fill = reduceIdentity(kind === 'argmax' ? 'max' : kind === 'argmin' ? 'min' : kind, dtype)!;
  rewriter.keep(op, { operands: { input: masks.neutralise(input, extents, fill) } });
}

/** From the first element on what lies beyond comes last, and counts for nothing that is valid; from the last on it comes first. */
function scan(op: OpOf<'scan'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { input } = op.operands;
  const { axis, kind, reverse } = op.attrs;
  const extents = onAxis(ragged.of(input), axis);
  if (!reverse || extents[axis] === undefined) return void rewriter.keep(op);
  const fill = reduceIdentity(kind, typeOf(input).dtype)!;
  rewriter.keep(op, { operands: { input: masks.neutralise(input, extents, fill) } });
}

/** Being stable, it leaves what lies beyond behind all that is valid, if that comes last. */
function sort(op: OpOf<'sort'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { input } = op.operands;
  const extents = onAxis(ragged.of(input), op.attrs.axis);
  if (extents[op.attrs.axis] === undefined) return void rewriter.keep(op);
  const fill = lastValue(typeOf(input).dtype, op.attrs.descending ?? false);
  rewriter.keep(op, { operands: { input: masks.neutralise(input, extents, fill) } });
}

/** An operator of the user's has no known identity: which elements are valid is combined along with them. */
function combine(op: OpOf<'reduce_with'> | OpOf<'scan_with'>, rewriter: Rewriter, masks: Masks): void {
  const { inputs = [] } = op.operands;
  const { axis } = op.attrs;
  const { shape } = typeOf(inputs[0]!);
  const extent = masks.common(inputs)[axis];
  if (extent === undefined || (isOp(op, 'scan_with') && !op.attrs.reverse)) return void rewriter.keep(op);
  const limits = shape.map((n, i) => (i === axis ? extent : masks.size(n)));
  const valid = rewriter.emit('extent_mask', { extents: limits as never }, {}, op, { types: [tileType(bool, shape)] });
  const operands = { inputs: [valid.results[0]!, ...inputs.map((x) => rewriter.mapped(x))] };
  const regions = [whereValid(rewriter.region(op.regions[0]!), op)];
  const made = rewriter.emit(op.name, operands as never, op.attrs as never, op, { regions });
  rewriter.replace(op, made.results.slice(1));
}

/** A body that combines what is valid: of one valid side that side, of two what `body` makes of them. */
function whereValid(body: Region, origin: GenericOp): Region {
  const half = body.args.length / 2;
  const [left, right] = [body.args.slice(0, half), body.args.slice(half)];
  const [hasLeft, hasRight] = [value(tileType(bool)), value(tileType(bool))];
  const loc = fusedLoc('legalize-ragged', [origin.loc]);
  const inner = new RegionBuilder([hasLeft, ...left, hasRight, ...right]);
  for (const op of body.ops.slice(0, -1)) inner.append(op);
  const select = (condition: Value, on_true: Value, on_false: Value): Value =>
    inner.emit('select', { condition, on_true, on_false } as never, {}, loc);
  const either = inner.emit('or', { left: hasLeft, right: hasRight } as never, {}, loc);
  const combined = terminatorValues(body).map((both, i) =>
    select(hasRight, select(hasLeft, both, right[i]!), left[i]!),
  );
  inner.append(createOp('yield', { values: [either, ...combined] as never }, {}, loc));
  return inner.finish();
}

/** Zero on both sides: a NaN beyond the extent of one operand must not meet a zero of the other. */
function dot(op: OpOf<'dot'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { a, b } = op.operands;
  const rank = typeOf(a).shape.length;
  const depth = masks.least([ragged.of(a)[rank - 1], ragged.of(b)[rank - 2]]);
  if (depth === undefined) return void rewriter.keep(op);
  const zero = isWide(typeOf(a).dtype) ? 0n : 0;
  const along = (axis: number): Extents => typeOf(a).shape.map((_, i) => (i === axis ? depth : undefined));
  rewriter.keep(op, {
    operands: {
      ...op.operands,
      a: masks.neutralise(a, along(rank - 1), zero),
      b: masks.neutralise(b, along(rank - 2), zero),
    },
  });
}

/** The tile counts as full from here on; a mask lets nothing through beyond its own extents. */
function load(op: OpOf<'load'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  if (!ragged.isRagged(op.results[0]!)) return void rewriter.keep(op);
  const { mask } = op.operands;
  const attrs = { ...op.attrs, whole: true };
  if (!mask || !ragged.isRagged(mask)) return void rewriter.keep(op, { attrs });
  const combined = masks.combine(mask, typeOf(mask).shape, ragged.of(mask));
  rewriter.keep(op, { attrs, operands: { ...op.operands, mask: combined } });
}

/** What the extents of the value or of the mask forbid is not stored either. */
function store(op: OpOf<'store'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { value, valid = [], mask } = op.operands;
  const { shape } = typeOf(value);
  const own = mask ? [ragged.of(value), ragged.of(mask)] : [ragged.of(value)];
  if (
    own.every((extents) => extents.every((e, axis) => e === undefined || (valid[axis] && ragged.same(e, valid[axis]))))
  )
    return void rewriter.keep(op);
  const limits = shape.map(
    (n, axis) => masks.least([...own.map((extents) => extents[axis]), valid[axis]]) ?? masks.size(n),
  );
  rewriter.keep(op, { operands: { ...op.operands, valid: limits } });
}

function indexed(
  op: OpOf<'gather' | 'scatter' | 'atomic_rmw' | 'atomic_cas'>,
  rewriter: Rewriter,
  ragged: RaggedAnalysis,
  masks: Masks,
): void {
  const { index = [], mask } = op.operands;
  const tiles = indexedTiles(op.operands);
  if (!tiles.some((t) => ragged.isRagged(t))) return void rewriter.keep(op);
  const combined = masks.combine(mask, typeOf(index[0]!).shape, masks.common(tiles));
  rewriter.keep(op, { operands: { ...op.operands, mask: combined } });
}

/** Ops that visit elements one by one do so within all extents. */
function visited(
  op: OpOf<'debug_print'> | OpOf<'assert'>,
  rewriter: Rewriter,
  ragged: RaggedAnalysis,
  masks: Masks,
): void {
  const tiles = operandsOf(op);
  if (!tiles.some((t) => ragged.isRagged(t))) return void rewriter.keep(op);
  const mask = masks.combine(op.operands.mask, typeOf(tiles[0]!).shape, masks.common(tiles));
  rewriter.keep(op, { operands: { ...op.operands, mask } });
}

function pad(op: OpOf<'pad'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { input, fill } = op.operands;
  const { shape } = typeOf(input);
  const extents = ragged.of(input);
  if (extents.every((e) => e === undefined)) return rewriter.replace(op, [rewriter.mapped(input)]);
  const filled = rewriter.emit('broadcast', { input: rewriter.mapped(fill) } as never, {}, op, {
    types: [typeOf(input)],
  }).results[0]!;
  const condition = masks.within(shape, extents);
  rewriter.replace(
    op,
    rewriter.emit('select', { condition, on_true: rewriter.mapped(input), on_false: filled } as never, {}, op).results,
  );
}

export const legalizeRagged: Pass = {
  name: 'legalize-ragged',
  summary: 'Make valid extents explicit: masks before reductions, dots and atomics, extents on stores.',
  run(kernel: Kernel): Kernel {
    const analyses = new Map(kernel.launches.map((launch) => [launch, new RaggedAnalysis(launch)]));
    const diagnostics = [...analyses.values()].flatMap((analysis) => analysis.diagnostics);
    if (diagnostics.length > 0) throw new CompileError(diagnostics);
    return mapBodies(kernel, (body, launch) => legalizeBody(body, analyses.get(launch)!));
  },
};
