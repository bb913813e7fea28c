/** Tool sets: pinned, hash-checked Python wheels that hold tools, unpacked into the user's cache folder without root. */

import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { assetPath } from './assets.js';
import { publishFolder } from './cache.js';
import { cacheFolder, installerEnvironment, searchPath } from './environment.js';
import { sha256 } from './fingerprint.js';
import { causeOf, type Outcome, run } from './run.js';
import { withWorkspace } from './workspace.js';

interface ToolSet {
  readonly summary: string;
  /** Tools by name, as paths below the folder of Python packages. */
  readonly tools: Readonly<Record<string, string>>;
  /** Whether the packages are imported by a Python, which the set then keeps as its tool `python`. */
  readonly python?: boolean;
  /** What no tool needs: paths below the folder of packages that are removed after they were checked and unpacked. */
  readonly leaveOut?: readonly string[];
}

/** The interpreter of a set that has one, below its folder: sees the set's packages and the standard library only. */
const interpreter = 'python/bin/python';

/** The tool sets that can be installed. Each has a lock file `locks/NAME.lock`. */
export const toolSets = {
  mlir: {
    summary: 'LLVM and MLIR 22.1: mlir-opt, mlir-translate, opt, llc (for the CPU and Mosaic GPU)',
    tools: {
      'mlir-opt': 'mlir/bin/mlir-opt',
      'mlir-translate': 'mlir/bin/mlir-translate',
      opt: 'llvm/bin/opt',
      llc: 'llvm/bin/llc',
      'llvm-link': 'llvm/bin/llvm-link',
    },
  },
  triton: {
    summary: 'Triton 3.9 with its own assemblers (for NVIDIA and AMD GPUs)',
    tools: {
      python: interpreter,
      ptxas: 'triton/backends/nvidia/bin/ptxas',
      'ptxas-blackwell': 'triton/backends/nvidia/bin/ptxas-blackwell',
      nvdisasm: 'triton/backends/nvidia/bin/nvdisasm',
      cuobjdump: 'triton/backends/nvidia/bin/cuobjdump',
      libdevice: 'triton/backends/nvidia/lib/libdevice.10.bc',
    },
    python: true,
    // Profiling of kernels that run: the libraries of CUPTI alone are a third of the wheel.
    leaveOut: ['triton/backends/nvidia/lib/cupti-blackwell'],
  },
  mosaic: {
    summary: 'JAX 0.10 with the lowering of Mosaic GPU (for NVIDIA GPUs from sm_90a on)',
    tools: { python: interpreter },
    python: true,
  },
  nvcc: {
    summary: "NVIDIA's compiler 13.5, to compile launchers by it (cc does as well)",
    tools: {
      nvcc: 'nvidia/cu13/bin/nvcc',
      fatbinary: 'nvidia/cu13/bin/fatbinary',
    },
  },
  test: { summary: 'NumPy and JAX, the other side of benchmarks', tools: {} },
} as const satisfies Readonly<Record<string, ToolSet>>;

export type SetName = keyof typeof toolSets;
export const setNames = Object.keys(toolSets) as readonly SetName[];

export function asSetName(name: string): SetName {
  const found = setNames.find((s) => s === name);
  if (!found) throw new ToolError([toolCodes.unknownSet({ set: name, known: setNames.join(', ') })]);
  return found;
}

/** Folder of a set's Python packages. Its name changes with the lock, so an older installation is never used by mistake. */
export async function setFolder(set: SetName): Promise<string> {
  const lock = await readFile(assetPath(`locks/${set}.lock`));
  return join(cacheFolder(), 'toolchains', `${set}-${sha256(lock).slice(0, 16)}`);
}

/** A set whose interpreter was taken away (by an upgrade of the system's Python) counts as missing. */
export async function isInstalled(set: SetName): Promise<boolean> {
  const { python }: ToolSet = toolSets[set];
  const folder = await setFolder(set);
  return exists(python ? join(folder, interpreter) : folder);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Path of a tool of one of the sets, or undefined where none of them is installed and has it. */
export async function setTool(tool: string, sets = setNames): Promise<string | undefined> {
  for (const set of sets) {
    const { tools }: ToolSet = toolSets[set];
    const relative = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
    if (relative === undefined) continue;
    const path = join(await setFolder(set), relative);
    if (await exists(path)) return path;
  }
  return undefined;
}

export const notInstalled = (what: string): ToolError =>
  new ToolError([
    toolCodes.toolMissing({ tool: what }, { help: `run: tilewright toolchain install ${what.split(':')[0]}` }),
  ]);

export interface InstallOptions {
  readonly onProgress?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Installs a set if it is missing. Packages go to a folder beside the final one, which then appears by one rename: a
 * broken installation is never seen, and of two that run at once either wins.
 *
 * @throws ToolError: no Python, no installer, a download that fails or does not match its hash, a folder that
 * cannot be written.
 */
export async function installSet(
  set: SetName,
  { onProgress = () => {}, signal }: InstallOptions = {},
): Promise<{ folder: string; installed: boolean }> {
  const folder = await setFolder(set);
  if (await isInstalled(set)) return { folder, installed: false };
  try {
    if (await exists(folder)) await rm(folder, { recursive: true });
    await publishFolder(folder, (partial) => installInto(partial, set, onProgress, signal));
  } catch (error) {
    // Only what the file system says: a folder that cannot be written, a full disk.
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    const help = '`--cache-dir` or TILEWRIGHT_CACHE_DIR choose another folder';
    throw new ToolError([toolCodes.installFailed({ set, cause: message }, { help })]);
  }
  await removeStale(folder);
  return { folder, installed: true };
}

/** An installer: how its command line puts the packages of a lock file into a folder. */
interface Installer {
  readonly name: string;
  readonly path: string;
  readonly args: (target: string, lock: string) => readonly string[];
}

const installTimeout = 30 * 60_000;

async function installInto(
  target: string,
  set: SetName,
  onProgress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const python = await findPython();
  await withWorkspace(async (scratch) => {
    const installers = await findInstallers(python, join(scratch, 'venv'));
    await installWith(installers, target, set, onProgress, signal);
  });
  const { leaveOut = [], python: imported }: ToolSet = toolSets[set];
  for (const path of leaveOut) await rm(join(target, path), { recursive: true, force: true });
  if (imported) await makeInterpreter(python, target, set);
}

/**
 * The interpreter of a set: a virtual environment without packages of its own, which finds those of the set by a path
 * relative to itself, so that it may be moved with them.
 */
async function makeInterpreter(python: string, target: string, set: SetName): Promise<void> {
  const home = join(target, dirname(dirname(interpreter)));
  const outcome = await run('venv', python, ['-m', 'venv', '--without-pip', '--symlinks', home], {
    env: installerEnvironment(),
  });
  if (!outcome.ok) throw installError(set, outcome);
  const library = join(home, 'lib');
  for (const version of await readdir(library))
    await writeFile(join(library, version, 'site-packages', 'tilewright.pth'), '../../../..\n');
}

async function installWith(
  installers: readonly Installer[],
  target: string,
  set: SetName,
  onProgress: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const causes: string[] = [];
  for (const { name, path, args } of installers) {
    onProgress(`installing tool set '${set}' with ${name}`);
    const lock = assetPath(`locks/${set}.lock`);
    const outcome = await run(name, path, args(target, lock), {
      env: installerEnvironment(),
      timeout: installTimeout,
      ...(signal ? { signal } : {}),
    });
    if (outcome.ok) return;
    if (outcome.aborted) throw installError(set, outcome);
    causes.push(`${name}: ${causeOf(outcome.stderr) || 'failed'}`);
    await rm(target, { recursive: true, force: true });
    await mkdir(target);
  }
  const none = { help: "install uv, or pip for this Python (Debian's package python3-pip or python3-venv)" };
  throw new ToolError([
    causes.length > 0
      ? toolCodes.installFailed({ set, cause: causes.join('; ') })
      : toolCodes.installFailed({ set, cause: 'neither uv nor pip was found' }, none),
  ]);
}

const installError = (set: string, outcome: Outcome): ToolError =>
  new ToolError([toolCodes.installFailed({ set, cause: outcome.aborted ? 'cancelled' : causeOf(outcome.stderr) })]);

/** A Python of at least 3.11. Only its version is asked; nothing of ours is run in it. */
async function findPython(): Promise<string> {
  const seen: string[] = [];
  for (const name of ['python3', 'python3.13', 'python3.12', 'python3.11', 'python']) {
    const path = await onPath(name);
    if (!path) continue;
    const { stdout, ok } = await run(name, path, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], {
      env: installerEnvironment(),
    });
    const version = Buffer.from(stdout).toString('utf8').trim();
    const [major, minor] = version.split('.').map(Number);
    if (ok && (major! > 3 || (major === 3 && minor! >= 11))) return path;
    if (version) seen.push(`${name} is ${version}`);
  }
  throw new ToolError([
    toolCodes.pythonMissing(
      { got: seen.length ? seen.join(', ') : 'none was found on PATH' },
      { help: 'install Python 3.11 or newer and run the command again' },
    ),
  ]);
}

/**
 * Ways to install, best first: uv; the Python's own pip; the pip of a virtual environment that is made for it (some
 * systems ship Python without pip). A wheel is only unpacked, so the environment is not needed afterwards.
 */
async function findInstallers(python: string, scratch: string): Promise<Installer[]> {
  const list: Installer[] = [];
  const pinned = ['--require-hashes', '--no-deps', '-r'];
  const pipArgs = (target: string, lock: string): readonly string[] => [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--no-compile',
    '--disable-pip-version-check',
    '--target',
    target,
    ...pinned,
    lock,
  ];
  const uv = await onPath('uv');
  if (uv)
    list.push({
      name: 'uv',
      path: uv,
      args: (target, lock) => ['pip', 'install', '--quiet', '--python', python, '--target', target, ...pinned, lock],
    });
  const options = { env: installerEnvironment() };
  if ((await run('pip', python, ['-m', 'pip', '--version'], options)).ok)
    list.push({ name: 'pip', path: python, args: pipArgs });
  else if ((await run('venv', python, ['-m', 'venv', scratch], options)).ok)
    list.push({ name: 'pip of a virtual environment', path: join(scratch, 'bin', 'python'), args: pipArgs });
  return list;
}

/** First executable of a name on PATH. */
export async function onPath(name: string): Promise<string | undefined> {
  for (const folder of searchPath()) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Partial folders that an interrupted installation left an hour ago or more. */
async function removeStale(folder: string): Promise<void> {
  const parent = dirname(folder);
  for (const name of await readdir(parent)) {
    if (!name.endsWith('.partial')) continue;
    const path = join(parent, name);
    const age = Date.now() - (await stat(path).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
    if (age > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}
