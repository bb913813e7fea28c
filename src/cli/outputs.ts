/** The rules of `-o`: which stage a file name asks for, and which file each artifact goes to. */

import { join } from 'node:path';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { UsageError } from './usage-error.js';

/** What `-o` says. Without it artifacts go to the current folder. */
export type Destination =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string };

/** @param isFolder whether a folder of that name exists. */
export function parseDestination(output: string | undefined, isFolder: (path: string) => boolean): Destination {
  if (output === undefined) return { kind: 'folder', path: '' };
  if (output === '-') return { kind: 'stdout' };
  if (output.endsWith('/') || isFolder(output)) return { kind: 'folder', path: output };
  return { kind: 'file', path: output };
}

/** A stage and the extension that its files have, as `{ stage: 'obj', extension: 'o' }`. */
export interface StageExtension {
  readonly stage: string;
  readonly extension: string;
}

/** The stage that a file name's extension asks for; of several the longest (`x.lowered.kir` is no `kir`). */
export function stageOfPath(path: string, stages: readonly StageExtension[]): string | undefined {
  let found: StageExtension | undefined;
  for (const entry of stages)
    if (path.endsWith(`.${entry.extension}`) && (!found || entry.extension.length > found.extension.length))
      found = entry;
  return found?.stage;
}

/** What one artifact is, as far as its file name goes. */
export interface ArtifactName {
  readonly kernel: string;
  /** Empty where an artifact holds all targets. */
  readonly target: string;
  readonly extension: string;
}

/** Any text as a file name: kernels may be called anything, and make cannot handle colons. */
const fileNamePart = (text: string): string => {
  const safe = text.replace(/[^\p{L}\p{N}_+,.=@-]/gu, '_');
  return /^[.-]/.test(safe) || safe === '' ? `_${safe}` : safe;
};

/** `NAME.TARGET.EXT`, of all targets together `NAME.EXT`; the `:` of a target such as `cpu:native` becomes `-`. */
export const defaultName = ({ kernel, target, extension }: ArtifactName): string =>
  `${fileNamePart(kernel)}${target && `.${fileNamePart(target.replaceAll(':', '-'))}`}.${extension}`;

const describe = ({ kernel, target, extension }: ArtifactName): string =>
  `${extension} of '${kernel}'${target && ` for ${target}`}`;

/**
 * The path of each artifact, `-` for stdout.
 *
 * @throws UsageError when several artifacts would end in one file.
 */
export function outputPaths(destination: Destination, artifacts: readonly ArtifactName[]): string[] {
  if (destination.kind !== 'folder') {
    const path = destination.kind === 'stdout' ? '-' : destination.path;
    if (artifacts.length > 1)
      throw new UsageError([
        cliCodes.severalArtifacts(
          { output: path, artifacts: artifacts.map(defaultName) },
          { help: "'-o DIR/' writes each into a file of its own; '--emit STAGE' chooses one" },
        ),
      ]);
    return artifacts.map(() => path);
  }
  const taken = new Map<string, ArtifactName>();
  return artifacts.map((artifact) => {
    const path = join(destination.path, defaultName(artifact));
    const first = taken.get(path);
    if (first)
      throw new UsageError([cliCodes.sameOutput({ path, first: describe(first), second: describe(artifact) })]);
    taken.set(path, artifact);
    return path;
  });
}
