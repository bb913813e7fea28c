/** Passes and how they are run: every pass gets valid IR and leaves valid IR. */

import { irCodes } from '../diagnostics/codes/ir.js';
import { CompileError, InternalError } from '../diagnostics/diagnostic.js';
import { nearest } from '../diagnostics/nearest.js';
import type { Kernel } from './kernel.js';
import { verifyKernel } from './verifier.js';

export interface Pass {
  readonly name: string;
  /** One line for `tilewright opt --list`. */
  readonly summary: string;
  readonly run: (kernel: Kernel) => Kernel;
}

export interface PassHooks {
  /** Called after each pass. */
  readonly after?: (pass: string, before: Kernel, after: Kernel, milliseconds: number) => void;
}

/**
 * Runs passes in order. The kernel is verified before the first and after each.
 *
 * @throws CompileError where the given kernel is not valid or a pass refuses it; InternalError where a pass breaks it.
 */
export function runPasses(kernel: Kernel, passes: readonly Pass[], hooks: PassHooks = {}): Kernel {
  const faults = verifyKernel(kernel);
  if (faults.some((d) => d.severity === 'error')) throw new CompileError(faults);
  let current = kernel;
  for (const pass of passes) {
    const started = performance.now();
    const next = pass.run(current);
    const milliseconds = performance.now() - started;
    if (next !== current) {
      const broken = verifyKernel(next);
      const [first] = broken;
      if (first) throw new InternalError(irCodes.brokenByPass({ pass: pass.name, message: first.message }).message);
    }
    hooks.after?.(pass.name, current, next, milliseconds);
    current = next;
  }
  return current;
}

/** Reads a pipeline: names of passes, separated by commas. */
export function parsePipeline(text: string, registry: ReadonlyMap<string, readonly Pass[]>): readonly Pass[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .flatMap((name) => {
      const found = registry.get(name);
      if (found) return found;
      const near = nearest(name, [...registry.keys()]);
      throw new CompileError([
        irCodes.badPipeline(
          { message: `there is no pass '${name}'` },
          { help: near ? `did you mean '${near}'?` : '`tilewright opt --list` lists the passes' },
        ),
      ]);
    });
}
