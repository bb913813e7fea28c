/** The package outside of the test runner: transpiled into a folder of its own, for kernels that a plain process loads. */

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

const sourcesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((f) => f.endsWith('.ts'))
    .map((f) => join(folder, f));

/** What a script that was run outside wrote. */
export interface ScriptResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OutsidePackage {
  /** A folder for user files; `tilewright` resolves there. */
  readonly folder: string;
  /** Transpiles TypeScript files of the tests one by one, as `tsc` does, with source maps beside them. */
  readonly transpile: (from: string, to: string) => Promise<void>;
  /** Runs a module script in `folder`, with a TMPDIR of its own. `tilewright` and `tilewright/dist/…` are the package. */
  readonly run: (script: string, flags?: readonly string[]) => Promise<ScriptResult>;
  readonly remove: () => void;
}

export async function packageOutside(): Promise<OutsidePackage> {
  const base = mkdtempSync(join(tmpdir(), 'tilewright (outside) '));
  const [installed, folder, temporary] = [join(base, 'package'), join(base, 'user'), join(base, 'tmp')];
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  mkdirSync(installed);
  mkdirSync(temporary);
  const transpile = async (from: string, to: string): Promise<void> => {
    const options = { format: 'esm', target: 'node20', sourcemap: true, logLevel: 'silent' } as const;
    await build({ ...options, entryPoints: sourcesOf(from), outbase: from, outdir: to });
  };
  await transpile(join(root, 'src'), join(installed, 'dist'));
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(installed, 'node_modules'));
  symlinkSync(installed, join(folder, 'node_modules/tilewright'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');

  const run = (script: string, flags: readonly string[] = []): Promise<ScriptResult> =>
    new Promise((done) => {
      const text = script.replaceAll('tilewright/dist/', `${installed}/dist/`);
      const args = [...flags, '--no-warnings', '--input-type=module', '--eval', text];
      execFile(
        process.execPath,
        args,
        { cwd: folder, env: { ...process.env, TMPDIR: temporary } },
        (error, stdout, stderr) =>
          done({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr }),
      );
    });
  return { folder, transpile, run, remove: () => rmSync(base, { recursive: true, force: true }) };
}
