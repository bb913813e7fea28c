/** The stages of `build` that join all targets of a kernel: launchers, and what the host's compiler makes of them. */

import type { CompileOptions } from '../api/compile.js';
import type { Made } from './remembered.js';
import { quoteCommand } from './shell-quote.js';
import type { NamedKernel } from './sources.js';

const hostStages = ['launcher', 'obj', 'so', 'exe'] as const;
export type HostStageName = (typeof hostStages)[number];

/** The stages that a launcher is needed for. Of a CPU alone `obj` and `so` are stages of its own. */
export const hostStagesOf = (emit: readonly string[], targets: readonly string[]): HostStageName[] => {
  const gpu = targets.some((t) => !t.startsWith('cpu'));
  return hostStages.filter((s) => emit.includes(s) && (gpu || s === 'launcher' || s === 'exe'));
};

/** The stage that a file name asks for, where targets are joined. */
export function hostStageOfPath(path: string, targets: readonly string[]): HostStageName | undefined {
  const stage = { o: 'obj', so: 'so', exe: 'exe' }[/\.(o|so|exe)$/.exec(path)?.[1] ?? ''];
  return stage === undefined ? undefined : hostStagesOf([stage], targets)[0];
}

/** Compiles a kernel for all targets, and makes of it what was asked for. */
export async function buildForHost(
  { name, kernel }: NamedKernel,
  targets: readonly string[],
  stages: readonly HostStageName[],
  options: CompileOptions,
): Promise<Made[]> {
  const { buildLauncher, compileLauncher, launcherFiles } = await import('../api/launcher.js');
  const started = performance.now();
  const launcher = await buildLauncher(kernel, targets, options);
  const utf8 = new TextEncoder();
  const made: Made[] = [];
  const add = (file: string, extension: string, bytes: Uint8Array): void => {
    const note = `${Math.round(performance.now() - started)} ms`;
    made.push({ kernel: file, target: '', extension, bytes, note, detail: '' });
  };
  for (const stage of stages)
    if (stage === 'launcher')
      for (const [file, text] of launcherFiles(launcher)) {
        const [, base, extension] = /^(.*)\.(\w+)$/.exec(file)!;
        add(base!, extension!, utf8.encode(text));
      }
    else {
      const { bytes } = await compileLauncher(launcher, stage, options);
      add(name, stage === 'obj' ? 'o' : stage, bytes);
    }
  return made;
}

/** The commands of the host's compiler, on the files of `--emit=launcher`. */
export async function hostCommandsOf(
  { name, kernel }: NamedKernel,
  stages: readonly HostStageName[],
  options: CompileOptions,
): Promise<string> {
  const { launcherCommand } = await import('../api/launcher.js');
  const { sourceOf } = await import('../api/source.js');
  const { symbolFor } = await import('../lowering/symbol.js');
  const symbol = symbolFor(sourceOf(kernel, 'cpu').kernel.name);
  const lines: string[] = [];
  for (const stage of stages)
    if (stage !== 'launcher') {
      const output = `${name}.${stage === 'obj' ? 'o' : stage}`;
      lines.push(`${quoteCommand(await launcherCommand(symbol, stage, output, options))}\n`);
    }
  return lines.join('');
}
