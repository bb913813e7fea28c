/** GPU targets: what each can do and how much of it there is, as the vendors publish it. */

import { didYouMean } from '../diagnostics/nearest.js';

/** What one program may use at most; more cannot be launched. */
export interface GpuLimits {
  /** Bytes of shared memory (LDS) of one program. */
  readonly sharedBytes: number;
  /** Registers of one thread (VGPRs and AGPRs of one lane on AMD). */
  readonly registersPerThread: number;
  /** Registers of all threads of one program together; on AMD only the count per lane matters. */
  readonly registersPerProgram?: number;
  readonly threads: number;
  /** Columns of tensor memory. */
  readonly tensorColumns: number;
  /** Programs of one cluster. */
  readonly clusterPrograms: number;
}

/** What the programs that run on one multiprocessor (AMD: compute unit, or two of them that work together) share. */
export interface GpuUnit {
  /** As the vendor calls it. */
  readonly name: 'SM' | 'CU' | 'WGP';
  readonly sharedBytes: number;
  /** Taken from it by each program besides its own. */
  readonly reservedBytes: number;
  readonly threads: number;
  readonly programs: number;
  /** Registers of all its threads, and in which portions a thread gets them. */
  readonly registers: number;
  readonly registerPortion: number;
}

interface GpuFacts {
  readonly name: string;
  readonly warpSize: 32 | 64;
  readonly limits: GpuLimits;
  readonly unit: GpuUnit;
  /** fp8 dtypes that the compiler has conversions for. */
  readonly fp8: readonly string[];
}

export interface NvidiaTarget extends GpuFacts {
  readonly kind: 'gpu';
  readonly vendor: 'nvidia';
  /** Compute capability as one number: 90. */
  readonly capability: number;
  /** Whether loads and stores of whole blocks go through descriptors. */
  readonly tma: boolean;
}

export interface AmdTarget extends GpuFacts {
  readonly kind: 'gpu';
  readonly vendor: 'amd';
  readonly family: 'cdna2' | 'cdna3' | 'cdna4' | 'rdna3' | 'rdna4';
}

export type GpuTarget = NvidiaTarget | AmdTarget;

const kib = 1024;

function nvidia(
  capability: number,
  sharedKib: number,
  unit: Pick<GpuUnit, 'threads' | 'programs'>,
  more: Partial<GpuLimits> = {},
): NvidiaTarget {
  return {
    kind: 'gpu',
    vendor: 'nvidia',
    // From sm_90 on only the `a` variant has the instructions that kernels are written for.
    name: `sm_${capability}${capability >= 90 ? 'a' : ''}`,
    capability,
    tma: capability >= 90,
    warpSize: 32,
    fp8: capability >= 89 ? ['f8e5m2', 'f8e4m3fn'] : ['f8e5m2'],
    limits: {
      sharedBytes: sharedKib * kib,
      registersPerThread: 255,
      registersPerProgram: 65_536,
      threads: 1024,
      tensorColumns: 0,
      clusterPrograms: 1,
      ...more,
    },
    unit: {
      name: 'SM',
      ...unit,
      sharedBytes: (sharedKib + 1) * kib,
      reservedBytes: kib,
      registers: 65_536,
      registerPortion: 8,
    },
  };
}

function amd(name: string, family: AmdTarget['family'], sharedKib: number): AmdTarget {
  const wide = family.startsWith('cdna');
  return {
    kind: 'gpu',
    vendor: 'amd',
    name,
    family,
    warpSize: wide ? 64 : 32,
    fp8: ['f8e5m2', 'f8e4m3fn', 'f8e5m2fnuz', 'f8e4m3fnuz'],
    limits: {
      sharedBytes: sharedKib * kib,
      registersPerThread: wide ? 512 : 256,
      threads: 1024,
      tensorColumns: 0,
      clusterPrograms: 1,
    },
    // Four units of 512 registers by 64 lanes, or of 1536 by 32.
    unit: {
      name: wide ? 'CU' : 'WGP',
      sharedBytes: (wide ? 1 : 2) * sharedKib * kib,
      reservedBytes: 0,
      threads: wide ? 4 * 8 * 64 : 4 * 16 * 32,
      programs: 32,
      registers: wide ? 4 * 512 * 64 : 4 * 1536 * 32,
      registerPortion: wide ? 8 : 24,
    },
  };
}

const large = { threads: 2048, programs: 32 };
const small = { threads: 1536, programs: 24 };

export const gpuTargets: readonly GpuTarget[] = [
  nvidia(80, 163, large),
  nvidia(86, 99, { ...small, programs: 16 }),
  nvidia(89, 99, small),
  nvidia(90, 227, large, { clusterPrograms: 16 }),
  nvidia(100, 227, large, { clusterPrograms: 16, tensorColumns: 512 }),
  nvidia(120, 99, small),
  nvidia(121, 99, small),
  amd('gfx90a', 'cdna2', 64),
  amd('gfx942', 'cdna3', 64),
  amd('gfx950', 'cdna4', 160),
  amd('gfx1100', 'rdna3', 64),
  amd('gfx1201', 'rdna4', 64),
];

/** A target by its own name (`sm_90a`), or undefined. */
export const findGpuTarget = (name: string): GpuTarget | undefined => gpuTargets.find((t) => t.name === name);

/** What makes up for an fp8 dtype that a target does not have, as help. */
export function fp8Help(dtype: string, target: GpuTarget): string {
  const others = gpuTargets.filter((t) => t.vendor === target.vendor && t.fp8.includes(dtype)).map((t) => t.name);
  const here = `this target has ${target.fp8.join(', ')}`;
  if (others.length > 0) return `${here}; ${dtype} is there on ${others.join(', ')}`;
  return didYouMean(dtype, target.fp8) ?? here;
}
