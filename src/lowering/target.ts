/** Targets: what code is generated for. */

import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { nearest } from '../diagnostics/nearest.js';
import type { VectorUnit } from './cpu/vector-unit.js';

export interface CpuTarget {
  readonly kind: 'cpu';
  /** As it is written: `cpu`, `cpu:native`. */
  readonly name: string;
  /** LLVM's name of the processor. */
  readonly cpu: string;
  readonly unit: VectorUnit;
}

export interface GpuTarget {
  readonly kind: 'gpu';
  readonly name: string;
  readonly vendor: 'nvidia' | 'amd';
}

export type Target = CpuTarget | GpuTarget;

/** AVX2: what `x86-64-v3` promises. */
const avx2: VectorUnit = { bytes: 32, registers: 16, scalef: false };
const avx512: VectorUnit = { bytes: 64, registers: 32, scalef: true };
const sse: VectorUnit = { bytes: 16, registers: 16, scalef: false };

const nvidia = ['sm_80', 'sm_86', 'sm_89', 'sm_90a', 'sm_100a', 'sm_120a', 'sm_121a'] as const;
const amd = ['gfx90a', 'gfx942', 'gfx950', 'gfx1100', 'gfx1201'] as const;
/** Every target by its own name. */
export const targetNames: readonly string[] = ['cpu', 'cpu:native', ...nvidia, ...amd];

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
  if ((nvidia as readonly string[]).includes(name)) return { kind: 'gpu', name, vendor: 'nvidia' };
  if ((amd as readonly string[]).includes(name)) return { kind: 'gpu', name, vendor: 'amd' };
  const near = nearest(name, targetNames);
  throw new CompileError([
    loweringCodes.unknownTarget(
      { target: text, known: targetNames.join(', ') },
      near === undefined ? {} : { help: `did you mean '${near}'?` },
    ),
  ]);
}

/** The CPU target, or the word that a GPU has no back end yet. */
export function asCpuTarget(target: Target): CpuTarget {
  if (target.kind === 'cpu') return target;
  throw new CompileError([
    loweringCodes.noBackend({ target: target.name }, { help: 'targets cpu and interpret run every kernel' }),
  ]);
}
