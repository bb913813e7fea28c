/** A compilation that failed, as an error at the user's line, with what reproduces it. */

import { mkdir, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toolCodes } from '../../diagnostics/codes/tools.js';
import {
  type Diagnostic,
  type DiagnosticContext,
  type DiagnosticNote,
  ToolError,
} from '../../diagnostics/diagnostic.js';
import { cacheFolder } from '../environment.js';
import { sha256 } from '../fingerprint.js';
import { type JobFailed, signalName } from '../fork-server.js';
import { placedError } from '../mlir-place.js';
import { ptxPlace } from '../ptxas.js';
import { causeOf, shellQuote } from '../run.js';
import { optionFlags } from './options.js';
import type { TritonJob } from './stages.js';

/** The command that goes on from a file of the stage that a job began with. */
export const resumeCommand = (
  file: string,
  { from, target, options }: Pick<TritonJob, 'from' | 'target' | 'options'>,
  emit: string,
): string =>
  [
    'tilewright',
    'build',
    file,
    `--start-from=${from}`,
    '--target',
    target.name,
    ...optionFlags(options),
    `--emit=${emit}`,
  ]
    .map(shellQuote)
    .join(' ');

/** Keeps a failed job's input where it can be run again. A folder that cannot be written costs the note, not the error. */
async function reproducer(job: TritonJob): Promise<DiagnosticNote[]> {
  const name = `${job.name.replace(/[^\w.-]/g, '_')}-${sha256(job.input).slice(0, 12)}.${job.from}`;
  const path = join(cacheFolder(), 'failures', name);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.${process.pid}`, job.input);
    await rename(`${path}.${process.pid}`, path);
  } catch {
    return [];
  }
  return [{ message: `to reproduce it: ${resumeCommand(path, job, job.wanted.at(-1)!)}` }];
}

/** What a failed process printed, shortened: passes print the whole module when they fail. */
function excerpt(log: string): DiagnosticNote[] {
  const lines = log.trim().split('\n').slice(0, 8);
  return log.trim() === '' ? [] : [{ message: `it printed:\n${lines.map((l) => l.slice(0, 300)).join('\n')}` }];
}

/** The error of a job that did not come to its end. `stage` is the one that failed. */
export async function jobError(reply: JobFailed, job: TritonJob, stage: string): Promise<ToolError> {
  const { log, error, failure, signal } = reply;
  const placed = placedError(log, job.input);
  const cause = placed?.cause ?? (causeOf(log) || error);
  const context = async (): Promise<DiagnosticContext> => ({
    ...(placed?.loc ? { loc: placed.loc } : {}),
    notes: [...(await reproducer(job)), ...(placed ? [] : excerpt(log))],
  });
  return new ToolError([await describe()]);

  async function describe(): Promise<Diagnostic> {
    const tool = 'triton';
    switch (failure) {
      case 'disk':
        return toolCodes.workspaceUnusable({ folder: tmpdir(), why: error }, { help: 'TMPDIR names another folder' });
      case 'cancelled':
        return toolCodes.toolFailed({ tool, how: 'was cancelled', cause: '' });
      case 'timeout': {
        const seconds = Number(/[\d.]+/.exec(error)?.[0]);
        const help = 'smaller tiles, or fewer of them in one program, compile faster';
        return toolCodes.compilerTimedOut({ tool, stage, seconds }, { ...(await context()), help });
      }
      case 'crash':
        return toolCodes.compilerCrashed(
          { tool, stage, how: `crashed with ${signalName(signal)}`, cause: cause === error ? '' : cause },
          await context(),
        );
      case 'error':
        return toolCodes.toolFailed({ tool, how: `failed in stage '${stage}'`, cause }, await context());
    }
  }
}

/** The assembler's error at the user's line, with the job that led to it. */
export async function assemblerError(error: unknown, job: TritonJob, ptx: Uint8Array): Promise<unknown> {
  if (!(error instanceof ToolError) || error.failure === undefined) return error;
  const notes = await reproducer(job);
  const loc = ptxPlace(error.failure.stderr, Buffer.from(ptx).toString('utf8'));
  return new ToolError(
    error.diagnostics.map((d) => ({ ...d, ...(loc ? { loc } : {}), notes: [...notes, ...d.notes] })),
    error.failure,
  );
}
