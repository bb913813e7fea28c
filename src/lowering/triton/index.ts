/** Lowering of the kernel IR to Triton IR. */

import { loweringCodes } from '../../diagnostics/codes/lowering.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Kernel } from '../../ir/kernel.js';
import type { DeviceLaunch } from '../device-launch.js';
import type { GpuTarget } from '../gpu-target.js';

export interface TritonLowering {
  readonly target: GpuTarget;
  /** Options that go before those of the kernel, by the names of `pltriton.CompilerParams`. */
  readonly params?: Readonly<Record<string, string | number | boolean>>;
}

/** One module of Triton IR for each launch. */
export function lowerToTriton(kernel: Kernel, { target }: TritonLowering): readonly DeviceLaunch[] {
  throw new CompileError([loweringCodes.noBackend({ target: target.name }, { loc: kernel.loc })]);
}
