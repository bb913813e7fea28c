/** From a kernel to images for GPUs by Triton: lowering, the worker's stages, cache, limits, plan. */

import { basename, dirname, resolve } from 'node:path';
import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError, type Diagnostic, invariant } from '../diagnostics/diagnostic.js';
import { unknownLoc } from '../diagnostics/location.js';
import { assetPath } from '../drivers/assets.js';
import type { Entry } from '../drivers/cache.js';
import { readInput } from '../drivers/files.js';
import { keyOf, sha256 } from '../drivers/fingerprint.js';
import type { ForkServer } from '../drivers/fork-server.js';
import type { StageRecord } from '../drivers/stages.js';
import { notInstalled, setFolder, setTool } from '../drivers/toolchain.js';
import { type OptionValue, resolveOptions, type TritonOptions } from '../drivers/triton/options.js';
import { estimateSize, isHuge, warpsFor } from '../drivers/triton/size-estimate.js';
import {
  assemblerOf,
  buildTriton,
  imageStage,
  type TritonBuildOptions,
  type TritonJob,
  type TritonReport,
  type TritonStage,
  tritonCommands,
  tritonStages,
} from '../drivers/triton/stages.js';
import { withTritonWorker, workerScripts } from '../drivers/triton/worker.js';
import type * as ir from '../ir/kernel.js';
import { runPasses } from '../ir/pass.js';
import { loweringPipeline } from '../ir/passes/index.js';
import { printKernel } from '../ir/printer.js';
import { illegalInLowered } from '../ir/stage.js';
import type { DeviceLaunch } from '../lowering/device-launch.js';
import { type CompiledLaunch, type DevicePlan, planDeviceLaunch } from '../lowering/device-plan.js';
import { missingDTypes } from '../lowering/dtype-gate.js';
import type { GpuTarget } from '../lowering/gpu-target.js';
import { formatLaunchPlan, makeLaunchPlan } from '../lowering/launch-plan.js';
import { excesses, type Resources } from '../lowering/resource-bill.js';
import { lowerToTriton } from '../lowering/triton/index.js';
import { type Compiled, type CompileOptions, openCache, type Resumed } from './compilation.js';
import { type AnyKernel, type KernelSource, readKernels, sourceOf, withDisplayLocations } from './source.js';
import { limitError, nearestFit, spillWarnings } from './triton-limits.js';

/** What a build takes of a launch, for reports and for going on from a dump. */
export interface BuiltLaunch {
  /** The launch's symbol. */
  readonly name: string;
  readonly options: TritonOptions;
  readonly resources: Resources;
}

const ownStages = ['kir', 'lowered.kir', 'plan.json'] as const;

/** Stages of a GPU target by Triton, in order; each is the extension of what it makes. */
export const tritonStageNames = (target: GpuTarget): readonly string[] => [
  'kir',
  'lowered.kir',
  ...tritonStages(target),
  'plan.json',
];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Name of a launch's artifact: the stage, and before it the launch where there are several. */
const artifactName = (stage: string, launch: string, launches: number): string =>
  launches === 1 ? stage : `${launch}.${stage}`;

export interface TritonLowered {
  readonly source: KernelSource;
  readonly lowered: ir.Kernel;
  readonly launches: readonly DeviceLaunch[];
  /** Of each launch: every option, as it will be compiled. */
  readonly options: readonly TritonOptions[];
  readonly warnings: readonly Diagnostic[];
}

/** Everything that needs no tool: traced, verified, lowered to Triton IR, with the options that it is compiled with. */
export function lowerForTriton(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  { hooks = {}, backendOptions = {} }: Pick<CompileOptions, 'hooks' | 'backendOptions'> = {},
): TritonLowered {
  const source = sourceOf(kernel, target.name);
  const lowered = runPasses(source.kernel, loweringPipeline, hooks);
  return { source, ...lowerKernelForTriton(lowered, target, backendOptions) };
}

function lowerKernelForTriton(
  lowered: ir.Kernel,
  target: GpuTarget,
  backendOptions: Readonly<Record<string, OptionValue>>,
): Omit<TritonLowered, 'source'> {
  const problems = [...illegalInLowered(lowered), ...missingDTypes(lowered, target)];
  if (problems.length > 0) throw new CompileError(problems);
  const launches = lowerToTriton(lowered, { target, params: backendOptions });
  const options = launches.map((l, i) =>
    resolveOptions(
      { numWarps: warpsFor(l.text, target), ...carried(lowered.launches[i]!), ...l.options, ...backendOptions },
      target,
      lowered.launches[i]!.loc,
    ),
  );
  const warnings = launches.flatMap(({ name, text }, i) => {
    const threads = Number(options[i]!.num_warps) * target.warpSize;
    const estimate = estimateSize(text, threads, target);
    const at = { loc: lowered.launches[i]!.loc };
    return isHuge(estimate) ? [loweringCodes.hugeCode({ launch: name, ...estimate }, at)] : [];
  });
  return { lowered, launches, options, warnings };
}

/** The options that a launch itself has for Triton. */
const carried = ({ backendParams }: ir.Launch): Readonly<Record<string, OptionValue>> =>
  backendParams.find((p) => p.backend === 'triton')?.options ?? {};

/** What a build tells besides its artifacts, as the cache keeps it. */
interface Built {
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
  readonly records: readonly StageRecord[];
  readonly report: TritonReport;
  readonly cached: boolean;
}

const reportName = 'report.json';

/** The artifacts of a job: from the cache where it has them, else made by the worker. */
async function buildCached(worker: ForkServer, job: TritonJob, options: CompileOptions): Promise<Built> {
  const assembler = await assemblerOf(job, options.tools);
  const scripts = await Promise.all(workerScripts.map((s) => readInput(assetPath(s))));
  const python = options.pythons?.triton;
  const key = keyOf({
    layout: 'triton-1',
    input: job.input,
    from: job.from,
    wanted: [...job.wanted].sort().join(','),
    target: job.target.name,
    options: JSON.stringify(Object.entries(job.options).sort()),
    lineInfo: String(job.lineInfo),
    assembler: assembler ? [assembler.version, ...(job.ptxasFlags ?? [])].join('\0') : '',
    // The lock pins the wheel; the name of the set's folder is made from it.
    triton: python === undefined ? basename(await setFolder('triton')) : `${python} ${(await worker.about()).version}`,
    scripts: scripts.map(sha256).join(' '),
  });
  const cache = openCache(options);
  const known = await cache?.get(key);
  if (known) return { ...fromEntry(known), records: [], cached: true };
  const limits: TritonBuildOptions = {
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    ...(options.signal ? { signal: options.signal } : {}),
  };
  const { artifacts, records, report } = await buildTriton(worker, job, limits);
  const wanted = new Map<string, Uint8Array>(job.wanted.map((s) => [s, artifacts.get(s)!]));
  await cache?.put(key, new Map([...wanted, [reportName, utf8(JSON.stringify(report))]]));
  return { artifacts: wanted, records, report, cached: false };
}

function fromEntry(entry: Entry): Pick<Built, 'artifacts' | 'report'> {
  const artifacts = new Map(entry);
  const report = JSON.parse(Buffer.from(entry.get(reportName)!).toString('utf8')) as TritonReport;
  artifacts.delete(reportName);
  return { artifacts, report };
}

/** Runs `work` with the worker of a call: the one it was given, or one of its own, which starts with its first job. */
export const withWorker = <T>(options: CompileOptions, work: (worker: ForkServer) => Promise<T>): Promise<T> =>
  options.worker ? work(options.worker) : withTritonWorker({ python: options.pythons?.triton }, work);

/** Waits for all, then throws what the first of them threw: no work is left behind an error. */
export async function settled<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/**
 * Compiles a kernel for a GPU.
 *
 * @throws CompileError: the kernel is wrong, or takes more than the target has. ToolError: a tool is missing or failed.
 */
export async function compileTriton(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  options: CompileOptions,
): Promise<Compiled> {
  const emit = options.emit ?? [imageStage(target), 'plan.json'];
  return withDisplayLocations(kernel.folder, async () => {
    const { source, lowered, launches, options: chosen, warnings } = lowerForTriton(kernel, target, options);
    for (const warning of warnings) options.onWarning?.(warning);
    const stages = tritonStages(target).filter((s) => emit.includes(s));
    const image = imageStage(target);
    // The plan tells what only the compiler knows.
    const wanted = emit.includes('plan.json') && !stages.includes(image) ? [...stages, image] : stages;
    const jobs = launches.map((launch, i) => jobOf(launch, chosen[i]!, target, wanted, options));
    const needsTools = wanted.some((s) => s !== 'ttir');
    const built = needsTools ? await withWorker(options, (w) => buildAll(w, jobs)) : [];

    const artifacts = new Map<string, Uint8Array>();
    const plans: DevicePlan[] = built.map((b, i) => planOf(launches[i]!, b, target));
    const plan = makeLaunchPlan(
      lowered,
      target.name,
      launches.map((l) => l.symbol),
      [],
      plans,
    );
    const own: Record<(typeof ownStages)[number], () => string> = {
      kir: () => printKernel(source.kernel),
      'lowered.kir': () => printKernel(lowered),
      'plan.json': () => formatLaunchPlan(plan),
    };
    for (const stage of emit) {
      const print = own[stage as keyof typeof own];
      if (print) artifacts.set(stage, utf8(print()));
      else
        launches.forEach(({ symbol, text }, i) => {
          const bytes = stage === 'ttir' ? utf8(text) : built[i]!.artifacts.get(stage);
          artifacts.set(artifactName(stage, symbol, launches.length), bytes!);
        });
    }
    return {
      target: target.name,
      kernel: source.kernel,
      lowered,
      plan,
      artifacts,
      records: built.flatMap((b) => b.records),
      cached: built.length > 0 && built.every((b) => b.cached),
      warnings: [
        ...source.warnings,
        ...warnings,
        ...built.flatMap((b, i) => spillWarnings(b.report, lowered.launches[i]!, target)),
      ],
      launches: launches.map(({ symbol }, i) => ({
        name: symbol,
        options: chosen[i]!,
        resources: built[i]?.report.resources ?? {},
      })),
    };

    async function buildAll(worker: ForkServer, list: readonly TritonJob[]): Promise<Built[]> {
      const done = await settled(list.map((job) => buildCached(worker, job, options)));
      const problems: Diagnostic[] = [];
      for (const [i, { report }] of done.entries())
        for (const excess of excesses(report.resources, target)) {
          const job = list[i]!;
          const variantJob: Parameters<typeof nearestFit>[3] = ({ kernel: other, options: changed }) => {
            const backendOptions = { ...options.backendOptions, ...changed };
            const again = lowerForTriton(other, target, { backendOptions });
            return jobOf(again.launches[i]!, again.options[i]!, target, job.wanted, options);
          };
          const help = await nearestFit(worker, kernel, job, variantJob, options.signal);
          problems.push(limitError(job, lowered.launches[i]!.loc, excess, report, help));
        }
      if (problems.length > 0) throw new CompileError(problems);
      return done;
    }
  });
}

function jobOf(
  { symbol, text }: Pick<DeviceLaunch, 'symbol' | 'text'>,
  options: TritonOptions,
  target: GpuTarget,
  wanted: readonly TritonStage[],
  { lineInfo = true, toolFlags }: CompileOptions,
): TritonJob {
  return {
    from: 'ttir',
    input: utf8(text),
    wanted,
    target,
    options,
    lineInfo,
    name: symbol,
    ...(toolFlags?.ptxas ? { ptxasFlags: toolFlags.ptxas } : {}),
  };
}

/** Descriptors on the device number three element types otherwise than CUDA's driver: f32 with flushed denormals, f64, bf16. */
const driverElementType = (type: number): number => ({ 8: 10, 9: 8, 10: 9 })[type] ?? type;

function planOf(launch: DeviceLaunch, { artifacts, report }: Built, target: GpuTarget): DevicePlan {
  const { metadata, resources } = report;
  const stage = imageStage(target);
  const image = artifacts.get(stage) ?? new Uint8Array();
  const compiled: CompiledLaunch = {
    image: { stage, architecture: target.name, bytes: image.length, sha256: sha256(image) },
    threads: resources.threads ?? 0,
    sharedBytes: metadata.shared ?? 0,
    clusterPrograms: metadata.num_ctas ?? 1,
    globalScratch: {
      bytesPerProgram: metadata.global_scratch_size ?? 0,
      alignment: metadata.global_scratch_align ?? 1,
    },
    profileScratch: {
      bytesPerProgram: metadata.profile_scratch_size ?? 0,
      alignment: metadata.profile_scratch_align ?? 1,
    },
    descriptors: (metadata.tensordesc_meta ?? []).map((d) => ({
      box: d.block_size ?? [],
      swizzle: d.swizzle ?? 0,
      elementType: driverElementType(d.elem_type ?? 0),
      elementBytes: d.elem_size ?? 0,
      fp4Padded: d.fp4_padded ?? false,
    })),
  };
  const plan = planDeviceLaunch(launch, compiled);
  const told = plan.params.map(({ offset, bytes }) => ({ offset, bytes }));
  invariant(
    report.slots === undefined || JSON.stringify(report.slots) === JSON.stringify(told),
    `parameters of '${launch.symbol}' are ${JSON.stringify(report.slots)}, planned as ${JSON.stringify(told)}`,
  );
  return plan;
}

/**
 * Goes on from a stage that a dump or `--emit` wrote: kernel IR after the passes, or what Triton or the assembler reads.
 * Options come from `backendOptions` alone, as a dump's first line has them.
 */
export async function resumeTriton(
  file: string,
  stage: string,
  wanted: readonly string[],
  target: GpuTarget,
  options: CompileOptions,
): Promise<Resumed> {
  const input = await readInput(file);
  const stages = tritonStages(target).filter((s) => wanted.includes(s));
  const folder = dirname(resolve(file));
  return withDisplayLocations(folder, async () => {
    const jobs = stage === 'lowered.kir' ? fromIr() : [fromStage()];
    const built = await withWorker(options, (w) => settled(jobs.map((job) => buildCached(w, job, options))));
    const problems = built.flatMap(({ report }, i) =>
      excesses(report.resources, target).map((excess) => limitError(jobs[i]!, unknownLoc, excess, report)),
    );
    if (problems.length > 0) throw new CompileError(problems);
    return {
      artifacts: new Map(
        built.flatMap(({ artifacts }, i) =>
          [...artifacts].map(([s, bytes]) => [artifactName(s, jobs[i]!.name, jobs.length), bytes] as const),
        ),
      ),
      records: built.flatMap((b) => b.records),
      cached: built.every((b) => b.cached),
      launches: built.map(({ report: { resources } }, i) => ({
        name: jobs[i]!.name,
        options: jobs[i]!.options,
        resources,
      })),
    };
  });

  function fromIr(): TritonJob[] {
    const [source] = readKernels(input.toString('utf8'), file, folder);
    const { launches, options: chosen } = lowerKernelForTriton(source!.kernel, target, options.backendOptions ?? {});
    return launches.map((launch, i) => jobOf(launch, chosen[i]!, target, stages, options));
  }

  function fromStage(): TritonJob {
    const chosen = resolveOptions(options.backendOptions ?? {}, target);
    const launch = { symbol: basename(file, `.${stage}`), text: '' };
    return { ...jobOf(launch, chosen, target, stages, options), from: stage as TritonStage, input };
  }
}

/** The commands of a build, on files `kernel.STAGE` that `--emit=ttir -o kernel.ttir` begins; nothing is run. */
export async function tritonToolCommands(
  kernel: AnyKernel | KernelSource,
  target: GpuTarget,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> {
  const { options: chosen } = lowerForTriton(kernel, target, options);
  return (await Promise.all(chosen.map((c) => commandsFrom('ttir', c, target, emit, options)))).flat();
}

/** The commands of a build that begins with a file `kernel.STAGE`. */
export const tritonResumeCommands = (
  stage: string,
  target: GpuTarget,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> =>
  commandsFrom(stage, resolveOptions(options.backendOptions ?? {}, target), target, emit, options);

async function commandsFrom(
  stage: string,
  chosen: TritonOptions,
  target: GpuTarget,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> {
  const wanted = tritonStages(target).filter((s) => s !== stage && emit.includes(s));
  if (wanted.length === 0) return [];
  const python = options.pythons?.triton ?? (await setTool('python', ['triton']));
  if (python === undefined) throw notInstalled('triton');
  const job = { ...jobOf({ symbol: '', text: '' }, chosen, target, wanted, options), from: stage as TritonStage };
  return tritonCommands(job, python, options.tools);
}
