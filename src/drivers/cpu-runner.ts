/** Runs compiled CPU kernels in a child process, so that a crash of a kernel is a diagnostic. */

import { constants } from 'node:fs';
import { access, open, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { interpreterCodes } from '../diagnostics/codes/interpreter.js';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { CompileError, invariant, type ToolError } from '../diagnostics/diagnostic.js';
import { fileLoc } from '../diagnostics/location.js';
import { programPath } from './c-program.js';
import { converse, type Outcome, run, toolError } from './run.js';
import type { ToolPaths } from './tool.js';
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
  /** Takes the lines that kernels print, when they have run; the console by default. */
  readonly print?: (line: string) => void;
}

const defaultTimeout = 600_000;

export interface CpuResult {
  /** Content of the wanted buffers, by index. */
  readonly outputs: ReadonlyMap<number, Uint8Array>;
  /** Nanoseconds of each repetition. */
  readonly nanoseconds: readonly number[];
}

/**
 * Where buffers are mapped fastest: memory, if the system offers it and has room. Containers often offer 64 MiB, and a
 * file that is mapped without room behind it is a crash on access.
 */
async function fastFolder(bytes: number): Promise<string | undefined> {
  const folder = '/dev/shm';
  const free = await access(folder, constants.W_OK)
    .then(() => statfs(folder))
    .then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    );
  return free > bytes * 1.1 ? folder : undefined;
}

/** Size of a page, and how arrays are aligned. */
const page = 4096;
const alignment = 64;

/**
 * Where in its file an array lies: as near to the end of a page as its alignment allows. The page behind is forbidden, so
 * an access beyond the array is a crash instead of a foreign value.
 */
function startInFile(bytes: number): number {
  const slack = Math.ceil(bytes / page) * page - bytes;
  return slack - (slack % alignment);
}

async function writeBuffer(path: string, { bytes, input }: CpuBuffer): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(new Uint8Array(startInFile(bytes)));
    await file.writeFile(input ?? new Uint8Array(bytes));
  } finally {
    await file.close();
  }
}

async function readBuffer(path: string, bytes: number): Promise<Uint8Array> {
  const content = new Uint8Array(bytes);
  const file = await open(path);
  try {
    // In steps, because one call reads no more than 2 GiB.
    for (let done = 0; done < bytes; ) {
      const step = Math.min(bytes - done, 2 ** 30);
      const { bytesRead } = await file.read(content, done, step, startInFile(bytes) + done);
      invariant(bytesRead > 0, 'the file of an array has shrunk');
      done += bytesRead;
    }
  } finally {
    await file.close();
  }
  return content;
}

interface PreparedJob {
  readonly runner: string;
  /** Path of the job's description. */
  readonly path: string;
  /** Content of a buffer as the kernels left it. */
  readonly read: (buffer: number) => Promise<Uint8Array>;
}

/** Writes a job's files for as long as `work` needs them. */
async function withJob<T>(job: CpuJob, repeat: number, work: (prepared: PreparedJob) => Promise<T>): Promise<T> {
  const memoryFolder = await fastFolder(job.buffers.reduce((sum, b) => sum + b.bytes + page, 0));
  // Two folders: shared memory may forbid to execute what lies in it.
  return withWorkspace((code) =>
    withWorkspace(async (memory) => {
      const runner = await programPath('cpu-runner', job.tools ?? {}, code);
      const buffer = (i: number): string => join(memory, `buffer${i}`);
      const library = join(code, 'kernel.so');
      const path = join(code, 'job');
      await writeFile(library, job.library);
      for (const [i, content] of job.buffers.entries()) await writeBuffer(buffer(i), content);
      await writeFile(path, describeJob(job, repeat, library, buffer));
      return work({ runner, path, read: (i) => readBuffer(buffer(i), job.buffers[i]!.bytes) });
    }, memoryFolder),
  );
}

/** The text that `workers/cpu-runner.c` reads. */
function describeJob(job: CpuJob, repeat: number, library: string, buffer: (i: number) => string): string {
  const lines = [`library ${library}`, `threads ${job.threads}`, `repeat ${repeat}`];
  for (const [i, { bytes }] of job.buffers.entries()) lines.push(`buffer ${bytes} ${startInFile(bytes)} ${buffer(i)}`);
  for (const { symbol, programs, scratchBytes, pointers, scalars } of job.launches) {
    const bits = scalars.map((s) => BigInt.asUintN(64, s).toString(16));
    lines.push(
      ['launch', symbol, programs, scratchBytes, pointers.length, ...pointers, bits.length, ...bits].join(' '),
    );
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Runs a job to its end.
 *
 * @throws ToolError: no C compiler for the runner, a library that cannot be loaded. CompileError: a kernel that crashed
 * (TW3030) or ran too long (TW3031).
 */
export async function runCpu(
  job: CpuJob,
  { repeat = 1, timeout = defaultTimeout, signal, print = console.log }: CpuRunOptions = {},
): Promise<CpuResult> {
  return withJob(job, repeat, async ({ runner, path, read }) => {
    const outcome = await run('cpu-runner', runner, [path], { timeout, ...(signal ? { signal } : {}) });
    const printed = Buffer.from(outcome.stdout).toString('utf8');
    for (const [line] of printed.matchAll(/^\(.*$/gm)) print(line);
    if (!outcome.ok) throw kernelError(job, outcome, printed, timeout);
    const outputs = new Map<number, Uint8Array>();
    for (const [i, buffer] of job.buffers.entries()) if (buffer.output) outputs.set(i, await read(i));
    const nanoseconds = [...printed.matchAll(/^time (\d+)$/gm)].map((m) => Number(m[1]));
    return { outputs, nanoseconds };
  });
}

/** Why the runner did not do its work, by how it ended and what it printed. */
function kernelError(job: CpuJob, outcome: Outcome, printed: string, timeout: number): CompileError | ToolError {
  if (outcome.timedOut) return new CompileError([toolCodes.kernelTimedOut({ seconds: timeout / 1000 })]);
  const failed = /^assert (\[.*\]) (\(.*)$/m.exec(printed);
  if (failed) {
    const [file, line, col, message] = JSON.parse(failed[1]!) as [string, number, number, string];
    const loc = line > 0 ? { loc: fileLoc(file, line, col) } : {};
    return new CompileError([interpreterCodes.assertionFailed({ message, program: failed[2]! }, loc)]);
  }
  const crash = /^crash (\w+) (\d+) (\d+) (\d+)$/m.exec(printed);
  if (!crash) return toolError(outcome);
  const [, signal, launch, first, last] = crash;
  const where = first === last ? `program ${first}` : `one of the programs ${first} to ${last}`;
  return new CompileError([
    toolCodes.kernelCrashed(
      { signal: signal!, launch: job.launches[Number(launch)]!.symbol, where },
      { help: 'run it with --target interpret to find the line' },
    ),
  ]);
}

/** A job that stays loaded and is run on demand: what benchmarks interleave. */
export interface CpuSession {
  /** Runs all launches `count` times; nanoseconds of each. */
  time(count: number): Promise<number[]>;
}

/**
 * Opens a session, which ends with `work`.
 *
 * @param options `timeout` is that of one call of `time`.
 * @throws as `runCpu` does, from the call of `time` during which it happened.
 */
export async function withCpuSession<T>(
  job: CpuJob,
  work: (session: CpuSession) => Promise<T>,
  { timeout = defaultTimeout, signal }: Omit<CpuRunOptions, 'repeat'> = {},
): Promise<T> {
  return withJob(job, 0, async ({ runner, path }) => {
    // What kernels print is no answer.
    const isAnswer = (line: string): boolean => !line.startsWith('(');
    const talk = await converse('cpu-runner', runner, [path], { timeout, isAnswer, ...(signal ? { signal } : {}) });
    try {
      return await work({
        async time(count) {
          const answer = await talk.ask(`run ${count}`);
          if (answer === undefined || !/^\d/.test(answer))
            throw kernelError(job, await talk.close(), answer ?? '', timeout);
          return answer.split(' ').map(Number);
        },
      });
    } finally {
      await talk.close();
    }
  });
}
