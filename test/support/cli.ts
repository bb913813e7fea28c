/** The built program as a user runs it, in a folder of its own. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type RunOptions, runCli } from './built-cli.js';

const root = resolve(import.meta.dirname, '../..');

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const example = (name: string): string => join(root, 'examples', `${name}.kernel.ts`);

export async function tilewright(args: readonly string[], options: RunOptions = {}): Promise<CliResult> {
  const { exitCode, stdout, stderr } = await runCli(args, { cwd: root, ...options });
  return { code: exitCode, stdout, stderr };
}

/** Runs `work` with a folder that is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tilewright test '));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
