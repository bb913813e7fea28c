/** A kernel that takes more than its target has: the error with the bill, and the nearest setting that fits. */

import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError, type Diagnostic, type DiagnosticNote, ToolError } from '../diagnostics/diagnostic.js';
import { fileLoc, type Loc } from '../diagnostics/location.js';
import type { ForkServer } from '../drivers/fork-server.js';
import type { OptionValue } from '../drivers/triton/options.js';
import { buildTriton, type TritonJob, type TritonReport } from '../drivers/triton/stages.js';
import { Kernel } from '../frontend/kernel.js';
import type * as ir from '../ir/kernel.js';
import type { GpuTarget } from '../lowering/gpu-target.js';
import { type Excess, excesses, formatBytes } from '../lowering/resource-bill.js';
import type { AnyKernel, KernelSource } from './source.js';

/** The same kernel with one setting changed, and how the user would change it. */
interface Variant {
  readonly setting: string;
  readonly kernel: AnyKernel | KernelSource;
  readonly options: Readonly<Record<string, OptionValue>>;
}

/** Fewer pipeline stages, one by one; then each tile parameter halved. */
function* variants(kernel: AnyKernel | KernelSource, numStages: number): Generator<Variant> {
  for (let stages = numStages - 1; stages >= 1; stages--)
    yield { setting: `numStages: ${stages}`, kernel, options: { numStages: stages } };
  if (!(kernel instanceof Kernel)) return;
  for (const [name, value] of Object.entries(kernel.values())) {
    if (typeof value !== 'number' || value < 32 || !Number.isInteger(Math.log2(value))) continue;
    yield { setting: `-D ${name}=${value / 2}`, kernel: kernel.with({ [name]: value / 2 }), options: {} };
  }
}

/** Most variants that are compiled for an error message. */
const most = 6;

/**
 * The nearest setting with which a launch fits, as help.
 *
 * @param jobOf lowers a variant to the job of that launch.
 */
export async function nearestFit(
  worker: ForkServer,
  kernel: AnyKernel | KernelSource,
  job: TritonJob,
  jobOf: (variant: Pick<Variant, 'kernel' | 'options'>) => TritonJob,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  let tried = 0;
  for (const variant of variants(kernel, Number(job.options.num_stages))) {
    if (++tried > most) return undefined;
    try {
      const changed = { ...jobOf(variant), wanted: ['llir'] as const };
      const { report } = await buildTriton(worker, changed, signal ? { signal } : {});
      if (excesses(report.resources, job.target).length > 0) continue;
      return `'${variant.setting}' fits, with ${formatBytes(report.resources.sharedBytes ?? 0)} of shared memory`;
    } catch (error) {
      // A variant that does not compile is no way out.
      if (!(error instanceof CompileError || error instanceof ToolError)) throw error;
      if (signal?.aborted) throw error;
    }
  }
  return undefined;
}

const units: Readonly<Record<Excess['resource'], string>> = {
  sharedBytes: 'of shared memory',
  threads: 'threads',
  tensorColumns: 'columns of tensor memory',
  registers: 'registers per thread',
};

/** The error for one resource; for shared memory with the bill by buffer. */
export function limitError(
  { target, name }: TritonJob,
  loc: Loc,
  { resource, used, limit }: Excess,
  { buffers }: TritonReport,
  help?: string,
): Diagnostic {
  const shared = resource === 'sharedBytes';
  const amount = (n: number): string => (shared ? formatBytes(n) : String(n));
  const listed = buffers.slice(0, 8);
  const rest = used - listed.reduce((sum, b) => sum + b.bytes, 0);
  const bill: DiagnosticNote[] = [
    ...listed.map(({ shape, bytes, place }) => ({
      message: `${formatBytes(bytes)}: a buffer of ${shape}`,
      ...(place ? { loc: fileLoc(place.file, place.line, place.col) } : {}),
    })),
    ...(rest > 0 ? [{ message: `${formatBytes(rest)}: exchange between threads, barriers, padding` }] : []),
  ];
  return loweringCodes.overLimit(
    { launch: name, target: target.name, what: units[resource], used: amount(used), limit: amount(limit) },
    {
      loc,
      notes: shared ? bill : [],
      help: help ?? 'smaller tiles, or fewer of them at once, need less',
    },
  );
}

/** Warnings for what found no register. */
export function spillWarnings(
  { resources: { spills, registers } }: Pick<TritonReport, 'resources'>,
  { name, loc }: ir.Launch,
  target: GpuTarget,
): Diagnostic[] {
  if (!spills) return [];
  const spilled = target.vendor === 'nvidia' ? formatBytes(spills) : `${spills} more`;
  return [loweringCodes.spills({ launch: name, target: target.name, spilled, registers: registers ?? 0 }, { loc })];
}
