/** Runs the built program as a user does: `bin/tilewright.js` in a process of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const programPath = fileURLToPath(new URL('../../bin/tilewright.js', import.meta.url));
const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Outcome {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

export function startCli(args: readonly string[], { cwd, env }: RunOptions = {}): ChildProcess {
  if (!existsSync(built)) throw new Error('the tests of the command line need the built program: npm run build');
  return spawn(process.execPath, [programPath, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: 'pipe',
  });
}

export function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const read = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      read[name] += text;
    });
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (exitCode, signal) => done({ exitCode, signal, ...read }));
  });
}

/** @returns exit code and everything written; never rejects because of what the program did. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const child = startCli(args, options);
  child.stdin!.on('error', () => {});
  child.stdin!.end(options.input);
  return outcomeOf(child);
}
