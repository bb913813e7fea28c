/** Launchers of kernels: all targets compiled, joined behind one C function, and compiled for the host. */

import { InternalError } from '../diagnostics/diagnostic.js';
import { buildHost, type HostOptions, type HostStage, hostCommand } from '../drivers/host-compiler.js';
import type { StageRecord } from '../drivers/stages.js';
import { imageStage } from '../drivers/triton/stages.js';
import { type Launcher, type LauncherVariant, renderLauncher } from '../lowering/launcher/index.js';
import { renderMain } from '../lowering/launcher/main.js';
import { artifact, asTarget, type Compiled, type CompileOptions, compileForTargets } from './compile.js';
import type { AnyKernel, KernelSource } from './source.js';

export interface BuiltLauncher extends Launcher {
  readonly compiled: readonly Compiled[];
}

function imagesOf(compiled: Compiled): readonly Uint8Array[] {
  const target = asTarget(compiled.target);
  if (target.kind === 'cpu') return [artifact(compiled, 'so')];
  const stage = imageStage(target);
  const { launches = [] } = compiled;
  return launches.map(({ name }) => artifact(compiled, launches.length === 1 ? stage : `${name}.${stage}`));
}

/** A compiled target as a launcher takes it. */
export const variantOf = (compiled: Compiled): LauncherVariant => ({ plan: compiled.plan, images: imagesOf(compiled) });

/**
 * Compiles a kernel for each target and writes its launcher.
 *
 * @throws what `compile` throws; CompileError TW2060 where targets take different arguments.
 */
export async function buildLauncher(
  kernel: AnyKernel | KernelSource,
  targets: readonly string[],
  options: Omit<CompileOptions, 'target' | 'emit'> = {},
): Promise<BuiltLauncher> {
  const compiled: Compiled[] = [];
  const gpus = targets.filter((t) => asTarget(t).kind === 'gpu');
  const others = targets.filter((t) => asTarget(t).kind !== 'gpu');
  for (const [names, emit] of [
    [gpus.filter((t) => !t.startsWith('gfx')), ['cubin', 'plan.json']],
    [gpus.filter((t) => t.startsWith('gfx')), ['hsaco', 'plan.json']],
    [others, ['so', 'plan.json']],
  ] as const)
    if (names.length > 0) compiled.push(...(await compileForTargets(kernel, names, { ...options, emit })));
  const order = targets.map((t) => asTarget(t).name);
  compiled.sort((a, b) => order.indexOf(a.target) - order.indexOf(b.target));
  return { ...renderLauncher(compiled.map(variantOf)), compiled };
}

/** The C files of a launcher by name; with `main`, those of a program that runs it on `.npy` files. */
export function launcherFiles(launcher: BuiltLauncher, main = false): Map<string, string> {
  const { symbol, header, source, compiled } = launcher;
  const plan = compiled[0]?.plan;
  if (!plan) throw new InternalError('a launcher without targets');
  return new Map([
    [`${symbol}.h`, header],
    [`${symbol}.c`, source],
    ...(main ? [[`${symbol}_main.c`, renderMain(plan, symbol)] as const] : []),
  ]);
}

/** Compiles a launcher for the host: an object, a shared library, or a program. */
export async function compileLauncher(
  launcher: BuiltLauncher,
  stage: HostStage,
  options: HostOptions = {},
): Promise<{ bytes: Uint8Array; record: StageRecord }> {
  return buildHost(launcher.symbol, launcherFiles(launcher, stage === 'exe'), stage, options);
}

/** The command line that `compileLauncher` would run, on files of these names. */
export const launcherCommand = (
  symbol: string,
  stage: HostStage,
  output: string,
  options: HostOptions = {},
): Promise<string[]> => hostCommand(symbol, stage, output, options);
