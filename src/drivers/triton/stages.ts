/** From Triton IR to a cubin or hsaco: the stages, and running them. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InternalError, invariant } from '../../diagnostics/diagnostic.js';
import { compiledSlots, type Slot } from '../../lowering/device-plan.js';
import type { GpuTarget } from '../../lowering/gpu-target.js';
import type { Resources, SharedBuffer } from '../../lowering/resource-bill.js';
import { assetPath } from '../assets.js';
import { sha256 } from '../fingerprint.js';
import type { ForkServer, JobOptions } from '../fork-server.js';
import { cubinStage, findPtxas, ptxVersion } from '../ptxas.js';
import { toolError } from '../run.js';
import { runStage, type StageRecord } from '../stages.js';
import type { Tool, ToolName, ToolPaths } from '../tool.js';
import { withWorkspace } from '../workspace.js';
import { assemblerError, jobError } from './failure.js';
import type { TritonOptions } from './options.js';
import { amdgcnResources, ptxasResources, sharedBuffers } from './resources.js';
import { tritonWorker } from './worker.js';

const stagesByVendor = {
  nvidia: ['ttir', 'ttgir', 'llir', 'ptx', 'cubin'],
  amd: ['ttir', 'ttgir', 'llir', 'amdgcn', 'hsaco'],
} as const;

export type TritonStage = (typeof stagesByVendor)[GpuTarget['vendor']][number];

/** The stages of a target in order; each is the extension of what it makes. `ttir` is what lowering writes. */
export const tritonStages = ({ vendor }: Pick<GpuTarget, 'vendor'>): readonly TritonStage[] => stagesByVendor[vendor];

/** The last stage: what is loaded onto the device. */
export const imageStage = (target: Pick<GpuTarget, 'vendor'>): TritonStage => tritonStages(target).at(-1)!;

/** A tensor map that the host makes for a descriptor: as the compiled kernel wants it, which may differ from the IR. */
export interface TensorDescriptor {
  readonly swizzle?: number;
  readonly elem_size?: number;
  readonly elem_type?: number;
  readonly block_size?: readonly number[];
  readonly fp4_padded?: boolean;
}

/** What a launch must know and only the compiler can tell, as far as the stages that ran have found it out. */
export interface TritonMetadata {
  readonly name?: string;
  readonly shared?: number;
  /** May differ from the option: specialised warps are added to it. */
  readonly num_warps?: number;
  readonly num_ctas?: number;
  readonly global_scratch_size?: number;
  readonly global_scratch_align?: number;
  readonly profile_scratch_size?: number;
  readonly profile_scratch_align?: number;
  readonly tmem_size?: number;
  readonly tensordesc_meta?: readonly TensorDescriptor[];
}

/** What was found out about a kernel on the way. */
export interface TritonReport {
  readonly metadata: TritonMetadata;
  readonly resources: Resources;
  /** Shared memory by buffer, largest first. */
  readonly buffers: readonly SharedBuffer[];
  /** Parameters of the compiled function; absent where no text tells them. */
  readonly slots?: readonly Slot[];
}

export interface TritonJob {
  readonly from: TritonStage;
  readonly input: Uint8Array;
  readonly wanted: readonly TritonStage[];
  readonly target: GpuTarget;
  readonly options: TritonOptions;
  readonly lineInfo: boolean;
  /** Name for messages and for what is kept of a failure. */
  readonly name: string;
  readonly ptxasFlags?: readonly string[];
}

export interface TritonBuild {
  readonly artifacts: ReadonlyMap<TritonStage, Uint8Array>;
  readonly records: readonly StageRecord[];
  readonly report: TritonReport;
}

export interface TritonBuildOptions extends JobOptions {
  readonly tools?: ToolPaths;
}

/** The assembler that a job ends with, and whose release its PTX is written for. */
export async function assemblerOf({ target }: Pick<TritonJob, 'target'>, tools?: ToolPaths): Promise<Tool | undefined> {
  return target.vendor === 'nvidia' ? findPtxas(target, tools) : undefined;
}

interface WorkerAnswer {
  readonly metadata: TritonMetadata;
  readonly stagesMs: Readonly<Record<string, number>>;
}

/**
 * Runs the stages from `from` to the last of `wanted`.
 *
 * @throws ToolError: Triton or the assembler is missing, of the wrong version, failed, crashed, hung or was cancelled.
 */
export async function buildTriton(
  worker: ForkServer,
  job: TritonJob,
  { tools, ...limits }: TritonBuildOptions = {},
): Promise<TritonBuild> {
  const order = tritonStages(job.target);
  const last = Math.max(...job.wanted.map((s) => order.indexOf(s)));
  const first = order.indexOf(job.from);
  invariant(first >= 0 && last >= 0, `stages of ${job.target.name}: ${job.from} to ${job.wanted.join(', ')}`);
  const assembler = await assemblerOf(job, tools);
  return withWorkspace(async (folder) => {
    const path = (stage: string): string => join(folder, `kernel.${stage}`);
    await writeFile(path(job.from), job.input);
    // The assembler of NVIDIA is a program of its own; everything else is in the worker.
    const until = order[Math.min(last, assembler ? order.indexOf('ptx') : order.length)]!;
    const made: TritonStage[] = order.slice(first + 1, order.indexOf(until) + 1);
    const artifacts = new Map<TritonStage, Uint8Array>([[job.from, job.input]]);
    const records: StageRecord[] = [];
    let metadata: TritonMetadata = {};
    if (made.length > 0) {
      const request = workerRequest(job, until, folder, assembler);
      const reply = await worker.run<WorkerAnswer>(request, limits);
      if (!reply.ok) throw await jobError(reply, job, reply.stage);
      metadata = reply.metadata;
      const { version } = await worker.about();
      for (const [i, stage] of made.entries()) {
        const bytes = await readFile(path(stage));
        const before = artifacts.get(i === 0 ? job.from : made[i - 1]!)!;
        artifacts.set(stage, bytes);
        records.push({
          stage,
          tool: 'triton',
          version,
          argv: ['triton', stage, job.target.name, ...Object.entries(job.options).map(([k, v]) => `${k}=${v}`)],
          milliseconds: reply.stagesMs[stage] ?? 0,
          sha256In: sha256(before),
          sha256Out: sha256(bytes),
        });
      }
    }
    let assembled: Resources = {};
    if (assembler && order[last] === 'cubin' && job.from !== 'cubin') {
      const { record, bytes, printed } = await assemble(assembler, job, artifacts.get('ptx')!, path, limits);
      artifacts.set('cubin', bytes);
      records.push(record);
      assembled = ptxasResources(printed);
    }
    return { artifacts, records, report: makeReport(job, artifacts, metadata, assembled) };
  });
}

/** What the worker is asked: stages from the job's first, read in `folder`, to `until`. */
export function workerRequest(
  { from, target, options, lineInfo }: Omit<TritonJob, 'input'>,
  until: TritonStage,
  folder: string,
  assembler: Tool | undefined,
): Readonly<Record<string, unknown>> {
  const nvidia = target.vendor === 'nvidia';
  return {
    folder,
    from,
    until,
    backend: nvidia ? 'cuda' : 'hip',
    arch: nvidia ? target.capability : target.name,
    warpSize: target.warpSize,
    options: { ...options, ...(assembler ? { ptx_version: ptxVersion(assembler.version) } : {}) },
    lineInfo,
  };
}

/** The command line of the assembler for a job. */
function assemblerStage(tool: Tool, { target, options, lineInfo, ptxasFlags }: Omit<TritonJob, 'input'>) {
  if (target.vendor !== 'nvidia') throw new InternalError(`no assembler for ${target.name}`);
  return cubinStage(tool.name as ToolName, {
    target,
    lineInfo,
    fpFusion: options.enable_fp_fusion === true,
    ...(ptxasFlags ? { extra: ptxasFlags } : {}),
  });
}

/** The commands that a job runs, on files `kernel.STAGE` of the current folder. */
export async function tritonCommands(
  job: Omit<TritonJob, 'input'>,
  python: string,
  tools?: ToolPaths,
): Promise<string[][]> {
  const order = tritonStages(job.target);
  const last = Math.max(...job.wanted.map((s) => order.indexOf(s)));
  const assembler = await assemblerOf(job, tools);
  const until = order[Math.min(last, assembler ? order.indexOf('ptx') : order.length)]!;
  const request = workerRequest(job, until, '.', assembler);
  const commands = [[python, '-I', assetPath(tritonWorker.script), '--job', JSON.stringify(request)]];
  if (assembler && order[last] === 'cubin')
    commands.push([assembler.path, ...assemblerStage(assembler, job).args('kernel.ptx', 'kernel.cubin')]);
  return commands;
}

async function assemble(
  tool: Tool,
  job: TritonJob,
  ptx: Uint8Array,
  path: (stage: string) => string,
  { timeout, signal }: JobOptions,
): ReturnType<typeof runStage> {
  const stage = assemblerStage(tool, job);
  const folder = path('').slice(0, -'/kernel.'.length);
  try {
    return await runStage(stage, tool, { path: path('ptx'), bytes: ptx }, path('cubin'), readFile, {
      ...(timeout === undefined ? {} : { timeout }),
      ...(signal ? { signal } : {}),
      explain: (outcome) =>
        toolError({
          ...outcome,
          stderr: outcome.stderr.replaceAll(`${folder}/`, ''),
          argv: outcome.argv.map((a) => a.replaceAll(`${folder}/`, '')),
        }),
    });
  } catch (error) {
    throw await assemblerError(error, job, ptx);
  }
}

function makeReport(
  { options, target }: TritonJob,
  artifacts: TritonBuild['artifacts'],
  metadata: TritonMetadata,
  assembled: Resources,
): TritonReport {
  const text = (stage: TritonStage): string => Buffer.from(artifacts.get(stage) ?? []).toString('utf8');
  const known = artifacts.has('amdgcn') ? amdgcnResources(text('amdgcn')) : assembled;
  const assembly = (['ptx', 'amdgcn'] as const).find((s) => artifacts.has(s));
  const warps = metadata.num_warps ?? options.num_warps;
  return {
    metadata,
    resources: {
      ...(typeof warps === 'number' ? { threads: warps * target.warpSize } : {}),
      ...(metadata.shared === undefined ? {} : { sharedBytes: metadata.shared }),
      ...(metadata.tmem_size === undefined ? {} : { tensorColumns: metadata.tmem_size }),
      ...known,
    },
    ...(assembly ? { slots: compiledSlots(text(assembly), target) } : {}),
    buffers: artifacts.has('ttgir') ? sharedBuffers(text('ttgir')) : [],
  };
}
