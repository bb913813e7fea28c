/**
 * The first level of the cache: whole builds by the user's files. What a command made of files that have not changed since is
 * neither bundled nor traced again. The second level is by the text that compilers read.
 */

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Target } from '../lowering/target.js';
import { assetPath } from './assets.js';
import type { ArtifactCache, Entry } from './cache.js';
import { keyOf, sha256 } from './fingerprint.js';
import { hostProcessor } from './host.js';
import { findPtxas } from './ptxas.js';
import { findTool, type ToolName, type ToolPaths } from './tool.js';
import { setFolder } from './toolchain.js';

/** The user's files that a build read, absolute, with their hashes. */
type Sources = Readonly<Record<string, string>>;

export class BuildMemo {
  /** @param folder of the cache; the lists of files lie in it beside the entries. */
  constructor(
    private readonly cache: ArtifactCache,
    private readonly folder: string,
  ) {}

  private path(question: string): string {
    return join(this.folder, 'builds', question.slice(0, 2), `${question}.json`);
  }

  /** What was made for a question, and of which files, if each of them is as it was then. */
  async recall(question: string): Promise<{ readonly entry: Entry; readonly sources: readonly string[] } | undefined> {
    try {
      const sources = JSON.parse(await readFile(this.path(question), 'utf8')) as Sources;
      for (const [file, hash] of Object.entries(sources)) if (sha256(await readFile(file)) !== hash) return undefined;
      const entry = await this.cache.get(answerKey(question, sources));
      return entry && { entry, sources: Object.keys(sources) };
    } catch {
      return undefined;
    }
  }

  /**
   * Remembers what a build that began at `started` (milliseconds since 1970) made of `files`. One whose files were written
   * to since is not remembered: it may have read them before or after.
   */
  async remember(question: string, files: readonly string[], started: number, entry: Entry): Promise<void> {
    const path = this.path(question);
    const partial = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      const sources: Record<string, string> = {};
      for (const file of files) {
        if ((await stat(file)).mtimeMs >= started) return;
        sources[file] = sha256(await readFile(file));
      }
      await this.cache.put(answerKey(question, sources), entry);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(partial, JSON.stringify(sources));
      await rename(partial, path);
    } catch {
      // The next build is made again; the second level has told of a cache that cannot be written.
    }
  }
}

const answerKey = (question: string, sources: Sources): string =>
  keyOf({ layout: 'build-1', question, sources: JSON.stringify(Object.entries(sources).sort()) });

/** What this installation is: its files by size and time, so that one under development is another after each build. */
export async function programIdentity(): Promise<string> {
  const parts = await Promise.all(
    ['dist', 'workers', 'locks', 'templates'].map(async (folder) => {
      const root = assetPath(folder);
      const names = await readdir(root, { recursive: true });
      const files = names.filter((name) => !name.endsWith('.d.ts')).sort();
      return Promise.all(
        files.map(async (name) => {
          const { size, mtimeMs } = await stat(join(root, name));
          return `${folder}/${name} ${size} ${mtimeMs}`;
        }),
      );
    }),
  );
  return sha256(`${process.version}\n${parts.flat().join('\n')}`);
}

const cpuTools: readonly ToolName[] = ['mlir-opt', 'mlir-translate', 'opt', 'llc', 'cc'];

/**
 * The tools that builds for some targets use, as text.
 *
 * @throws ToolError where one is missing.
 */
export async function toolsIdentity(targets: readonly Target[], paths: ToolPaths): Promise<string> {
  const lines: string[] = [];
  for (const target of targets) {
    if (target.kind === 'cpu')
      for (const name of cpuTools) lines.push(Object.values(await findTool(name, paths)).join(' '));
    else lines.push(await setFolder('triton'));
    if (target.kind === 'gpu' && target.vendor === 'nvidia')
      lines.push(Object.values(await findPtxas(target, paths)).join(' '));
    if (target.name === 'cpu:native') lines.push(hostProcessor().model, hostProcessor().features.join(' '));
  }
  return lines.join('\n');
}
