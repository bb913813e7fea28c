/** Loading kernel files: TypeScript is bundled in-process, so that a file and what it imports run as they are. */

import { writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, BuildResult, Message, Plugin } from 'esbuild';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import { fileLoc, unknownLoc } from '../diagnostics/location.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { readInput } from '../drivers/files.js';
import { withWorkspace } from '../drivers/workspace.js';
import { Kernel, userError } from '../frontend/kernel.js';
import { forDisplay } from '../frontend/site.js';
import type { AnyKernel } from './source.js';

/** The kernels that a file exports, by export name. */
export interface KernelFile {
  readonly kernels: ReadonlyMap<string, AnyKernel>;
  /** The user's files that took part, absolute and sorted: the file itself and everything it imports. */
  readonly files: readonly string[];
  /** Whether nothing but those files can have decided what the kernels are: they neither read the system nor ask the time. */
  readonly closed: boolean;
}

/** Public entry points, as the running installation has them: a kernel file shares our state, not a second copy of it. */
const entryPoints: Readonly<Record<string, string>> = {
  tilewright: '../index.js',
  'tilewright/triton': '../frontend/triton.js',
  'tilewright/mgpu': '../frontend/mgpu.js',
  'tilewright/testing': '../testing/index.js',
  'tilewright/kernels': '../kernels/index.js',
};

const addressOf = (entryPoint: string): string => new URL(entryPoints[entryPoint]!, import.meta.url).href;

/** Names of an entry point, exported one by one: the bundler then finds an import of what is not there, at its line. */
async function exportsOf(entryPoint: string): Promise<string[]> {
  return Object.keys((await import(addressOf(entryPoint))) as object);
}

/** Namespace of our entry points in a bundle. */
const ours = 'tilewright';

const ourselves: Plugin = {
  name: ours,
  setup(build) {
    build.onResolve({ filter: /^tilewright(\/|$)/ }, ({ path }) =>
      Object.hasOwn(entryPoints, path) ? { path, namespace: ours } : undefined,
    );
    build.onLoad({ filter: /^/, namespace: ours }, async ({ path }) => ({
      contents: `export { ${(await exportsOf(path)).join(', ')} } from ${JSON.stringify(addressOf(path))};`,
    }));
    build.onResolve({ filter: /^file:/, namespace: ours }, ({ path }) => ({ path, external: true }));
  },
};

/**
 * Loads a kernel file.
 *
 * @throws CompileError: the file cannot be read, does not parse, imports what does not exist, throws while it loads, or
 *   exports no kernel.
 */
export async function loadKernels(file: string): Promise<KernelFile> {
  // Before anything is loaded: Node reads no maps of what was there already.
  process.setSourceMapsEnabled(true);
  const path = resolve(file);
  await readInput(file);
  const { code, files, closed } = await bundle(path);
  const module = await evaluate(code, path);
  const kernels = new Map<string, AnyKernel>();
  for (const [name, value] of Object.entries(module)) if (value instanceof Kernel) kernels.set(name, value);
  if (kernels.size === 0)
    throw new CompileError([frontendCodes.noKernels({ file }, { help: 'export what kernel(…) gives' })]);
  return { kernels, files, closed };
}

async function bundle(path: string): Promise<{ code: string; files: string[]; closed: boolean }> {
  const { build } = await import('esbuild');
  const folder = dirname(path);
  let result: BuildResult<{ write: false; metafile: true }>;
  try {
    result = await build({
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
    });
  } catch (error) {
    const { errors } = error as Partial<BuildFailure>;
    if (!errors) throw error;
    throw new CompileError(await Promise.all(errors.map((e) => bundlingError(e, folder))));
  }
  const undefinedImports = result.warnings.filter(({ id }) => id === 'import-is-undefined');
  if (undefinedImports.length > 0)
    throw new CompileError(await Promise.all(undefinedImports.map((w) => bundlingError(w, folder))));
  const inputs = Object.keys(result.metafile.inputs).filter((f) => !f.startsWith(`${ours}:`));
  const files = inputs.map((f) => resolve(folder, f)).sort();
  const code = result.outputFiles[0]!.text;
  const outside = Object.values(result.metafile.outputs).flatMap(({ imports }) => imports.filter((i) => i.external));
  const closed = outside.every(({ path }) => path.startsWith('file:')) && !openness.test(code);
  return { code: withAbsoluteSources(code, folder), files, closed };
}

const unresolved = /^Could not resolve "(.+)"$/;
const notExported = [
  /^No matching export in "(?:tilewright:)?(?<module>.+)" for import "(?<name>.+)"$/,
  /^Import "(?<name>.+)" will always be undefined because there is no matching export in "(?:tilewright:)?(?<module>.+)"$/,
];

/** What the bundler says, as a finding of ours. */
async function bundlingError({ text, location, notes }: Message, folder: string): Promise<Diagnostic> {
  const loc = location
    ? forDisplay(fileLoc(resolve(folder, location.file), location.line, location.column + 1))
    : unknownLoc;
  const [, path] = unresolved.exec(text) ?? [];
  if (path !== undefined) {
    const help = path.startsWith('.')
      ? 'there is no such file; the path is relative to the file that imports it'
      : (didYouMean(path, Object.keys(entryPoints)) ?? 'no such package is installed beside the file');
    return frontendCodes.unresolvedImport({ path }, { loc, help });
  }
  const { module, name } = notExported.map((p) => p.exec(text)?.groups).find((groups) => groups) ?? {};
  if (module !== undefined && name !== undefined) {
    // `kernel` before `Kernel`: of equally near names the first is suggested.
    const known = Object.hasOwn(entryPoints, module) ? (await exportsOf(module)).sort().reverse() : [];
    const help = didYouMean(name, known);
    return frontendCodes.missingExport({ module, name }, help === undefined ? { loc } : { loc, help });
  }
  return frontendCodes.doesNotParse({ message: text }, { loc, notes: notes.map((n) => ({ message: n.text })) });
}

/** Ways to learn what is not in the files. */
const openness = /\b(?:process|globalThis|Date|performance|fetch|import\.meta)\b|Math\.random|\bimport\(/;

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

/** Runs a bundle. What it throws is told with the user's frames; without any, at the file. */
async function evaluate(code: string, file: string): Promise<Record<string, unknown>> {
  return withWorkspace(async (folder) => {
    const path = join(folder, 'kernel.mjs');
    await writeFile(path, code);
    try {
      return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    } catch (error) {
      throw userError(error, fileLoc(file, 1, 1));
    }
  });
}

/**
 * The kernel of a name (of the export or of the kernel), or all of them without one.
 *
 * @throws CompileError for an unknown name, with the nearest.
 */
export function chooseKernels(file: string, { kernels }: KernelFile, names: readonly string[]): AnyKernel[] {
  // One kernel may have several exports.
  if (names.length === 0) return [...new Set(kernels.values())];
  return names.map((name) => {
    const found = kernels.get(name) ?? [...kernels.values()].find((k) => k.name === name);
    if (found) return found;
    const known = [...new Set([...kernels].flatMap(([exported, k]) => [exported, k.name]))];
    const help = didYouMean(name, known) ?? `its kernels are ${known.join(', ')}`;
    throw new CompileError([frontendCodes.unknownKernel({ name, file }, { help })]);
  });
}
