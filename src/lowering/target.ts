/** Targets: what code is generated for. */

import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { nearest } from '../diagnostics/nearest.js';
import type { VectorUnit } from './cpu/vector-unit.js';
import { findGpuTarget, type GpuTarget, gpuTargets } from './gpu-target.js';

export interface CpuTarget {
  readonly kind: 'cpu';
  /** As it is written: `cpu`, `cpu:native`. */
  readonly name: string;
  /** LLVM's name of the processor. */
  readonly cpu: string;
  readonly unit: VectorUnit;
}

export type Target = CpuTarget | GpuTarget;

/** AVX2: what `x86-64-v3` promises. */
const avx2: VectorUnit = { bytes: 32, registers: 16, scalef: false };
const avx512: VectorUnit = { bytes: 64, registers: 32, scalef: true };
const sse: VectorUnit = { bytes: 16, registers: 16, scalef: false };

/** Every target by its own name. */
export const targetNames: readonly string[] = ['cpu', 'cpu:native', ...gpuTargets.map((t) => t.name)];

/** Triton's spellings and those without `a`. */
function canonicalName(text: string): string {
  const cuda = /^cuda:(\d+)(?::\d+)?$/.exec(text);
  const hip = /^hip:(gfx\w+)(?::\d+)?$/.exec(text);
  const name = cuda ? `sm_${cuda[1]}` : hip ? hip[1]! : text;
  // From sm_90 on only the `a` variant has the instructions that kernels are written for.
  const capability = /^sm_(\d+)$/.exec(name)?.[1];
  return capability !== undefined && Number(capability) >= 90 ? `${name}a` : name;
}

/**
 * Reads a target.
 *
 * @param features of the host's processor, for `cpu:native`.
 * @throws CompileError for a name that is no target, with the nearest one.
 */
export function parseTarget(text: string, features: readonly string[]): Target {
  const name = canonicalName(text);
  if (name === 'cpu') return { kind: 'cpu', name, cpu: 'x86-64-v3', unit: avx2 };
  if (name === 'cpu:native') {
    const unit = ['avx512f', 'avx512vl', 'avx512bw', 'avx512dq'].every((f) => features.includes(f))
      ? avx512
      : features.includes('avx2')
        ? avx2
        : sse;
    return { kind: 'cpu', name, cpu: 'native', unit };
  }
  const gpu = findGpuTarget(name);
  if (gpu) return gpu;
  const near = nearest(name, targetNames);
  throw new CompileError([
    loweringCodes.unknownTarget(
      { target: text, known: targetNames.join(', ') },
      near === undefined ? {} : { help: `did you mean '${near}'?` },
    ),
  ]);
}

/** The CPU target, where nothing else will do. */
export function asCpuTarget(target: Target): CpuTarget {
  if (target.kind === 'cpu') return target;
  throw new CompileError([
    loweringCodes.noBackend({ target: target.name }, { help: 'targets cpu and interpret run every kernel' }),
  ]);
}
