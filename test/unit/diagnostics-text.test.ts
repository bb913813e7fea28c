import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { fileLoc, fusedLoc, type Loc, unknownLoc } from '../../src/diagnostics/location.js';
import { renderTally, renderText } from '../../src/diagnostics/render-text.js';
import type { SourceLines } from '../../src/diagnostics/source-files.js';
import { printable, sourceFrame } from '../../src/diagnostics/source-frame.js';

const files: Readonly<Record<string, readonly string[]>> = {
  'softmax.kernel.ts': [...Array(11).fill(''), '    out.store(x.load().add(row));'],
  'lib/rows.ts': ['', '', 'export const scale = (t) => t.mul(two);'],
};
const lines: SourceLines = (file, line) => files[file]?.[line - 1];
const at = (loc: Loc): Diagnostic => ({
  code: 'TW1003',
  severity: 'error',
  message: "'add' needs equal dtypes, got f16 and f32",
  loc,
  notes: [],
});
const text = (d: Diagnostic, color = false): string => renderText(d, { color, lines });

describe('text', () => {
  test('a message, its line with a caret under the whole word, notes with their own lines, and help', () => {
    const diagnostic: Diagnostic = {
      ...at(fileLoc('softmax.kernel.ts', 12, 24)),
      notes: [
        { message: 'the f32 was made here', loc: fileLoc('lib/rows.ts', 3, 35) },
        { message: 'a note without a place' },
      ],
      help: 'convert one side: `.to(f16)`',
    };
    expect(text(diagnostic)).toBe(`error[TW1003]: 'add' needs equal dtypes, got f16 and f32
  --> softmax.kernel.ts:12:24
   |
12 |     out.store(x.load().add(row));
   |                        ^^^
note: the f32 was made here
  --> lib/rows.ts:3:35
   |
 3 | export const scale = (t) => t.mul(two);
   |                                   ^^^
note: a note without a place
help: convert one side: \`.to(f16)\`
`);
  });

  test('a call chain names the frames that led there, innermost first', () => {
    const loc: Loc = {
      kind: 'call',
      callee: fileLoc('lib/rows.ts', 3, 31),
      caller: { kind: 'call', callee: fileLoc('softmax.kernel.ts', 12, 15), caller: fileLoc('main.ts', 40, 2) },
    };
    expect(text(at(loc))).toBe(`error[TW1003]: 'add' needs equal dtypes, got f16 and f32
 --> lib/rows.ts:3:31
  |
3 | export const scale = (t) => t.mul(two);
  |                               ^^^
  = called from softmax.kernel.ts:12:15
  = called from main.ts:40:2
`);
  });

  test('what a pass made points at its first origin and names the others once', () => {
    const loc = fusedLoc('fold', [
      fileLoc('softmax.kernel.ts', 12, 5),
      fileLoc('lib/rows.ts', 3, 31),
      fileLoc('softmax.kernel.ts', 12, 5),
    ]);
    expect(text(at(loc))).toContain(' --> softmax.kernel.ts:12:5\n');
    expect(text(at(loc)).match(/also made from .*/g)).toEqual(['also made from lib/rows.ts:3:31']);
  });

  test('a file or line that cannot be read leaves the place without a frame', () => {
    expect(text(at(fileLoc('gone.ts', 2, 1)))).toBe(
      "error[TW1003]: 'add' needs equal dtypes, got f16 and f32\n --> gone.ts:2:1\n",
    );
    expect(text(at(fileLoc('lib/rows.ts', 99, 1)))).toMatch(/--> lib\/rows\.ts:99:1\n$/);
  });

  test('without a place there is only the message', () => {
    expect(text(at(unknownLoc))).toBe("error[TW1003]: 'add' needs equal dtypes, got f16 and f32\n");
  });

  test('colour codes appear only when asked for and change no character', () => {
    const coloured = text(at(fileLoc('lib/rows.ts', 3, 31)), true);
    expect(coloured).toContain('\u001b[1;31merror[TW1003]\u001b[0m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins a colour code
    expect(coloured.replaceAll(/\u001b\[[\d;]*m/g, '')).toBe(text(at(fileLoc('lib/rows.ts', 3, 31))));
  });

  test('lines of a message behind the first are indented, and terminal codes in it are not obeyed', () => {
    expect(text({ ...at(unknownLoc), message: 'one\ntwo \u001b[2Jthree' })).toBe(
      'error[TW1003]: one\n  two \ufffd[2Jthree\n',
    );
  });

  test('the tally counts errors and warnings', () => {
    expect(renderTally(['error', 'warning', 'error', 'note'])).toBe('2 errors, 1 warning');
    expect(renderTally(['warning'])).toBe('1 warning');
    expect(renderTally(['note'])).toBeUndefined();
  });
});

describe('a source frame', () => {
  test('tabs are expanded to stops of four', () => {
    expect(sourceFrame('\ta\tbc = d', 4)).toEqual({ text: '    a   bc = d', indent: 8, width: 2 });
  });

  test('wide characters take two cells, combining marks none', () => {
    expect(sourceFrame('/* 漢字 */ x', 10)).toEqual({ text: '/* 漢字 */ x', indent: 11, width: 1 });
    expect(sourceFrame('e\u0301 + 名前', 6)).toEqual({ text: 'e\u0301 + 名前', indent: 4, width: 4 });
    expect(sourceFrame('"🎉" + x', 8)).toEqual({ text: '"🎉" + x', indent: 7, width: 1 });
  });

  test('a column behind the line stands behind its last character', () => {
    expect(sourceFrame('ab', 9)).toEqual({ text: 'ab', indent: 2, width: 1 });
    expect(sourceFrame('', 1)).toEqual({ text: '', indent: 0, width: 1 });
    expect(sourceFrame('ab  \r', 0)).toEqual({ text: 'ab', indent: 0, width: 2 });
  });

  test('an operator gets one caret, a private or dollar name all of it', () => {
    expect(sourceFrame('a += b', 3).width).toBe(1);
    expect(sourceFrame('x.$row2', 3)).toMatchObject({ indent: 2, width: 5 });
  });

  test('a very long line is cut to a window around the caret', () => {
    const line = `${'a'.repeat(500)} target ${'b'.repeat(500)}`;
    const frame = sourceFrame(line, 502);
    expect([...frame.text].length).toBe(110);
    expect(frame.text.startsWith('…a')).toBe(true);
    expect(frame.text.endsWith('b…')).toBe(true);
    expect(frame.text.slice(frame.indent, frame.indent + frame.width)).toBe('target');
  });

  test('a long line is cut only where it has to be', () => {
    const line = `${'x'.repeat(8)} ${'y'.repeat(300)}`;
    const start = sourceFrame(line, 1);
    expect(start).toMatchObject({ indent: 0, width: 8 });
    expect(start.text).toBe(`${line.slice(0, 108)}…`);
    const end = sourceFrame(`${'y'.repeat(300)} end`, 302);
    expect(end.text.startsWith('…')).toBe(true);
    expect(end.text.endsWith(' end')).toBe(true);
    expect(end.text.slice(end.indent, end.indent + end.width)).toBe('end');
  });

  test('control and bidirectional characters are shown, not obeyed', () => {
    expect(sourceFrame('a\u001b[31m\u202eb', 1).text).toBe('a\ufffd[31m\ufffdb');
    expect(printable('a\u0007b\tc\nd\u2066')).toBe('a\ufffdb\tc\nd\ufffd');
  });
});
