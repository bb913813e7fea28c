/** The user's files: read with a reason when that fails, written so that they appear whole or not at all. */

import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readFile, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileCodes } from '../diagnostics/codes/files.js';
import { CompileError } from '../diagnostics/diagnostic.js';

export interface OutputFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** A program, which may be run. */
  readonly executable?: boolean;
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
};

/** What a failed call to the file system means, in words. */
function reasonOf(error: unknown, absence: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return absence;
  return (code === undefined ? undefined : reasons[code]) ?? message;
}

/**
 * Reads a file that the user named.
 *
 * @throws CompileError TW4301.
 */
export async function readInput(file: string): Promise<Buffer> {
  return readFile(file).catch((error: unknown) => {
    throw new CompileError([fileCodes.cannotRead({ file, why: reasonOf(error, 'no such file') })]);
  });
}

interface Pending {
  readonly path: string;
  readonly temporary: string;
}

const absent = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
};

/** Fills a file beside its place. Pipes and devices have no place to be renamed to and are written at once: undefined. */
async function prepare({ path, content, executable }: OutputFile): Promise<Pending | undefined> {
  const link = await lstat(path).catch(absent);
  const existing = link?.isSymbolicLink() ? await stat(path).catch(absent) : link;
  if (existing?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' });
  if (existing && !existing.isFile()) {
    await writeFile(path, content);
    return undefined;
  }
  // A link stays a link: the file behind it is replaced.
  const target = existing && link?.isSymbolicLink() ? await realpath(path) : path;
  const temporary = join(dirname(target), `.${basename(target).slice(0, 200)}.${randomBytes(6).toString('hex')}`);
  const mode = existing && existing.mode & 0o777;
  const file = await open(temporary, 'wx', executable ? (mode ?? 0o666) | 0o111 : mode);
  try {
    await file.writeFile(content);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
  return { path: target, temporary };
}

/**
 * Writes all files or, when one cannot be written, none; missing folders of their paths are made when `makeFolders` is set.
 *
 * @throws CompileError TW4302.
 */
export async function writeOutputs(files: readonly OutputFile[], makeFolders = false): Promise<void> {
  const pending: Pending[] = [];
  let path = '';
  try {
    for (const file of files) {
      path = file.path;
      if (makeFolders) await mkdir(dirname(path), { recursive: true });
      const prepared = await prepare(file);
      if (prepared) pending.push(prepared);
    }
    for (const prepared of pending) {
      path = prepared.path;
      await rename(prepared.temporary, path);
    }
  } catch (error) {
    await Promise.all(pending.map(({ temporary }) => unlink(temporary).catch(() => {})));
    throw new CompileError([fileCodes.cannotWrite({ file: path, why: reasonOf(error, 'its folder does not exist') })]);
  }
}
