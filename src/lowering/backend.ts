/** Which back end compiles a kernel for a target. Decided, and refused, before any compiler runs. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { type BackendName, backendNames, type Kernel } from '../ir/kernel.js';
import type { GpuTarget } from './gpu-target.js';
import { mosaicTargets } from './mosaic-gpu/target.js';
import type { Target } from './target.js';

/** Everything that can be selected by name. */
export const selectableBackends = ['cpu', ...backendNames] as const;
export type Backend = (typeof selectableBackends)[number];

/** What the user says about the back end, besides the kernel's `compilerParams`. */
export interface BackendRequest {
  /** Selects a back end; a kernel that has options for others only is refused. */
  readonly backend?: Backend;
  /** Mosaic GPU for kernels that leave it open. */
  readonly useMosaicGpu?: boolean;
}

/** Back ends that a kernel has options for, and where. */
export function backendsOf(kernel: Kernel): Map<BackendName, Loc> {
  const found = new Map<BackendName, Loc>();
  for (const { backendParams, loc } of kernel.launches)
    for (const { backend } of backendParams) if (!found.has(backend)) found.set(backend, loc);
  return found;
}

/**
 * The back end for a target: the selected one; else the class of the single `compilerParams`; else the setting; else the
 * target's own.
 *
 * @throws CompileError TW2030, TW2031, TW2032 at the launch that says otherwise.
 */
export function chooseBackend(
  kernel: Kernel,
  target: Target,
  { backend, useMosaicGpu = false }: BackendRequest,
): Backend {
  if (target.kind === 'cpu') {
    if (backend !== undefined && backend !== 'cpu') throw wrongTarget(kernel, backend, target);
    return 'cpu';
  }
  const carried = backendsOf(kernel);
  if (backend === 'cpu') throw wrongTarget(kernel, backend, target);
  if (backend !== undefined && carried.size > 0 && !carried.has(backend))
    throw new CompileError([
      backendCodes.paramsOfOthers(
        { backend, others: [...carried.keys()] },
        {
          loc: [...carried.values()][0]!,
          help: `leave out --backend, or list ${paramsClass[backend]} among the compilerParams`,
        },
      ),
    ]);
  const isExplicit = kernel.launches.some((launch) => launch.warpgroups);
  const single = carried.size === 1 ? [...carried.keys()][0] : undefined;
  const chosen = backend ?? (isExplicit ? 'mosaic_gpu' : single) ?? (useMosaicGpu ? 'mosaic_gpu' : 'triton');
  if (chosen === 'mosaic_gpu') gateTarget(kernel, target, carried.get(chosen) ?? kernel.launches[0]?.loc ?? kernel.loc);
  return chosen;
}

const paramsClass: Readonly<Record<BackendName, string>> = {
  triton: '`new pltriton.CompilerParams()`',
  mosaic_gpu: '`new plgpu.CompilerParams()`',
};

const wrongTarget = (kernel: Kernel, backend: Backend, target: Target): CompileError =>
  new CompileError([
    backendCodes.wrongTarget(
      { backend, target: target.name },
      { loc: kernel.loc, help: "leave out --backend: the target's own back end compiles it" },
    ),
  ]);

function gateTarget(kernel: Kernel, target: GpuTarget, loc: Loc): void {
  if (target.vendor === 'amd')
    throw new CompileError([
      backendCodes.noRocm(
        {},
        {
          loc,
          help: [
            'use `compilerParams: new pltriton.CompilerParams()` (alone or in a list) for ROCm',
            'unset useMosaicGpu, TILEWRIGHT_USE_MOSAIC_GPU and --backend',
            `or compile for a CUDA target: ${mosaicTargets.join(', ')}`,
          ].join('; '),
        },
      ),
    ]);
  if (!mosaicTargets.includes(target.name))
    throw new CompileError([
      backendCodes.wrongTarget(
        { backend: 'mosaic_gpu', target: target.name },
        { loc: loc ?? kernel.loc, help: `it compiles for ${mosaicTargets.join(', ')}; triton compiles for every GPU` },
      ),
    ]);
}
