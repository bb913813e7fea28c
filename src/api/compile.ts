/** From a kernel to artifacts: passes, lowering, tools, cache. */

import { dirname, resolve } from 'node:path';
import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError, type Diagnostic, InternalError } from '../diagnostics/diagnostic.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { readInput } from '../drivers/files.js';
import { keyOf } from '../drivers/fingerprint.js';
import { hostProcessor } from '../drivers/host.js';
import { buildCpu, type CpuStageOptions, cpuStages, stagesFor } from '../drivers/mlir.js';
import { findTool, type Tool } from '../drivers/tool.js';
import { estimateSize } from '../drivers/triton/size-estimate.js';
import { imageStage, tritonStages } from '../drivers/triton/stages.js';
import type * as ir from '../ir/kernel.js';
import { type PassHooks, runPasses } from '../ir/pass.js';
import { loweringPipeline } from '../ir/passes/index.js';
import { printKernel } from '../ir/printer.js';
import { illegalInLowered } from '../ir/stage.js';
import { type Backend, type BackendRequest, selectableBackends } from '../lowering/backend.js';
import { lowerToCpu } from '../lowering/cpu/index.js';
import { formatLaunchPlan, type LaunchPlan, makeLaunchPlan } from '../lowering/launch-plan.js';
import { renderMlir } from '../lowering/render.js';
import { symbolsFor } from '../lowering/symbol.js';
import { asCpuTarget, type CpuTarget, parseTarget, type Target } from '../lowering/target.js';
import { accepted, backendFor } from './backend.js';
import { type Compiled, type CompileOptions, openCache, type Resumed } from './compilation.js';
import {
  compileMosaic,
  lowerForMosaic,
  mosaicStageNames,
  mosaicToolCommands,
  resumeMosaic,
  withMosaicWorkerOf,
} from './compile-mosaic.js';
import {
  compileTriton,
  lowerForTriton,
  resumeTriton,
  settled,
  tritonResumeCommands,
  tritonStageNames,
  tritonToolCommands,
  withWorker,
} from './compile-triton.js';
import { type AnyKernel, type KernelSource, readKernels, sourceOf, withDisplayLocations } from './source.js';

/** Stages of the CPU back end in order; each is the extension of what it makes. */
export const cpuStageNames = [
  'kir',
  'lowered.kir',
  'mlir',
  'llvm.mlir',
  'll',
  'bc',
  's',
  'obj',
  'so',
  'plan.json',
] as const;
export type StageName = (typeof cpuStageNames)[number];
export type { Compiled, CompileOptions } from './compilation.js';

/** Stages that are ours and need no tool. */
const ownStages: readonly string[] = ['kir', 'lowered.kir', 'mlir', 'plan.json'];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The stages before any tool: verified, lowered to MLIR text, with its plan. */
export interface Lowered {
  readonly source: KernelSource;
  readonly target: CpuTarget;
  readonly lowered: ir.Kernel;
  readonly plan: LaunchPlan;
  readonly mlir: string;
}

/** Everything that needs no tool. `tilewright check` stops here. */
export function lower(kernel: AnyKernel | KernelSource, targetName: string, hooks: PassHooks = {}): Lowered {
  const target = asCpuTarget(asTarget(targetName));
  const source = sourceOf(kernel, target.name);
  const lowered = runPasses(source.kernel, loweringPipeline, hooks);
  return { source, ...lowerKernel(lowered, target), target, lowered };
}

/** What a kernel takes on a target, as far as it can be told without any tool; throws what is wrong with it. */
export function checkKernel(
  kernel: AnyKernel | KernelSource,
  targetName: string,
  options: Pick<CompileOptions, 'hooks' | 'backendOptions' | 'backend' | 'useMosaicGpu'>,
): { readonly warnings: readonly Diagnostic[]; readonly bill: readonly string[] } {
  const target = asTarget(targetName);
  const { backend, warnings: deprecations } = backendFor(kernel, target, options);
  if (target.kind === 'gpu' && backend === 'mosaic_gpu') {
    const { source, launches } = lowerForMosaic(kernel, target, options);
    return { warnings: [...source.warnings, ...deprecations], bill: launches.flatMap((l) => l.bill) };
  }
  if (target.kind === 'gpu') {
    const { source, launches, options: chosen, warnings } = lowerForTriton(kernel, target, options);
    const bill = launches.map((l, i) => {
      const { num_warps: warps, num_stages: stages } = chosen[i]!;
      return `${l.symbol}: ${warps} warps, ${stages} stages, about ${estimateSize(l.text, Number(warps) * target.warpSize, target).instructions} instructions`;
    });
    return { warnings: [...source.warnings, ...warnings], bill };
  }
  const { source, plan } = lower(kernel, targetName, options.hooks);
  const bill = plan.launches.map((l) => `${l.symbol}: ${(l.scratchBytes / 1024).toFixed(1)} KiB of scratch per thread`);
  return { warnings: source.warnings, bill };
}

/**
 * The back ends that compile a kernel for a target, without running any tool: what a kernel's `compilerParams` allow and
 * what each back end takes. The first is the one that is used where nobody says.
 */
export function supportedBackends(kernel: AnyKernel | KernelSource, targetName: string): readonly Backend[] {
  const target = asTarget(targetName);
  const own = selectableBackends.filter((backend) =>
    accepted(() => checkKernel(kernel, targetName, { backend, useMosaicGpu: false })),
  );
  if (own.length < 2) return own;
  const { backend: first } = backendFor(kernel, target, {});
  return [...own].sort((a, b) => Number(b === first) - Number(a === first));
}

/**
 * MLIR and plan of a kernel that the passes have lowered.
 *
 * @throws CompileError where it holds what is not legal in `lowered.kir`.
 */
export function lowerKernel(lowered: ir.Kernel, target: CpuTarget): { plan: LaunchPlan; mlir: string } {
  const illegal = illegalInLowered(lowered);
  if (illegal.length > 0) throw new CompileError(illegal);
  const symbols = symbolsFor(lowered.launches.map((l) => l.name));
  const { module, scratchBytes } = lowerToCpu(lowered, { target: target.name, unit: target.unit, symbols });
  return { plan: makeLaunchPlan(lowered, target.name, symbols, scratchBytes), mlir: renderMlir(module) };
}

/** Reads a target's name. @throws CompileError TW2002. */
export const asTarget = (name: string): Target => parseTarget(name, hostProcessor().features);

/** The stages of a target in order; each is the extension of what it makes. Without a back end, those of all. */
export function stageNames(target: Target, backend?: Backend): readonly string[] {
  if (target.kind === 'cpu') return cpuStageNames;
  if (backend !== undefined) return backend === 'mosaic_gpu' ? mosaicStageNames : tritonStageNames(target);
  const own = tritonStageNames(target);
  return target.vendor === 'nvidia' ? [...own, ...mosaicStageNames.filter((s) => !own.includes(s))] : own;
}

/** What is made where nobody says: what is loaded, and how it is called. */
export const defaultEmit = (target: Target): readonly string[] => [
  target.kind === 'cpu' ? 'so' : imageStage(target),
  'plan.json',
];

/** The stages that a kernel goes through for a target. */
export const stagesOf = (
  kernel: AnyKernel | KernelSource,
  target: Target,
  options: BackendRequest,
): readonly string[] => stageNames(target, target.kind === 'cpu' ? 'cpu' : backendFor(kernel, target, options).backend);

function checkStages(emit: readonly string[], target: Target, backend?: Backend): void {
  const known = stageNames(target, backend);
  const unknown = emit.find((s) => !known.includes(s));
  if (unknown === undefined) return;
  const help = didYouMean(unknown, known) ?? `stages of this target: ${known.join(', ')}`;
  throw new CompileError([loweringCodes.unknownStage({ stage: unknown, target: target.name }, { help })]);
}

/** Result of the tool stages: from the cache where it has all of them, else by running the tools. */
export async function runTools(
  from: string,
  input: Uint8Array,
  wanted: readonly string[],
  target: CpuTarget,
  options: CompileOptions,
): Promise<Pick<Compiled, 'artifacts' | 'records' | 'cached'>> {
  if (wanted.length === 0) return { artifacts: new Map(), records: [], cached: false };
  const stageOptions: CpuStageOptions = {
    target,
    lineInfo: options.lineInfo ?? true,
    ...(options.toolFlags ? { extra: options.toolFlags } : {}),
  };
  const stages = stagesFor(from, wanted, stageOptions);
  const tools: Tool[] = [];
  // One after the other, so that of several missing tools always the first is named.
  for (const name of new Set(stages.map((stage) => stage.tool))) tools.push(await findTool(name, options.tools));
  const { model, features } = hostProcessor();
  const host = target.cpu === 'native' ? `${model} ${features.join(' ')}` : '';
  const key = keyOf({
    layout: 'cpu-1',
    input,
    from,
    wanted: [...wanted].sort().join(','),
    commands: stages.map((s) => [s.tool, ...s.args('in', 'out')].join('\0')).join('\n'),
    tools: tools.map((t) => `${t.name} ${t.version}`).join('\n'),
    host,
  });
  const cache = openCache(options);
  const known = await cache?.get(key);
  if (known) return { artifacts: known, records: [], cached: true };
  const built = await buildCpu(from, input, wanted, {
    ...stageOptions,
    ...(options.tools ? { tools: options.tools } : {}),
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
  });
  const artifacts = new Map(wanted.map((w) => [w, built.artifacts.get(w)!] as const));
  await cache?.put(key, artifacts);
  return { artifacts, records: built.records, cached: false };
}

/**
 * Compiles a kernel.
 *
 * @throws CompileError: the kernel is wrong, at its lines. ToolError: a tool is missing or failed.
 */
export async function compile(kernel: AnyKernel | KernelSource, options: CompileOptions = {}): Promise<Compiled> {
  const targetName = options.target ?? 'cpu';
  const known = asTarget(targetName);
  const emit = options.emit ?? defaultEmit(known);
  checkStages(emit, known);
  const folder = sourceFolder(kernel);
  const { backend, warnings } = await withDisplayLocations(folder, () => backendFor(kernel, known, options));
  if (known.kind === 'gpu') {
    checkStages(emit, known, backend);
    // Its libraries are imported while the kernel is lowered; not before the back end has been chosen.
    (backend === 'triton' ? options.worker : options.mosaicWorker)?.start();
    const build = backend === 'mosaic_gpu' ? compileMosaic : compileTriton;
    const compiled = await build(kernel, known, { ...options, emit });
    return { ...compiled, warnings: [...warnings, ...compiled.warnings] };
  }
  return withDisplayLocations(folder, async () => {
    const { source, target, lowered, plan, mlir } = lower(kernel, targetName, options.hooks);
    const wanted = emit.filter((s) => !ownStages.includes(s));
    const built = await runTools('mlir', utf8(mlir), wanted, target, options);
    const artifacts = new Map(built.artifacts);
    const own: Record<string, () => string> = {
      kir: () => printKernel(source.kernel),
      'lowered.kir': () => printKernel(lowered),
      mlir: () => mlir,
      'plan.json': () => formatLaunchPlan(plan),
    };
    for (const stage of emit) if (own[stage]) artifacts.set(stage, utf8(own[stage]()));
    return {
      target: target.name,
      kernel: source.kernel,
      lowered,
      plan,
      artifacts,
      records: built.records,
      cached: built.cached,
      warnings: source.warnings,
    };
  });
}

function sourceFolder(kernel: AnyKernel | KernelSource): string {
  return kernel.folder;
}

/** Stages of any target. */
const allStages: readonly string[] = [
  ...new Set([
    ...cpuStageNames,
    ...tritonStages({ vendor: 'nvidia' }),
    ...tritonStages({ vendor: 'amd' }),
    ...mosaicStageNames,
  ]),
];

/**
 * Compiles a kernel for several targets at once; those of one back end share its worker. In the order of the targets.
 *
 * @throws what `compile` throws, for the first target that fails.
 */
export async function compileForTargets(
  kernel: AnyKernel | KernelSource,
  targets: readonly string[],
  options: Omit<CompileOptions, 'target'> = {},
): Promise<Compiled[]> {
  return withWorker(options, (worker) =>
    withMosaicWorkerOf(options, (mosaicWorker) =>
      settled(targets.map((target) => compile(kernel, { ...options, target, worker, mosaicWorker }))),
    ),
  );
}

/** The stage after which a file of this name enters: `kernel.llvm.mlir` is `llvm.mlir`. */
export function stageOfFile(file: string): string | undefined {
  return [...allStages].sort((a, b) => b.length - a.length).find((s) => file.endsWith(`.${s}`));
}

/** The stages of a target that can be entered with `--start-from`. */
export function startStages(target: Target): readonly string[] {
  const tools =
    target.kind === 'gpu'
      ? [...tritonStages(target).slice(0, -1), ...(target.vendor === 'nvidia' ? ['mgpu.mlir', 'nvvm.mlir'] : [])]
      : cpuStages({ target, lineInfo: true }).map((s) => s.from);
  return ['kir', 'lowered.kir', ...new Set(tools)];
}

export function artifact(compiled: Pick<Compiled, 'artifacts'>, stage: string): Uint8Array {
  const bytes = compiled.artifacts.get(stage);
  if (!bytes) throw new InternalError(`no artifact '${stage}'`);
  return bytes;
}

/** Goes on from a stage that a dump or `--emit` wrote: kernel IR after the passes, or what a tool reads. */
export async function resumeFrom(
  file: string,
  stage: string,
  wanted: readonly string[],
  options: CompileOptions,
): Promise<Resumed> {
  const target = asTarget(options.target ?? 'cpu');
  checkStages(wanted, target);
  if (target.kind === 'gpu' && (stage === 'mgpu.mlir' || stage === 'nvvm.mlir'))
    return resumeMosaic(file, stage, wanted, target, options);
  if (target.kind === 'gpu') return resumeTriton(file, stage, wanted, target, options);
  const bytes = await readInput(file);
  if (stage !== 'lowered.kir') return runTools(stage, bytes, wanted, target, options);
  const [source] = readKernels(bytes.toString('utf8'), file, dirname(resolve(file)));
  const { mlir } = lowerKernel(source!.kernel, target);
  const own = wanted.includes('mlir') ? [['mlir', utf8(mlir)] as const] : [];
  const built = await runTools(
    'mlir',
    utf8(mlir),
    wanted.filter((s) => s !== 'mlir'),
    target,
    options,
  );
  return { ...built, artifacts: new Map([...own, ...built.artifacts]) };
}

/** The command lines of the tools for a build, with the paths that they would be found at; nothing is run. */
export async function toolCommands(
  kernel: AnyKernel | KernelSource,
  name: string,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> {
  const target = asTarget(options.target ?? 'cpu');
  const { backend } = await withDisplayLocations(kernel.folder, () => backendFor(kernel, target, options));
  if (target.kind === 'gpu' && backend === 'mosaic_gpu')
    return withDisplayLocations(kernel.folder, () => mosaicToolCommands(kernel, target, emit, options));
  if (target.kind === 'gpu') return tritonToolCommands(kernel, target, emit, options);
  lower(kernel, target.name);
  return cpuCommands('mlir', target, name, emit, options);
}

/** As `toolCommands`, for a build that begins midway. */
export async function resumeCommands(
  stage: string,
  name: string,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string[][]> {
  const target = asTarget(options.target ?? 'cpu');
  if (target.kind === 'gpu')
    return tritonResumeCommands(stage === 'lowered.kir' ? 'ttir' : stage, target, emit, options);
  return cpuCommands(stage === 'lowered.kir' ? 'mlir' : stage, target, name, emit, options);
}

function cpuCommands(
  from: string,
  target: CpuTarget,
  name: string,
  emit: readonly string[],
  { lineInfo = true, toolFlags, tools }: CompileOptions,
): Promise<string[][]> {
  const wanted = emit.filter((s) => !ownStages.includes(s));
  const stages = stagesFor(from, wanted, { target, lineInfo, ...(toolFlags ? { extra: toolFlags } : {}) });
  const file = (stage: string): string => `${name}.${stage === 'obj' ? 'o' : stage}`;
  return Promise.all(
    stages.map(async (s) => [(await findTool(s.tool, tools)).path, ...s.args(file(s.from), file(s.stage))]),
  );
}
