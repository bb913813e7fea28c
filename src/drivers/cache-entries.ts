/** The entries of a cache folder as files: how large they are, when they were used, which are whole. */

import { randomBytes } from 'node:crypto';
import { type Dirent, existsSync } from 'node:fs';
import { readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sha256 } from './fingerprint.js';

/** What one key stands for: artifacts by name. */
export type Entry = ReadonlyMap<string, Uint8Array>;

export const manifestName = 'manifest.json';
/** Folder of the entries below that of the cache. One of another number is of another version, and is left to it. */
export const layout = 'v1';

/** Bytes that a cache holds where nobody says: some ten thousand kernels. */
export const defaultLimit = 2 ** 31;

/** What is left by writers that were killed is nobody's after this. */
const abandoned = 60 * 60 * 1000;
const partialPattern = /\.[0-9a-f]{12}(?:\.partial)?$/;

/** One entry on disk. */
export interface StoredEntry {
  readonly folder: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly used: number;
}

const missing: readonly Dirent[] = [];
const children = (folder: string): Promise<readonly Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch(() => missing);

/** The artifacts of an entry. @throws where it is torn, foreign or changed. */
export async function readEntry(folder: string): Promise<Entry> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, manifestName), 'utf8'));
  const files = (manifest as { files: Record<string, string> }).files;
  const entry = new Map<string, Uint8Array>();
  for (const [name, hash] of Object.entries(files)) {
    const bytes = await readFile(join(folder, name));
    if (sha256(bytes) !== hash) throw new Error('changed');
    entry.set(name, bytes);
  }
  return entry;
}

/** Says that an entry was used now. A folder that cannot be written keeps no order. */
export async function touch(folder: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, manifestName), now, now).catch(() => undefined);
}

/** Takes an entry away at once: who reads it finds all of it or nothing. */
export async function removeEntry(folder: string): Promise<void> {
  const away = join(dirname(folder), `${basename(folder)}.${randomBytes(6).toString('hex')}.partial`);
  try {
    await rename(folder, away);
  } catch {
    return;
  }
  await rm(away, { recursive: true, force: true });
}

async function storedEntry(folder: string): Promise<StoredEntry | undefined> {
  try {
    let bytes = 0;
    let used = 0;
    for (const { name } of await children(folder)) {
      const { size, mtimeMs } = await stat(join(folder, name));
      bytes += size;
      if (name === manifestName) used = mtimeMs;
    }
    return { folder, bytes, used };
  } catch {
    // It was taken away in the meantime.
    return undefined;
  }
}

/** Entries in one of the folders that the first letters of keys choose. */
async function entriesIn(folder: string): Promise<StoredEntry[]> {
  const names = (await children(folder)).filter((d) => d.isDirectory() && !partialPattern.test(d.name));
  const all = await Promise.all(names.map(({ name }) => storedEntry(join(folder, name))));
  return all.filter((e) => e !== undefined);
}

const foldersOf = async (cache: string): Promise<string[]> =>
  (await children(join(cache, layout))).filter((d) => d.isDirectory()).map((d) => join(cache, layout, d.name));

/** Every entry of a cache. */
export async function storedEntries(cache: string): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (const folder of await foldersOf(cache)) entries.push(...(await entriesIn(folder)));
  return entries;
}

/** Takes away the entries that were not used for longest, until the rest fits; `kept` stays in any case. */
async function evict(entries: readonly StoredEntry[], limit: number, kept?: string): Promise<StoredEntry[]> {
  let bytes = entries.reduce((sum, e) => sum + e.bytes, 0);
  const removed: StoredEntry[] = [];
  for (const entry of [...entries].sort((a, b) => a.used - b.used)) {
    if (bytes <= limit) break;
    if (entry.folder === kept) continue;
    await removeEntry(entry.folder);
    bytes -= entry.bytes;
    removed.push(entry);
  }
  return removed;
}

/** Keys are hashes, so each of the 256 folders holds its share of the limit: no writer has to look at the others. */
export async function makeRoom(entry: string, limit: number): Promise<void> {
  await evict(await entriesIn(dirname(entry)), limit / 256, entry);
}

export interface Pruned {
  readonly entries: number;
  readonly bytes: number;
  /** Half-written files that were taken away too. */
  readonly leftovers: number;
}

/** Brings a cache down to a size, the entries that were not used for longest first, and clears what killed writers left. */
export async function prune(cache: string, limit: number): Promise<Pruned> {
  const removed = await evict(await storedEntries(cache), limit);
  let leftovers = 0;
  for (const parent of [...(await foldersOf(cache)), ...(await memoFolders(cache))])
    for (const { name } of await children(parent)) {
      const path = join(parent, name);
      if (!partialPattern.test(name) || !(await isOlder(path, abandoned))) continue;
      await rm(path, { recursive: true, force: true });
      leftovers++;
    }
  return { entries: removed.length, bytes: removed.reduce((sum, e) => sum + e.bytes, 0), leftovers };
}

async function isOlder(path: string, age: number): Promise<boolean> {
  const status = await stat(path).catch(() => undefined);
  return status !== undefined && Date.now() - status.mtimeMs > age;
}

/** Folders of the first level: lists of the files that builds read. */
const memoFolders = async (cache: string): Promise<string[]> =>
  (await children(join(cache, 'builds'))).filter((d) => d.isDirectory()).map((d) => join(cache, 'builds', d.name));

export interface Verified {
  readonly entries: number;
  /** Folders of the entries that were torn, foreign or changed; they were taken away. */
  readonly damaged: readonly string[];
}

/** Reads every entry of a cache and takes away what is not whole. */
export async function verify(cache: string): Promise<Verified> {
  const entries = await storedEntries(cache);
  const damaged: string[] = [];
  for (const { folder } of entries) {
    try {
      await readEntry(folder);
    } catch {
      // One that another process took away is none.
      if (!existsSync(folder)) continue;
      await removeEntry(folder);
      damaged.push(folder);
    }
  }
  return { entries: entries.length, damaged };
}
