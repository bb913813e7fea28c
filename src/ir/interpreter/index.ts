/** Runs a kernel by the reference meaning of its ops. */

import { interpreterCodes } from '../../diagnostics/codes/interpreter.js';
import { CompileError, type Diagnostic } from '../../diagnostics/diagnostic.js';
import type { Loc } from '../../diagnostics/location.js';
import { RaggedAnalysis } from '../analyses/ragged.js';
import type { Kernel, Launch } from '../kernel.js';
import { allocate, allocateHost, decodeElements, encodeElement } from '../numerics/registers.js';
import { evaluateExtent } from '../symbolic.js';
import type { TileValue } from '../tile-value.js';
import type { GenericOp, Value } from '../value.js';
import { type ProgramContext, type RuntimeValue, Thread } from './engine.js';
import type { Buffer } from './memory.js';

export type { Buffer } from './memory.js';

/** The arguments of one call, each in its final shape. */
export interface InterpreterArguments {
  readonly dims: ReadonlyMap<string, number>;
  readonly scalars: ReadonlyMap<string, number | bigint>;
  readonly arrays: ReadonlyMap<string, Omit<Buffer, 'name'>>;
}

export interface InterpretOptions {
  /** Ops that one program may execute. Default 100 million. */
  readonly maxSteps?: number;
  /** Asked between programs; true ends the run by its own means (an abort signal, say). */
  readonly cancelled?: () => boolean;
  /** Takes the lines of `debug_print`; the console by default. */
  readonly print?: (line: string) => void;
}

/**
 * Runs all launches of `kernel` in order; arrays are read and written in place. Programs run one after the other, the
 * last grid axis fastest.
 *
 * @throws CompileError with TW5xxx codes: an access out of bounds, too many steps.
 */
export function interpretKernel(kernel: Kernel, args: InterpreterArguments, options: InterpretOptions = {}): void {
  const params = bindParams(kernel, args);
  const extents = new Map([...[...args.scalars].map(([k, v]) => [k, Number(v)] as const), ...args.dims]);
  for (const launch of kernel.launches) runLaunch(launch, params, args, extents, options);
}

function bindParams(kernel: Kernel, args: InterpreterArguments): Map<Value, RuntimeValue> {
  const params = new Map<Value, RuntimeValue>();
  for (const param of kernel.params) {
    if (param.kind === 'array') params.set(param.value, { name: param.name, ...args.arrays.get(param.name)! });
    else {
      const { dtype } = param.value.type;
      // By way of memory, as a compiled kernel gets it: a number that the dtype does not hold is rounded.
      const slot = allocateHost(dtype, 1);
      encodeElement(dtype, args.scalars.get(param.name)!, slot, 0);
      const data = allocate(dtype, 1);
      decodeElements(dtype, slot, 0, 1, 1, data, 0);
      params.set(param.value, { dtype, shape: [], data } satisfies TileValue);
    }
  }
  return params;
}

function runLaunch(
  launch: Launch,
  params: ReadonlyMap<Value, RuntimeValue>,
  args: InterpreterArguments,
  extents: ReadonlyMap<string, number>,
  { maxSteps = 1e8, cancelled, print = console.log }: InterpretOptions,
): void {
  const axes = launch.grid.map(({ name, extent }) => ({ name, size: Math.max(0, evaluateExtent(extent, extents)) }));
  const grid = new Map(axes.map(({ name, size }) => [name, size]));
  const programs = axes.reduce((n, { size }) => n * size, 1);
  const ragged = new RaggedAnalysis(launch);
  for (let program = 0; program < programs && !cancelled?.(); program++) {
    let rest = program;
    const ids = new Map<string, number>();
    for (const { name, size } of [...axes].reverse()) {
      ids.set(name, rest % size);
      rest = Math.floor(rest / size);
    }
    const shown = `(${axes.map(({ name }) => `${name}=${ids.get(name)}`).join(', ')})`;
    const stop = (loc: Loc, found: Parameters<typeof fail>[0]): never => fail(found, loc);
    const context: ProgramContext = {
      dims: args.dims,
      ids,
      grid,
      outOfBounds: (op, ref, axis, index, extent) =>
        stop(op.loc, (context) =>
          interpreterCodes.outOfBounds({ access: op.name, ref, axis, index, extent, program: shown }, context),
        ),
      emptyReduction: (op, name) =>
        stop(op.loc, (context) =>
          interpreterCodes.emptyReduction(
            { op: name, program: shown },
            { ...context, help: 'make the tile full with .pad(value), or skip such blocks with when()' },
          ),
        ),
      failedAssertion: (op, message, place) =>
        stop(op.loc, (context) => interpreterCodes.assertionFailed({ message, program: `${shown}${place}` }, context)),
      brokenPromise: (op, promise) =>
        stop(op.loc, (context) => interpreterCodes.brokenPromise({ promise, program: shown }, context)),
      print: (text) => print(`${shown}${text}`),
      badStep: (op, step) => stop(op.loc, (context) => interpreterCodes.badStep({ step, program: shown }, context)),
    };
    const thread = new Thread(launch.body, params, context, ragged);
    for (let steps = 0; !thread.done; steps++) {
      if (steps === maxSteps) stopLongRun(thread.nextOp, launch, maxSteps, shown);
      thread.step();
    }
  }
}

function fail(make: (context: { loc: Loc }) => Diagnostic, loc: Loc): never {
  throw new CompileError([make({ loc })]);
}

function stopLongRun(op: GenericOp | undefined, launch: Launch, limit: number, program: string): never {
  throw new CompileError([
    interpreterCodes.tooManySteps(
      { limit, program },
      { loc: op?.loc ?? launch.loc, help: 'raise --max-steps if the kernel is meant to run this long' },
    ),
  ]);
}
