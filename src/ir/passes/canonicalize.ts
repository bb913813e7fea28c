import type { ScalarConstant } from '../attributes.js';
import { bool, isFloat, isWide } from '../dtypes.js';
import type { Kernel, Launch } from '../kernel.js';
import { terminatorValues } from '../ops/control.js';
import { definitionOf, isOp, isPure, type OpOf } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { type Rewriter, rewriteKernel } from '../rewrite.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, sameType, type TileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { operandsOf, walk } from '../walk.js';

/** Results larger than this are not folded element by element. */
const foldLimit = 64;

const typeOf = (v: Value): TileType => v.type as TileType;

/** The constants of a launch: values whose elements are all one number. */
class Constants {
  private readonly splats = new Map<Value, ScalarConstant>();

  constructor(launch: Launch) {
    walk(launch.body, (op) => this.note(op));
  }

  note(op: GenericOp): void {
    if (isOp(op, 'constant')) this.splats.set(op.results[0]!, op.attrs.value);
  }

  of(v: Value): ScalarConstant | undefined {
    return this.splats.get(v);
  }
}

function emitConstant(rewriter: Rewriter, constants: Constants, op: GenericOp, value: ScalarConstant): void {
  const made = rewriter.emit('constant', {}, { value }, op, { types: [op.results[0]!.type] });
  constants.note(made);
  rewriter.replace(op, made.results);
}

/** Folds an op whose operands are all constants, by its own reference meaning. */
function fold(op: GenericOp, rewriter: Rewriter, constants: Constants): boolean {
  const { evaluate } = definitionOf(op);
  if (!evaluate || !isPure(op) || isOp(op, 'constant') || op.results.length !== 1) return false;
  const operands = operandsOf(op).map((v) => rewriter.mapped(v));
  const values = operands.map((v) => constants.of(v));
  if (operands.length === 0 || values.some((v) => v === undefined)) return false;
  const type = typeOf(op.results[0]!);
  if (isOp(op, 'broadcast') || isOp(op, 'reshape') || isOp(op, 'transpose')) {
    emitConstant(rewriter, constants, op, values[0]!);
    return true;
  }
  if (!definitionOf(op).elementwise || elementCount(type.shape) > foldLimit || isOp(op, 'extent_mask')) return false;
  const splat = (v: Value, x: ScalarConstant): TileValue => {
    const t: TileType = { ...typeOf(v), shape: [] };
    return { dtype: t.dtype, shape: [], data: [x] as never };
  };
  const inputs = operands.map((v, i) => splat(v, values[i]!));
  const [result] = evaluate(inputs, op.attrs as never, [{ ...type, shape: [] }]);
  emitConstant(rewriter, constants, op, result!.data[0]!);
  return true;
}

/** The operand that an op gives unchanged, if its other operand is neutral. Floats keep `x + 0`: it turns -0 into 0. */
function identity(op: GenericOp, constants: Constants, mapped: (v: Value) => Value): Value | undefined {
  if (!('left' in op.operands)) return undefined;
  const { left, right } = op.operands as { left: Value; right: Value };
  const [x, y] = [constants.of(mapped(left)), constants.of(mapped(right))];
  const { dtype } = typeOf(left);
  const [zero, one] = isWide(dtype) ? [0n, 1n] : [0, 1];
  switch (op.name) {
    case 'add':
    case 'or':
    case 'xor':
      if (isFloat(dtype)) return undefined;
      return y === zero ? left : x === zero ? right : undefined;
    case 'sub':
      return !isFloat(dtype) && y === zero ? left : undefined;
    case 'mul':
      return y === one ? left : x === one ? right : undefined;
    case 'div':
    case 'floor_div':
    case 'cdiv':
      return y === one ? left : undefined;
    case 'shl':
    case 'shr':
      return y === zero ? left : undefined;
    case 'and':
      return dtype === bool ? (y === 1 ? left : x === 1 ? right : undefined) : undefined;
    default:
      return undefined;
  }
}

function simplify(
  op: GenericOp,
  rewriter: Rewriter,
  constants: Constants,
  definitions: ReadonlyMap<Value, GenericOp>,
): void {
  const mapped = (v: Value): Value => rewriter.mapped(v);
  if (fold(op, rewriter, constants)) return;
  const same = identity(op, constants, mapped);
  if (same) return rewriter.replace(op, [mapped(same)]);
  if (isOp(op, 'select')) {
    const chosen = constants.of(mapped(op.operands.condition));
    if (chosen !== undefined)
      return rewriter.replace(op, [mapped(chosen ? op.operands.on_true : op.operands.on_false)]);
  }
  if (isOp(op, 'broadcast') || isOp(op, 'reshape') || isOp(op, 'cast')) {
    const { input } = op.operands;
    if (sameType(input.type, op.results[0]!.type)) return rewriter.replace(op, [mapped(input)]);
    const inner = definitions.get(input);
    // A chain of broadcasts, or of reshapes, is one.
    if (inner?.name === op.name && !isOp(op, 'cast'))
      return rewriter.replace(
        op,
        rewriter.emit(op.name, { input: mapped((inner as OpOf<'broadcast'>).operands.input) } as never, {}, op, {
          types: [op.results[0]!.type],
        }).results,
      );
  }
  if (isOp(op, 'transpose') && op.attrs.permutation.every((axis, i) => axis === i))
    return rewriter.replace(op, [mapped(op.operands.input)]);
  if (isOp(op, 'if')) {
    const condition = constants.of(mapped(op.operands.condition));
    if (condition !== undefined) return inline(op, rewriter, condition ? 0 : 1);
  }
  if (isOp(op, 'for')) {
    const [from, to] = [constants.of(mapped(op.operands.from)), constants.of(mapped(op.operands.to))];
    if (from !== undefined && to !== undefined && from >= to)
      return rewriter.replace(op, (op.operands.init ?? []).map(mapped));
  }
  rewriter.keep(op);
}

/** Puts the ops of a branch in place of its `if`. */
function inline(op: GenericOp, rewriter: Rewriter, branch: number): void {
  const region = op.regions[branch]!;
  const rebuilt = rewriter.region(region);
  for (const o of rebuilt.ops) if (!isOp(o, 'yield')) rewriter.append(o);
  rewriter.replace(op, terminatorValues(rebuilt));
}

export const canonicalize: Pass = {
  name: 'canonicalize',
  summary: 'Fold constants and identities, chains of reshapes and broadcasts, decided branches and empty loops.',
  run(kernel: Kernel): Kernel {
    const known = new Map(
      kernel.launches.map((l) => {
        const definitions = new Map<Value, GenericOp>();
        walk(l.body, (op) => op.results.forEach((r) => definitions.set(r, op)));
        return [l, { constants: new Constants(l), definitions }] as const;
      }),
    );
    return rewriteKernel(kernel, 'canonicalize', (op, rewriter, launch) => {
      const { constants, definitions } = known.get(launch)!;
      simplify(op, rewriter, constants, definitions);
    });
  },
};
