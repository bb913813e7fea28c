import type { Diagnostic, Severity } from './diagnostic.js';
import type { Loc } from './location.js';
import { placesOf, type RelatedPlace } from './places.js';
import type { SourceLines } from './source-files.js';
import { printable, sourceFrame } from './source-frame.js';

export interface TextOptions {
  readonly color: boolean;
  readonly lines: SourceLines;
}

const styles = {
  error: '1;31',
  warning: '1;35',
  note: '1;36',
  help: '1;32',
  message: '1',
  gutter: '1;34',
} as const;

type Paint = (style: keyof typeof styles, text: string) => string;

const paintWith =
  (color: boolean): Paint =>
  (style, text) =>
    color && text !== '' ? `\u001b[${styles[style]}m${text}\u001b[0m` : text;

/** Message text of several lines: those behind the first are indented, so that none looks like a finding of its own. */
const indented = (text: string): string => printable(text).replaceAll('\n', '\n  ');

/** Where a message points: `--> file:line:col`, the line with a caret, and how the place was reached. */
function snippet(loc: Loc, gutter: number, { color, lines }: TextOptions): string[] {
  const { primary, related } = placesOf(loc);
  if (!primary) return [];
  const paint = paintWith(color);
  const bar = `${' '.repeat(gutter + 1)}${paint('gutter', '|')}`;
  const text = [
    `${' '.repeat(gutter)}${paint('gutter', '-->')} ${printable(primary.file)}:${primary.line}:${primary.col}`,
  ];
  const line = lines(primary.file, primary.line);
  if (line !== undefined) {
    const frame = sourceFrame(line, primary.col);
    const number = paint('gutter', String(primary.line).padStart(gutter));
    text.push(
      bar,
      `${number} ${paint('gutter', '|')} ${frame.text}`,
      `${bar} ${' '.repeat(frame.indent)}${paint('error', '^'.repeat(frame.width))}`,
    );
  }
  const describe = ({ how, at }: RelatedPlace): string => `${how} ${printable(at.file)}:${at.line}:${at.col}`;
  const equals = `${' '.repeat(gutter + 1)}${paint('gutter', '=')}`;
  return [...text, ...related.map((place) => `${equals} ${describe(place)}`)];
}

function gutterOf(diagnostic: Diagnostic): number {
  const locs = [diagnostic.loc, ...diagnostic.notes.map((note) => note.loc)];
  const numbers = locs.map((loc) => (loc ? (placesOf(loc).primary?.line ?? 0) : 0));
  return String(Math.max(...numbers)).length;
}

/** One finding as clang and rustc print it; several lines, with a newline behind the last. */
export function renderText(diagnostic: Diagnostic, options: TextOptions): string {
  const paint = paintWith(options.color);
  const gutter = gutterOf(diagnostic);
  const { severity, code, message, notes, help } = diagnostic;
  const lines = [
    `${paint(severity, `${severity}[${code}]`)}${paint('message', `: ${indented(message)}`)}`,
    ...snippet(diagnostic.loc, gutter, options),
  ];
  for (const note of notes) {
    lines.push(`${paint('note', 'note')}: ${indented(note.message)}`);
    if (note.loc) lines.push(...snippet(note.loc, gutter, options));
  }
  if (help !== undefined) lines.push(`${paint('help', 'help')}: ${indented(help)}`);
  return `${lines.join('\n')}\n`;
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `2 errors, 1 warning`; undefined when there is nothing to count. */
export function renderTally(severities: readonly Severity[]): string | undefined {
  const count = (severity: Severity): number => severities.filter((s) => s === severity).length;
  const parts = [
    ...(count('error') > 0 ? [plural(count('error'), 'error')] : []),
    ...(count('warning') > 0 ? [plural(count('warning'), 'warning')] : []),
  ];
  return parts.length === 0 ? undefined : parts.join(', ');
}
