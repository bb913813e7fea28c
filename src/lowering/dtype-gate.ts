/** Dtypes that a GPU cannot compute with, found before any compiler runs. */

import { loweringCodes } from '../diagnostics/codes/lowering.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType } from '../ir/dtypes.js';
import type { Kernel } from '../ir/kernel.js';
import { walk } from '../ir/walk.js';
import { fp8Help, type GpuTarget } from './gpu-target.js';

/** One finding for each fp8 dtype that the target lacks, where it comes in first. */
export function missingDTypes(kernel: Kernel, target: GpuTarget): Diagnostic[] {
  const found = new Map<string, Loc>();
  const see = (dtype: DType, loc: Loc): void => {
    const missing = dtype.cls === 'float' && dtype.bits === 8 && dtype.signed && !target.fp8.includes(dtype.name);
    if (missing && !found.has(dtype.name)) found.set(dtype.name, loc);
  };
  for (const { value, loc } of kernel.params) see(value.type.dtype, loc);
  for (const { body } of kernel.launches)
    walk(body, (op) => {
      for (const { type } of op.results) if ('dtype' in type) see(type.dtype, op.loc);
    });
  return [...found].map(([what, loc]) =>
    loweringCodes.unsupported({ what, target: target.name }, { loc, help: fp8Help(what, target) }),
  );
}
