import { readFileSync } from 'node:fs';
import type { Diagnostic } from './diagnostic.js';
import type { CallLoc, FileLoc, Loc } from './location.js';

/** One line (from 1) of a file that a location names; undefined when the file or the line is not there. */
export type SourceLines = (file: string, line: number) => string | undefined;

/** Reads each file once, when a frame first needs it. A file that cannot be read has no lines: a diagnostic never fails on it. */
export function sourceLines(): SourceLines {
  const files = new Map<string, readonly string[]>();
  const linesOf = (file: string): readonly string[] => {
    let lines = files.get(file);
    if (!lines) {
      try {
        lines = readFileSync(file, 'utf8')
          .replace(/^\ufeff/, '')
          .split(/\r\n|[\n\r\u2028\u2029]/);
      } catch {
        lines = [];
      }
      files.set(file, lines);
    }
    return lines;
  };
  return (file, line) => linesOf(file)[line - 1];
}

type PathOf = (file: string) => string;

const mapPlace = (place: FileLoc, path: PathOf): FileLoc => ({ ...place, file: path(place.file) });

function mapChain(chain: FileLoc | CallLoc, path: PathOf): FileLoc | CallLoc {
  if (chain.kind === 'file') return mapPlace(chain, path);
  return { kind: 'call', callee: mapPlace(chain.callee, path), caller: mapChain(chain.caller, path) };
}

function mapLocation(loc: Loc, path: PathOf): Loc {
  switch (loc.kind) {
    case 'file':
    case 'call':
      return mapChain(loc, path);
    case 'fused':
      return { ...loc, from: loc.from.map((origin) => mapLocation(origin, path)) };
    case 'unknown':
      return loc;
  }
}

/** The same diagnostic with every file name rewritten: locations name files relative to the entry file, a reader wants paths that open. */
export function mapFiles(diagnostic: Diagnostic, path: PathOf): Diagnostic {
  return {
    ...diagnostic,
    loc: mapLocation(diagnostic.loc, path),
    notes: diagnostic.notes.map((note) =>
      note.loc === undefined ? note : { ...note, loc: mapLocation(note.loc, path) },
    ),
  };
}
