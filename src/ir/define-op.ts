/** How one op of the table is defined. Builder, printer, parser, verifier, interpreter, folder and docs all read this. */

import type { AttrSpecs, AttrsOf } from './attributes.js';
import { bool, type DType, isFloat, isInt, u32 } from './dtypes.js';
import type { TileValue } from './tile-value.js';
import {
  type BarrierType,
  indexType,
  type MemorySpace,
  type RefType,
  sameType,
  type TileType,
  type Type,
} from './types.js';
import type { Region, Value } from './value.js';

// ---- operands ---------------------------------------------------------------------------------------------------

export interface TypeConstraint<T extends Type = Type> {
  readonly expects: string;
  readonly accepts: (type: Type) => type is T;
}

export type Arity = 'one' | 'optional' | 'variadic';

export interface OperandSpec<T extends Type = Type, Q extends Arity = Arity> {
  readonly arity: Q;
  readonly constraint: TypeConstraint<T>;
}

export type OperandSpecs = Readonly<Record<string, OperandSpec>>;

type OperandOf<S> =
  S extends OperandSpec<infer T, infer Q>
    ? Q extends 'one'
      ? Value<T>
      : Q extends 'optional'
        ? Value<T> | undefined
        : readonly Value<T>[]
    : never;
type OptionalOperands<O> = { [K in keyof O]: O[K] extends OperandSpec<Type, 'one'> ? never : K }[keyof O];

/** Operands by group name. Optional and variadic groups may be left out when an op is built. */
export type OperandsOf<O> = { readonly [K in Exclude<keyof O, OptionalOperands<O>>]: OperandOf<O[K]> } & {
  readonly [K in OptionalOperands<O>]?: OperandOf<O[K]>;
};

const constraint = <T extends Type>(expects: string, accepts: (type: Type) => boolean): TypeConstraint<T> => ({
  expects,
  accepts: accepts as (type: Type) => type is T,
});

const tileOf = (expects: string, accepts: (dtype: DType) => boolean): TypeConstraint<TileType> =>
  constraint(expects, (t) => t.kind === 'tile' && accepts(t.dtype));

export const types = {
  any: constraint<Type>('any value', () => true),
  tile: tileOf('a tile', () => true),
  numeric: tileOf('a tile of numbers', (d) => d !== bool),
  float: tileOf('a tile of floats', isFloat),
  int: tileOf('a tile of integers', isInt),
  u32: tileOf('a tile of u32', (d) => d === u32),
  bits: tileOf('a tile of integers or bool', (d) => !isFloat(d)),
  bool: tileOf('a tile of bool', (d) => d === bool),
  scalar: constraint<TileType>('a scalar', (t) => t.kind === 'tile' && t.shape.length === 0),
  condition: constraint<TileType>(
    'a bool scalar',
    (t) => t.kind === 'tile' && t.shape.length === 0 && t.dtype === bool,
  ),
  index: constraint<TileType>('an i32 scalar', (t) => sameType(t, indexType)),
  barrier: constraint<BarrierType>('a barrier', (t) => t.kind === 'barrier'),
  ref: (...spaces: readonly MemorySpace[]): TypeConstraint<RefType> =>
    constraint(`a ref in ${spaces.join(' or ')}`, (t) => t.kind === 'ref' && spaces.includes(t.space)),
} as const;

export const one = <T extends Type>(c: TypeConstraint<T>): OperandSpec<T, 'one'> => ({ arity: 'one', constraint: c });
export const optional = <T extends Type>(c: TypeConstraint<T>): OperandSpec<T, 'optional'> => ({
  arity: 'optional',
  constraint: c,
});
export const variadic = <T extends Type>(c: TypeConstraint<T>): OperandSpec<T, 'variadic'> => ({
  arity: 'variadic',
  constraint: c,
});

// ---- what a definition says -------------------------------------------------------------------------------------

export type Report = (message: string) => void;

/** The parts of an op that definitions of its kind may look at. */
export interface OpView<O, A> {
  readonly operands: OperandsOf<O>;
  readonly attrs: AttrsOf<A>;
  readonly results: readonly Value[];
  readonly regions: readonly Region[];
}

/**
 * Result types: `infer` derives them from operands and attributes (undefined after a report);
 * a number says how many the text states; 'any' leaves even that to the text.
 */
export type ResultRule<O, A> =
  | { readonly infer: (operands: OperandsOf<O>, attrs: AttrsOf<A>, report: Report) => readonly Type[] | undefined }
  | { readonly stated: number | 'any' };

/** What an op does besides giving results; `external`: it prints, or may end the run. An op without effects may be folded, merged, moved and dropped. */
export type Effect = 'reads' | 'writes' | 'atomic' | 'control' | 'external';

/** The valid extent of each axis of a tile; undefined where the whole axis is valid. */
export type ValidExtents<E> = readonly (E | undefined)[];

/**
 * How valid extents pass an op. It serves the static analysis (E = the Value that holds the extent; `meet` demands one
 * origin) and the interpreter (E = number; `meet` is the minimum) alike.
 */
export interface RaggedContext<E> {
  readonly extentsOf: (value: Value) => ValidExtents<E>;
  /** The extent that an index operand of the op itself states. */
  readonly stated: (index: Value) => E;
  readonly meet: (a: E | undefined, b: E | undefined) => E | undefined;
  readonly refuse: Report;
}
export type RaggedRule<O, A> = <E>(op: OpView<O, A>, context: RaggedContext<E>) => readonly ValidExtents<E>[];

export interface OpDefinition<N extends string = string, O extends OperandSpecs = OperandSpecs, A = AttrSpecs> {
  readonly name: N;
  /** One line, first word a verb; goes into docs and editor hovers. */
  readonly summary: string;
  /** Rounding, NaN, edge cases: what `semantics.md` fixes for this op. Markdown. */
  readonly semantics?: string;
  readonly operands: O;
  readonly attrs: A;
  /** Names of its regions; empty for most. */
  readonly regions: readonly string[];
  readonly results: ResultRule<O, A>;
  readonly verify?: (op: OpView<O, A>, report: Report) => void;
  readonly effects: readonly Effect[];
  /** Elementwise ops take tiles of one shape and may be fused into one loop over it. */
  readonly elementwise: boolean;
  readonly commutative: boolean;
  /** Ends a region. */
  readonly terminator: boolean;
  /** Its one region combines scalars, two of each input: it holds elementwise ops only. */
  readonly combines: boolean;
  readonly ragged: RaggedRule<NoInfer<O>, NoInfer<A>>;
  /** Whether the op may remain in `lowered.kir`, which is what back ends take. */
  readonly lowered: boolean;
  /** Reference meaning of an effect-free op: the interpreter and the constant folder both call it. */
  readonly evaluate?: (
    inputs: readonly TileValue[],
    attrs: AttrsOf<A>,
    resultTypes: readonly TileType[],
  ) => readonly TileValue[];
}

type Defaults =
  | 'attrs'
  | 'operands'
  | 'regions'
  | 'effects'
  | 'elementwise'
  | 'commutative'
  | 'terminator'
  | 'combines'
  | 'ragged'
  | 'lowered';

/** No result is ragged, whatever the operands are. */
export const notRagged: RaggedRule<unknown, unknown> = (op) =>
  op.results.map((r) => (r.type.kind === 'tile' ? r.type.shape.map(() => undefined) : []));

/** Defines one op. Left-out parts default to: no operands, attributes, regions or effects; results never ragged; legal everywhere. */
export function defineOp<const N extends string, O extends OperandSpecs = {}, A = {}>(
  definition: Omit<OpDefinition<N, O, A>, Defaults> & Partial<Pick<OpDefinition<N, O, A>, Defaults>>,
): OpDefinition<N, O, A> {
  return {
    operands: {} as O,
    attrs: {} as A,
    regions: [],
    effects: [],
    elementwise: false,
    commutative: false,
    terminator: false,
    combines: false,
    ragged: notRagged as RaggedRule<O, A>,
    lowered: true,
    ...definition,
  };
}
