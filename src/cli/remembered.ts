/** Builds that were made before: `build` asks here before it loads anything that compiles. */

import { resolve } from 'node:path';
import { BuildMemo, programIdentity, toolsIdentity } from '../drivers/build-memo.js';
import { ArtifactCache, type Entry } from '../drivers/cache.js';
import { cacheFolder, useMosaicGpu } from '../drivers/environment.js';
import { keyOf } from '../drivers/fingerprint.js';
import { hostProcessor } from '../drivers/host.js';
import type { ToolPaths } from '../drivers/tool.js';
import { parseTarget } from '../lowering/target.js';
import type { ArtifactName } from './outputs.js';

/** One artifact of a build. */
export interface Made extends ArtifactName {
  readonly bytes: Uint8Array;
  /** Where it came from: `cache hit`, or how long it took. */
  readonly note: string;
  /** What a kernel takes of the device; empty for what is no image. */
  readonly detail: string;
}

export interface BuildQuestion {
  readonly files: readonly string[];
  readonly targets: readonly string[];
  /** Whatever else decides what is made. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly tools: ToolPaths;
  /** Folder of the cache; the usual one without. */
  readonly cache: string | undefined;
}

export interface Remembered {
  recall(): Promise<{ readonly made: Made[]; readonly sources: readonly string[] } | undefined>;
  remember(made: readonly Made[], sources: readonly string[]): Promise<void>;
}

const listName = 'made.json';

/** The memory of one command line; undefined where it names targets or tools that there are not, which the build tells. */
export async function rememberedBuild({
  files,
  targets,
  flags,
  tools,
  cache = `${cacheFolder()}/artifacts`,
}: BuildQuestion): Promise<Remembered | undefined> {
  const started = Date.now();
  try {
    const known = targets.map((name) => parseTarget(name, hostProcessor().features));
    const question = keyOf({
      program: await programIdentity(),
      tools: await toolsIdentity(known, tools),
      files: JSON.stringify(files.map((f) => resolve(f))),
      targets: targets.join(','),
      flags: JSON.stringify(flags),
      mosaic: String(useMosaicGpu()),
    });
    const memo = new BuildMemo(new ArtifactCache(cache, () => {}), cache);
    return {
      async recall() {
        const known = await memo.recall(question);
        return known && { made: unpack(known.entry), sources: known.sources };
      },
      remember: (made, sources) => memo.remember(question, sources, started, pack(made)),
    };
  } catch {
    return undefined;
  }
}

function pack(made: readonly Made[]): Entry {
  const list = made.map(({ bytes: _, note: __, ...facts }) => facts);
  return new Map([
    ...made.map(({ bytes }, i) => [String(i), bytes] as const),
    [listName, Buffer.from(JSON.stringify(list))],
  ]);
}

function unpack(entry: Entry): Made[] {
  const list = JSON.parse(Buffer.from(entry.get(listName)!).toString('utf8')) as Omit<Made, 'bytes' | 'note'>[];
  return list.map((facts, i) => ({ ...facts, bytes: entry.get(String(i))!, note: 'cache hit' }));
}
