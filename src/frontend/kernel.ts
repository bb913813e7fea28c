/** `kernel`: a name, parameters, and a setup function that returns a program for their values. */

import { dirname, isAbsolute } from 'node:path';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError, type Diagnostic, InternalError, ToolError } from '../diagnostics/diagnostic.js';
import { type Loc, primaryLoc, printLoc } from '../diagnostics/location.js';
import type * as ir from '../ir/kernel.js';
import { mistake, noteAt } from './errors.js';
import { checkCallback, checkRecord, describe, refuse } from './handle.js';
import { KernelBuilder } from './kernel-builder.js';
import { checkParamSpecs, checkParams, type ParamSpecs, type Params, parseParam, resolveParams } from './params.js';
import { type AnyProgram, Program, Sequence } from './program.js';
import { forDisplay, parseStack, userLoc } from './site.js';
import { activeTrace } from './trace.js';

/** What tracing gives: the kernel in IR, and what is questionable about it. */
export interface TracedKernel {
  readonly kernel: ir.Kernel;
  readonly warnings: readonly Diagnostic[];
  /** Folder that the locations in the IR are relative to. */
  readonly folder: string;
}

/** A kernel with its parameters' values. `I` and `O` are the declared inputs and outputs. */
export class Kernel<P extends ParamSpecs, I, O> {
  declare protected readonly io: [I, O];
  private readonly traced = new Map<string, TracedKernel>();
  private settingUp = false;

  /** @internal */
  constructor(
    readonly name: string,
    /** Declared parameters with their defaults. */
    readonly params: P,
    private readonly setup: (params: Params<P>) => AnyProgram<I, O>,
    /** Values that were set with `with`. */
    readonly given: Partial<Params<P>>,
    readonly loc: Loc,
    /** Whether `run` interprets it unless told a target: `pallasCall({ interpret: true })`. */
    readonly interpreted = false,
    /** Whether `pallasCall` made it. */
    readonly ported = false,
  ) {}

  /** The same kernel with other parameter values. */
  with(values: Partial<Params<P>>): Kernel<P, I, O> {
    checkRecord("'with' takes a record of parameters", values);
    checkParams(this.name, this.params, values);
    const given = { ...this.given, ...values };
    return new Kernel(this.name, this.params, this.setup, given, this.loc, this.interpreted, this.ported);
  }

  /** `with`, from the text of `-D NAME=VALUE` options. */
  withText(values: Readonly<Record<string, string>>): Kernel<P, I, O> {
    const parsed = Object.entries(values).map(([name, text]) => [name, parseParam(this.name, this.params, name, text)]);
    return this.with(Object.fromEntries(parsed));
  }

  /** The values of its parameters for a target, as its setup gets them. */
  values(target?: string): Params<P> {
    return resolveParams(this.params, target, this.given as Record<string, unknown>) as Params<P>;
  }

  /** The folder of the file that declares the kernel. */
  get folder(): string {
    const file = primaryLoc(this.loc)?.file ?? '';
    return isAbsolute(file) ? dirname(file) : process.cwd();
  }

  /**
   * Runs the setup and the body once and gives the kernel in IR.
   *
   * @param options.target chooses the defaults of `perTarget`.
   * @throws CompileError with TW1xxx codes at the user's lines.
   */
  trace(options: { readonly target?: string } = {}): TracedKernel {
    const key = options.target ?? '';
    let found = this.traced.get(key);
    if (!found) {
      found = this.traceFor(options.target);
      this.traced.set(key, found);
    }
    return found;
  }

  private traceFor(target: string | undefined): TracedKernel {
    const outer = this.settingUp ? this.name : activeTrace()?.kernel;
    if (outer !== undefined)
      mistake((c) => frontendCodes.nested({ inner: this.name, outer }, c), {
        help: 'run one after the other with sequence(…), or share code by plain functions',
      });
    this.settingUp = true;
    try {
      const program: unknown = this.setup(this.values(target));
      if (program instanceof Promise)
        mistake((c) => frontendCodes.asyncBody({ what: `the setup of kernel '${this.name}'` }, c), { loc: this.loc });
      if (!(program instanceof Program || program instanceof Sequence))
        return mistake((c) => frontendCodes.badProgram({ kernel: this.name, got: describe(program) }, c), {
          loc: this.loc,
        });
      return new KernelBuilder(this.name, this.folder, this.loc).build(program);
    } catch (error) {
      throw userError(error, this.loc);
    } finally {
      this.settingUp = false;
    }
  }
}

/** How many callers an exception of the user's is told with. */
const shownCallers = 4;

/** An exception of the user's own code becomes a diagnostic with the user's frames; ours pass. */
export function userError(error: unknown, fallback: Loc): unknown {
  if (error instanceof CompileError || error instanceof ToolError || error instanceof InternalError) return error;
  // Node's own errors come from another realm in a test runner, and anything can be thrown.
  const { name, message, stack } = (typeof error === 'object' && error !== null ? error : {}) as Partial<Error>;
  // Recursion would fill the notes with one place.
  const places = new Map(parseStack(typeof stack === 'string' ? stack : '').map((loc) => [printLoc(loc), loc]));
  const [first, ...callers] = places.values();
  const text = name !== undefined && message !== undefined ? `${name}: ${message}` : describe(error);
  return new CompileError([
    frontendCodes.threw(
      { message: text },
      {
        loc: forDisplay(first ?? fallback),
        notes: callers.slice(0, shownCallers).map((loc) => noteAt('called from here', loc)),
      },
    ),
  ]);
}

/**
 * Declares a kernel.
 *
 * @param name any text; the symbol of the compiled function is made from it.
 * @param params compile-time parameters: a number, boolean, string or dtype is a fixed default; `choice`, `dtypes` and
 *   `perTarget` say more. `-D NAME=VALUE` and `with` set them.
 * @param setup returns `blockProgram(…)` or `sequence(…)` for the parameters' values.
 */
export function kernel<P extends ParamSpecs, I, O>(
  name: string,
  params: P,
  setup: (params: Params<P>) => AnyProgram<I, O>,
): Kernel<P, I, O> {
  if (typeof name !== 'string') refuse("'kernel' takes a name", name);
  checkCallback("'kernel' takes a setup function: (params) => blockProgram(…)", setup);
  checkParamSpecs(name, params);
  return new Kernel(name, params, setup, {}, userLoc());
}
