import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { catalogue, findCode, nearestCode, parseCode } from '../../src/diagnostics/catalogue.js';
import { areas } from '../../src/diagnostics/codes/index.js';
import type { Code } from '../../src/diagnostics/diagnostic.js';
import { didYouMean, nearest } from '../../src/diagnostics/nearest.js';

const folder = fileURLToPath(new URL('../../src/diagnostics/codes/', import.meta.url));
const areaFiles = readdirSync(folder).filter((f) => f !== 'index.ts');

/** First digits of the codes that an area may define. */
const ranges: Readonly<Record<string, RegExp>> = {
  'arguments.ts': /^TW41/,
  'backend.ts': /^TW20[34]/,
  'cli.ts': /^TW(40|90)/,
  'files.ts': /^TW4/,
  'frontend.ts': /^TW1/,
  'interpreter.ts': /^TW50/,
  'ir.ts': /^TW0/,
  'lowering.ts': /^TW2/,
  'sanitizer.ts': /^TW51/,
  'simulator.ts': /^TW6/,
  'tools.ts': /^TW3/,
};

describe('the catalogue', () => {
  test('collects every file of codes', async () => {
    const collected = new Set<unknown>(areas);
    for (const file of areaFiles) {
      const exports = Object.values(await import(`../../src/diagnostics/codes/${file.replace(/\.ts$/, '.js')}`));
      expect({ file, collected: exports.every((e) => collected.has(e)) }).toEqual({ file, collected: true });
    }
  });

  test.each(areaFiles)('codes of %s are in its range', async (file) => {
    const range = ranges[file];
    const exports: Record<string, Record<string, Code<never>>> = await import(
      `../../src/diagnostics/codes/${file.replace(/\.ts$/, '.js')}`
    );
    for (const area of Object.values(exports))
      for (const { code } of Object.values(area)) expect(code).toMatch(range ?? /^there is no range for this file$/);
  });

  test('every code is well-formed and says what it is about and what to do', () => {
    expect(catalogue.size).toBe(areas.flatMap((area) => Object.keys(area)).length);
    for (const { code, title, explanation, severity } of catalogue.values()) {
      expect(code).toMatch(/^TW\d{4}$/);
      expect(['error', 'warning', 'note']).toContain(severity);
      expect({ code, title: title.length > 5, end: /[.]$/.test(title) }).toEqual({ code, title: true, end: false });
      expect({ code, explained: explanation.length >= 40 }).toEqual({ code, explained: true });
    }
  });

  test('codes are in ascending order', () => {
    const codes = [...catalogue.keys()];
    expect(codes).toEqual([...codes].sort());
  });

  test('codes are read as people write them', () => {
    expect(['TW0103', 'tw103', '103', ' TW0103 '].map(parseCode)).toEqual(Array(4).fill('TW0103'));
    expect(['', 'TWX', 'TW12345', 'add'].map(parseCode)).toEqual(Array(4).fill(undefined));
    expect(findCode('TW0103')!.title).toBe('operands are valid up to different extents');
    expect(nearestCode('TX0103')).toBe('TW0103');
    expect(nearestCode('something else')).toBeUndefined();
  });
});

describe('the nearest name', () => {
  test.each([
    ['vector_ad', ['matmul', 'vector_add'], 'vector_add'],
    ['--emti', ['--emit', '--expect'], '--emit'],
    ['BM', ['bn', 'bm'], 'bm'],
    ['bm', ['block'], undefined],
    ['x', [], undefined],
    ['softmax', ['relu', 'layer_norm'], undefined],
    ['blokc', ['block', 'blocks'], 'block'],
  ])('of %s', (name, candidates, expected) => {
    expect(nearest(name, candidates)).toBe(expected);
  });

  test('as help', () => {
    expect(didYouMean('sofmax', ['softmax'])).toBe("did you mean 'softmax'?");
    expect(didYouMean('gelu', ['softmax'])).toBeUndefined();
  });
});
