/** Programs: what a kernel launches. `blockProgram` sees blocks; `sequence` runs several, one after the other. */

import type { Loc } from '../diagnostics/location.js';
import type { FastMathFlag } from '../ir/ops/elementwise.js';
import type { CompilerParams } from './compiler-params.js';
import type { Rank } from './rank.js';
import type { Extent, Ref } from './ref.js';
import { userLoc } from './site.js';
import type { ArraySpec, Grid, ScalarSpec } from './spec.js';
import type { Scalar } from './tile.js';

// biome-ignore lint/suspicious/noExplicitAny: specs are invariant in their dtype; any is the only type that all of them meet.
type AnyArray = ArraySpec<any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyScalar = ScalarSpec<any>;

export type Inputs = Readonly<Record<string, AnyArray | AnyScalar>>;
export type Outputs = Readonly<Record<string, AnyArray>>;

/** What the body gets for a declaration. A union of dtypes gives a union of refs. */
export type Handle<T> =
  T extends ArraySpec<infer D, infer R extends Rank> ? Ref<D, R> : T extends ScalarSpec<infer D> ? Scalar<D> : never;
export type Handles<I, O> = { readonly [K in keyof I]: Handle<I[K]> } & { readonly [K in keyof O]: Handle<O[K]> };

/** What one call costs, for rates in reports. */
export interface CostEstimateSpec {
  readonly flops?: Extent;
  readonly bytesAccessed?: Extent;
  readonly transcendentals?: Extent;
}

/** What float arithmetic may give up for speed; everything is kept by default. */
export type FastMath = { readonly [F in FastMathFlag]?: boolean };

export interface BlockProgramSpec<I, O> {
  readonly grid: Grid;
  readonly inputs: I;
  readonly outputs: O;
  /** Outputs that take over the memory of an input, read and written in place. */
  readonly aliases?: { readonly [K in keyof O]?: keyof I };
  /** Outputs that start as zeros. */
  readonly zeroed?: readonly (keyof O)[];
  readonly fastMath?: FastMath;
  /** Options of back ends, at most one set for each. */
  readonly compilerParams?: CompilerParams | readonly CompilerParams[];
  readonly costEstimate?: CostEstimateSpec;
  /** Free text that the launch plan carries. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Prints the kernel IR and the grid on standard error when the kernel is traced. */
  readonly debug?: boolean;
}

/** One launch: a grid of programs over declared arrays. */
export class Program<I, O> {
  declare private readonly types: [I, O];

  /** @internal */
  constructor(
    readonly spec: BlockProgramSpec<Inputs, Outputs>,
    readonly body: (handles: never) => void,
    readonly loc: Loc,
  ) {}
}

/**
 * A grid of programs that see blocks of arrays. A block that reaches past its array is valid up to the edge: no mask is
 * needed.
 */
export function blockProgram<I extends Inputs, O extends Outputs>(
  spec: BlockProgramSpec<I, O>,
  body: (refs: Handles<I, O>) => void,
): Program<I, O> {
  return new Program(spec as never, body as never, userLoc());
}

/** Programs in order on one stream, with temporaries between them. */
export class Sequence<I, O> {
  declare private readonly types: [I, O];

  /** @internal */
  constructor(
    readonly temps: Outputs,
    readonly programs: readonly Program<Inputs, Outputs>[],
    readonly loc: Loc,
  ) {}
}

type Intersect<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer X) => void ? X : never;
type InputsOf<P> = P extends Program<infer I, unknown> ? I : never;
type OutputsOf<P> = P extends Program<unknown, infer O> ? O : never;

/**
 * Launches in order. Arrays are matched by name: an input that an earlier program gives as an output, or that is one of
 * `temps`, is that array; the other inputs and outputs are the kernel's.
 */
// biome-ignore lint/suspicious/noExplicitAny: the element type is inferred from the list
export function sequence<T extends Outputs, const P extends readonly Program<any, any>[]>(
  { temps }: { readonly temps: T },
  programs: P,
): Sequence<
  Omit<Intersect<InputsOf<P[number]>>, keyof T | keyof Intersect<OutputsOf<P[number]>>>,
  Omit<Intersect<OutputsOf<P[number]>>, keyof T>
> {
  return new Sequence(temps, programs as never, userLoc());
}

export type AnyProgram<I, O> = Program<I, O> | Sequence<I, O>;
