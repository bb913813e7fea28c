/** From a kernel to images for GPUs by Mosaic GPU: gates, lowering, the worker and the tools, cache, limits, plan. */

import { basename } from 'node:path';
import { CompileError, InternalError, invariant } from '../diagnostics/diagnostic.js';
import { assetPath } from '../drivers/assets.js';
import type { Entry } from '../drivers/cache.js';
import { readInput } from '../drivers/files.js';
import { keyOf, sha256 } from '../drivers/fingerprint.js';
import type { ForkServer } from '../drivers/fork-server.js';
import {
  archOf,
  assemblerStage,
  buildMosaic,
  type MosaicBuild,
  type MosaicJob,
  type MosaicStage,
  mosaicStages,
} from '../drivers/mosaic/stages.js';
import { mosaicScripts, mosaicWorker, withMosaicWorker } from '../drivers/mosaic/worker.js';
import { findPtxas } from '../drivers/ptxas.js';
import type { StageRecord } from '../drivers/stages.js';
import { findTool } from '../drivers/tool.js';
import { notInstalled, setFolder, setTool } from '../drivers/toolchain.js';
import type * as ir from '../ir/kernel.js';
import { runPasses } from '../ir/pass.js';
import { loweringPipeline } from '../ir/passes/index.js';
import { printKernel } from '../ir/printer.js';
import { illegalInLowered } from '../ir/stage.js';
import type { DevicePlan } from '../lowering/device-plan.js';
import { missingDTypes } from '../lowering/dtype-gate.js';
import type { GpuTarget, NvidiaTarget } from '../lowering/gpu-target.js';
import { formatLaunchPlan, makeLaunchPlan } from '../lowering/launch-plan.js';
import { mosaicGates } from '../lowering/mosaic-gpu/gate.js';
import { lowerToMosaic, type MosaicLaunch } from '../lowering/mosaic-gpu/index.js';
import { planMosaicLaunch } from '../lowering/mosaic-gpu/plan.js';
import { type Compiled, type CompileOptions, openCache, type Resumed } from './compilation.js';
import { type AnyKernel, type KernelSource, sourceOf, withDisplayLocations } from './source.js';
import { spillWarnings } from './triton-limits.js';

const ownStages: readonly string[] = ['kir', 'lowered.kir', 'plan.json'];

/** Stages of Mosaic GPU in order; each is the extension of what it makes. */
export const mosaicStageNames: readonly string[] = ['kir', 'lowered.kir', ...mosaicStages, 'plan.json'];

export interface MosaicLowered {
  readonly source: KernelSource;
  readonly lowered: ir.Kernel;
  readonly launches: readonly MosaicLaunch[];
}

/** Everything that needs no tool: gates, passes, lowered to text. */
export function lowerForMosaic(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  { hooks = {} }: Pick<CompileOptions, 'hooks'> = {},
): MosaicLowered {
  const source = sourceOf(kernel, target.name);
  const gates = mosaicGates(source.kernel);
  if (gates.length > 0) throw new CompileError(gates);
  const lowered = runPasses(source.kernel, loweringPipeline, hooks);
  const problems = [...illegalInLowered(lowered), ...missingDTypes(lowered, target)];
  if (problems.length > 0) throw new CompileError(problems);
  return { source, lowered, launches: lowerToMosaic(lowered, target) };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

type Built = Pick<MosaicBuild, 'artifacts' | 'resources' | 'metadata'> & {
  readonly records: readonly StageRecord[];
  readonly cached: boolean;
};

const reportName = 'report.json';

/** The artifacts of a job: from the cache where it has them, else made by the worker and the tools. */
async function buildCached(worker: ForkServer, job: MosaicJob, options: CompileOptions): Promise<Built> {
  const scripts = await Promise.all(mosaicScripts.map((s) => readInput(assetPath(s))));
  const mlir = await findTool('mlir-opt', options.tools);
  const assembler = job.wanted.includes('cubin') ? await findPtxas(job.target, options.tools) : undefined;
  const python = options.pythons?.mosaic;
  const key = keyOf({
    layout: 'mosaic-1',
    input: job.input,
    from: job.from,
    wanted: [...job.wanted].sort().join(','),
    target: job.target.name,
    lineInfo: String(job.lineInfo),
    flags: JSON.stringify(job.toolFlags ?? {}),
    mlir: mlir.version,
    assembler: assembler?.version ?? '',
    jax: python === undefined ? basename(await setFolder('mosaic')) : `${python} ${(await worker.about()).version}`,
    scripts: scripts.map(sha256).join(' '),
  });
  const cache = openCache(options);
  const known = await cache?.get(key);
  if (known) return { ...fromEntry(known), records: [], cached: true };
  const build = await buildMosaic(worker, job, {
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const { resources, metadata } = build;
  const wanted = job.wanted.map((s) => [s, build.artifacts.get(s)!] as const);
  await cache?.put(
    key,
    new Map<string, Uint8Array>([...wanted, [reportName, utf8(JSON.stringify({ resources, metadata }))]]),
  );
  return { ...build, artifacts: new Map(wanted), cached: false };
}

function fromEntry(entry: Entry): Pick<Built, 'artifacts' | 'resources' | 'metadata'> {
  const report = JSON.parse(Buffer.from(entry.get(reportName)!).toString('utf8')) as Pick<
    Built,
    'resources' | 'metadata'
  >;
  const artifacts = new Map([...entry].filter(([name]) => name !== reportName)) as ReadonlyMap<MosaicStage, Uint8Array>;
  return { ...report, artifacts };
}

/** Runs `work` with the worker of a call: the one it was given, or one of its own, which starts with its first job. */
export const withMosaicWorkerOf = <T>(options: CompileOptions, work: (worker: ForkServer) => Promise<T>): Promise<T> =>
  options.mosaicWorker ? work(options.mosaicWorker) : withMosaicWorker({ python: options.pythons?.mosaic }, work);

const asNvidia = (target: GpuTarget): NvidiaTarget => {
  if (target.vendor === 'nvidia') return target;
  throw new InternalError('Mosaic GPU compiles for NVIDIA');
};

/**
 * Compiles a kernel by Mosaic GPU.
 *
 * @throws CompileError: the kernel is wrong, or is none that this back end takes. ToolError: a tool is missing or failed.
 */
export async function compileMosaic(
  kernel: AnyKernel | KernelSource,
  gpu: GpuTarget,
  options: CompileOptions,
): Promise<Compiled> {
  const target = asNvidia(gpu);
  const emit = options.emit ?? ['cubin', 'plan.json'];
  return withDisplayLocations(kernel.folder, async () => {
    const { source, lowered, launches } = lowerForMosaic(kernel, target, options);
    const stages = mosaicStages.filter((s) => emit.includes(s));
    // The plan tells what only the lowering knows, and names the image.
    const wanted = emit.includes('plan.json') ? [...new Set([...stages, 'cubin' as const])] : stages;
    const needsTools = wanted.some((s) => s !== 'mgpu.mlir');
    const jobs = launches.map((l) => jobOf('mgpu.mlir', utf8(l.text), wanted, target, options));
    const built = needsTools
      ? await withMosaicWorkerOf(options, (worker) => Promise.all(jobs.map((job) => buildCached(worker, job, options))))
      : [];
    const plans: DevicePlan[] = emit.includes('plan.json') ? built.map((b, i) => planOf(launches[i]!, b, target)) : [];
    const symbols = launches.map((l) => l.symbol);
    const entries = symbols.map((symbol, i) => built[i]?.metadata?.symbol ?? symbol);
    const plan = makeLaunchPlan(lowered, target.name, entries, [], plans);
    const artifacts = new Map<string, Uint8Array>();
    const own: Readonly<Record<string, () => string>> = {
      kir: () => printKernel(source.kernel),
      'lowered.kir': () => printKernel(lowered),
      'plan.json': () => formatLaunchPlan(plan),
    };
    for (const stage of emit)
      if (ownStages.includes(stage)) artifacts.set(stage, utf8(own[stage]!()));
      else
        launches.forEach(({ symbol, text }, i) => {
          const bytes = stage === 'mgpu.mlir' ? utf8(text) : built[i]!.artifacts.get(stage as MosaicStage)!;
          artifacts.set(launches.length === 1 ? stage : `${symbol}.${stage}`, bytes);
        });
    return {
      target: target.name,
      kernel: source.kernel,
      lowered,
      plan,
      artifacts,
      records: built.flatMap((b) => b.records),
      cached: built.length > 0 && built.every((b) => b.cached),
      warnings: [...source.warnings, ...built.flatMap((b, i) => spillWarnings(b, lowered.launches[i]!, target))],
      launches: symbols.map((name, i) => ({ name, options: {}, resources: built[i]?.resources ?? {} })),
    };
  });
}

function jobOf(
  from: MosaicStage,
  input: Uint8Array,
  wanted: readonly MosaicStage[],
  target: NvidiaTarget,
  { lineInfo = true, toolFlags }: CompileOptions,
): MosaicJob {
  return { from, input, wanted, target, lineInfo, ...(toolFlags ? { toolFlags } : {}) };
}

function planOf(launch: MosaicLaunch, { artifacts, metadata }: Built, target: NvidiaTarget): DevicePlan {
  invariant(metadata, 'the lowering told nothing of its kernel');
  const image = artifacts.get('cubin')!;
  const described = { stage: 'cubin', architecture: target.name, bytes: image.length, sha256: sha256(image) };
  return planMosaicLaunch(launch, metadata, described);
}

/** Goes on from a stage that `--emit` wrote. */
export async function resumeMosaic(
  file: string,
  stage: MosaicStage,
  wanted: readonly string[],
  gpu: GpuTarget,
  options: CompileOptions,
): Promise<Resumed> {
  const target = asNvidia(gpu);
  const stages = mosaicStages.filter((s) => wanted.includes(s));
  const job = jobOf(stage, await readInput(file), stages, target, options);
  const { artifacts, records, cached, resources } = await withMosaicWorkerOf(options, (w) =>
    buildCached(w, job, options),
  );
  return { artifacts, records, cached, launches: [{ name: basename(file, `.${stage}`), options: {}, resources }] };
}

/**
 * The commands of a build, on files `kernel.STAGE` that `--emit=mgpu.mlir -o kernel.mgpu.mlir` begins; nothing is run. What
 * leads from the lowered module to PTX is patched between its passes, so the program itself stands for it.
 */
export async function mosaicToolCommands(
  kernel: AnyKernel | KernelSource,
  gpu: GpuTarget,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> {
  const target = asNvidia(gpu);
  const { launches } = lowerForMosaic(kernel, target, options);
  const last = Math.max(
    ...[...emit, ...(emit.includes('plan.json') ? ['cubin'] : [])].map((s) => mosaicStages.indexOf(s as MosaicStage)),
  );
  const python = options.pythons?.mosaic ?? (await setTool('python', ['mosaic']));
  if (python === undefined) throw notInstalled('mosaic');
  const request = JSON.stringify({ folder: '.', arch: archOf(target) });
  const assembler = await findPtxas(target, options.tools);
  const { args } = assemblerStage(assembler, jobOf('ptx', new Uint8Array(), ['cubin'], target, options));
  const steps = [
    [python, '-I', assetPath(mosaicWorker.script), '--job', request],
    ['tilewright', 'build', 'kernel.nvvm.mlir', '--target', target.name, '--emit=ptx', '-o', 'kernel.ptx'],
    [assembler.path, ...args('kernel.ptx', 'kernel.cubin')],
  ];
  return launches.flatMap(() => steps.slice(0, Math.max(0, last)));
}
