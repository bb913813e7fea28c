/** What a compiled kernel takes of a GPU, against what there is. */

import type { GpuTarget } from './gpu-target.js';

/** Of one program, in the target's own units; what no stage has told is absent. */
export interface Resources {
  readonly threads?: number;
  readonly sharedBytes?: number;
  /** Per thread; on AMD vector registers. */
  readonly registers?: number;
  readonly scalarRegisters?: number;
  /** Bytes (NVIDIA) or registers (AMD) that found no register. */
  readonly spills?: number;
  /** Bytes of local memory of a thread: arrays, and what was spilled. */
  readonly stackBytes?: number;
  readonly tensorColumns?: number;
}

/** One buffer in shared memory, as the compiler allocates it. */
export interface SharedBuffer {
  /** `3 x 128 x 64 x f16` */
  readonly shape: string;
  readonly bytes: number;
  /** Where in the user's file. */
  readonly place?: { readonly file: string; readonly line: number; readonly col: number };
}

/** One resource of which a kernel takes more than a program can have. */
export interface Excess {
  readonly resource: 'sharedBytes' | 'threads' | 'tensorColumns' | 'registers';
  readonly used: number;
  readonly limit: number;
}

/** What does not fit; empty for a kernel that can be launched. */
export function excesses(
  { threads, sharedBytes, tensorColumns, registers }: Resources,
  { limits }: GpuTarget,
): Excess[] {
  const found: Excess[] = [];
  const check = (resource: Excess['resource'], used: number | undefined, limit: number): void => {
    if (used !== undefined && used > limit) found.push({ resource, used, limit });
  };
  check('sharedBytes', sharedBytes, limits.sharedBytes);
  check('threads', threads, limits.threads);
  check('tensorColumns', tensorColumns, limits.tensorColumns);
  if (limits.registersPerProgram !== undefined && threads !== undefined)
    check('registers', registers, Math.floor(limits.registersPerProgram / threads));
  return found;
}

/** How many programs one multiprocessor (compute unit) runs at once, and what keeps it from running more. */
export interface Occupancy {
  readonly programs: number;
  readonly limitedBy: 'registers' | 'shared memory' | 'threads' | 'programs';
}

export function occupancy(
  { threads, sharedBytes = 0, registers }: Resources,
  { unit }: GpuTarget,
): Occupancy | undefined {
  if (threads === undefined) return undefined;
  const { registerPortion: portion } = unit;
  const perThread = registers === undefined ? 0 : Math.ceil(registers / portion) * portion;
  const shared = sharedBytes + unit.reservedBytes;
  const most: readonly (readonly [Occupancy['limitedBy'], number])[] = [
    ['registers', perThread === 0 ? unit.programs : Math.floor(unit.registers / (perThread * threads))],
    ['shared memory', sharedBytes === 0 ? unit.programs : Math.floor(unit.sharedBytes / shared)],
    ['threads', Math.floor(unit.threads / threads)],
    ['programs', unit.programs],
  ];
  const programs = Math.min(...most.map(([, n]) => n));
  return { programs, limitedBy: most.find(([, n]) => n === programs)![0] };
}

/** `96 KiB`, `1.5 KiB`, `384 B`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const kib = bytes / 1024;
  return `${Number.isInteger(kib) ? kib : kib.toFixed(1)} KiB`;
}

/** One line of what a kernel takes: `104 registers, no spills, 96 KiB shared memory, 256 threads, 2 programs per SM (registers)`. */
export function describeResources(resources: Resources, target: GpuTarget): string {
  const { registers, spills, sharedBytes, threads, tensorColumns } = resources;
  const at = occupancy(resources, target);
  const spilled =
    target.vendor === 'nvidia' ? formatBytes(spills ?? 0) : `${spills} register${spills === 1 ? '' : 's'}`;
  return [
    ...(registers === undefined ? [] : [`${registers} registers`]),
    ...(spills === undefined ? [] : [spills === 0 ? 'no spills' : `${spilled} spilled`]),
    ...(sharedBytes === undefined ? [] : [`${formatBytes(sharedBytes)} shared memory`]),
    ...(tensorColumns ? [`${tensorColumns} columns of tensor memory`] : []),
    ...(threads === undefined ? [] : [`${threads} threads`]),
    ...(at === undefined
      ? []
      : [`${at.programs} program${at.programs === 1 ? '' : 's'} per ${target.unit.name} (${at.limitedBy})`]),
  ].join(', ');
}
