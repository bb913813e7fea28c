/** `Tile`: an immutable value of a kernel. Every method traces one op at the caller's line. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { DiagnosticContext } from '../diagnostics/diagnostic.js';
import { type Loc, unknownLoc } from '../diagnostics/location.js';
import { type Bool, bool, type DType, f32, f64, type I32, i32, isFloat } from '../ir/dtypes.js';
import type { ScanKind } from '../ir/ops/combine.js';
import { type ReduceKind, reducedDType } from '../ir/ops/contraction.js';
import type { OpName } from '../ir/ops/index.js';
import { maxRank, printType, sameShape, type TileType, tileType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import { checkFlag, checkOptions, describe, Handle, isDType, refuse } from './handle.js';
import { constantValue } from './number.js';
import type { Axis, Dims, Max, Pred, Rank, RankOf, Succ } from './rank.js';
import { userLoc } from './site.js';
import { type HostSymbol, neverNegative, tryHostOperator } from './symbol.js';
import { activeTrace, needTrace, type TracedValue } from './trace.js';

/** Extents and indices are i32. */
export const maxExtent = 2 ** 31 - 1;

/** What a tile stands for: a value of a trace, or a symbol of the host. */
type Node = { readonly traced: TracedValue } | { readonly symbol: HostSymbol };

export type Scalar<D extends DType> = Tile<D, 0>;
/** An i32 scalar: a dim, a grid axis, a loop counter, or arithmetic on them. */
export type Index = Scalar<I32>;

/** Another operand: a tile of the same dtype, or a JavaScript number that takes this one's. */
export type Other<D extends DType, Q extends Rank> = number | Tile<D, Q>;

/** dtype of a sum: integers and bool widen to at least i32. */
type Summed<D extends DType> = D extends DType<string, 'float'> | DType<'i64' | 'u64' | 'u32'> ? D : I32;

export interface ReduceOptions {
  /** Whether the reduced axis stays, with extent 1. */
  readonly keepDims?: true;
}
export interface SumOptions extends ReduceOptions {
  /** What is summed in and given, in place of the dtype that the input's asks for. */
  readonly dtype?: DType;
}
export interface ScanOptions {
  /** From the last element to the first. */
  readonly reverse?: boolean;
}
export interface CumulativeOptions extends ScanOptions {
  readonly dtype?: DType;
}

type SummedTo<D extends DType, O> = O extends { readonly dtype: infer E extends DType } ? E : Summed<D>;
/** Rank of what a reduction gives. */
type Kept<R extends Rank, O> = O extends { readonly keepDims: true } ? R : Pred<R>;

/** Any tile, whatever TypeScript knows of it. */
export interface AnyTile extends Handle {
  /** @internal */
  readonly node: Node;
  /** @internal */
  readonly type: TileType;
  readonly dtype: DType;
}

/** An immutable value in registers: elements of dtype `D` in a shape of rank `R`. Rank 0 is a scalar. */
export class Tile<D extends DType = DType, R extends Rank = Rank> extends Handle {
  declare protected readonly invariantDType: (d: D) => D;
  declare protected readonly rank: R;
  /** Types only: makes `if (a.lt(b))`, `a && b` and `a ? x : y` an error in TypeScript (TS2801), for they are always true. */
  declare readonly then: (onfulfilled: (value: never) => never) => never;

  /** @internal */
  constructor(readonly node: Node) {
    super();
  }

  /** @internal */
  override get label(): string {
    return printType(this.type);
  }
  /** @internal */
  override get birth(): Loc {
    return 'traced' in this.node ? this.node.traced.loc : this.node.symbol.loc;
  }

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
  add(other: Other<D, R>): Tile<D, R>;
  add<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  add(other: Other<D, Rank>): never {
    return binary('add', this, other);
  }
  /** Difference. */
  sub(other: Other<D, R>): Tile<D, R>;
  sub<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  sub(other: Other<D, Rank>): never {
    return binary('sub', this, other);
  }
  /** Product. */
  mul(other: Other<D, R>): Tile<D, R>;
  mul<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  mul(other: Other<D, Rank>): never {
    return binary('mul', this, other);
  }
  /** Quotient; of integers toward zero. */
  div(other: Other<D, R>): Tile<D, R>;
  div<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  div(other: Other<D, Rank>): never {
    return binary('div', this, other);
  }
  /** Remainder of integers with the dividend's sign. */
  rem(other: Other<D, R>): Tile<D, R>;
  rem<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  rem(other: Other<D, Rank>): never {
    return binary('rem', this, other);
  }
  /** Quotient of integers, rounded down. */
  floorDiv(other: Other<D, R>): Tile<D, R>;
  floorDiv<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  floorDiv(other: Other<D, Rank>): never {
    return binary('floor_div', this, other);
  }
  /** Remainder of integers with the divisor's sign. */
  mod(other: Other<D, R>): Tile<D, R>;
  mod<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  mod(other: Other<D, Rank>): never {
    return binary('mod', this, other);
  }
  /** Bitwise and; of bool, logical. */
  and(other: Other<D, R>): Tile<D, R>;
  and<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  and(other: Other<D, Rank>): never {
    return binary('and', this, other);
  }
  /** Bitwise or; of bool, logical. */
  or(other: Other<D, R>): Tile<D, R>;
  or<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  or(other: Other<D, Rank>): never {
    return binary('or', this, other);
  }
  /** Bitwise exclusive or. */
  xor(other: Other<D, R>): Tile<D, R>;
  xor<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  xor(other: Other<D, Rank>): never {
    return binary('xor', this, other);
  }
  /** Left shift; the amount is read as unsigned, the width or more gives 0. */
  shl(other: Other<D, R>): Tile<D, R>;
  shl<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  shl(other: Other<D, Rank>): never {
    return binary('shl', this, other);
  }
  /** Right shift; of signed integers it copies the sign. */
  shr(other: Other<D, R>): Tile<D, R>;
  shr<Q extends Rank>(other: Other<D, Q>): Tile<D, Max<R, Q>>;
  shr(other: Other<D, Rank>): never {
    return binary('shr', this, other);
  }

  /** Element by element: equal (NaN equals nothing). */
  eq(other: Other<D, R>): Tile<Bool, R>;
  eq<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  eq(other: Other<D, Rank>): never {
    return binary('eq', this, other);
  }
  ne(other: Other<D, R>): Tile<Bool, R>;
  ne<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  ne(other: Other<D, Rank>): never {
    return binary('ne', this, other);
  }
  lt(other: Other<D, R>): Tile<Bool, R>;
  lt<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  lt(other: Other<D, Rank>): never {
    return binary('lt', this, other);
  }
  le(other: Other<D, R>): Tile<Bool, R>;
  le<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  le(other: Other<D, Rank>): never {
    return binary('le', this, other);
  }
  gt(other: Other<D, R>): Tile<Bool, R>;
  gt<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  gt(other: Other<D, Rank>): never {
    return binary('gt', this, other);
  }
  ge(other: Other<D, R>): Tile<Bool, R>;
  ge<Q extends Rank>(other: Other<D, Q>): Tile<Bool, Max<R, Q>>;
  ge(other: Other<D, Rank>): never {
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
  /** e to this power, less 1; accurate near 0. */
  expm1(): Tile<D, R> {
    return unary('expm1', this);
  }
  log10(): Tile<D, R> {
    return unary('log10', this);
  }
  /** Natural logarithm of 1 + this; accurate near 0. */
  log1p(): Tile<D, R> {
    return unary('log1p', this);
  }
  /** Cube root. */
  cbrt(): Tile<D, R> {
    return unary('cbrt', this);
  }
  /** Sine of an angle in radians, of any size. */
  sin(): Tile<D, R> {
    return unary('sin', this);
  }
  cos(): Tile<D, R> {
    return unary('cos', this);
  }
  tan(): Tile<D, R> {
    return unary('tan', this);
  }
  /** Arc sine; NaN outside of [-1, 1]. */
  asin(): Tile<D, R> {
    return unary('asin', this);
  }
  acos(): Tile<D, R> {
    return unary('acos', this);
  }
  atan(): Tile<D, R> {
    return unary('atan', this);
  }
  sinh(): Tile<D, R> {
    return unary('sinh', this);
  }
  cosh(): Tile<D, R> {
    return unary('cosh', this);
  }
  asinh(): Tile<D, R> {
    return unary('asinh', this);
  }
  acosh(): Tile<D, R> {
    return unary('acosh', this);
  }
  atanh(): Tile<D, R> {
    return unary('atanh', this);
  }
  /** Error function. */
  erf(): Tile<D, R> {
    return unary('erf', this);
  }
  /** 1 - erf, accurate where erf is near 1. */
  erfc(): Tile<D, R> {
    return unary('erfc', this);
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
    checkDType("'to' takes a dtype", dtype);
    checkOptions('to', ['saturate'], options);
    if (this.dtype === (dtype as DType)) return this as never;
    const types = [tileType(dtype, this.type.shape)];
    const trace = needTrace("'to'");
    return traced(trace.emit('cast', { input: useTile(this) }, { saturate: options.saturate }, { types })[0]!);
  }

  /**
   * Sum along an axis, which goes (or stays with extent 1: `keepDims`). Integers and bool give i32 at least; f16, bf16 and
   * fp8 are summed in f32 and rounded once. `dtype` is what is summed in and given instead.
   */
  sum<const O extends SumOptions = {}>(axis: Axis<R>, options?: O): Tile<SummedTo<D, O>, Kept<R, O>> {
    return sumLike('sum', this, axis, options);
  }
  /** Product along an axis; dtypes as for `sum`. */
  prod<const O extends SumOptions = {}>(axis: Axis<R>, options?: O): Tile<SummedTo<D, O>, Kept<R, O>> {
    return sumLike('prod', this, axis, options);
  }
  /** Largest along an axis; NaN wins. */
  max<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<D, Kept<R, O>> {
    return reduce('max', this, axis, options);
  }
  /** Smallest along an axis; NaN wins. */
  min<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<D, Kept<R, O>> {
    return reduce('min', this, axis, options);
  }
  /** Largest along an axis, NaN left out; -Infinity where there is nothing else. */
  maxNum<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<D, Kept<R, O>> {
    return reduce('max_num', this, axis, options);
  }
  /** Smallest along an axis, NaN left out; Infinity where there is nothing else. */
  minNum<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<D, Kept<R, O>> {
    return reduce('min_num', this, axis, options);
  }
  /** Position of the largest along an axis: the first among equals, the first NaN. */
  argmax<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<I32, Kept<R, O>> {
    return reduce('argmax', this, axis, options);
  }
  /** Position of the smallest along an axis: the first among equals, the first NaN. */
  argmin<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<I32, Kept<R, O>> {
    return reduce('argmin', this, axis, options);
  }
  /** Whether any element of a bool tile along an axis is true. */
  any<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<Bool, Kept<R, O>> {
    return reduce('any', this, axis, options);
  }
  /** Whether all elements of a bool tile along an axis are true. */
  all<const O extends ReduceOptions = {}>(axis: Axis<R>, options?: O): Tile<Bool, Kept<R, O>> {
    return reduce('all', this, axis, options);
  }

  /** Running sum along an axis, the element itself included; dtypes and accumulation as for `sum`. */
  cumsum<const O extends CumulativeOptions = {}>(axis: Axis<R>, options?: O): Tile<SummedTo<D, O>, R> {
    return cumulative('sum', this, axis, options);
  }
  /** Running product along an axis. */
  cumprod<const O extends CumulativeOptions = {}>(axis: Axis<R>, options?: O): Tile<SummedTo<D, O>, R> {
    return cumulative('prod', this, axis, options);
  }
  /** Running maximum along an axis; from a NaN on it is NaN. */
  cummax(axis: Axis<R>, options?: ScanOptions): Tile<D, R> {
    return cumulative('max', this, axis, options);
  }
  /** Running minimum along an axis; from a NaN on it is NaN. */
  cummin(axis: Axis<R>, options?: ScanOptions): Tile<D, R> {
    return cumulative('min', this, axis, options);
  }

  /** Inserts an axis of extent 1. */
  expand(axis: Axis<Succ<R>>): Tile<D, Succ<R>> {
    const shape: number[] = [...this.type.shape];
    shape.splice(checkAxis(axis, shape.length + 1, `the axes that ${this.label} can get`), 0, 1);
    return reshaped(this, shape);
  }
  /** The same elements, in row-major order, in another shape. */
  reshape<const S extends readonly number[]>(shape: S): Tile<D, RankOf<S>> {
    return reshaped(this, shape);
  }
  /** Repeats the tile along new axes and along axes of extent 1. */
  broadcastTo<const S extends readonly number[]>(shape: S): Tile<D, RankOf<S>> {
    return broadcastTile(this, checkShape(shape)) as never;
  }
  /** Axes in another order; without one, reversed. Axis `i` of the result is axis `permutation[i]`. */
  transpose(permutation?: readonly number[]): Tile<D, R> {
    const order = permutation ?? this.type.shape.map((_, axis) => axis).reverse();
    if (!Array.isArray(order)) refuse("'transpose' takes a list of axes", order);
    for (const axis of order) checkAxis(axis, this.type.shape.length, this.label);
    return traced(needTrace("'transpose'").emit('transpose', { input: useTile(this) }, { permutation: order })[0]!);
  }
  /** Makes a tile that reaches past its array full: elements beyond the edge become `fill`. */
  pad(fill: number): Tile<D, R> {
    const trace = needTrace("'pad'");
    const operand = useTile(constant(fill, this.dtype, []));
    return traced(trace.emit('pad', { input: useTile(this), fill: operand }, {})[0]!);
  }
}

/** @internal */
export const traced = (v: TracedValue): never => new Tile({ traced: v }) as never;
/** @internal */
export const symbolTile = (symbol: HostSymbol): Index => new Tile({ symbol });

/** The IR value of a tile where the active trace stands. */
export function useTile(t: AnyTile): never {
  const trace = needTrace('a traced value');
  return trace.use('traced' in t.node ? t.node.traced : trace.symbol(t.node.symbol)) as never;
}

/** The symbol of a number or a host scalar; a value of a trace has none. @param loc where a number stands. */
export function asSymbol(extent: number | Index, loc: Loc = unknownLoc): HostSymbol | undefined {
  if (typeof extent === 'number') return { kind: 'number', value: extent, loc };
  return 'symbol' in extent.node ? extent.node.symbol : undefined;
}

// ---- operands ---------------------------------------------------------------------------------------------------

const helpFor = (x: unknown): DiagnosticContext => (x instanceof Handle ? { help: 'read a ref first: .load()' } : {});

/** @throws CompileError where `x` is no tile. @param takes what messages begin with: `'dot' takes two tiles`. */
export function asTile(takes: string, x: unknown): AnyTile {
  return x instanceof Tile ? x : refuse(takes, x, helpFor(x));
}

export function asOperand(takes: string, x: unknown): number | AnyTile {
  return typeof x === 'number' || x instanceof Tile ? x : refuse(takes, x, helpFor(x));
}

/** A JavaScript number as a tile. */
export function constant(x: number, dtype: DType, shape: readonly number[]): AnyTile {
  const trace = needTrace('a constant');
  return traced(
    trace.emit('constant', {}, { value: constantValue(x, dtype) }, { types: [tileType(dtype, shape)] })[0]!,
  );
}

/** A number as a scalar of another operand's dtype. Outside of a trace only integers of the host exist. */
export function lift(x: number | AnyTile, dtype: DType): AnyTile {
  if (typeof x !== 'number') return x;
  if (activeTrace()) return constant(x, dtype, []);
  return symbolTile({ kind: 'number', value: Number(constantValue(x, dtype)), loc: userLoc() });
}

export function checkDTypes(op: string, a: AnyTile, b: AnyTile): void {
  if (a.dtype === b.dtype) return;
  mistake((c) => frontendCodes.mixedDtypes({ op, left: a.dtype.name, right: b.dtype.name }, c), {
    notes: [a, b].map((t) => noteAt(`this operand is ${t.label}`, t.birth)),
    help: `convert one side: .to(${a.dtype.name}) or .to(${b.dtype.name})`,
  });
}

export function checkDType(takes: string, x: unknown, context: DiagnosticContext = {}): asserts x is DType {
  if (!isDType(x)) refuse(takes, x, context);
}

/** @throws CompileError where `shape` is no list of integers from 1 up, or has more than 6 axes. */
export function checkShape(shape: unknown): readonly number[] {
  const bad = (message: string, help?: string): never =>
    mistake((c) => frontendCodes.badExtent({ message }, c), help === undefined ? {} : { help });
  if (!Array.isArray(shape)) return bad(`a shape is a list of extents, got ${describe(shape)}`);
  for (const n of shape)
    if (!Number.isInteger(n) || n < 1 || n > maxExtent) {
      const help = n instanceof Handle ? 'a tile needs a static extent: a JavaScript number, not a dim' : undefined;
      bad(`a tile extent must be an integer from 1 up, got ${describe(n)}`, help);
    }
  if (shape.length > maxRank) bad(`a tile has at most ${maxRank} axes, got ${shape.length}`);
  return shape as readonly number[];
}

// ---- elementwise ------------------------------------------------------------------------------------------------

export function broadcastShape(op: string, a: readonly number[], b: readonly number[]): number[] {
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

export function broadcastTile(t: AnyTile, shape: readonly number[]): AnyTile {
  if (sameShape(t.type.shape, shape)) return t;
  return traced(
    needTrace("'broadcast'").emit('broadcast', { input: useTile(t) }, {}, { types: [tileType(t.dtype, shape)] })[0]!,
  );
}

/** Elementwise op of two operands with one dtype; shapes broadcast. */
export function binary(op: OpName, a: AnyTile, other: number | AnyTile): never {
  asOperand(`'${op}' takes a tile or a number`, other);
  const trace = activeTrace();
  if (!trace) return hostBinary(op, a, other) as never;
  if (typeof other !== 'number') checkDTypes(op, a, other);
  const b = typeof other === 'number' ? constant(other, a.dtype, a.type.shape) : other;
  const shape = broadcastShape(op, a.type.shape, b.type.shape);
  const [left, right] = [broadcastTile(a, shape), broadcastTile(b, shape)];
  return traced(trace.emit(op, { left: useTile(left), right: useTile(right) } as never, {} as never)[0]!);
}

/** Integer arithmetic outside of a body, on what the host knows. */
function hostBinary(op: string, a: AnyTile, other: number | AnyTile): Index {
  const [left, right] = [a, lift(other, i32)].map((t) => ('symbol' in t.node ? t.node.symbol : undefined));
  if (!left || !right) return mistake((c) => frontendCodes.outsideKernel({ what: `'${op}'` }, c));
  const roundsDown = { div: 'floor_div', rem: 'mod' }[op];
  if (roundsDown !== undefined && !(neverNegative(left) && neverNegative(right)))
    mistake((c) => frontendCodes.outsideKernel({ what: `'${op}' of what may be negative` }, c), {
      help: op === 'div' ? 'use .floorDiv(…), which rounds down' : 'use .mod(…), which has the sign of the divisor',
    });
  const operator = tryHostOperator(roundsDown ?? op);
  if (!operator) return mistake((c) => frontendCodes.outsideKernel({ what: `'${op}'` }, c));
  return symbolTile({ kind: 'operation', op: operator, left, right, loc: userLoc() });
}

export function unary(op: OpName, x: AnyTile): never {
  const trace = needTrace(`'${op}'`);
  return traced(trace.emit(op, { input: useTile(x) } as never, {} as never)[0]!);
}

// ---- shapes -----------------------------------------------------------------------------------------------------

function reshaped(t: AnyTile, shape: readonly number[]): never {
  const types = [tileType(t.dtype, checkShape(shape))];
  return traced(needTrace("'reshape'").emit('reshape', { input: useTile(t) }, {}, { types })[0]!);
}

/** @throws CompileError where `axis` is none of the first `rank` axes of what messages call `of`. */
export function checkAxis(axis: unknown, rank: number, of: string): number {
  if (typeof axis !== 'number' || !Number.isInteger(axis) || axis < 0 || axis >= rank)
    mistake((c) => frontendCodes.badIndex({ message: `axis ${describe(axis)} is not one of ${of}` }, c));
  return axis as number;
}

function reduce(kind: ReduceKind, t: AnyTile, axis: number, options: ReduceOptions = {}): never {
  const trace = needTrace(`'${kind}'`);
  checkAxis(axis, t.type.shape.length, t.label);
  checkOptions(kind, ['keepDims'], options);
  checkFlag('keepDims', options.keepDims);
  const result: AnyTile = traced(trace.emit('reduce', { input: useTile(t) }, { kind, axis })[0]!);
  if (!options.keepDims) return result as never;
  return reshaped(
    result,
    t.type.shape.map((n, i) => (i === axis ? 1 : n)),
  );
}

/** A sum or product in a dtype of the user's: one that is wider is taken on before, one that is narrower after. */
function sumLike(kind: 'sum' | 'prod', t: AnyTile, axis: number, options: SumOptions = {}): never {
  needTrace(`'${kind}'`);
  checkOptions(kind, ['keepDims', 'dtype'], options);
  const { dtype, ...rest } = options;
  return inDType(kind, t, dtype, (x) => reduce(kind, x, axis, rest));
}

function inDType(kind: 'sum' | 'prod', t: AnyTile, dtype: DType | undefined, apply: (x: AnyTile) => AnyTile): never {
  if (dtype === undefined) return apply(t) as never;
  checkDType(`the dtype of '${kind}' is a dtype`, dtype);
  const result = apply((t as Tile).to(summedIn(t.dtype, reducedDType(kind, t.dtype), dtype)) as unknown as Tile);
  return (result as Tile).to(dtype) as never;
}

/** Wide enough for both the input and the result: a narrow float is rounded to once, at the end. */
function summedIn(input: DType, usual: DType, wanted: DType): DType {
  if (wanted === usual) return input;
  if (!isFloat(wanted)) return isFloat(usual) || wanted.bits > usual.bits ? wanted : input;
  return wanted === f64 || input === f64 ? f64 : f32;
}

function cumulative(kind: ScanKind, t: AnyTile, axis: number, options: CumulativeOptions = {}): never {
  const what = `cum${kind}`;
  const trace = needTrace(`'${what}'`);
  checkAxis(axis, t.type.shape.length, t.label);
  const sums = kind === 'sum' || kind === 'prod';
  checkOptions(what, sums ? ['reverse', 'dtype'] : ['reverse'], options);
  checkFlag('reverse', options.reverse);
  const attrs = { kind, axis, ...(options.reverse ? { reverse: true } : {}) };
  const numbers = t.dtype === bool && sums ? ((t as Tile).to(i32) as unknown as Tile) : t;
  const apply = (x: AnyTile): AnyTile => traced(trace.emit('scan', { input: useTile(x) }, attrs)[0]!);
  return sums ? inDType(kind, numbers, options.dtype, apply) : (apply(numbers) as never);
}
