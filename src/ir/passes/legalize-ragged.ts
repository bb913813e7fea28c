/** Makes raggedness explicit, so that back ends need not know of it: masks where elements beyond an extent would count. */

import { CompileError } from '../../diagnostics/diagnostic.js';
import { type Extents, RaggedAnalysis } from '../analyses/ragged.js';
import type { ScalarConstant } from '../attributes.js';
import { bool, isWide } from '../dtypes.js';
import type { Kernel, Launch } from '../kernel.js';
import { reduceIdentity } from '../ops/contraction.js';
import { isOp, type OpOf } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { type Rewriter, rewriteKernel } from '../rewrite.js';
import { indexType, type TileType, tileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';

const typeOf = (v: Value): TileType => v.type as TileType;

/** Masks for one op of one launch. */
class Masks {
  constructor(
    private readonly rewriter: Rewriter,
    private readonly origin: GenericOp,
  ) {}

  private constant(x: ScalarConstant, type: TileType): Value {
    return this.rewriter.emit('constant', {}, { value: x }, this.origin, { types: [type] }).results[0]!;
  }

  /** True where an element lies within `extents`; full axes count whole. */
  within(shape: readonly number[], extents: Extents): Value {
    const limits = shape.map((n, axis) =>
      extents[axis] ? this.rewriter.mapped(extents[axis]) : this.constant(n, indexType),
    );
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

function legalize(op: GenericOp, rewriter: Rewriter, ragged: RaggedAnalysis): void {
  const masks = new Masks(rewriter, op);
  if (isOp(op, 'reduce')) return reduce(op, rewriter, ragged, masks);
  if (isOp(op, 'dot')) return dot(op, rewriter, ragged, masks);
  if (isOp(op, 'load') && ragged.isRagged(op.results[0]!))
    return void rewriter.keep(op, { attrs: { ...op.attrs, whole: true } });
  if (isOp(op, 'store')) return store(op, rewriter, ragged);
  if (isOp(op, 'gather') || isOp(op, 'scatter') || isOp(op, 'atomic_rmw')) return indexed(op, rewriter, ragged, masks);
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

/** Zero on both sides: a NaN beyond the extent of one operand must not meet a zero of the other. */
function dot(op: OpOf<'dot'>, rewriter: Rewriter, ragged: RaggedAnalysis, masks: Masks): void {
  const { a, b } = op.operands;
  const rank = typeOf(a).shape.length;
  const [left, right] = [onAxis(ragged.of(a), rank - 1), onAxis(ragged.of(b), rank - 2)];
  const depth = left[rank - 1] ?? right[rank - 2];
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

/** What the value's own extents forbid is not stored either. */
function store(op: OpOf<'store'>, rewriter: Rewriter, ragged: RaggedAnalysis): void {
  const { value, valid = [] } = op.operands;
  const { shape } = typeOf(value);
  const extents = ragged.of(value);
  if (extents.every((e, axis) => e === undefined || (valid[axis] && ragged.same(e, valid[axis]))))
    return void rewriter.keep(op);
  const limits = shape.map((n, axis) => {
    const [own, given] = [extents[axis], valid[axis]];
    if (own && given && !ragged.same(own, given))
      return rewriter.emit('min', { left: rewriter.mapped(own), right: rewriter.mapped(given) } as never, {}, op)
        .results[0]!;
    const one = given ?? own;
    return one
      ? rewriter.mapped(one)
      : rewriter.emit('constant', {}, { value: n }, op, { types: [indexType] }).results[0]!;
  });
  rewriter.keep(op, { operands: { ...op.operands, valid: limits } });
}

function indexed(
  op: OpOf<'gather'> | OpOf<'scatter'> | OpOf<'atomic_rmw'>,
  rewriter: Rewriter,
  ragged: RaggedAnalysis,
  masks: Masks,
): void {
  const { index = [], mask } = op.operands;
  const tiles = 'value' in op.operands && op.operands.value ? [...index, op.operands.value as Value] : index;
  const { shape } = typeOf(index[0]!);
  const extents = shape.map((_, axis) => tiles.map((t) => ragged.of(t)[axis]).find((e) => e !== undefined));
  if (extents.every((e) => e === undefined)) return void rewriter.keep(op);
  rewriter.keep(op, { operands: { ...op.operands, mask: masks.combine(mask, shape, extents) } });
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
    const analyses = new Map<Launch, RaggedAnalysis>();
    for (const launch of kernel.launches) {
      const analysis = new RaggedAnalysis(launch);
      if (analysis.diagnostics.length > 0) throw new CompileError(analysis.diagnostics);
      analyses.set(launch, analysis);
    }
    return rewriteKernel(kernel, 'legalize-ragged', (op, rewriter, launch) =>
      legalize(op, rewriter, analyses.get(launch)!),
    );
  },
};
