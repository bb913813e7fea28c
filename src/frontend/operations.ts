/** Functions on tiles and on what the host knows: those that read better free than as methods. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { type Bool, type DType, type F32, type I32, i32 } from '../ir/dtypes.js';
import { type DotPrecision, dotPrecisions } from '../ir/ops/contraction.js';
import type { OpName } from '../ir/ops/index.js';
import { printType, tileType } from '../ir/types.js';
import { mistake } from './errors.js';
import { checkOptions, checkWord, describe } from './handle.js';
import type { Max, Rank, RankOf } from './rank.js';
import { userLoc } from './site.js';
import type { DimFacts } from './symbol.js';
import {
  type AnyTile,
  asOperand,
  asTile,
  binary,
  broadcastShape,
  broadcastTile,
  checkAxis,
  checkDType,
  checkDTypes,
  checkShape,
  constant,
  type Index,
  lift,
  maxExtent,
  type Other,
  symbolTile,
  type Tile,
  traced,
  useTile,
} from './tile.js';
import { needTrace } from './trace.js';

export type { DotPrecision } from '../ir/ops/contraction.js';

/** A run-time extent, named: the size of an axis of the kernel's arrays, bound when the kernel is called. */
export function dim(name: string, facts: DimFacts = {}): Index {
  const bad = (message: string): never => mistake((c) => frontendCodes.badExtent({ message }, c));
  if (typeof name !== 'string' || name === '') bad(`a dim has a name, got ${describe(name)}`);
  checkOptions('dim', ['multipleOf', 'min', 'max'], facts);
  for (const [fact, n] of Object.entries(facts)) {
    const least = fact === 'min' ? 0 : 1;
    if (!Number.isInteger(n) || n < least || n > maxExtent)
      bad(`${fact} of dim '${name}' must be an integer from ${least} to ${maxExtent}, got ${describe(n)}`);
  }
  if (facts.min !== undefined && facts.max !== undefined && facts.min > facts.max)
    bad(`dim '${name}' cannot be at least ${facts.min} and at most ${facts.max}`);
  return symbolTile({ kind: 'dim', name, facts, loc: userLoc() });
}

/** At least one operand is a tile; the other may be a number. */
function pair(op: OpName, a: number | AnyTile, b: number | AnyTile): never {
  const takes = `'${op}' takes tiles and numbers`;
  const [x, y] = [asOperand(takes, a), asOperand(takes, b)];
  if (typeof x !== 'number') return binary(op, x, y);
  return binary(op, lift(x, asTile(`'${op}' needs a tile on one side`, y).dtype), y);
}

/** Larger of two, element by element; NaN wins. */
export function maximum(a: number, b: number): number;
export function maximum<D extends DType, R extends Rank>(a: Tile<D, R>, b: Other<D, R>): Tile<D, R>;
export function maximum<D extends DType, A extends Rank, B extends Rank = 0>(
  a: Tile<D, A>,
  b: Other<D, B>,
): Tile<D, Max<A, B>>;
export function maximum(a: number | AnyTile, b: number | AnyTile): unknown {
  return typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : pair('max', a, b);
}

/** Smaller of two, element by element; NaN wins. */
export function minimum(a: number, b: number): number;
export function minimum<D extends DType, R extends Rank>(a: Tile<D, R>, b: Other<D, R>): Tile<D, R>;
export function minimum<D extends DType, A extends Rank, B extends Rank = 0>(
  a: Tile<D, A>,
  b: Other<D, B>,
): Tile<D, Max<A, B>>;
export function minimum(a: number | AnyTile, b: number | AnyTile): unknown {
  return typeof a === 'number' && typeof b === 'number' ? Math.min(a, b) : pair('min', a, b);
}

/** Quotient of integers, rounded up: how many blocks of `b` cover `a`. */
export function cdiv(a: number, b: number): number;
export function cdiv(a: number | Index, b: number | Index): Index;
export function cdiv(a: number | Index, b: number | Index): number | Index {
  for (const x of [a, b])
    if (typeof x === 'number' && !Number.isInteger(x))
      mistake((c) => frontendCodes.badNumber({ value: String(x), dtype: 'i32', why: 'cdiv takes integers' }, c));
  if (b === 0) mistake((c) => frontendCodes.badNumber({ value: '0', dtype: 'i32', why: 'cdiv by zero' }, c));
  return typeof a === 'number' && typeof b === 'number' ? Math.ceil(a / b) : pair('cdiv', a, b);
}

/** `a` where the condition holds, else `b`. */
export function select<D extends DType, C extends Rank, A extends Rank, B extends Rank = 0>(
  condition: Tile<Bool, C>,
  a: Tile<D, A>,
  b: Other<D, B>,
): Tile<D, Max<C, Max<A, B>>>;
export function select<D extends DType, C extends Rank, B extends Rank>(
  condition: Tile<Bool, C>,
  a: number,
  b: Tile<D, B>,
): Tile<D, Max<C, B>>;
export function select(condition: AnyTile, a: number | AnyTile, b: number | AnyTile): never {
  const trace = needTrace("'select'");
  const takes = "'select' takes tiles or numbers to choose from";
  const holds = asTile("'select' takes a tile of bool as its condition", condition);
  const [p, q] = [asOperand(takes, a), asOperand(takes, b)];
  const { dtype } = typeof p === 'number' ? asTile("'select' needs a tile on one side", q) : p;
  const [x, y] = [lift(p, dtype), lift(q, dtype)];
  checkDTypes('select', x, y);
  const shape = broadcastShape('select', broadcastShape('select', holds.type.shape, x.type.shape), y.type.shape);
  const operands = {
    condition: useTile(broadcastTile(holds, shape)),
    on_true: useTile(broadcastTile(x, shape)),
    on_false: useTile(broadcastTile(y, shape)),
  };
  return traced(trace.emit('select', operands, {})[0]!);
}

/** A tile of one value. */
export function full<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  value: number,
): Tile<D, RankOf<S>> {
  checkDType("'full' takes a dtype", dtype);
  return constant(value, dtype, checkShape(shape)) as never;
}

export function zeros<D extends DType, const S extends readonly number[]>(dtype: D, shape: S): Tile<D, RankOf<S>> {
  return full(dtype, shape, 0);
}

export function ones<D extends DType, const S extends readonly number[]>(dtype: D, shape: S): Tile<D, RankOf<S>> {
  return full(dtype, shape, 1);
}

/** Positions along an axis: element `[i, …]` is its index there. */
export function iota<const S extends readonly number[]>(shape: S, axis = 0): Tile<I32, RankOf<S>> {
  const type = tileType(i32, checkShape(shape));
  checkAxis(axis, type.shape.length, printType(type));
  return traced(needTrace("'iota'").emit('iota', {}, { axis }, { types: [type] })[0]!);
}

/** dtype in which products of `D` are summed. */
type Accumulated<D extends DType> =
  D extends DType<'f64' | 'i64' | 'u64'> ? D : D extends DType<string, 'float'> ? F32 : I32;

export interface DotOptions {
  /**
   * How f32 products are formed, at the least: exactly (`ieee`, the default), from operands rounded to 10 bits of mantissa
   * (`tf32`), or from products of their parts (`tf32x3`, `bf16x3`, `bf16x6`).
   */
  readonly precision?: DotPrecision;
}

/**
 * Matrix product `a[…, m, k] · b[…, k, n]`, summed in f32 (i32 for small integers, f64 for f64).
 *
 * @param options.acc a tile `[…, m, n]` of the result's dtype to add to.
 */
export function dot<D extends DType, R extends Rank>(
  a: Tile<D, R>,
  b: Tile<D, R>,
  options: DotOptions & { readonly acc?: Tile<Accumulated<D>, R> } = {},
): Tile<Accumulated<D>, R> {
  const trace = needTrace("'dot'");
  const [left, right] = [asTile("'dot' takes two tiles", a), asTile("'dot' takes two tiles", b)];
  checkOptions('dot', ['precision', 'acc'], options);
  const { precision = 'ieee', acc } = options;
  checkWord("the precision of 'dot' is one of", dotPrecisions, precision);
  checkDTypes('dot', left, right);
  const operands = {
    a: useTile(left),
    b: useTile(right),
    acc: acc && useTile(asTile("the accumulator of 'dot' is a tile", acc)),
  };
  return traced(trace.emit('dot', operands, { precision })[0]!);
}
