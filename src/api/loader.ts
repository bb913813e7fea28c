/** Loading kernel files: TypeScript is bundled in-process, so that a file and what it imports run as they are. */

import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, Plugin } from 'esbuild';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { fileLoc, unknownLoc } from '../diagnostics/location.js';
import { nearest } from '../diagnostics/nearest.js';
import { readInput } from '../drivers/files.js';
import { withWorkspace } from '../drivers/workspace.js';
import { Kernel, userError } from '../frontend/kernel.js';
import { forDisplay } from '../frontend/site.js';
import type { AnyKernel } from './source.js';

/** The kernels that a file exports, by export name. */
export interface KernelFile {
  readonly kernels: ReadonlyMap<string, AnyKernel>;
  /** The user's files that took part, absolute: the file itself and everything it imports. */
  readonly files: readonly string[];
}

/** Public entry points, as the running installation has them: a kernel file shares our state, not a second copy of it. */
const entryPoints: Readonly<Record<string, string>> = {
  tilewright: '../index.js',
  'tilewright/triton': '../frontend/triton.js',
  'tilewright/mgpu': '../frontend/mgpu.js',
  'tilewright/testing': '../testing/index.js',
};

const ourselves: Plugin = {
  name: 'tilewright',
  setup(build) {
    build.onResolve({ filter: /^tilewright(\/|$)/ }, ({ path }) => {
      const own = Object.hasOwn(entryPoints, path) ? entryPoints[path] : undefined;
      return own === undefined ? undefined : { path: new URL(own, import.meta.url).href, external: true };
    });
  },
};

/**
 * Loads a kernel file.
 *
 * @throws CompileError: the file cannot be read, does not parse, throws while it loads, or exports no kernel.
 */
export async function loadKernels(file: string): Promise<KernelFile> {
  const path = resolve(file);
  await readInput(file);
  const { code, files } = await bundle(path);
  const module = await evaluate(code);
  const kernels = new Map<string, AnyKernel>();
  for (const [name, value] of Object.entries(module)) if (value instanceof Kernel) kernels.set(name, value);
  if (kernels.size === 0)
    throw new CompileError([frontendCodes.noKernels({ file }, { help: 'export what kernel(…) gives' })]);
  return { kernels, files };
}

async function bundle(path: string): Promise<{ code: string; files: string[] }> {
  const { build } = await import('esbuild');
  const folder = dirname(path);
  const result = await build({
    entryPoints: [path],
    absWorkingDir: folder,
    outfile: join(folder, '.kernel.mjs'),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [ourselves],
  }).catch((error: BuildFailure) => {
    if (!error.errors) throw error;
    throw new CompileError(
      error.errors.map((e) => {
        const at = e.location;
        const loc = at ? forDisplay(fileLoc(resolve(folder, at.file), at.line, at.column + 1)) : unknownLoc;
        return frontendCodes.doesNotParse(
          { message: e.text },
          { loc, notes: e.notes.map((n) => ({ message: n.text })) },
        );
      }),
    );
  });
  const files = Object.keys(result.metafile.inputs).map((f) => resolve(folder, f));
  return { code: withAbsoluteSources(result.outputFiles[0]!.text, folder), files };
}

const mapComment = /\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/;

/** The bundle runs from a temporary folder, so its map must name the user's files by absolute addresses. */
function withAbsoluteSources(code: string, folder: string): string {
  const match = mapComment.exec(code);
  if (!match) return code;
  const map = JSON.parse(Buffer.from(match[1]!, 'base64').toString('utf8')) as { sources: string[] };
  map.sources = map.sources.map((s) => pathToFileURL(resolve(folder, s)).href);
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64');
  return `${code.slice(0, match.index)}//# sourceMappingURL=data:application/json;base64,${encoded}\n`;
}

async function evaluate(code: string): Promise<Record<string, unknown>> {
  process.setSourceMapsEnabled(true);
  return withWorkspace(async (folder) => {
    const path = join(folder, 'kernel.mjs');
    await writeFile(path, code);
    try {
      return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    } catch (error) {
      throw userError(error, unknownLoc);
    }
  });
}

/**
 * The kernel of a name (of the export or of the kernel), or all of them without one.
 *
 * @throws CompileError for an unknown name, with the nearest.
 */
export function chooseKernels(file: string, { kernels }: KernelFile, names: readonly string[]): AnyKernel[] {
  if (names.length === 0) return [...kernels.values()];
  return names.map((name) => {
    const found = kernels.get(name) ?? [...kernels.values()].find((k) => k.name === name);
    if (found) return found;
    const known = [...kernels].flatMap(([exported, k]) => [exported, k.name]);
    const near = nearest(name, known);
    throw new CompileError([
      frontendCodes.unknownKernel(
        { name, file },
        { help: near ? `did you mean '${near}'?` : `its kernels are ${[...new Set(known)].join(', ')}` },
      ),
    ]);
  });
}
