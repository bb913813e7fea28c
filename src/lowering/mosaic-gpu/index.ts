/** Lowering of the kernel IR to the text of Mosaic GPU. */

import { loweringCodes } from '../../diagnostics/codes/lowering.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Kernel } from '../../ir/kernel.js';
import type { DeviceLaunch } from '../device-launch.js';
import type { GpuTarget } from '../gpu-target.js';

/** One module for each launch. */
export function lowerToMosaic(kernel: Kernel, target: GpuTarget): readonly DeviceLaunch[] {
  throw new CompileError([
    loweringCodes.unsupported(
      { what: `kernel '${kernel.name}' with mosaic_gpu`, target: target.name },
      { loc: kernel.loc, help: 'the Triton back end compiles for this target too' },
    ),
  ]);
}
