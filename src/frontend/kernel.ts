/** `kernel`: a name, parameters, and a setup function that returns a program for their values. */

import { dirname, isAbsolute } from 'node:path';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import { type Loc, primaryLoc } from '../diagnostics/location.js';
import type * as ir from '../ir/kernel.js';
import { mistake } from './errors.js';
import { KernelBuilder } from './kernel-builder.js';
import { checkParams, type ParamSpecs, type Params, parseParam, resolveParams } from './params.js';
import { type AnyProgram, Program, Sequence } from './program.js';
import { forDisplay, parseStack, userLoc } from './site.js';

/** What tracing gives: the kernel in IR, and what is questionable about it. */
export interface TracedKernel {
  readonly kernel: ir.Kernel;
  readonly warnings: readonly Diagnostic[];
  /** Folder that the locations in the IR are relative to. */
  readonly folder: string;
}

/** A kernel with its parameters' values. `I` and `O` are the declared inputs and outputs. */
export class Kernel<P extends ParamSpecs, I, O> {
  declare private readonly io: [I, O];
  private readonly traced = new Map<string, TracedKernel>();

  /** @internal */
  constructor(
    readonly name: string,
    /** Declared parameters with their defaults. */
    readonly params: P,
    private readonly setup: (params: Params<P>) => AnyProgram<I, O>,
    /** Values that were set with `with`. */
    readonly given: Partial<Params<P>>,
    readonly loc: Loc,
  ) {}

  /** The same kernel with other parameter values. */
  with(values: Partial<Params<P>>): Kernel<P, I, O> {
    checkParams(this.name, this.params, values);
    return new Kernel(this.name, this.params, this.setup, { ...this.given, ...values }, this.loc);
  }

  /** `with`, from the text of `-D NAME=VALUE` options. */
  withText(values: Readonly<Record<string, string>>): Kernel<P, I, O> {
    const parsed = Object.entries(values).map(([name, text]) => [name, parseParam(this.name, this.params, name, text)]);
    return this.with(Object.fromEntries(parsed));
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
    const values = resolveParams(this.params, target, this.given as Record<string, unknown>);
    try {
      const program: unknown = this.setup(values as Params<P>);
      if (program instanceof Promise)
        mistake((c) => frontendCodes.asyncBody({ what: `the setup of kernel '${this.name}'` }, c), { loc: this.loc });
      if (!(program instanceof Program || program instanceof Sequence))
        return mistake(
          (c) => frontendCodes.badProgram({ kernel: this.name, got: program === null ? 'null' : typeof program }, c),
          { loc: this.loc },
        );
      return new KernelBuilder(this.name, this.folder, this.loc).build(program);
    } catch (error) {
      throw userError(error, this.loc);
    }
  }
}

/** An exception of the user's own code becomes a diagnostic with the user's frames; ours pass. */
export function userError(error: unknown, fallback: Loc): unknown {
  if (
    !(error instanceof Error) ||
    error.name === 'CompileError' ||
    error.name === 'InternalError' ||
    error.name === 'ToolError'
  )
    return error;
  const [first, ...callers] = parseStack(error.stack ?? '');
  const message = `${error.name}: ${error.message}`;
  return new CompileError([
    frontendCodes.threw(
      { message },
      {
        loc: forDisplay(first ?? fallback),
        notes: callers.slice(0, 4).map((loc) => ({ message: 'called from here', loc: forDisplay(loc) })),
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
  return new Kernel(name, params, setup, {}, userLoc());
}
