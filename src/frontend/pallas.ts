/** `pallasCall`: Pallas's own parameters, for those who port. It makes a kernel from lists and index-map functions. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { DType } from '../ir/dtypes.js';
import type { CompilerParams } from './compiler-params.js';
import { mistake } from './errors.js';
import { type Kernel, kernel } from './kernel.js';
import { blockProgram, type CostEstimateSpec, type Outputs, type Program } from './program.js';
import type { Extent, Ref } from './ref.js';
import { userLoc } from './site.js';
import { array, type BlockDim, grid as makeGrid } from './spec.js';
import type { Index } from './tile.js';

/** Shape and dtype of an array, as `jax.ShapeDtypeStruct` says it. */
export interface ShapeDtype {
  readonly shape: readonly Extent[];
  readonly dtype: DType;
}

export const shapeDtype = (shape: readonly Extent[], dtype: DType): ShapeDtype => ({ shape, dtype });

/** Which block of an array a program gets: its extents, and a function from grid indices to block indices. */
export interface BlockSpec {
  readonly blockShape?: readonly BlockDim[];
  readonly indexMap?: (...ids: Index[]) => readonly Extent[];
}

export const blockSpec = (blockShape?: readonly BlockDim[], indexMap?: BlockSpec['indexMap']): BlockSpec => ({
  ...(blockShape ? { blockShape } : {}),
  ...(indexMap ? { indexMap } : {}),
});

export interface PallasCallOptions {
  /** Gets the refs of inputs, then outputs. */
  // biome-ignore lint/suspicious/noExplicitAny: positional refs of any dtype and rank; Pallas has no types for them either
  readonly kernel: (...refs: Ref<any, any>[]) => void;
  readonly outShape: ShapeDtype | readonly ShapeDtype[];
  readonly grid?: Extent | readonly Extent[];
  /** One for each input; missing ones give the whole array. */
  readonly inSpecs?: readonly BlockSpec[];
  readonly outSpecs?: BlockSpec | readonly BlockSpec[];
  /** Scratch memory belongs to explicit programs; anything but an empty list is refused. */
  readonly scratchShapes?: readonly unknown[];
  /** Position of an input to position of the output that takes over its memory. */
  readonly inputOutputAliases?: Readonly<Record<number, number>>;
  readonly debug?: boolean;
  /** Where a kernel runs is the caller's choice here: `interpret(kernel, …)`. `true` is refused. */
  readonly interpret?: boolean;
  readonly name?: string;
  readonly compilerParams?: CompilerParams | readonly CompilerParams[];
  readonly costEstimate?: CostEstimateSpec;
  /** Free text that the launch plan carries. */
  readonly metadata?: Readonly<Record<string, string>>;
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
  const refuse = (option: string, why: string, help: string): never =>
    mistake((c) => frontendCodes.unsupportedOption({ option, why }, c), { loc, help });
  if (options.scratchShapes && options.scratchShapes.length > 0)
    refuse(
      'scratchShapes',
      'needs an explicit program',
      'tiles need no scratch: keep values in tiles, or use sequence() with temps',
    );
  if (options.interpret)
    refuse(
      'interpret',
      'is not a property of a kernel',
      'call interpret(kernel, inputs), or run with --target interpret',
    );
  return (...inputs) => {
    const name = options.name ?? (options.kernel.name || 'pallas_kernel');
    return kernel(name, {}, () => build(options, inputs)) as never;
  };
}

function build(options: PallasCallOptions, inputs: readonly ShapeDtype[]): Program<unknown, unknown> {
  const extents = asList(options.grid);
  const axes = makeGrid(Object.fromEntries(extents.map((x, i) => [`i${i}`, x])));
  const ids = extents.map((_, i) => axes[`i${i}`]!);
  const outputs = asList(options.outShape);
  const named = (prefix: string, shapes: readonly ShapeDtype[], specs: readonly BlockSpec[]): Record<string, never> => {
    if (specs.length > shapes.length)
      mistake((c) =>
        frontendCodes.badIndex(
          {
            message: `there are ${specs.length} block specs for ${shapes.length} ${prefix === 'in' ? 'inputs' : 'outputs'}`,
          },
          c,
        ),
      );
    return Object.fromEntries(shapes.map((s, i) => [`${prefix}${i}`, declare(s, specs[i], ids) as never]));
  };
  const aliases = Object.fromEntries(
    Object.entries(options.inputOutputAliases ?? {}).map(([input, output]) => [`out${output}`, `in${input}`]),
  );
  const spec = {
    grid: axes,
    inputs: named('in', inputs, options.inSpecs ?? []),
    outputs: named('out', outputs, asList(options.outSpecs)),
    aliases,
    ...(options.compilerParams ? { compilerParams: options.compilerParams } : {}),
    ...(options.costEstimate ? { costEstimate: options.costEstimate } : {}),
    ...(options.metadata ? { metadata: options.metadata } : {}),
    debug: options.debug ?? false,
  };
  return blockProgram(spec as never, (refs) => {
    const handles = refs as Readonly<Record<string, Ref>>;
    const positional = [...inputs.map((_, i) => handles[`in${i}`]!), ...outputs.map((_, i) => handles[`out${i}`]!)];
    return options.kernel(...positional);
  });
}

function declare({ shape, dtype }: ShapeDtype, spec: BlockSpec | undefined, ids: readonly Index[]): unknown {
  const whole = array(dtype, shape);
  if (!spec?.blockShape) return whole;
  const index = spec.indexMap ? spec.indexMap(...ids) : spec.blockShape.map(() => 0);
  if (!Array.isArray(index))
    mistake((c) => frontendCodes.indexRank({ got: 1, expected: spec.blockShape!.length }, c), {
      help: 'return a list: (i) => [i, 0]',
    });
  return whole.block(spec.blockShape as never, index as never);
}
