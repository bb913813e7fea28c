/** Runs compiled CPU kernels in a child process, so that a crash of a kernel is a diagnostic. */

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { assetPath } from './assets.js';
import { publishFolder } from './cache.js';
import { cacheFolder } from './environment.js';
import { keyOf } from './fingerprint.js';
import { type Conversation, converse, run, toolError } from './run.js';
import { findTool, type ToolPaths } from './tool.js';
import { withWorkspace } from './workspace.js';

/** Memory of a kernel: bytes it starts with, or that many zeros. */
export interface CpuBuffer {
  readonly bytes: number;
  readonly input?: Uint8Array;
  /** Whether its content is wanted after the run. */
  readonly output: boolean;
}

export interface CpuLaunch {
  readonly symbol: string;
  readonly programs: number;
  /** Buffer of each array parameter, in order. */
  readonly pointers: readonly number[];
  /** Slots of dims and scalars, in order. */
  readonly scalars: readonly bigint[];
  readonly scratchBytes: number;
}

export interface CpuJob {
  /** The shared library's bytes. */
  readonly library: Uint8Array;
  readonly buffers: readonly CpuBuffer[];
  readonly launches: readonly CpuLaunch[];
  readonly threads: number;
  readonly tools?: ToolPaths;
}

export interface CpuRunOptions {
  /** How often all launches run; buffers are not reset in between. */
  readonly repeat?: number;
  /** Milliseconds; ten minutes by default. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

export interface CpuResult {
  /** Content of the wanted buffers, by index. */
  readonly outputs: ReadonlyMap<number, Uint8Array>;
  /** Nanoseconds of each repetition. */
  readonly nanoseconds: readonly number[];
}

/** The runner's executable: compiled once per source and compiler, kept in the cache folder. */
async function runnerPath(tools: ToolPaths): Promise<string> {
  const source = await readFile(assetPath('workers/cpu-runner.c'));
  const cc = await findTool('cc', tools);
  const folder = join(cacheFolder(), 'runners', keyOf({ source, cc: cc.path, version: cc.version }).slice(0, 24));
  const path = join(folder, 'cpu-runner');
  if (existsSync(path)) return path;
  await withWorkspace(async (workspace) => {
    const made = join(workspace, 'cpu-runner');
    const args = ['-O2', '-o', made, assetPath('workers/cpu-runner.c'), '-lpthread', '-ldl'];
    const outcome = await run('cc', cc.path, args);
    if (!outcome.ok) throw toolError(outcome);
    await mkdir(join(folder, '..'), { recursive: true });
    await publishFolder(folder, new Map([['cpu-runner', await readFile(made)]]));
  });
  const { chmod } = await import('node:fs/promises');
  await chmod(path, 0o755);
  return path;
}

/** Where big temporary files are fastest: memory, if the system offers it. */
const fastFolder = (): string | undefined => (existsSync('/dev/shm') ? '/dev/shm' : undefined);

async function writeJob(folder: string, job: CpuJob, repeat: number): Promise<string> {
  const library = join(folder, 'kernel.so');
  await writeFile(library, job.library);
  const lines = [`library ${library}`, `threads ${job.threads}`, `repeat ${repeat}`];
  for (const [i, buffer] of job.buffers.entries()) {
    const path = join(folder, `buffer${i}`);
    await writeFile(path, buffer.input ?? new Uint8Array(buffer.bytes));
    lines.push(`buffer ${buffer.bytes} ${path}`);
  }
  for (const { symbol, programs, scratchBytes, pointers, scalars } of job.launches) {
    const bits = scalars.map((s) => BigInt.asUintN(64, s).toString(16));
    lines.push(
      ['launch', symbol, programs, scratchBytes, pointers.length, ...pointers, bits.length, ...bits].join(' '),
    );
  }
  const path = join(folder, 'job');
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

/**
 * Runs a job to its end.
 *
 * @throws ToolError: no C compiler for the runner, a kernel that crashed (TW3030) or ran too long (TW3031).
 */
export async function runCpu(
  job: CpuJob,
  { repeat = 1, timeout = 600_000, signal }: CpuRunOptions = {},
): Promise<CpuResult> {
  const runner = await runnerPath(job.tools ?? {});
  return withWorkspace(async (folder) => {
    const path = await writeJob(folder, job, repeat);
    const outcome = await run('cpu-runner', runner, [path], { timeout, ...(signal ? { signal } : {}) });
    const printed = Buffer.from(outcome.stdout).toString('utf8');
    const crash = /^crash (\w+) (\d+) (-?\d+)$/m.exec(printed);
    if (crash) throw crashed(crash[1]!, job.launches[Number(crash[2])]!.symbol, crash[3]!);
    if (outcome.timedOut) throw new ToolError([toolCodes.kernelTimedOut({ seconds: Math.round(timeout / 1000) })]);
    if (!outcome.ok)
      throw outcome.signal === undefined || outcome.aborted
        ? toolError(outcome)
        : crashed(outcome.signal, job.launches[0]!.symbol, '?');
    const outputs = new Map<number, Uint8Array>();
    for (const [i, buffer] of job.buffers.entries())
      if (buffer.output) outputs.set(i, await readFile(join(folder, `buffer${i}`)));
    const nanoseconds = [...printed.matchAll(/^time (\d+)$/gm)].map((m) => Number(m[1]));
    return { outputs, nanoseconds };
  }, fastFolder());
}

const crashed = (signal: string, launch: string, program: string): ToolError =>
  new ToolError([
    toolCodes.kernelCrashed({ signal, launch, program }, { help: 'run it with --target interpret to find the line' }),
  ]);

/** A job that stays loaded and is run on demand: what benchmarks interleave. */
export interface CpuSession {
  /** Runs all launches `count` times; nanoseconds of each. */
  time(count: number): Promise<number[]>;
  close(): Promise<void>;
}

/** Opens a session; `work` ends it. */
export async function withCpuSession<T>(job: CpuJob, work: (session: CpuSession) => Promise<T>): Promise<T> {
  const runner = await runnerPath(job.tools ?? {});
  return withWorkspace(async (folder) => {
    const path = await writeJob(folder, job, 0);
    const talk: Conversation = await converse(runner, [path]);
    try {
      return await work({
        time: async (count) => (await talk.ask(`run ${count}`)).split(' ').map(Number),
        close: () => talk.close(),
      });
    } finally {
      await talk.close();
    }
  }, fastFolder());
}
