/** What compiles: a kernel of the front end, or one that was read from `.kir` text. */

import { irCodes } from '../diagnostics/codes/ir.js';
import { CompileError, type Diagnostic, ToolError } from '../diagnostics/diagnostic.js';
import { Kernel, type TracedKernel } from '../frontend/kernel.js';
import { forDisplay } from '../frontend/site.js';
import type * as ir from '../ir/kernel.js';
import { parseModule } from '../ir/parser.js';

// biome-ignore lint/suspicious/noExplicitAny: any kernel compiles, whatever its parameters and arguments are
export type AnyKernel = Kernel<any, any, any>;

/** A kernel in IR and where its locations are. */
export interface KernelSource {
  readonly kernel: ir.Kernel;
  readonly warnings: readonly Diagnostic[];
  /** Folder that file names in locations are relative to. */
  readonly folder: string;
}

/** The IR of a kernel for a target (which chooses the defaults of `perTarget`). */
export function sourceOf(kernel: AnyKernel | KernelSource, target: string): KernelSource {
  return kernel instanceof Kernel ? (kernel.trace({ target }) satisfies TracedKernel) : kernel;
}

/**
 * Where `run` takes a kernel unless it is told: to the CPU, or to the interpreter where the kernel asks for it or is an
 * explicit program, which no CPU runs.
 */
export function defaultTarget(kernel: AnyKernel | KernelSource): 'cpu' | 'interpret' {
  if (kernel instanceof Kernel && kernel.interpreted) return 'interpret';
  const { launches } = sourceOf(kernel, 'cpu').kernel;
  return launches.some(({ warpgroups }) => warpgroups) ? 'interpret' : 'cpu';
}

/**
 * The kernels in `.kir` text.
 *
 * @param file name for messages. @param folder of the files that locations in the text name.
 * @throws CompileError with TW00xx codes.
 */
export function readKernels(text: string, file: string, folder: string): KernelSource[] {
  const { module, diagnostics } = parseModule(text, file);
  if (!module) throw new CompileError(diagnostics);
  if (module.kernels.length === 0)
    throw new CompileError([irCodes.syntax({ expected: 'a kernel', got: `an empty file '${file}'` })]);
  return module.kernels.map((kernel) => ({ kernel, warnings: [], folder }));
}

/** Runs `work`; locations of its diagnostics, relative to the kernel's folder, become what a person can open. */
export async function withDisplayLocations<T>(folder: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const shown = (list: readonly Diagnostic[]): Diagnostic[] =>
      list.map((d) => ({
        ...d,
        loc: forDisplay(d.loc, folder),
        notes: d.notes.map((n) => (n.loc ? { ...n, loc: forDisplay(n.loc, folder) } : n)),
      }));
    if (error instanceof CompileError) throw new CompileError(shown(error.diagnostics));
    if (error instanceof ToolError) throw new ToolError(shown(error.diagnostics), error.failure);
    throw error;
  }
}
