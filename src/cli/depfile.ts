/** Dependency files for make and Ninja: what a build read, as rules. */

import { cliCodes } from '../diagnostics/codes/cli.js';
import { assetPath } from '../drivers/assets.js';
import type { Destination } from './outputs.js';
import { UsageError } from './usage-error.js';

/** What `-MD` and its like say; undefined where none of them is given. */
export interface DepfileOptions {
  /** Only the user's files (`-MMD`). */
  readonly userOnly: boolean;
  readonly file: string | undefined;
  /** Targets of the rule, instead of the outputs; written as they are given. */
  readonly targets: readonly string[];
  /** A rule without prerequisites for each source but the first, so that one that is removed is no error. */
  readonly phony: boolean;
}

/** A file name as make and Ninja read it: `$` doubled, spaces and `#` behind a backslash. */
export const escapeForMake = (path: string): string =>
  path
    .replaceAll('$', () => '$$')
    .replace(/(\\*)([ #])/g, (_, slashes: string, c: string) => `${slashes}${slashes}\\${c}`);

/** The rules. */
export function depfileText(targets: readonly string[], sources: readonly string[], phony: boolean): string {
  const names = sources.map(escapeForMake);
  const rule = `${targets.join(' ')}: ${names.join(' \\\n  ')}\n`;
  return phony
    ? `${rule}${names
        .slice(1)
        .map((n) => `\n${n}:\n`)
        .join('')}`
    : rule;
}

/** Files of this installation that decide what is made: its version and the locks of the tools. */
const ownFiles = (targets: readonly string[]): string[] => {
  const sets = new Set(targets.map((t) => (t.startsWith('cpu') ? 'mlir' : 'triton')));
  return ['package.json', ...[...sets].sort().map((set) => `locks/${set}.lock`)].map(assetPath);
};

/**
 * The depfile of a build, as an output.
 *
 * @param sources absolute paths of the files that it read. @param outputs what it writes.
 * @throws UsageError where nobody says where it goes.
 */
export function depfileOf(
  { userOnly, file, targets, phony }: DepfileOptions,
  destination: Destination,
  compiledFor: readonly string[],
  sources: readonly string[],
  outputs: readonly string[],
): { path: string; content: string } {
  if (destination.kind === 'stdout' || (file === undefined && destination.kind !== 'file'))
    throw new UsageError([
      cliCodes.badValue(
        {
          flag: '-MD',
          expected: destination.kind === 'stdout' ? '-o FILE' : '-MF FILE',
          got: 'several outputs or none',
        },
        { help: 'a depfile stands beside the one file that -o names, or where -MF says' },
      ),
    ]);
  const path = file ?? (destination.kind === 'file' ? destination.path.replace(/(\.[^./]*)?$/, '.d') : '');
  const given = targets.length > 0 ? targets : outputs.map(escapeForMake);
  const all = [...[...new Set(sources)].sort(), ...(userOnly ? [] : ownFiles(compiledFor))];
  return { path, content: depfileText(given, all, phony) };
}
