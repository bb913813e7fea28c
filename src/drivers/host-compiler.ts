/** Compiling launchers for the host: by cc, or by the compiler of a vendor where somebody asks for it. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { sha256 } from './fingerprint.js';
import { run, toolError } from './run.js';
import type { StageRecord } from './stages.js';
import { findTool, type Tool, type ToolName, type ToolPaths } from './tool.js';
import { withWorkspace } from './workspace.js';

export type HostStage = 'obj' | 'so' | 'exe';
export type HostTool = Extract<ToolName, 'cc' | 'nvcc' | 'hipcc'>;

export interface HostOptions {
  readonly tools?: ToolPaths | undefined;
  readonly toolFlags?: Readonly<Partial<Record<ToolName, readonly string[]>>> | undefined;
  readonly signal?: AbortSignal;
  readonly timeout?: number;
}

/** The vendors' compilers are used where they are named or given flags; what they add, launchers do not need. */
export function hostTool({ tools = {}, toolFlags = {} }: HostOptions): HostTool {
  const asked = (name: HostTool): boolean => tools[name] !== undefined || (toolFlags[name]?.length ?? 0) > 0;
  return asked('nvcc') ? 'nvcc' : asked('hipcc') ? 'hipcc' : 'cc';
}

const libraries = ['-ldl', '-lpthread', '-lm'];

/** The command line, without the compiler. Files stand in the folder that it runs in, so that no path gets into the output. */
export function hostArgs(
  tool: HostTool,
  symbol: string,
  stage: HostStage,
  output: string,
  extra: readonly string[],
): string[] {
  const sources = [`${symbol}.c`, ...(stage === 'exe' ? [`${symbol}_main.c`] : [])];
  const kind = { obj: ['-c'], so: ['-shared'], exe: [] }[stage];
  const link = stage === 'obj' ? [] : libraries;
  const language = ['-x', 'c', ...sources];
  // Two objects of one program; behind them the language is no longer C.
  switch (tool) {
    case 'cc':
      return [
        '-O2',
        '-std=gnu11',
        '-fPIC',
        ...kind,
        ...(stage === 'obj' ? [] : ['-Wl,--build-id=none']),
        ...extra,
        ...language,
        '-o',
        output,
        ...link,
      ];
    case 'nvcc':
      return [
        '-O2',
        '-cudart',
        'none',
        '-Xcompiler',
        '-fPIC,-std=gnu11',
        ...kind,
        ...extra,
        ...language,
        '-o',
        output,
        ...link,
      ];
    case 'hipcc':
      return [
        '-O2',
        '-fPIC',
        '-std=gnu11',
        ...kind,
        // It names the HIP runtime itself, which is looked for only when a kernel is launched.
        ...(stage === 'obj' ? [] : ['-Wl,--as-needed']),
        ...extra,
        ...language,
        '-o',
        output,
        ...link,
      ];
  }
}

const extraOf = (tool: HostTool, { toolFlags = {} }: HostOptions): readonly string[] => toolFlags[tool] ?? [];

export async function hostCommand(
  symbol: string,
  stage: HostStage,
  output: string,
  options: HostOptions,
): Promise<string[]> {
  const name = hostTool(options);
  const tool = await findTool(name, options.tools);
  return [tool.path, ...hostArgs(name, symbol, stage, output, extraOf(name, options))];
}

/** What old hipcc scripts print when no AMD GPU is there, although they go on. */
const withoutTraceback = (text: string): string =>
  text.replace(/^Traceback \(most recent call last\):\n(?:[ \t].*\n)*\S.*\n/gm, '');

/** Compiles C files in a folder of their own. */
export async function buildHost(
  symbol: string,
  files: ReadonlyMap<string, string>,
  stage: HostStage,
  options: HostOptions,
): Promise<{ bytes: Uint8Array; record: StageRecord }> {
  const name = hostTool(options);
  const tool: Tool = await findTool(name, options.tools);
  return withWorkspace(async (folder) => {
    for (const [file, text] of files) await writeFile(join(folder, file), text);
    const output = `${symbol}.${stage === 'obj' ? 'o' : stage}`;
    const args = hostArgs(name, symbol, stage, output, extraOf(name, options));
    const outcome = await run(tool.name, tool.path, args, {
      cwd: folder,
      ...(options.signal ? { signal: options.signal } : {}),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    });
    if (!outcome.ok) throw toolError({ ...outcome, stderr: withoutTraceback(outcome.stderr) });
    const bytes = await readFile(join(folder, output)).catch(() => undefined);
    if (!bytes)
      throw new ToolError([toolCodes.toolFailed({ tool: tool.name, how: 'ended well but wrote nothing', cause: '' })]);
    const input = [...files.values()].join('\0');
    return {
      bytes,
      record: {
        stage,
        tool: tool.name,
        version: tool.version,
        argv: [tool.name, ...args],
        milliseconds: outcome.milliseconds,
        sha256In: sha256(Buffer.from(input)),
        sha256Out: sha256(bytes),
      },
    };
  });
}
