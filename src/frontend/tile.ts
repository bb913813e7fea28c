/** `Tile`: an immutable value of a kernel, and the functions on tiles. Every method traces one op at the caller's line. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import type { ScalarConstant } from '../ir/attributes.js';
import { type Bool, bool, type DType, type I32, i32, intRange, isFloat, isWide } from '../ir/dtypes.js';
import { codecOf, isNarrowFloat } from '../ir/numerics/formats.js';
import type { DotPrecision, ReduceKind } from '../ir/ops/contraction.js';
import type { OpName } from '../ir/ops/index.js';
import { printType, sameShape, type TileType, tileType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import type { Axis, Dims, Max, Pred, Rank, RankOf, Succ } from './rank.js';
import { userLoc } from './site.js';
import { type DimFacts, type HostSymbol, tryHostOperator } from './symbol.js';
import { activeTrace, needTrace, type TracedValue } from './trace.js';

export type { DotPrecision } from '../ir/ops/contraction.js';

/** What a tile stands for: a value of a trace, or a symbol of the host. */
type Node = { readonly traced: TracedValue } | { readonly symbol: HostSymbol };

export type Scalar<D extends DType> = Tile<D, 0>;
/** An i32 scalar: a dim, a grid axis, a loop counter, or arithmetic on them. */
export type Index = Scalar<I32>;

/** Another operand: a tile of the same dtype, or a JavaScript number that takes this one's. */
type Other<D extends DType, Q extends Rank> = number | Tile<D, Q>;

/** dtype of a sum: integers and bool widen to at least i32. */
type Summed<D extends DType> =
  D extends DType<string, 'float'> ? D : D extends DType<'i64' | 'u64'> ? D : DType<'i32', 'int'>;

/** Any tile, whatever TypeScript knows of it. */
export interface AnyTile {
  /** @internal */
  readonly node: Node;
  /** @internal */
  readonly type: TileType;
  readonly dtype: DType;
}

/** An immutable value in registers: elements of dtype `D` in a shape of rank `R`. Rank 0 is a scalar. */
export class Tile<D extends DType = DType, R extends Rank = Rank> {
  declare private readonly invariantDType: (d: D) => D;
  declare private readonly rank: R;
  /** Types only: makes `if (a.lt(b))`, `a && b` and `a ? x : y` an error in TypeScript (TS2801), for they are always true. */
  declare readonly then: (onfulfilled: (value: never) => never) => never;

  /** @internal */
  constructor(readonly node: Node) {}

  /** @internal */
  get type(): TileType {
    return 'traced' in this.node ? (this.node.traced.value.type as TileType) : tileType(i32);
  }

  get dtype(): D {
    return this.type.dtype as D;
  }

  /** Extents; plain numbers while tracing. */
  get shape(): Dims[R] {
    return this.type.shape as never;
  }

  /** Sum. Integers wrap; floats round once. */
  add<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('add', this, other);
  }
  /** Difference. */
  sub<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('sub', this, other);
  }
  /** Product. */
  mul<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('mul', this, other);
  }
  /** Quotient; of integers toward zero. */
  div<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('div', this, other);
  }
  /** Remainder of integers with the dividend's sign. */
  rem<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('rem', this, other);
  }
  /** Quotient of integers, rounded down. */
  floorDiv<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('floor_div', this, other);
  }
  /** Remainder of integers with the divisor's sign. */
  mod<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('mod', this, other);
  }
  /** Bitwise and; of bool, logical. */
  and<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('and', this, other);
  }
  /** Bitwise or; of bool, logical. */
  or<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('or', this, other);
  }
  /** Bitwise exclusive or. */
  xor<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('xor', this, other);
  }
  /** Left shift; the amount is read as unsigned, the width or more gives 0. */
  shl<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('shl', this, other);
  }
  /** Right shift; of signed integers it copies the sign. */
  shr<Q extends Rank = 0>(other: Other<D, Q>): Tile<D, Max<R, Q>> {
    return binary('shr', this, other);
  }

  /** Element by element: equal (NaN equals nothing). */
  eq<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('eq', this, other);
  }
  ne<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('ne', this, other);
  }
  lt<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('lt', this, other);
  }
  le<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('le', this, other);
  }
  gt<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('gt', this, other);
  }
  ge<Q extends Rank = 0>(other: Other<D, Q>): Tile<Bool, Max<R, Q>> {
    return binary('ge', this, other);
  }

  neg(): Tile<D, R> {
    return unary('neg', this);
  }
  abs(): Tile<D, R> {
    return unary('abs', this);
  }
  /** Every bit inverted; of bool, the truth. */
  not(): Tile<D, R> {
    return unary('not', this);
  }
  /** e to this power, within 2 ulp. Floats only, as all that follow here. */
  exp(): Tile<D, R> {
    return unary('exp', this);
  }
  exp2(): Tile<D, R> {
    return unary('exp2', this);
  }
  log(): Tile<D, R> {
    return unary('log', this);
  }
  log2(): Tile<D, R> {
    return unary('log2', this);
  }
  /** Square root, correctly rounded. */
  sqrt(): Tile<D, R> {
    return unary('sqrt', this);
  }
  rsqrt(): Tile<D, R> {
    return unary('rsqrt', this);
  }
  tanh(): Tile<D, R> {
    return unary('tanh', this);
  }
  floor(): Tile<D, R> {
    return unary('floor', this);
  }
  ceil(): Tile<D, R> {
    return unary('ceil', this);
  }
  /** Nearest integer value, ties to even. */
  round(): Tile<D, R> {
    return unary('round', this);
  }

  /** Conversion: floats round to nearest even, float to integer goes toward zero and saturates, integers wrap. */
  to<E extends DType>(dtype: E, options: { readonly saturate?: boolean } = {}): Tile<E, R> {
    if (this.dtype === (dtype as DType)) return this as never;
    const types = [tileType(dtype, this.type.shape)];
    const trace = needTrace("'to'");
    return traced(trace.emit('cast', { input: useTile(this) }, { saturate: options.saturate }, { types })[0]!);
  }

  /** Sum along an axis, which goes (or stays with extent 1). Integers give i32 at least. */
  sum(axis: Axis<R>): Tile<Summed<D>, Pred<R>>;
  sum(axis: Axis<R>, options: { readonly keepDims: true }): Tile<Summed<D>, R>;
  sum(axis: number, options?: { readonly keepDims: true }): never {
    return reduce('sum', this, axis, options);
  }
  prod(axis: Axis<R>): Tile<Summed<D>, Pred<R>>;
  prod(axis: Axis<R>, options: { readonly keepDims: true }): Tile<Summed<D>, R>;
  prod(axis: number, options?: { readonly keepDims: true }): never {
    return reduce('prod', this, axis, options);
  }
  /** Largest along an axis; NaN wins. */
  max(axis: Axis<R>): Tile<D, Pred<R>>;
  max(axis: Axis<R>, options: { readonly keepDims: true }): Tile<D, R>;
  max(axis: number, options?: { readonly keepDims: true }): never {
    return reduce('max', this, axis, options);
  }
  /** Smallest along an axis; NaN wins. */
  min(axis: Axis<R>): Tile<D, Pred<R>>;
  min(axis: Axis<R>, options: { readonly keepDims: true }): Tile<D, R>;
  min(axis: number, options?: { readonly keepDims: true }): never {
    return reduce('min', this, axis, options);
  }
  /** Position of the largest along an axis: the first among equals, the first NaN. */
  argmax(axis: Axis<R>): Tile<I32, Pred<R>> {
    return reduce('argmax', this, axis);
  }
  argmin(axis: Axis<R>): Tile<I32, Pred<R>> {
    return reduce('argmin', this, axis);
  }
  /** Whether any element along an axis is true. */
  any(axis: Axis<R>): Tile<Bool, Pred<R>> {
    return reduce('any', this, axis);
  }
  all(axis: Axis<R>): Tile<Bool, Pred<R>> {
    return reduce('all', this, axis);
  }

  /** Inserts an axis of extent 1. */
  expand(axis: Axis<Succ<R>>): Tile<D, Succ<R>> {
    const shape: number[] = [...this.type.shape];
    shape.splice(checkAxis(axis, shape.length + 1, this), 0, 1);
    return reshaped(this, shape);
  }
  /** The same elements, in row-major order, in another shape. */
  reshape<const S extends readonly number[]>(shape: S): Tile<D, RankOf<S>> {
    return reshaped(this, shape);
  }
  /** Repeats the tile along new axes and along axes of extent 1. */
  broadcastTo<const S extends readonly number[]>(shape: S): Tile<D, RankOf<S>> {
    return broadcastTile(this, shape) as never;
  }
  /** Axes in another order; without one, reversed. Axis `i` of the result is axis `permutation[i]`. */
  transpose(permutation?: readonly number[]): Tile<D, R> {
    const order = permutation ?? this.type.shape.map((_, axis) => axis).reverse();
    return traced(needTrace("'transpose'").emit('transpose', { input: useTile(this) }, { permutation: order })[0]!);
  }
  /** Makes a tile that reaches past its array full: elements beyond the edge become `fill`. */
  pad(fill: number): Tile<D, R> {
    const trace = needTrace("'pad'");
    const operand = useTile(constant(fill, this.dtype, []));
    return traced(trace.emit('pad', { input: useTile(this), fill: operand }, {})[0]!);
  }

  [Symbol.toPrimitive](hint: string): never {
    const type = printType(this.type);
    return mistake((c) => (hint === 'string' ? frontendCodes.usedAsText : frontendCodes.usedAsNumber)({ type }, c), {
      notes: [noteAt('the value was made here', locOf(this))],
      help: 'use .add, .lt, select(), when() or loop()',
    });
  }
  [Symbol.iterator](): never {
    return mistake((c) => frontendCodes.notIterable({ type: printType(this.type) }, c), {
      notes: [noteAt('the value was made here', locOf(this))],
    });
  }
  toJSON(): string {
    return `<${printType(this.type)}>`;
  }
}

/** @internal */
export const traced = (v: TracedValue): never => new Tile({ traced: v }) as never;
/** @internal */
export const symbolTile = (symbol: HostSymbol): Index => new Tile({ symbol });

export const locOf = (t: AnyTile): Loc => ('traced' in t.node ? t.node.traced.loc : t.node.symbol.loc);

/** The IR value of a tile where the active trace stands. */
export function useTile(t: AnyTile): never {
  const trace = needTrace('a traced value');
  return trace.use('traced' in t.node ? t.node.traced : trace.symbol(t.node.symbol)) as never;
}

/** The symbol of a number or a host scalar; a value of a trace has none. */
export function asSymbol(extent: number | Index): HostSymbol | undefined {
  if (typeof extent === 'number') return { kind: 'number', value: extent, loc: userLoc() };
  return 'symbol' in extent.node ? extent.node.symbol : undefined;
}

/** A run-time extent, named: the size of an axis of the kernel's arrays, bound when the kernel is called. */
export function dim(name: string, facts: DimFacts = {}): Index {
  for (const [fact, n] of Object.entries(facts))
    if (!Number.isInteger(n) || n < (fact === 'min' ? 0 : 1))
      mistake((c) =>
        frontendCodes.badExtent({ message: `${fact} of dim '${name}' must be a positive integer, got ${n}` }, c),
      );
  return symbolTile({ kind: 'dim', name, facts, loc: userLoc() });
}

// ---- numbers ----------------------------------------------------------------------------------------------------

/** A JavaScript number as a constant of `dtype`. Floats round; integers must fit exactly. */
function constantValue(x: number, dtype: DType): ScalarConstant {
  const refuse = (why: string): never =>
    mistake((c) => frontendCodes.badNumber({ value: Object.is(x, -0) ? '-0' : String(x), dtype: dtype.name, why }, c));
  if (typeof x !== 'number') return refuse('it is not a number');
  if (isFloat(dtype)) {
    if (!isNarrowFloat(dtype)) return dtype.bits === 32 ? Math.fround(x) : x;
    const { encode, decode, largest } = codecOf(dtype);
    if (Number.isFinite(x) && Math.abs(x) > largest * 1.1) return refuse(`the largest number is ${largest}`);
    return decode[encode(x, dtype.bits <= 8)]!;
  }
  if (dtype === bool) return x === 0 || x === 1 ? x : refuse('it is neither 0 nor 1');
  if (!Number.isInteger(x))
    return refuse(
      Number.isNaN(x) ? 'integers have no NaN' : Number.isFinite(x) ? 'it has a fraction' : 'integers have no infinity',
    );
  if (Object.is(x, -0)) return refuse('integers have no negative zero');
  const [low, high] = intRange(dtype);
  if (BigInt(x) < low || BigInt(x) > high) return refuse(`the range is ${low} to ${high}`);
  return isWide(dtype) ? BigInt(x) : x;
}

function constant(x: number, dtype: DType, shape: readonly number[]): AnyTile {
  const trace = needTrace('a constant');
  return traced(
    trace.emit('constant', {}, { value: constantValue(x, dtype) }, { types: [tileType(dtype, shape)] })[0]!,
  );
}

/** A number as a tile of another's dtype. Outside of a trace only integers of the host exist. */
function lift(x: number | AnyTile, dtype: DType): AnyTile {
  if (typeof x !== 'number') return x;
  if (activeTrace()) return constant(x, dtype, []);
  return symbolTile({ kind: 'number', value: Number(constantValue(x, dtype)), loc: userLoc() });
}

// ---- elementwise ------------------------------------------------------------------------------------------------

function broadcastShape(op: string, a: readonly number[], b: readonly number[]): number[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const [m, n] = [a[i - rank + a.length] ?? 1, b[i - rank + b.length] ?? 1];
    if (m !== n && m !== 1 && n !== 1)
      mistake((c) => frontendCodes.noBroadcast({ op, left: a.join(', '), right: b.join(', ') }, c), {
        help: 'align the shapes with .expand(axis), .reshape(…) or .transpose()',
      });
    return Math.max(m, n);
  });
}

function broadcastTile(t: AnyTile, shape: readonly number[]): AnyTile {
  if (sameShape(t.type.shape, shape)) return t;
  return traced(
    needTrace("'broadcast'").emit('broadcast', { input: useTile(t) }, {}, { types: [tileType(t.dtype, shape)] })[0]!,
  );
}

function checkOperand(op: string, x: unknown): asserts x is number | AnyTile {
  if (typeof x === 'number' || x instanceof Tile) return;
  const what =
    ArrayBuffer.isView(x) || (typeof x === 'object' && x !== null && 'data' in x) ? 'a host array' : `a ${typeof x}`;
  if (what === 'a host array')
    mistake((c) => frontendCodes.capturedArray({ what }, c), {
      help: 'declare an input and pass the array when the kernel is called',
    });
  mistake((c) => frontendCodes.badOperand({ message: `'${op}' takes a tile or a number, got ${what}` }, c));
}

/** Elementwise op of two operands with one dtype; shapes broadcast. */
export function binary(op: OpName, a: AnyTile, other: number | AnyTile): never {
  checkOperand(op, other);
  const trace = activeTrace();
  if (!trace) return hostBinary(op, a, other) as never;
  if (typeof other !== 'number' && a.dtype !== other.dtype)
    mistake((c) => frontendCodes.mixedDtypes({ op, left: a.dtype.name, right: other.dtype.name }, c), {
      notes: [
        noteAt(`this operand is ${printType(a.type)}`, locOf(a)),
        noteAt(`this operand is ${printType(other.type)}`, locOf(other)),
      ],
      help: `convert one side: .to(${a.dtype.name}) or .to(${other.dtype.name})`,
    });
  const b = typeof other === 'number' ? constant(other, a.dtype, a.type.shape) : other;
  const shape = broadcastShape(op, a.type.shape, b.type.shape);
  const [left, right] = [broadcastTile(a, shape), broadcastTile(b, shape)];
  return traced(trace.emit(op, { left: useTile(left), right: useTile(right) } as never, {} as never)[0]!);
}

function hostBinary(op: string, a: AnyTile, other: number | AnyTile): Index {
  const operator = tryHostOperator(op === 'div' ? 'floor_div' : op === 'rem' ? 'mod' : op);
  const [left, right] = [a, lift(other, i32)].map((t) => ('symbol' in t.node ? t.node.symbol : undefined));
  if (!operator || !left || !right) return mistake((c) => frontendCodes.outsideKernel({ what: `'${op}'` }, c));
  return symbolTile({ kind: 'operation', op: operator, left, right, loc: userLoc() });
}

function unary(op: OpName, x: AnyTile): never {
  const trace = needTrace(`'${op}'`);
  return traced(trace.emit(op, { input: useTile(x) } as never, {} as never)[0]!);
}

/** At least one operand is a tile; the other may be a number. */
function pair(op: OpName, a: number | AnyTile, b: number | AnyTile): never {
  if (typeof a !== 'number') return binary(op, a, b);
  if (typeof b !== 'number') return binary(op, lift(a, b.dtype), b);
  return mistake((c) => frontendCodes.badOperand({ message: `'${op}' needs a tile on one side` }, c));
}

/** Larger of two, element by element; NaN wins. */
export function maximum(a: number, b: number): number;
export function maximum<D extends DType, A extends Rank, B extends Rank = 0>(
  a: Tile<D, A>,
  b: Other<D, B>,
): Tile<D, Max<A, B>>;
export function maximum(a: number | AnyTile, b: number | AnyTile): unknown {
  return typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : pair('max', a, b);
}

/** Smaller of two, element by element; NaN wins. */
export function minimum(a: number, b: number): number;
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
  if (typeof a !== 'number' || typeof b !== 'number')
    return typeof a === 'number' && !activeTrace() ? binary('cdiv', lift(a, i32), b) : pair('cdiv', a, b);
  if (b === 0) mistake((c) => frontendCodes.badNumber({ value: '0', dtype: 'i32', why: 'cdiv by zero' }, c));
  return Math.ceil(a / b);
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
  const { dtype } = typeof a === 'number' ? (b as AnyTile) : a;
  const [x, y] = [lift(a, dtype), lift(b, dtype)];
  if (x.dtype !== y.dtype)
    mistake((c) => frontendCodes.mixedDtypes({ op: 'select', left: x.dtype.name, right: y.dtype.name }, c), {
      help: `convert one side: .to(${x.dtype.name})`,
    });
  const shape = broadcastShape('select', broadcastShape('select', condition.type.shape, x.type.shape), y.type.shape);
  const operands = {
    condition: useTile(broadcastTile(condition, shape)),
    on_true: useTile(broadcastTile(x, shape)),
    on_false: useTile(broadcastTile(y, shape)),
  };
  return traced(trace.emit('select', operands, {})[0]!);
}

// ---- shapes -----------------------------------------------------------------------------------------------------

/** @internal */
export function checkShape(shape: readonly unknown[]): readonly number[] {
  for (const n of shape)
    if (!Number.isInteger(n) || (n as number) < 1)
      mistake((c) =>
        frontendCodes.badExtent(
          {
            message: `a tile extent must be an integer from 1 up, got ${n instanceof Tile ? 'a traced value' : String(n)}`,
          },
          c,
        ),
      );
  if (shape.length > 6)
    mistake((c) => frontendCodes.badExtent({ message: `a tile has at most 6 axes, got ${shape.length}` }, c));
  return shape as readonly number[];
}

function reshaped(t: AnyTile, shape: readonly number[]): never {
  const types = [tileType(t.dtype, checkShape(shape))];
  return traced(needTrace("'reshape'").emit('reshape', { input: useTile(t) }, {}, { types })[0]!);
}

function checkAxis(axis: number, rank: number, t: AnyTile): number {
  if (!Number.isInteger(axis) || axis < 0 || axis >= rank)
    mistake((c) => frontendCodes.badIndex({ message: `axis ${axis} is not one of ${printType(t.type)}` }, c));
  return axis;
}

function reduce(kind: ReduceKind, t: AnyTile, axis: number, options?: { readonly keepDims: true }): never {
  const trace = needTrace(`'${kind}'`);
  checkAxis(axis, t.type.shape.length, t);
  const result: AnyTile = traced(trace.emit('reduce', { input: useTile(t) }, { kind, axis })[0]!);
  if (!options?.keepDims) return result as never;
  return reshaped(
    result,
    t.type.shape.map((n, i) => (i === axis ? 1 : n)),
  );
}

/** A tile of one value. */
export function full<D extends DType, const S extends readonly number[]>(
  dtype: D,
  shape: S,
  value: number,
): Tile<D, RankOf<S>> {
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
  return traced(needTrace("'iota'").emit('iota', {}, { axis }, { types: [tileType(i32, checkShape(shape))] })[0]!);
}

/** dtype in which products of `D` are summed. */
type Accumulated<D extends DType> = D['name'] extends 'f64'
  ? D
  : D extends DType<string, 'float'>
    ? DType<'f32', 'float'> & { readonly name: 'f32' }
    : DType<'i32', 'int'>;

export interface DotOptions {
  /** How f32 products are formed: exactly (`ieee`, the default) or from narrower parts on tensor cores. */
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
  if ((a.dtype as DType) !== b.dtype)
    mistake((c) => frontendCodes.mixedDtypes({ op: 'dot', left: a.dtype.name, right: (b as AnyTile).dtype.name }, c), {
      help: 'convert one side with .to(dtype)',
    });
  const operands = { a: useTile(a), b: useTile(b as AnyTile), acc: options.acc && useTile(options.acc) };
  return traced(trace.emit('dot', operands, { precision: options.precision ?? 'ieee' })[0]!);
}
