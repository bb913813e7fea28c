import type { Diagnostic } from './diagnostic.js';
import type { FileLoc, Loc } from './location.js';
import { placesOf } from './places.js';

/** Grows by one whenever a field is renamed or removed; new fields do not change it. */
export const jsonVersion = 1;

const place = ({ file, line, col }: FileLoc) => ({ file, line, column: col });

const location = (loc: Loc | undefined) => {
  const primary = loc && placesOf(loc).primary;
  return primary ? place(primary) : null;
};

const related = (loc: Loc) => placesOf(loc).related.map(({ how, at }) => ({ how, ...place(at) }));

/**
 * All findings as one JSON object:
 * `{ version, diagnostics: [{ code, severity, message, location, related, notes: [{ message, location }], help }] }`.
 * A location is `{ file, line, column }`, counted from 1 in UTF-16 units, or null; `help` is a text or null.
 */
export function renderJson(diagnostics: readonly Diagnostic[]): string {
  const document = {
    version: jsonVersion,
    diagnostics: diagnostics.map((d) => ({
      code: d.code,
      severity: d.severity,
      message: d.message,
      location: location(d.loc),
      related: related(d.loc),
      notes: d.notes.map((note) => ({ message: note.message, location: location(note.loc) })),
      help: d.help ?? null,
    })),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
