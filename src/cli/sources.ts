/** From the files on the command line to kernels. */

import { dirname, resolve } from 'node:path';
import { chooseKernels, loadKernels } from '../api/loader.js';
import { type AnyKernel, type KernelSource, readKernels } from '../api/source.js';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { readInput } from '../drivers/files.js';
import { UsageError } from './usage-error.js';

/** A kernel of the command line, and the name that its outputs have. */
export interface NamedKernel {
  readonly name: string;
  readonly kernel: AnyKernel | KernelSource;
}

export async function readText(file: string): Promise<string> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  }
  return (await readInput(file)).toString('utf8');
}

/** Whether a file is kernel IR; standard input always is. */
export const isIrFile = (file: string): boolean => file === '-' || file.endsWith('.kir');

/**
 * The kernels of a file, with `-D` applied.
 *
 * @param read is told which files of the user's were read, and whether they alone decide what the kernels are.
 * @throws CompileError: the file or a kernel in it is wrong. UsageError: `-D` for kernel IR, which has no parameters.
 */
export async function kernelsOf(
  file: string,
  names: readonly string[],
  defines: readonly (readonly [string, string])[],
  read: (files: readonly string[], closed: boolean) => void = () => {},
): Promise<NamedKernel[]> {
  if (!isIrFile(file)) {
    const loaded = await loadKernels(file);
    read(loaded.files, loaded.closed);
    const values = Object.fromEntries(defines);
    return chooseKernels(file, loaded, names).map((k) => ({
      name: k.name,
      kernel: defines.length > 0 ? k.withText(values) : k,
    }));
  }
  if (defines.length > 0) throw new UsageError([cliCodes.definesForIr({ file })]);
  read([resolve(file)], file !== '-');
  const folder = file === '-' ? process.cwd() : dirname(resolve(file));
  const all = readKernels(await readText(file), file === '-' ? '<stdin>' : file, folder);
  const known = all.map((s) => s.kernel.name);
  const unknown = names.find((n) => !known.includes(n));
  if (unknown !== undefined) {
    const help = didYouMean(unknown, known) ?? `its kernels are ${known.join(', ')}`;
    throw new CompileError([frontendCodes.unknownKernel({ name: unknown, file }, { help })]);
  }
  return all
    .filter((s) => names.length === 0 || names.includes(s.kernel.name))
    .map((s) => ({ name: s.kernel.name, kernel: s }));
}

/** The one kernel of a file that `run` needs. */
export async function oneKernel(
  file: string,
  names: readonly string[],
  defines: readonly (readonly [string, string])[],
): Promise<NamedKernel> {
  const kernels = await kernelsOf(file, names, defines);
  if (kernels.length > 1)
    throw new UsageError([
      cliCodes.severalKernels({ file, kernels: kernels.map((k) => k.name) }, { help: 'choose one with -k NAME' }),
    ]);
  return kernels[0]!;
}
