/** Content-addressed storage of artifacts: published by one rename, checked when read. */

import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toolCodes } from '../diagnostics/codes/tools.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { defaultLimit, type Entry, layout, makeRoom, manifestName, readEntry, touch } from './cache-entries.js';
import { sha256 } from './fingerprint.js';
import type { RemoteCache } from './remote-cache.js';

export type { Entry } from './cache-entries.js';

/**
 * Makes the folder `to` appear at once with what `fill` puts into it, or not at all. One that is there already stays.
 *
 * @param fill gets a new folder beside `to`; what it throws passes through.
 */
export async function publishFolder(to: string, fill: (partial: string) => Promise<void>): Promise<void> {
  const partial = `${to}.${randomBytes(6).toString('hex')}.partial`;
  try {
    await mkdir(partial, { recursive: true });
    await fill(partial);
    await rename(partial, to).catch((error: NodeJS.ErrnoException) => {
      // Someone else published the same content in the meantime.
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
  }
}

export class ArtifactCache {
  private warned = false;

  /**
   * @param warn gets at most one warning, when the folder cannot be written.
   * @param remote is asked for what the folder lacks, and gets what is new.
   */
  constructor(
    private readonly folder: string,
    private readonly warn: (diagnostic: Diagnostic) => void,
    private readonly remote?: RemoteCache,
    private readonly limit = defaultLimit,
  ) {}

  /** Where an entry lies, whether it exists or not. */
  path(key: string): string {
    return join(this.folder, layout, key.slice(0, 2), key);
  }

  /** The entry of a key. One that is torn, foreign or changed is a miss. */
  async get(key: string): Promise<Entry | undefined> {
    return (await this.stored(key)) ?? (await this.fetched(key));
  }

  private async stored(key: string): Promise<Entry | undefined> {
    try {
      const folder = this.path(key);
      const entry = await readEntry(folder);
      await touch(folder);
      return entry;
    } catch {
      return undefined;
    }
  }

  private async fetched(key: string): Promise<Entry | undefined> {
    const entry = await this.remote?.get(key);
    if (entry) await this.store(key, entry);
    return entry;
  }

  /** Stores an entry. A cache that cannot be written costs a warning, never the result. */
  async put(key: string, entry: Entry): Promise<void> {
    await this.store(key, entry);
    await this.remote?.put(key, entry);
  }

  private async store(key: string, entry: Entry): Promise<void> {
    const hashes = Object.fromEntries([...entry].map(([name, bytes]) => [name, sha256(bytes)]));
    const manifest = Buffer.from(JSON.stringify({ files: hashes }));
    const to = this.path(key);
    try {
      // A torn entry would keep every later one out.
      if (!(await this.stored(key))) await rm(to, { recursive: true, force: true });
      await publishFolder(to, async (partial) => {
        for (const [name, bytes] of entry) await writeFile(join(partial, name), bytes);
        await writeFile(join(partial, manifestName), manifest);
      });
      await makeRoom(to, this.limit);
    } catch (error) {
      if (!this.warned) this.warn(toolCodes.cacheUnwritable({ folder: this.folder, why: (error as Error).message }));
      this.warned = true;
    }
  }
}
