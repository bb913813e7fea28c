import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { ArtifactCache, publishFolder } from '../../src/drivers/cache.js';
import { keyOf } from '../../src/drivers/fingerprint.js';
import { inFolder } from '../support/cli.js';

describe('the cache', () => {
  const entry = new Map([
    ['so', Buffer.from('machine code')],
    ['plan.json', Buffer.from('{}')],
  ]);
  const key = keyOf({ text: 'x' });

  test('gives back what was stored', () =>
    inFolder(async (folder) => {
      const cache = new ArtifactCache(folder, () => {});
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, entry);
      const found = await cache.get(key);
      expect([...found!].map(([name, bytes]) => [name, Buffer.from(bytes).toString()])).toEqual([
        ['so', 'machine code'],
        ['plan.json', '{}'],
      ]);
    }));

  test.each([
    ['changed', (folder: string) => writeFileSync(join(folder, 'so'), 'other')],
    ['cut short', (folder: string) => writeFileSync(join(folder, 'so'), '')],
    ['without its manifest', (folder: string) => writeFileSync(join(folder, 'manifest.json'), '{"files":')],
    ['of another program', (folder: string) => writeFileSync(join(folder, 'manifest.json'), '[]')],
  ])('an entry that is %s is a miss, and is replaced', (_, damage) =>
    inFolder(async (folder) => {
      const cache = new ArtifactCache(folder, () => {});
      await cache.put(key, entry);
      damage(cache.path(key));
      expect(await cache.get(key)).toBeUndefined();
      await cache.put(key, entry);
      expect(Buffer.from((await cache.get(key))!.get('so')!).toString()).toBe('machine code');
    }),
  );

  test('one that cannot be written costs one warning', () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, 'file'), '');
      const warnings: Diagnostic[] = [];
      const cache = new ArtifactCache(join(folder, 'file'), (w) => warnings.push(w));
      await cache.put(key, entry);
      await cache.put(keyOf({ text: 'y' }), entry);
      expect(warnings.map((w) => `${w.severity} ${w.code}`)).toEqual(['warning TW3020']);
    }));

  test('many writers of one entry leave one, and nothing partial', () =>
    inFolder(async (folder) => {
      const fill = async (partial: string): Promise<void> => writeFileSync(join(partial, 'so'), 'machine code');
      await Promise.all(Array.from({ length: 20 }, () => publishFolder(join(folder, 'entry'), fill)));
      expect(readdirSync(folder)).toEqual(['entry']);
      expect(readFileSync(join(folder, 'entry/so'), 'utf8')).toBe('machine code');
    }));

  test('keys of different parts differ, whatever their texts', () => {
    expect(keyOf({ a: 'x', b: 'y' })).toBe(keyOf({ b: 'y', a: 'x' }));
    expect(keyOf({ a: 'x1:b=1:y' })).not.toBe(keyOf({ a: 'x', b: 'y' }));
  });
});
