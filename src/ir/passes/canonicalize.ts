import { RaggedAnalysis } from '../analyses/ragged.js';
import type { ScalarConstant } from '../attributes.js';
import { bool, isFloat, isWide } from '../dtypes.js';
import type { Kernel, Launch } from '../kernel.js';
import { allocate } from '../numerics/registers.js';
import { terminatorValues } from '../ops/control.js';
import { type AttrsFor, definitionOf, isOp, isPure, type OpName, type OpOf } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { mapBodies, Rewriter } from '../rewrite.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, sameType, type TileType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf, walk } from '../walk.js';

const typeOf = (v: Value): TileType => v.type as TileType;

/**
 * Values that loops may be narrowed by: what is made inside of a loop whose carried values are ragged because of what
 * its body returns. Another value there may be as ragged for no other reason.
 */
function narrowingValues(body: Region, ragged: RaggedAnalysis): ReadonlySet<Value> {
  const found = new Set<Value>();
  const visit = (region: Region, isInside: boolean): void => {
    for (const op of region.ops) {
      if (isInside) for (const r of op.results) found.add(r);
      for (const inner of op.regions) visit(inner, isInside || ragged.narrows(op));
    }
  };
  visit(body, false);
  return found;
}

/** One launch while it is simplified: what is known of its values, old and new. */
class Simplifier {
  /** Values whose elements are all one number. */
  private readonly splats = new Map<Value, ScalarConstant>();
  private readonly makers = new Map<Value, GenericOp>();
  /** The old value that a new one stands for. */
  private readonly origins = new Map<Value, Value>();
  private analysis: { readonly ragged: RaggedAnalysis; readonly narrowing: ReadonlySet<Value> } | undefined;

  constructor(
    private readonly launch: Launch,
    /** Results of more elements are not folded. */
    private readonly foldLimit: number,
  ) {
    walk(launch.body, (op) => this.note(op));
  }

  private note(op: GenericOp): void {
    for (const r of op.results) this.makers.set(r, op);
    if (isOp(op, 'constant')) this.splats.set(op.results[0]!, op.attrs.value);
  }

  private get extents(): NonNullable<Simplifier['analysis']> {
    if (!this.analysis) {
      const ragged = new RaggedAnalysis(this.launch);
      this.analysis = { ragged, narrowing: narrowingValues(this.launch.body, ragged) };
    }
    return this.analysis;
  }

  private get ragged(): RaggedAnalysis {
    return this.extents.ragged;
  }

  private origin(v: Value): Value {
    return this.origins.get(v) ?? v;
  }

  /**
   * A value may stand for another only if it is valid just as far, and not because of that other: to drop a bound is to
   * let in what lies beyond.
   */
  private standsFor(v: Value, old: Value): boolean {
    if (typeOf(old).shape.length === 0) return true;
    const { ragged, narrowing } = this.extents;
    return ragged.sameExtents(this.origin(v), old) && !(ragged.isRagged(old) && narrowing.has(old));
  }

  /** Puts values in place of an op's results, if they can stand for them. */
  private replace(op: GenericOp, rewriter: Rewriter, by: readonly Value[]): boolean {
    const mapped = by.map((v) => rewriter.mapped(v));
    if (!op.results.every((r, i) => this.standsFor(mapped[i]!, r))) return false;
    rewriter.replace(op, mapped);
    return true;
  }

  private emit<N extends OpName>(
    rewriter: Rewriter,
    name: N,
    operands: GenericOp['operands'],
    attrs: AttrsFor<N>,
    op: GenericOp,
  ): true {
    const made = rewriter.emit(name, operands as never, attrs, op, { types: op.results.map((r) => r.type) });
    this.note(made);
    this.origins.set(made.results[0]!, op.results[0]!);
    rewriter.replace(op, made.results);
    return true;
  }

  private constant(op: GenericOp, rewriter: Rewriter, value: ScalarConstant): boolean {
    const [result] = op.results;
    if (typeOf(result!).shape.length > 0 && this.ragged.isRagged(result!)) return false;
    return this.emit(rewriter, 'constant', {}, { value }, op);
  }

  visit(op: GenericOp, rewriter: Rewriter): void {
    const done =
      this.fold(op, rewriter) ||
      this.identity(op, rewriter) ||
      this.movement(op, rewriter) ||
      this.control(op, rewriter);
    if (!done) rewriter.keep(op);
  }

  private splat(v: Value, rewriter: Rewriter): ScalarConstant | undefined {
    return this.splats.get(rewriter.mapped(v));
  }

  /** Folds an op whose operands are all constants, by its own reference meaning. */
  private fold(op: GenericOp, rewriter: Rewriter): boolean {
    const { evaluate, elementwise } = definitionOf(op);
    if (!evaluate || !isPure(op) || op.results.length !== 1 || isOp(op, 'constant')) return false;
    if (isOp(op, 'extent_mask')) return this.foldMask(op, rewriter);
    if (isOp(op, 'iota')) return typeOf(op.results[0]!).shape[op.attrs.axis] === 1 && this.constant(op, rewriter, 0);
    const operands = operandsOf(op);
    const values = operands.map((v) => this.splat(v, rewriter));
    if (operands.length === 0 || values.some((v) => v === undefined)) return false;
    if (isOp(op, 'broadcast') || isOp(op, 'reshape') || isOp(op, 'transpose'))
      return this.constant(op, rewriter, values[0]!);
    const type = typeOf(op.results[0]!);
    // One element stands for all where each comes from the same; else the whole tile is computed.
    const shapeOf = (t: TileType): readonly number[] => (elementwise ? [] : t.shape);
    if ([type, ...operands.map(typeOf)].some((t) => elementCount(shapeOf(t)) > this.foldLimit)) return false;
    const inputs = operands.map((v, i): TileValue => {
      const [dtype, shape] = [typeOf(v).dtype, shapeOf(typeOf(v))];
      const data = allocate(dtype, elementCount(shape));
      (data as Float64Array).fill(values[i] as number);
      return { dtype, shape, data };
    });
    const data = evaluate(inputs, op.attrs as never, [{ ...type, shape: shapeOf(type) }])[0]!.data;
    return data.every((x: number | bigint) => Object.is(x, data[0])) && this.constant(op, rewriter, data[0]!);
  }

  private foldMask(op: OpOf<'extent_mask'>, rewriter: Rewriter): boolean {
    const limits = (op.operands.extents ?? []).map((e) => this.splat(e, rewriter));
    const { shape } = typeOf(op.results[0]!);
    if (limits.some((n) => n !== undefined && n <= 0)) return this.constant(op, rewriter, 0);
    return shape.every((n, axis) => (limits[axis] ?? 0) >= n) && this.constant(op, rewriter, 1);
  }

  /** Ops that give an operand unchanged, or the same whatever it is. Floats keep `x + 0`: it turns -0 into 0. */
  private identity(op: GenericOp, rewriter: Rewriter): boolean {
    if (isOp(op, 'neg') || isOp(op, 'not')) {
      const inner = this.makers.get(rewriter.mapped(op.operands.input));
      return isOp(inner, op.name) && this.replace(op, rewriter, [inner.operands.input]);
    }
    if (isOp(op, 'select')) {
      const { condition, on_true, on_false } = op.operands;
      const chosen = this.splat(condition, rewriter);
      if (chosen !== undefined) return this.replace(op, rewriter, [chosen ? on_true : on_false]);
      return rewriter.mapped(on_true) === rewriter.mapped(on_false) && this.replace(op, rewriter, [on_true]);
    }
    if (!('left' in op.operands)) return false;
    const { left, right } = op.operands as { left: Value; right: Value };
    const { dtype } = typeOf(left);
    const [zero, one] = isWide(dtype) ? [0n, 1n] : [0, 1];
    const [x, y] = [this.splat(left, rewriter), this.splat(right, rewriter)];
    const neutral = (of: ScalarConstant): boolean =>
      y === of ? this.replace(op, rewriter, [left]) : x === of && this.replace(op, rewriter, [right]);
    const exact = !isFloat(dtype);
    const equal = rewriter.mapped(left) === rewriter.mapped(right);
    switch (op.name) {
      case 'add':
        return exact && neutral(zero);
      case 'or':
        return equal ? this.replace(op, rewriter, [left]) : neutral(zero);
      case 'xor':
        return equal ? this.constant(op, rewriter, zero) : neutral(zero);
      case 'sub':
        if (!exact) return false;
        return equal ? this.constant(op, rewriter, zero) : y === zero && this.replace(op, rewriter, [left]);
      case 'mul':
        if (exact && (x === zero || y === zero)) return this.constant(op, rewriter, zero);
        return neutral(one);
      case 'div':
      case 'floor_div':
      case 'cdiv':
        return y === one && this.replace(op, rewriter, [left]);
      case 'rem':
      case 'mod':
        return y === one && this.constant(op, rewriter, zero);
      case 'shl':
      case 'shr':
        return y === zero && this.replace(op, rewriter, [left]);
      case 'and':
        if (equal) return this.replace(op, rewriter, [left]);
        if (x === zero || y === zero) return this.constant(op, rewriter, zero);
        return dtype === bool && neutral(1);
      case 'max':
      case 'min':
      case 'max_num':
      case 'min_num':
        return equal && this.replace(op, rewriter, [left]);
      case 'eq':
      case 'le':
      case 'ge':
        return exact && equal && this.constant(op, rewriter, 1);
      case 'ne':
      case 'lt':
      case 'gt':
        return exact && equal && this.constant(op, rewriter, 0);
      default:
        return false;
    }
  }

  /** Ops that move elements: none where nothing moves, one for a chain. */
  private movement(op: GenericOp, rewriter: Rewriter): boolean {
    if (isOp(op, 'pad')) return this.replace(op, rewriter, [op.operands.input]);
    if (!isOp(op, 'broadcast') && !isOp(op, 'reshape') && !isOp(op, 'transpose') && !isOp(op, 'cast')) return false;
    const [result] = op.results;
    const moves = !isOp(op, 'transpose') || op.attrs.permutation.some((axis, i) => axis !== i);
    const input = rewriter.mapped(op.operands.input);
    if ((isOp(op, 'transpose') ? !moves : sameType(input.type, result!.type)) && this.replace(op, rewriter, [input]))
      return true;
    const maker = this.makers.get(input);
    if (maker?.name !== op.name || isOp(op, 'cast')) return false;
    const source = rewriter.mapped((maker as OpOf<'broadcast'>).operands.input);
    if (isOp(op, 'transpose')) {
      const inner = (maker as OpOf<'transpose'>).attrs.permutation;
      const permutation = op.attrs.permutation.map((axis) => inner[axis]!);
      if (permutation.every((axis, i) => axis === i)) return this.replace(op, rewriter, [source]);
      return this.emit(rewriter, 'transpose', { input: source }, { permutation }, op);
    }
    if (sameType(source.type, result!.type)) return this.replace(op, rewriter, [source]);
    // Which axis of extent 1 a reshape means is lost in a chain, so extents would be too.
    if (isOp(op, 'reshape') && this.ragged.isRagged(this.origin(source))) return false;
    return this.emit(rewriter, op.name, { input: source }, {}, op);
  }

  private control(op: GenericOp, rewriter: Rewriter): boolean {
    if (isOp(op, 'if')) {
      const condition = this.splat(op.operands.condition, rewriter);
      return condition !== undefined && this.inline(op, rewriter, condition ? 0 : 1);
    }
    if (isOp(op, 'for')) {
      const [from, to] = [this.splat(op.operands.from, rewriter), this.splat(op.operands.to, rewriter)];
      return from !== undefined && to !== undefined && from >= to && this.replace(op, rewriter, op.operands.init ?? []);
    }
    if (isOp(op, 'while')) {
      const [test] = op.regions;
      const end = test!.ops.at(-1);
      const never = isOp(end, 'condition') && this.splats.get(end.operands.condition) === 0;
      return never && test!.ops.slice(0, -1).every(isPure) && this.replace(op, rewriter, op.operands.init ?? []);
    }
    return false;
  }

  /** Puts the ops of a branch in place of its `if`. */
  private inline(op: GenericOp, rewriter: Rewriter, branch: number): boolean {
    const region = op.regions[branch]!;
    if (!terminatorValues(region).every((v, i) => this.standsFor(v, op.results[i]!))) return false;
    const rebuilt = rewriter.region(region);
    for (const o of rebuilt.ops) if (!isOp(o, 'yield')) rewriter.append(o);
    rewriter.replace(op, terminatorValues(rebuilt));
    return true;
  }
}

export const canonicalize: Pass = {
  name: 'canonicalize',
  summary: 'Fold constants and identities, chains of reshapes and broadcasts, decided branches and empty loops.',
  options: { fold_limit: 64 },
  run: (kernel: Kernel, { fold_limit = 64 }): Kernel =>
    mapBodies(kernel, (body, launch) => {
      const simplifier = new Simplifier(launch, fold_limit);
      return new Rewriter('canonicalize', (op, rewriter) => simplifier.visit(op, rewriter)).region(body);
    }),
};
