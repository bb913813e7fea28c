/** Finding tools: a tool is a name, a path and a version, looked for once in a fixed order of places. */

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { cacheFolder, toolFromEnvironment, toolOfInstallation } from './environment.js';
import { keyOf } from './fingerprint.js';
import { run } from './run.js';
import { onPath, setTool } from './toolchain.js';

export interface Tool {
  readonly name: string;
  readonly path: string;
  readonly version: string;
}

interface ToolKind {
  /** Names to look for on PATH, best first. */
  readonly names: readonly string[];
  /** Picks the version out of what `--version` prints. */
  readonly version: RegExp;
  /** Versions that do. */
  readonly accepts: (version: string) => boolean;
  readonly wanted: string;
  readonly help: string;
}

const llvm = (name: string): ToolKind => ({
  names: [`${name}-22`, name],
  version: /LLVM version (\d+\.\d+\.\d+)/,
  accepts: (v) => v.startsWith('22.1.'),
  wanted: 'LLVM 22.1',
  help: 'run: tilewright toolchain install mlir',
});

/** Release 12.8 is the first that knows every target of ours. */
const ptxas = (...names: string[]): ToolKind => ({
  names,
  version: /release (\d+\.\d+)/,
  accepts: (v) => Number(v.split('.')[0]) > 12 || Number(v.split('.')[1]) >= 8,
  wanted: '12.8 or newer',
  help: 'run: tilewright toolchain install triton',
});

/** Every tool that is started by itself. */
export const toolKinds = {
  'mlir-opt': llvm('mlir-opt'),
  'mlir-translate': llvm('mlir-translate'),
  opt: llvm('opt'),
  llc: llvm('llc'),
  'llvm-link': llvm('llvm-link'),
  ptxas: ptxas('ptxas'),
  'ptxas-blackwell': ptxas('ptxas-blackwell', 'ptxas'),
  cc: {
    names: ['cc', 'gcc', 'clang'],
    version: /(\d+\.\d+(?:\.\d+)?)/,
    accepts: () => true,
    wanted: 'any version',
    help: "install a C compiler, for example Debian's package gcc",
  },
  nvcc: {
    names: ['nvcc'],
    version: /release (\d+\.\d+)/,
    accepts: (v) => Number(v.split('.')[0]) >= 12,
    wanted: '12.0 or newer',
    help: 'run: tilewright toolchain install nvcc',
  },
  hipcc: {
    names: ['hipcc'],
    version: /HIP version: (\d+\.\d+)/,
    accepts: () => true,
    wanted: 'any version',
    help: "install ROCm, or Debian's package hipcc",
  },
} as const satisfies Readonly<Record<string, ToolKind>>;

export type ToolName = keyof typeof toolKinds;

/** What the user gave by flags: paths (`--cc /opt/gcc/bin/gcc`), or names to look up on PATH (`--cc gcc`). */
export type ToolPaths = Readonly<Partial<Record<ToolName, string>>>;

/**
 * Finds a tool: flag, environment, installed tool sets, PATH. A tool that was named by flag or environment must do;
 * elsewhere one of the wrong version is passed over.
 *
 * @throws ToolError that lists every place that was looked at.
 */
export async function findTool(name: ToolName, paths: ToolPaths = {}): Promise<Tool> {
  const kind: ToolKind = toolKinds[name];
  const probed: string[] = [];
  const fromEnvironment = toolFromEnvironment(name);
  const variable = name.toUpperCase().replaceAll('-', '_');
  const named = paths[name] ?? fromEnvironment;
  if (named !== undefined) {
    const where = paths[name] === undefined ? `the environment variable ${variable}` : `--${name}`;
    const path = named.includes('/') ? named : await onPath(named);
    if (path === undefined) throw missing(name, kind, [`${where}: ${named} (not on PATH)`]);
    const version = await probeVersion(name, kind, path);
    if (version === undefined) throw missing(name, kind, [`${where}: ${path} (does not run)`]);
    if (!kind.accepts(version)) throw wrongVersion(name, kind, path, version, [where]);
    return { name, path, version };
  }
  probed.push(`--${name} (not given)`, `${variable} (not set)`);
  const installed = await setTool(name);
  const own = toolOfInstallation(name);
  const candidates = [own ?? [], installed ?? [], ...(await Promise.all(kind.names.map((n) => onPath(n))))]
    .flat()
    .filter((p) => p !== undefined);
  probed.push(installed ? `the installed tool sets: ${installed}` : 'the installed tool sets (not installed)');
  let wrong: { path: string; version: string } | undefined;
  for (const path of candidates) {
    const version = await probeVersion(name, kind, path);
    if (version === undefined) probed.push(`${path} (does not run)`);
    else if (kind.accepts(version)) return { name, path, version };
    else {
      probed.push(`${path} (version ${version})`);
      wrong ??= { path, version };
    }
  }
  for (const n of kind.names) probed.push(`${n} on PATH`);
  throw wrong ? wrongVersion(name, kind, wrong.path, wrong.version, probed) : missing(name, kind, probed);
}

const missing = (tool: string, kind: ToolKind, probed: readonly string[]): ToolError =>
  new ToolError([
    toolCodes.toolMissing({ tool }, { notes: probed.map((p) => ({ message: `looked at ${p}` })), help: kind.help }),
  ]);

const wrongVersion = (tool: string, kind: ToolKind, path: string, got: string, probed: readonly string[]): ToolError =>
  new ToolError([
    toolCodes.toolVersion(
      { tool, path, got, wanted: kind.wanted },
      { notes: probed.map((p) => ({ message: `looked at ${p}` })), help: kind.help },
    ),
  ]);

/** A tool's version. Remembered by path, size and time of change, so that a warm run starts no process to ask. */
async function probeVersion(name: string, kind: ToolKind, path: string): Promise<string | undefined> {
  const file = await stat(path).catch(() => undefined);
  if (!file?.isFile()) return undefined;
  const key = keyOf({ path, size: String(file.size), changed: String(file.mtimeMs) });
  const memo = join(cacheFolder(), 'probes', key);
  const known = await readFile(memo, 'utf8').catch(() => undefined);
  if (known && /^\d+(\.\d+)*$/.test(known)) return known;
  const outcome = await run(name, path, ['--version'], { timeout: 20_000 });
  const version = kind.version.exec(Buffer.from(outcome.stdout).toString('utf8'))?.[1];
  if (!outcome.ok || version === undefined) return undefined;
  await mkdir(dirname(memo), { recursive: true })
    .then(() => writeFile(memo, version))
    .catch(() => undefined);
  return version;
}
