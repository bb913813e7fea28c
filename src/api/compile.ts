/** From a kernel to artifacts: passes, lowering, tools, cache. */

import { dirname, resolve } from 'node:path';
import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError, type Diagnostic, InternalError } from '../diagnostics/diagnostic.js';
import { ArtifactCache } from '../drivers/cache.js';
import { cacheFolder } from '../drivers/environment.js';
import { readInput } from '../drivers/files.js';
import { keyOf } from '../drivers/fingerprint.js';
import { hostProcessor } from '../drivers/host.js';
import { buildCpu, type CpuStageOptions, cpuStages, stagesFor } from '../drivers/mlir.js';
import type { StageRecord } from '../drivers/stages.js';
import { findTool, type Tool, type ToolPaths } from '../drivers/tool.js';
import type * as ir from '../ir/kernel.js';
import { type PassHooks, runPasses } from '../ir/pass.js';
import { loweringPipeline } from '../ir/passes/index.js';
import { printKernel } from '../ir/printer.js';
import { illegalInLowered } from '../ir/stage.js';
import { lowerToCpu } from '../lowering/cpu/index.js';
import { formatLaunchPlan, type LaunchPlan, makeLaunchPlan } from '../lowering/launch-plan.js';
import { renderMlir } from '../lowering/render.js';
import { symbolsFor } from '../lowering/symbol.js';
import { asCpuTarget, type CpuTarget, parseTarget } from '../lowering/target.js';
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
/** Stages that are ours and need no tool. */
const ownStages: readonly string[] = ['kir', 'lowered.kir', 'mlir', 'plan.json'];

export interface CompileOptions {
  /** `cpu` (the default) or `cpu:native`. */
  readonly target?: string;
  /** What to make; `so` and `plan.json` by default. */
  readonly emit?: readonly string[];
  /** Line tables that lead from machine code to TypeScript. On by default. */
  readonly lineInfo?: boolean;
  readonly tools?: ToolPaths;
  readonly toolFlags?: CpuStageOptions['extra'];
  /** Folder of the cache; false for none. */
  readonly cache?: string | false;
  readonly hooks?: PassHooks;
  readonly signal?: AbortSignal;
  /** Milliseconds for each tool. */
  readonly timeout?: number;
  readonly onWarning?: (diagnostic: Diagnostic) => void;
}

export interface Compiled {
  readonly target: string;
  /** The kernel as it was traced, and after the passes. */
  readonly kernel: ir.Kernel;
  readonly lowered: ir.Kernel;
  readonly plan: LaunchPlan;
  /** By stage. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
  /** What tools did; empty on a cache hit. */
  readonly records: readonly StageRecord[];
  readonly cached: boolean;
  readonly warnings: readonly Diagnostic[];
}

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
  const target = asCpuTarget(parseTarget(targetName, hostProcessor().features));
  const source = sourceOf(kernel, target.name);
  const lowered = runPasses(source.kernel, loweringPipeline, hooks);
  return { source, ...lowerKernel(lowered, target), target, lowered };
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

function checkStages(emit: readonly string[], target: string): void {
  const unknown = emit.find((s) => !(cpuStageNames as readonly string[]).includes(s));
  if (unknown !== undefined)
    throw new CompileError([
      loweringCodes.unknownStage(
        { stage: unknown, target },
        { help: `stages of this target: ${cpuStageNames.join(', ')}` },
      ),
    ]);
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
  const cache =
    options.cache === false
      ? undefined
      : new ArtifactCache(options.cache ?? `${cacheFolder()}/artifacts`, options.onWarning ?? (() => {}));
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
  const emit = options.emit ?? ['so', 'plan.json'];
  checkStages(emit, targetName);
  const folder = sourceFolder(kernel);
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

/** The stage after which a file of this name enters: `kernel.llvm.mlir` is `llvm.mlir`. */
export function stageOfFile(file: string): StageName | undefined {
  return [...cpuStageNames].sort((a, b) => b.length - a.length).find((s) => file.endsWith(`.${s}`));
}

/** Whether a stage can be entered with `--start-from`. */
export const canStartFrom = (stage: string): boolean =>
  cpuStages({ target: { cpu: 'x86-64-v3' }, lineInfo: true }).some((s) => s.from === stage);

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
): Promise<Pick<Compiled, 'artifacts' | 'records' | 'cached'>> {
  const target = asCpuTarget(parseTarget(options.target ?? 'cpu', hostProcessor().features));
  checkStages(wanted, target.name);
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
  const { target } = lower(kernel, options.target ?? 'cpu');
  const stages = stagesFor(
    'mlir',
    emit.filter((s) => !ownStages.includes(s)),
    { target, lineInfo: options.lineInfo ?? true, ...(options.toolFlags ? { extra: options.toolFlags } : {}) },
  );
  const file = (stage: string): string => `${name}.${stage === 'obj' ? 'o' : stage}`;
  return Promise.all(
    stages.map(async (s) => [(await findTool(s.tool, options.tools)).path, ...s.args(file(s.from), file(s.stage))]),
  );
}
