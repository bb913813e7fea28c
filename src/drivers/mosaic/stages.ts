/** From the text of Mosaic GPU to a cubin: the stages, and running them. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCodes } from '../../diagnostics/codes/tools.js';
import { invariant, ToolError } from '../../diagnostics/diagnostic.js';
import type { NvidiaTarget } from '../../lowering/gpu-target.js';
import type { Resources } from '../../lowering/resource-bill.js';
import { sha256 } from '../fingerprint.js';
import { type ForkServer, type JobFailed, type JobOptions, signalName } from '../fork-server.js';
import { placedError } from '../mlir-place.js';
import { cubinStage, findPtxas } from '../ptxas.js';
import { causeOf } from '../run.js';
import { runStage, type StageRecord, type ToolStage } from '../stages.js';
import { findTool, type Tool, type ToolName, type ToolPaths } from '../tool.js';
import { notInstalled, setTool } from '../toolchain.js';
import { ptxasResources } from '../triton/resources.js';
import { withWorkspace } from '../workspace.js';
import { needsLibrary, ptxSteps, withoutDialect } from './device-code.js';

/** The stages in order. `mgpu.mlir` is what lowering writes. */
export const mosaicStages = ['mgpu.mlir', 'nvvm.mlir', 'ptx', 'cubin'] as const;
export type MosaicStage = (typeof mosaicStages)[number];

/** A tensor map that the kernel wants: for the array in a slot, in a block of maps. */
export interface TensorMap {
  readonly slot: number;
  readonly offset: number;
  /** As `mosaic_gpu_init_tma_desc` numbers them. */
  readonly elementType: number;
  /** Bytes; 16 for none. */
  readonly swizzle: number;
  /** Outermost first. */
  readonly box: readonly number[];
}

/** What the lowered module says of its kernel. A slot is a place in the host function's block of arguments. */
export interface MosaicMetadata {
  readonly symbol: string;
  readonly threads: number;
  readonly sharedBytes: number;
  readonly cluster: readonly [number, number, number] | null;
  readonly params: readonly (
    | { readonly kind: 'pointer'; readonly slot: number }
    | { readonly kind: 'scalar'; readonly slot: number; readonly type: string }
    | { readonly kind: 'tensorMaps'; readonly bytes: number }
  )[];
  readonly tensorMaps: readonly TensorMap[];
}

export interface MosaicJob {
  readonly from: MosaicStage;
  readonly input: Uint8Array;
  readonly wanted: readonly MosaicStage[];
  readonly target: NvidiaTarget;
  readonly lineInfo: boolean;
  readonly toolFlags?: Readonly<Partial<Record<ToolName, readonly string[]>>>;
}

export interface MosaicBuild {
  readonly artifacts: ReadonlyMap<MosaicStage, Uint8Array>;
  readonly records: readonly StageRecord[];
  /** Absent where the build began behind the lowering. */
  readonly metadata?: MosaicMetadata;
  readonly resources: Resources;
}

export interface MosaicBuildOptions extends JobOptions {
  readonly tools?: ToolPaths;
}

/**
 * Runs the stages from `from` to the last of `wanted`.
 *
 * @throws ToolError: JAX or a tool is missing, of the wrong version, failed, crashed, hung or was cancelled.
 */
export async function buildMosaic(
  worker: ForkServer,
  job: MosaicJob,
  { tools, ...limits }: MosaicBuildOptions = {},
): Promise<MosaicBuild> {
  const last = Math.max(...job.wanted.map((s) => mosaicStages.indexOf(s)));
  const first = mosaicStages.indexOf(job.from);
  invariant(first >= 0 && last >= 0, `stages: ${job.from} to ${job.wanted.join(', ')}`);
  const within = (stage: MosaicStage): boolean =>
    mosaicStages.indexOf(stage) > first && mosaicStages.indexOf(stage) <= last;
  return withWorkspace(async (folder) => {
    const artifacts = new Map<MosaicStage, Uint8Array>([[job.from, job.input]]);
    const records: StageRecord[] = [];
    let metadata: MosaicMetadata | undefined;
    let resources: Resources = {};

    const step = async (stage: ToolStage<ToolName>, input: Uint8Array): Promise<[Uint8Array, string]> => {
      const from = join(folder, `in.${stage.from}`);
      await writeFile(from, input);
      const tool = await findTool(stage.tool, tools);
      const output = join(folder, `out.${stage.stage}`);
      const made = await runStage(stage, tool, { path: from, bytes: input }, output, readFile, limits);
      records.push(made.record);
      return [made.bytes, made.printed];
    };

    if (within('nvvm.mlir')) {
      const made = await lowerByWorker(worker, job, folder, limits);
      artifacts.set('nvvm.mlir', made.bytes);
      records.push(made.record);
      ({ metadata } = made);
      resources = { threads: metadata.threads, sharedBytes: metadata.sharedBytes };
    }
    if (within('ptx')) {
      const steps = ptxSteps(job.target, job.toolFlags);
      const [outlined] = await step(steps.outlined, withoutDialect(artifacts.get('nvvm.mlir')!));
      const [llvm] = await step(steps.llvm, outlined);
      let [ll] = await step(steps.ll, llvm);
      if (needsLibrary(ll)) {
        const library = await setTool('libdevice', ['triton']);
        if (library === undefined) throw notInstalled('triton');
        [ll] = await step(steps.linked(library), ll);
      }
      const [optimized] = await step(steps.optimized, ll);
      const [ptx] = await step(steps.ptx, optimized);
      artifacts.set('ptx', ptx);
    }
    if (within('cubin')) {
      const stage = assemblerStage(await findPtxas(job.target, tools), job);
      const [cubin, printed] = await step(stage, artifacts.get('ptx')!);
      artifacts.set('cubin', cubin);
      resources = { ...resources, ...ptxasResources(printed) };
    }
    return { artifacts, records, resources, ...(metadata ? { metadata } : {}) };
  });
}

/** The command line of the assembler for a job. */
export function assemblerStage(
  { name }: Tool,
  { target, lineInfo, toolFlags }: Pick<MosaicJob, 'target' | 'lineInfo' | 'toolFlags'>,
): ToolStage<ToolName> {
  const extra = toolFlags?.ptxas;
  return cubinStage(name as ToolName, { target, lineInfo, fpFusion: true, ...(extra ? { extra } : {}) });
}

interface WorkerAnswer {
  readonly metadata: MosaicMetadata;
  readonly stagesMs: Readonly<Record<string, number>>;
}

async function lowerByWorker(
  worker: ForkServer,
  { input, target }: MosaicJob,
  folder: string,
  limits: JobOptions,
): Promise<{ bytes: Uint8Array; metadata: MosaicMetadata; record: StageRecord }> {
  await writeFile(join(folder, 'kernel.mgpu.mlir'), input);
  const reply = await worker.run<WorkerAnswer>({ folder, arch: archOf(target) }, limits);
  if (!reply.ok) throw loweringError(reply, input);
  const bytes = await readFile(join(folder, 'kernel.nvvm.mlir'));
  const { version } = await worker.about();
  const milliseconds = Object.values(reply.stagesMs).reduce((a, b) => a + b, 0);
  return {
    bytes,
    metadata: reply.metadata,
    record: {
      stage: 'nvvm.mlir',
      tool: 'mosaic',
      version,
      argv: ['mosaic', 'nvvm.mlir', target.name],
      milliseconds,
      sha256In: sha256(input),
      sha256Out: sha256(bytes),
    },
  };
}

/** `[9, 0]` for sm_90a. */
export const archOf = ({ capability }: NvidiaTarget): readonly [number, number] => [
  Math.floor(capability / 10),
  capability % 10,
];

/** The error of a module that was not lowered, at the user's line where an operation is named. */
export function loweringError({ failure, stage, error, signal, log }: JobFailed, input: Uint8Array): ToolError {
  const placed = placedError(log, input);
  const cause = placed?.cause ?? (causeOf(log) || error);
  const context = placed?.loc ? { loc: placed.loc } : {};
  const tool = 'mosaic';
  switch (failure) {
    case 'timeout':
      return new ToolError([
        toolCodes.compilerTimedOut({ tool, stage, seconds: Number(/[\d.]+/.exec(error)?.[0]) }, context),
      ]);
    case 'crash':
      return new ToolError([
        toolCodes.compilerCrashed({ tool, stage, how: `crashed with ${signalName(signal)}`, cause: '' }, context),
      ]);
    case 'cancelled':
      return new ToolError([toolCodes.toolFailed({ tool, how: 'was cancelled', cause: '' })]);
    default:
      return new ToolError([toolCodes.toolFailed({ tool, how: `failed in stage '${stage}'`, cause }, context)]);
  }
}
