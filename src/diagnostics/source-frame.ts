/** One line of a user's file with a caret under a place in it, measured in terminal cells. */

const tabStop = 4;
/** Wider lines are cut to a window around the caret. */
const maxCells = 110;
const ellipsis = '…';

/** East Asian wide and fullwidth characters and emoji, as pairs of first and last code point. */
const wideRanges = [
  0x1100, 0x115f, 0x2e80, 0x303e, 0x3041, 0x4dbf, 0x4e00, 0xa4cf, 0xa960, 0xa97f, 0xac00, 0xd7a3, 0xf900, 0xfaff,
  0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6, 0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1f9ff, 0x20000,
  0x3fffd,
] as const;

function isWide(codePoint: number): boolean {
  for (let i = 0; i < wideRanges.length; i += 2)
    if (codePoint >= wideRanges[i]! && codePoint <= wideRanges[i + 1]!) return true;
  return false;
}

/** Terminal cells that one printable character takes. */
function cellsOf(character: string): number {
  const codePoint = character.codePointAt(0)!;
  if (codePoint < 0x300) return 1;
  if (/^[\p{Mark}\u200b-\u200d]/u.test(character)) return 0;
  return isWide(codePoint) ? 2 : 1;
}

// Control characters would drive the terminal and bidirectional ones would show a line in another order than it has.
const isUnprintable = (character: string): boolean => /^[\p{Cc}\u202a-\u202e\u2066-\u2069]/u.test(character);

/** Replaces what a terminal would obey instead of show; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}

interface Cell {
  readonly text: string;
  readonly width: number;
  /** UTF-16 index in the line. */
  readonly index: number;
}

function cellsOfLine(line: string): Cell[] {
  const cells: Cell[] = [];
  let index = 0;
  let position = 0;
  for (const character of line) {
    let text = character;
    if (character === '\t') text = ' '.repeat(tabStop - (position % tabStop));
    else if (isUnprintable(character)) text = '\ufffd';
    const width = character === '\t' ? text.length : cellsOf(text);
    cells.push({ text, width, index });
    index += character.length;
    position += width;
  }
  return cells;
}

const widthOf = (cells: readonly Cell[]): number => cells.reduce((sum, cell) => sum + cell.width, 0);

/** UTF-16 length of what a caret at `index` underlines: the whole identifier or number, else one character. */
function spanAt(line: string, index: number): number {
  const word = /^[\p{ID_Continue}$]+/u.exec(line.slice(index));
  return word ? word[0].length : 1;
}

export interface SourceFrame {
  /** The line as a terminal shows it: tabs expanded, cut to a window when very long. */
  readonly text: string;
  /** Cells before the caret. */
  readonly indent: number;
  /** Cells that the caret underlines, at least 1. */
  readonly width: number;
}

/** @param col counts UTF-16 units from 1, as JavaScript engines do; beyond the line's end the caret stands behind it. */
export function sourceFrame(line: string, col: number): SourceFrame {
  const trimmed = line.trimEnd();
  const at = Math.min(Math.max(col - 1, 0), trimmed.length);
  const end = at + spanAt(trimmed, at);
  const all = cellsOfLine(trimmed);
  const first = all.findIndex((cell) => cell.index + 1 > at);
  const start = first < 0 ? all.length : first;

  let from = 0;
  let to = all.length;
  if (widthOf(all) > maxCells) {
    // Keep some context before the caret, then as much behind it as fits.
    const room = maxCells - 2;
    let taken = 0;
    from = start;
    while (from > 0 && taken + all[from - 1]!.width <= room / 3) taken += all[--from]!.width;
    to = from;
    taken = 0;
    while (to < all.length && taken + all[to]!.width <= room) taken += all[to++]!.width;
    while (from > 0 && taken + all[from - 1]!.width <= room) taken += all[--from]!.width;
  }
  const shown = all.slice(from, to);
  const before = from > 0 ? ellipsis : '';
  const behind = to < all.length ? ellipsis : '';
  const underlined = shown.filter((cell) => cell.index >= at && cell.index < end);
  return {
    text: before + shown.map((cell) => cell.text).join('') + behind,
    indent: before.length + widthOf(shown.filter((cell) => cell.index < at)),
    width: Math.max(1, widthOf(underlined)),
  };
}
