import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { renderJson } from '../../src/diagnostics/json.js';
import { fileLoc, type Loc, unknownLoc } from '../../src/diagnostics/location.js';
import { renderSarif } from '../../src/diagnostics/sarif.js';
import { mapFiles, sourceLines } from '../../src/diagnostics/source-files.js';

const chain: Loc = { kind: 'call', callee: fileLoc('lib/a b.ts', 3, 4), caller: fileLoc('/abs/k.ts', 9, 2) };
const error: Diagnostic = {
  code: 'TW0103',
  severity: 'error',
  message: 'operands differ',
  loc: chain,
  notes: [{ message: 'the other one', loc: fileLoc('k.ts', 1, 1) }, { message: 'no place' }],
  help: 'pad it',
};
const warning: Diagnostic = { code: 'TW9998', severity: 'warning', message: 'odd', loc: unknownLoc, notes: [] };

describe('JSON', () => {
  test('every field is there, null where there is nothing to say', () => {
    expect(JSON.parse(renderJson([error, warning]))).toEqual({
      version: 1,
      diagnostics: [
        {
          code: 'TW0103',
          severity: 'error',
          message: 'operands differ',
          location: { file: 'lib/a b.ts', line: 3, column: 4 },
          related: [{ how: 'called from', file: '/abs/k.ts', line: 9, column: 2 }],
          notes: [
            { message: 'the other one', location: { file: 'k.ts', line: 1, column: 1 } },
            { message: 'no place', location: null },
          ],
          help: 'pad it',
        },
        { code: 'TW9998', severity: 'warning', message: 'odd', location: null, related: [], notes: [], help: null },
      ],
    });
  });

  test('no finding is an empty list', () => {
    expect(JSON.parse(renderJson([]))).toEqual({ version: 1, diagnostics: [] });
  });
});

describe('SARIF', () => {
  const log = JSON.parse(renderSarif([error, warning, error], '1.2.3'));
  const run = log.runs[0];

  test('is a 2.1.0 log of one run by this tool', () => {
    expect(log.version).toBe('2.1.0');
    expect(log.$schema).toMatch(/sarif-2\.1\.0\.json$/);
    expect(log.runs).toHaveLength(1);
    expect(run.tool.driver).toMatchObject({ name: 'tilewright', version: '1.2.3' });
    expect(run.columnKind).toBe('utf16CodeUnits');
  });

  test('rules are the codes that occur, with the catalogue’s texts, and results point at them', () => {
    expect(run.tool.driver.rules.map((r: { id: string }) => r.id)).toEqual(['TW0103', 'TW9998']);
    expect(run.tool.driver.rules[0]).toMatchObject({
      shortDescription: { text: 'operands are valid up to different extents' },
      defaultConfiguration: { level: 'error' },
    });
    expect(run.tool.driver.rules[1]).toEqual({ id: 'TW9998' });
    expect(run.results.map((r: { ruleIndex: number }) => r.ruleIndex)).toEqual([0, 1, 0]);
  });

  test('a result has its place, the places around it, and what has no place in its text', () => {
    expect(run.results[0]).toEqual({
      ruleId: 'TW0103',
      ruleIndex: 0,
      level: 'error',
      message: { text: 'operands differ\nnote: no place\nhelp: pad it' },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: 'lib/a%20b.ts' },
            region: { startLine: 3, startColumn: 4 },
          },
        },
      ],
      relatedLocations: [
        {
          id: 1,
          physicalLocation: {
            artifactLocation: { uri: 'file:///abs/k.ts' },
            region: { startLine: 9, startColumn: 2 },
          },
          message: { text: 'called from' },
        },
        {
          id: 2,
          physicalLocation: { artifactLocation: { uri: 'k.ts' }, region: { startLine: 1, startColumn: 1 } },
          message: { text: 'the other one' },
        },
      ],
    });
    expect(run.results[1]).toEqual({ ruleId: 'TW9998', ruleIndex: 1, level: 'warning', message: { text: 'odd' } });
  });
});

describe('source files', () => {
  test('lines end as JavaScript has it, a byte-order mark is no column, and a missing file has no lines', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tw-lines-'));
    try {
      const path = join(folder, 'a.ts');
      writeFileSync(path, '\ufeffone\r\ntwo\rthree\u2028four\nfive');
      const lines = sourceLines();
      expect([0, 1, 2, 3, 4, 5, 6].map((n) => lines(path, n))).toEqual([
        undefined,
        'one',
        'two',
        'three',
        'four',
        'five',
        undefined,
      ]);
      expect(lines(folder, 1)).toBeUndefined();
      expect(lines(join(folder, 'gone.ts'), 1)).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('mapFiles rewrites the file of every location', () => {
    const fused: Loc = { kind: 'fused', pass: 'cse', from: [fileLoc('a.ts', 1, 1), chain, unknownLoc] };
    const mapped = mapFiles({ ...error, loc: fused }, (file) => `examples/${file}`);
    expect(mapped.loc).toEqual({
      kind: 'fused',
      pass: 'cse',
      from: [
        fileLoc('examples/a.ts', 1, 1),
        { kind: 'call', callee: fileLoc('examples/lib/a b.ts', 3, 4), caller: fileLoc('examples//abs/k.ts', 9, 2) },
        unknownLoc,
      ],
    });
    expect(mapped.notes[0]!.loc).toEqual(fileLoc('examples/k.ts', 1, 1));
    expect(mapped.notes[1]).toEqual({ message: 'no place' });
  });
});
