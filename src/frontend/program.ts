/** Programs: what a kernel launches. `blockProgram` sees blocks; `sequence` runs several, one after the other. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import { backendNames } from '../ir/kernel.js';
import { type FastMathFlag, fastMathFlags } from '../ir/ops/elementwise.js';
import type { CompilerParams } from './compiler-params.js';
import { mistake } from './errors.js';
import {
  checkCallback,
  checkFlag,
  checkList,
  checkOptions,
  checkRecord,
  checkWord,
  describe,
  refuse,
} from './handle.js';
import type { Rank } from './rank.js';
import type { Extent, Ref } from './ref.js';
import { userLoc } from './site.js';
import { ArraySpec, type Grid, isGrid, ScalarSpec } from './spec.js';
import { asSymbol, type Scalar, Tile } from './tile.js';

// biome-ignore lint/suspicious/noExplicitAny: specs are invariant in their dtype; any is the only type that all of them meet.
type AnyArray = ArraySpec<any, any, any>;
// biome-ignore lint/suspicious/noExplicitAny: as above
type AnyScalar = ScalarSpec<any>;

export type Inputs = Readonly<Record<string, AnyArray | AnyScalar>>;
export type Outputs = Readonly<Record<string, AnyArray>>;

/** What the body gets for a declaration. A union of dtypes gives a union of refs. */
export type Handle<T> =
  T extends ArraySpec<infer D, infer R extends Rank, infer S extends readonly Extent[]>
    ? Ref<D, R, S>
    : T extends ScalarSpec<infer D>
      ? Scalar<D>
      : never;
export type Handles<I, O> = { readonly [K in keyof I]: Handle<I[K]> } & { readonly [K in keyof O]: Handle<O[K]> };

/** What one call costs, for rates in reports. */
export interface CostEstimateSpec {
  readonly flops?: Extent;
  readonly bytesAccessed?: Extent;
  readonly transcendentals?: Extent;
}

/** What float arithmetic may give up for speed; everything is kept by default. */
export type FastMath = { readonly [F in FastMathFlag]?: boolean };

/** What every kind of program can say besides its arrays. */
export interface ProgramOptions {
  readonly fastMath?: FastMath;
  /** Options of back ends, at most one set for each. */
  readonly compilerParams?: CompilerParams | readonly CompilerParams[];
  readonly costEstimate?: CostEstimateSpec;
  /** Free text that the launch plan carries. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Prints the kernel IR and the grid on standard error when the kernel is traced. */
  readonly debug?: boolean;
}

export interface BlockProgramSpec<I, O> extends ProgramOptions {
  readonly grid: Grid;
  readonly inputs: I;
  readonly outputs: O;
  /** Outputs that take over the memory of an input, read and written in place. */
  readonly aliases?: { readonly [K in keyof O]?: keyof I };
  /** Outputs that start as zeros. */
  readonly zeroed?: readonly (keyof O)[];
}

const optionNames = ['fastMath', 'compilerParams', 'costEstimate', 'metadata', 'debug'] as const;
const specNames = ['grid', 'inputs', 'outputs', 'aliases', 'zeroed', ...optionNames];

/** @throws CompileError for options that say nothing, or twice the same, at the user's line. */
export function checkProgramOptions(options: ProgramOptions): void {
  const { fastMath = {}, compilerParams, costEstimate = {}, metadata = {}, debug } = options;
  checkOptions('fastMath', fastMathFlags, fastMath);
  for (const [name, x] of Object.entries(fastMath)) checkFlag(name, x);
  checkFlag('debug', debug);
  const backends = new Set<string>();
  for (const params of [compilerParams ?? []].flat()) {
    if (typeof params !== 'object' || params === null)
      refuse("'compilerParams' takes CompilerParams of a back end, or a list of them", params);
    checkWord("the back end of 'compilerParams' is one of", backendNames, params.backend);
    if (backends.has(params.backend))
      mistake(
        (c) => frontendCodes.unsupportedOption({ option: 'compilerParams', why: `names '${params.backend}' twice` }, c),
        { help: 'give one object for each back end' },
      );
    backends.add(params.backend);
  }
  checkOptions('costEstimate', ['flops', 'bytesAccessed', 'transcendentals'], costEstimate);
  for (const [name, x] of Object.entries(costEstimate))
    if (!(x instanceof Tile && asSymbol(x)) && !(Number.isSafeInteger(x) && x >= 0))
      refuse(`'${name}' of a cost estimate is an integer from 0 up, or made of dims`, x);
  checkRecord("'metadata' is a record of texts", metadata);
  for (const [key, text] of Object.entries(metadata))
    if (typeof text !== 'string') refuse(`metadata is text, '${key}' is not`, text);
}

export function checkArrays(spec: BlockProgramSpec<Inputs, Outputs>): void {
  for (const kind of ['inputs', 'outputs'] as const) {
    checkRecord(`'${kind}' is a record of declarations`, spec[kind]);
    for (const [name, x] of Object.entries(spec[kind]) as [string, unknown][])
      if (!(x instanceof ArraySpec || (kind === 'inputs' && x instanceof ScalarSpec)))
        refuse(`'${name}' must be declared with array(…)${kind === 'inputs' ? ' or scalar(…)' : ''}`, x);
  }
  const { aliases = {}, zeroed = [] } = spec;
  checkRecord("'aliases' is a record of outputs and the inputs that they take over", aliases);
  for (const [output, input] of Object.entries(aliases) as [string, unknown][]) {
    if (typeof input !== 'string') return refuse(`the alias of '${output}' is the name of an input`, input);
    if (!Object.hasOwn(spec.outputs, output))
      mistake((c) => frontendCodes.badAlias({ output, input, message: 'there is no output of that name' }, c));
  }
  checkList("'zeroed' is a list of outputs", zeroed);
  for (const output of zeroed)
    if (!Object.hasOwn(spec.outputs, output))
      mistake(
        (c) => frontendCodes.badOperand({ message: `'zeroed' names ${describe(output)}, which is no output` }, c),
        {
          help: `the outputs are ${Object.keys(spec.outputs).join(', ')}`,
        },
      );
}

/** One launch: a grid of programs over declared arrays. */
export class Program<I, O> {
  declare protected readonly types: [I, O];

  /** @internal */
  constructor(
    readonly spec: BlockProgramSpec<Inputs, Outputs>,
    readonly body: (handles: never) => void,
    readonly loc: Loc,
    /** What makes it an explicit one. */
    readonly explicit?: Explicit,
  ) {}
}

/** What a program of warpgroups has beside arrays. */
export interface Explicit {
  /** Whose axes the body may use. */
  readonly mesh: object;
  readonly warpgroups: { readonly name: string; readonly count: number };
  /** Allocates what was declared, at the top of the body; handles by their names. */
  readonly allocate: () => Readonly<Record<string, unknown>>;
}

/**
 * A grid of programs that see blocks of arrays. A block that reaches past its array is valid up to the edge: no mask is
 * needed.
 */
export function blockProgram<I extends Inputs, O extends Outputs>(
  spec: BlockProgramSpec<I, O>,
  body: (refs: Handles<I, O>) => void,
): Program<I, O> {
  checkOptions('blockProgram', specNames, spec);
  checkCallback("'blockProgram' takes a body: ({ x, … }) => { … }", body);
  if (!isGrid(spec.grid)) refuse('the grid of a program is what grid({ … }) gives', spec.grid);
  checkArrays(spec as never);
  checkProgramOptions(spec);
  return new Program(spec as never, body as never, userLoc());
}

/** Programs in order on one stream, with temporaries between them. */
export class Sequence<I, O> {
  declare protected readonly types: [I, O];

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
  options: { readonly temps: T },
  programs: P,
): Sequence<
  Omit<Intersect<InputsOf<P[number]>>, keyof T | keyof Intersect<OutputsOf<P[number]>>>,
  Omit<Intersect<OutputsOf<P[number]>>, keyof T>
> {
  checkOptions('sequence', ['temps'], options);
  const { temps } = options;
  checkRecord("'temps' is a record of declarations", temps);
  for (const [name, x] of Object.entries(temps) as [string, unknown][])
    if (!(x instanceof ArraySpec)) refuse(`'${name}' must be declared with array(…)`, x);
  if (!Array.isArray(programs) || programs.length === 0) refuse("'sequence' takes a list of programs", programs);
  for (const p of programs)
    if (!(p instanceof Program)) refuse("'sequence' takes programs, as blockProgram(…) gives them", p);
  return new Sequence(temps, programs as never, userLoc());
}

export type AnyProgram<I, O> = Program<I, O> | Sequence<I, O>;
