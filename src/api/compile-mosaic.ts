/** From a kernel to images for GPUs by Mosaic GPU. */

import { CompileError } from '../diagnostics/diagnostic.js';
import type * as ir from '../ir/kernel.js';
import { runPasses } from '../ir/pass.js';
import { loweringPipeline } from '../ir/passes/index.js';
import { illegalInLowered } from '../ir/stage.js';
import type { DeviceLaunch } from '../lowering/device-launch.js';
import { missingDTypes } from '../lowering/dtype-gate.js';
import type { GpuTarget } from '../lowering/gpu-target.js';
import { mosaicGates } from '../lowering/mosaic-gpu/gate.js';
import { lowerToMosaic } from '../lowering/mosaic-gpu/index.js';
import type { Compiled, CompileOptions } from './compile.js';
import { type AnyKernel, type KernelSource, sourceOf, withDisplayLocations } from './source.js';

/** Stages of Mosaic GPU in order; each is the extension of what it makes. */
export const mosaicStageNames: readonly string[] = [
  'kir',
  'lowered.kir',
  'mgpu.mlir',
  'nvvm.mlir',
  'ptx',
  'cubin',
  'plan.json',
];

export interface MosaicLowered {
  readonly source: KernelSource;
  readonly lowered: ir.Kernel;
  readonly launches: readonly DeviceLaunch[];
  /** What each launch takes, as far as it can be told without any tool. */
  readonly bill: readonly string[];
}

/** Everything that needs no tool: gates, passes, lowered to text. */
export function lowerForMosaic(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  { hooks = {} }: Pick<CompileOptions, 'hooks'> = {},
): MosaicLowered {
  const source = sourceOf(kernel, target.name);
  const gates = mosaicGates(source.kernel);
  if (gates.length > 0) throw new CompileError(gates);
  const lowered = runPasses(source.kernel, loweringPipeline, hooks);
  const problems = [...illegalInLowered(lowered), ...missingDTypes(lowered, target)];
  if (problems.length > 0) throw new CompileError(problems);
  const launches = lowerToMosaic(lowered, target);
  return { source, lowered, launches, bill: [] };
}

/**
 * Compiles a kernel by Mosaic GPU.
 *
 * @throws CompileError: the kernel is wrong, or is none that this back end takes.
 */
export async function compileMosaic(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  options: CompileOptions,
): Promise<Compiled> {
  return withDisplayLocations(kernel.folder, () => {
    lowerForMosaic(kernel, target, options);
    throw new Error('unreachable');
  });
}
