import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findCode } from './catalogue.js';
import type { Diagnostic, Severity } from './diagnostic.js';
import type { FileLoc, Loc } from './location.js';
import { placesOf } from './places.js';

const levels = { error: 'error', warning: 'warning', note: 'note' } as const satisfies Record<Severity, string>;

/** Relative paths stay relative: whoever uploads the log resolves them against the repository. */
const uri = (file: string): string =>
  isAbsolute(file) ? pathToFileURL(file).href : file.split('/').map(encodeURIComponent).join('/');

const physical = ({ file, line, col }: FileLoc) => ({
  physicalLocation: { artifactLocation: { uri: uri(file) }, region: { startLine: line, startColumn: col } },
});

const withMessage = (at: FileLoc, text: string) => ({ ...physical(at), message: { text } });

function locations(loc: Loc) {
  const { primary } = placesOf(loc);
  return primary ? { locations: [physical(primary)] } : {};
}

/** Notes and the way to the place, in one list: SARIF viewers show `relatedLocations` under the result. */
function relatedLocations(diagnostic: Diagnostic) {
  const list = placesOf(diagnostic.loc).related.map(({ how, at }) => withMessage(at, how));
  for (const note of diagnostic.notes) {
    const at = note.loc && placesOf(note.loc).primary;
    if (at) list.push(withMessage(at, note.message));
  }
  return list.length === 0 ? {} : { relatedLocations: list.map((entry, index) => ({ id: index + 1, ...entry })) };
}

/** A result has one message; what has no place of its own is told in it. */
function messageText({ message, notes, help }: Diagnostic): string {
  const placeless = notes.filter((note) => !note.loc || !placesOf(note.loc).primary);
  return [
    message,
    ...placeless.map((note) => `note: ${note.message}`),
    ...(help === undefined ? [] : [`help: ${help}`]),
  ].join('\n');
}

function rule(code: string) {
  const entry = findCode(code);
  if (!entry) return { id: code };
  return {
    id: code,
    shortDescription: { text: entry.title },
    fullDescription: { text: entry.explanation },
    help: { text: entry.explanation, markdown: entry.explanation },
    defaultConfiguration: { level: levels[entry.severity] },
  };
}

/** All findings as a SARIF 2.1.0 log with one run. `toolVersion` is that of tilewright. */
export function renderSarif(diagnostics: readonly Diagnostic[], toolVersion: string): string {
  const ids = [...new Set(diagnostics.map((d) => d.code))].sort();
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'tilewright', version: toolVersion, rules: ids.map(rule) } },
        columnKind: 'utf16CodeUnits',
        results: diagnostics.map((d) => ({
          ruleId: d.code,
          ruleIndex: ids.indexOf(d.code),
          level: levels[d.severity],
          message: { text: messageText(d) },
          ...locations(d.loc),
          ...relatedLocations(d),
        })),
      },
    ],
  };
  return `${JSON.stringify(log, undefined, 2)}\n`;
}
