/** `pallasCall`: Pallas's own parameters, for those who port. It makes a kernel from lists and index-map functions. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import { mistake } from './errors.js';
import {
  checkCallback,
  checkFlag,
  checkList,
  checkOptions,
  checkRecord,
  describe,
  isRecord,
  refuse,
} from './handle.js';
import { Kernel } from './kernel.js';
import { checkProgramOptions, type Outputs, Program, type ProgramOptions } from './program.js';
import type { Extent, Ref } from './ref.js';
import { userLoc } from './site.js';
import { type ArraySpec, type BlockDim, declareArray, declareBlock, declareGrid } from './spec.js';
import type { Index } from './tile.js';

/** Shape and dtype of an array, as `jax.ShapeDtypeStruct` says it. */
export interface ShapeDtype {
  readonly shape: readonly Extent[];
  readonly dtype: DType;
  /** @internal Where it was made. */
  readonly loc?: Loc;
}

export const shapeDtype = (shape: readonly Extent[], dtype: DType): ShapeDtype => ({ shape, dtype, loc: userLoc() });

/** Which block of an array a program gets: its extents, and a function from grid indices to block indices. */
export interface BlockSpec {
  readonly blockShape?: readonly BlockDim[];
  readonly indexMap?: (...ids: Index[]) => readonly Extent[];
  /** @internal Where it was made. */
  readonly loc?: Loc;
}

/** Without a shape the program gets the whole array; without an index map it gets the first block. */
export const blockSpec = (blockShape?: readonly BlockDim[], indexMap?: BlockSpec['indexMap']): BlockSpec => ({
  ...(blockShape === undefined ? {} : { blockShape }),
  ...(indexMap === undefined ? {} : { indexMap }),
  loc: userLoc(),
});

export interface PallasCallOptions extends Omit<ProgramOptions, 'fastMath'> {
  /** Gets the refs of inputs, then outputs. */
  // biome-ignore lint/suspicious/noExplicitAny: positional refs of any dtype and rank; Pallas has no types for them either
  readonly kernel: (...refs: Ref<any, any>[]) => void;
  readonly outShape: ShapeDtype | readonly ShapeDtype[];
  readonly grid?: Extent | readonly Extent[];
  /** One for each input; without the list every input is whole. */
  readonly inSpecs?: readonly BlockSpec[];
  /** One for each output; without it every output is whole. */
  readonly outSpecs?: BlockSpec | readonly BlockSpec[];
  /** Scratch memory belongs to explicit programs; anything but an empty list is refused. */
  readonly scratchShapes?: readonly unknown[];
  /** Position of an input to position of the output that takes over its memory. */
  readonly inputOutputAliases?: Readonly<Record<number, number>>;
  /** `run` interprets the kernel unless it is told a target. */
  readonly interpret?: boolean;
  readonly name?: string;
}

const optionNames = [
  'kernel',
  'outShape',
  'grid',
  'inSpecs',
  'outSpecs',
  'scratchShapes',
  'inputOutputAliases',
  'debug',
  'interpret',
  'name',
  'compilerParams',
  'costEstimate',
  'metadata',
] as const;

/** The options that `blockProgram` knows under the same names. */
function programOptions(options: PallasCallOptions): ProgramOptions {
  const shared = ['compilerParams', 'costEstimate', 'metadata', 'debug'] as const;
  return Object.fromEntries(shared.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])));
}

const asList = <T>(x: T | readonly T[] | undefined): readonly T[] =>
  x === undefined ? [] : Array.isArray(x) ? (x as readonly T[]) : [x as T];

/**
 * Makes a kernel as `pl.pallas_call` does. Inputs are named `in0`, `in1`, …, outputs `out0`, …, grid axes `i0`, ….
 *
 * @returns a function of the inputs' shapes that gives the kernel.
 */
export function pallasCall(
  options: PallasCallOptions,
): (...inputs: readonly ShapeDtype[]) => Kernel<{}, Readonly<Record<string, never>>, Outputs> {
  const loc = userLoc();
  checkOptions('pallasCall', optionNames, options);
  checkCallback("'kernel' of pallasCall takes the refs of inputs and outputs: (x, o) => { … }", options.kernel);
  const { interpret, name: given, inSpecs } = options;
  checkProgramOptions(programOptions(options));
  checkFlag('interpret', interpret);
  if (given !== undefined && typeof given !== 'string') refuse("'name' is text", given);
  if (inSpecs !== undefined) checkList("'inSpecs' is a list of block specs", inSpecs);
  checkRecord("'inputOutputAliases' is a record of positions", options.inputOutputAliases ?? {});
  if (asList(options.scratchShapes as unknown).length > 0)
    mistake((c) => frontendCodes.unsupportedOption({ option: 'scratchShapes', why: 'needs an explicit program' }, c), {
      help: 'tiles need no scratch: keep values in tiles, or use sequence() with temps',
    });
  const name = given ?? (options.kernel.name || 'pallas_kernel');
  return (...inputs) =>
    new Kernel(name, {}, () => programOf(options, inputs, loc), {}, loc, interpret ?? false, true) as never;
}

/** The program of one call. Its places are those of the user's shapes and specs, else of the call, `loc`. */
function programOf(options: PallasCallOptions, inputs: readonly ShapeDtype[], loc: Loc): Program<unknown, unknown> {
  const extents = asList(options.grid);
  const grid = declareGrid(Object.fromEntries(extents.map((x, i) => [`i${i}`, x])), {}, loc);
  const ids = extents.map((_, i) => grid[`i${i}`]!);
  const outputs = asList(options.outShape);
  const spec = {
    ...programOptions(options),
    grid,
    inputs: arraysOf('in', inputs, options.inSpecs, ids, loc),
    outputs: arraysOf('out', outputs, options.outSpecs, ids, loc),
    aliases: aliasesOf(options.inputOutputAliases ?? {}, inputs.length, outputs.length, loc),
  };
  const names = [...Object.keys(spec.inputs), ...Object.keys(spec.outputs)];
  const body = (refs: Readonly<Record<string, Ref>>): void => options.kernel(...names.map((name) => refs[name]!));
  return new Program(spec as never, body as never, loc);
}

/** Inputs by the outputs that take over their memory. Positions count inputs and outputs as they are listed. */
function aliasesOf(
  given: Readonly<Record<number, number>>,
  inputs: number,
  outputs: number,
  loc: Loc,
): Record<string, string> {
  const aliases: Record<string, string> = {};
  for (const [input, output] of Object.entries(given)) {
    const bad = (message: string): never =>
      mistake((c) => frontendCodes.badAlias({ output: `out${describe(output)}`, input: `in${input}`, message }, c), {
        loc,
      });
    const check = (kind: string, at: number, count: number): void => {
      if (!Number.isInteger(at) || at < 0 || at >= count) bad(`there is no ${kind} ${describe(at)} among ${count}`);
    };
    check('input', Number(input), inputs);
    check('output', output, outputs);
    const taken = aliases[`out${output}`];
    if (taken !== undefined) bad(`it has taken over '${taken}' already`);
    aliases[`out${output}`] = `in${input}`;
  }
  return aliases;
}

function arraysOf(
  prefix: 'in' | 'out',
  shapes: readonly ShapeDtype[],
  given: BlockSpec | readonly BlockSpec[] | undefined,
  ids: readonly Index[],
  loc: Loc,
): Outputs {
  const specs = asList(given);
  const what = prefix === 'in' ? 'inputs' : 'outputs';
  if (given !== undefined && specs.length !== shapes.length)
    mistake(
      (c) =>
        frontendCodes.badIndex(
          { message: `each of ${shapes.length} ${what} has a block spec, got ${specs.length}` },
          c,
        ),
      { loc },
    );
  return Object.fromEntries(
    shapes.map((shape, i) => [`${prefix}${i}`, arrayOf(`${prefix}${i}`, shape, specs[i], ids, loc)]),
  );
}

function arrayOf(
  name: string,
  struct: ShapeDtype,
  spec: BlockSpec | undefined,
  ids: readonly Index[],
  callLoc: Loc,
  // biome-ignore lint/suspicious/noExplicitAny: ports say nothing of dtypes to TypeScript
): ArraySpec<any, any> {
  if (!isRecord(struct) || !('shape' in struct)) refuse(`'${name}' is a shapeDtype(…)`, struct, { loc: callLoc });
  const whole = declareArray(struct.dtype, struct.shape, struct.loc ?? callLoc);
  if (spec === undefined) return whole;
  checkRecord(`the spec of '${name}' is a blockSpec(…)`, spec, { loc: callLoc });
  const loc = spec.loc ?? callLoc;
  if (spec.blockShape === undefined) return whole;
  checkList(`the block shape of '${name}' is a list of extents`, spec.blockShape, { loc });
  if (spec.indexMap !== undefined && typeof spec.indexMap !== 'function')
    refuse(`the index map of '${name}' is a function: (i) => [i]`, spec.indexMap, { loc });
  const index: unknown = spec.indexMap ? spec.indexMap(...ids) : spec.blockShape.map(() => 0);
  if (!Array.isArray(index))
    return mistake((c) => frontendCodes.indexRank({ got: 1, expected: spec.blockShape!.length }, c), {
      loc,
      help: `return a list: (i) => [${spec.blockShape.map((_, i) => (i === 0 ? 'i' : '0')).join(', ')}]`,
    });
  return declareBlock(whole, spec.blockShape, index, loc);
}
