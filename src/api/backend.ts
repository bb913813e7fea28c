/** Which back end compiles a kernel for a target, for the API and for programs that ask. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import { useMosaicGpu } from '../drivers/environment.js';
import { Kernel } from '../frontend/kernel.js';
import { forDisplay } from '../frontend/site.js';
import { type Backend, type BackendRequest, chooseBackend } from '../lowering/backend.js';
import type { Target } from '../lowering/target.js';
import { type AnyKernel, type KernelSource, sourceOf } from './source.js';

export interface ChosenBackend {
  readonly backend: Backend;
  readonly warnings: readonly Diagnostic[];
}

/**
 * The back end of a kernel for a target: `request`, the kernel's `compilerParams`, then TILEWRIGHT_USE_MOSAIC_GPU.
 *
 * @throws CompileError TW2030, TW2031, TW2032.
 */
export function backendFor(kernel: AnyKernel | KernelSource, target: Target, request: BackendRequest): ChosenBackend {
  const source = sourceOf(kernel, target.name);
  const backend = chooseBackend(source.kernel, target, { useMosaicGpu: useMosaicGpu(), ...definedOf(request) });
  const ported = kernel instanceof Kernel && kernel.ported && backend === 'mosaic_gpu';
  return {
    backend,
    warnings: ported
      ? [
          backendCodes.pallasCallDeprecated(
            { kernel: kernel.name },
            {
              loc: forDisplay(kernel.loc),
              help: 'blockProgram takes the same blocks by name; -Wno-TW2040 keeps this quiet',
            },
          ),
        ]
      : [],
  };
}

/** What was said; the rest is left to the environment. */
const definedOf = ({ backend, useMosaicGpu: use }: BackendRequest): BackendRequest => ({
  ...(backend === undefined ? {} : { backend }),
  ...(use === undefined ? {} : { useMosaicGpu: use }),
});

/** Whether `check` finds nothing wrong; what is no finding of the kernel's passes on. */
export function accepted(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (error instanceof CompileError) return false;
    throw error;
  }
}
