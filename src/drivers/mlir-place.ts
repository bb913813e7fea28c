/** Where in the user's file an error of an MLIR tool is: its text, or the stage's own text, names the place. */

import { type FileLoc, fileLoc } from '../diagnostics/location.js';

const place = /"([^"\n]+)":(\d+):(\d+)/;
const placed = /(?:^|\n)(?:loc\((.+)\)|"?([^"\n:()]+)"?:(\d+):(\d+)): (?:error|remark): (.*)/;

export interface PlacedError {
  readonly loc: FileLoc | undefined;
  /** What is wrong, without the place. */
  readonly cause: string;
}

/**
 * The first error that names a place, or undefined. Verifiers name the user's; parsers name a line of the stage's own
 * text (a file `kernel.…`), which carries the user's place on that line.
 */
export function placedError(printed: string, input: Uint8Array): PlacedError | undefined {
  const match = placed.exec(printed);
  if (!match) return undefined;
  const [, inside, file, line, col, cause] = match;
  const named = inside === undefined ? [file!, line!, col!] : place.exec(inside)?.slice(1);
  if (!named) return { loc: undefined, cause: cause! };
  const at =
    named[0]!.startsWith('kernel.') && !named[0]!.endsWith('.ts') ? carriedPlace(input, Number(named[1])) : named;
  return { loc: at && fileLoc(at[0]!, Number(at[1]), Number(at[2])), cause: cause! };
}

/** The last place on a line of MLIR text, as file, line and column; `#loc3` is looked up where it is defined. */
function carriedPlace(text: Uint8Array, line: number): readonly string[] | undefined {
  const content = Buffer.from(text).toString('utf8');
  const at = content.split('\n')[line - 1] ?? '';
  const direct = [...at.matchAll(new RegExp(place, 'g'))].at(-1);
  if (direct) return direct.slice(1);
  const alias = /loc\(#(\w+)\)/.exec(at)?.[1];
  const defined = alias && new RegExp(`^#${alias} = loc\\((.*)\\)$`, 'm').exec(content)?.[1];
  return defined ? place.exec(defined)?.slice(1) : undefined;
}
