import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { ArtifactCache, publishFolder } from '../../src/drivers/cache.js';
import { prune, storedEntries, verify } from '../../src/drivers/cache-entries.js';
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

  /** Stores entries of about 1 KiB, the first used first. */
  async function filled(folder: string, count: number, limit?: number): Promise<string[]> {
    const cache = new ArtifactCache(folder, () => {}, undefined, limit);
    const keys = Array.from({ length: count }, (_, i) => keyOf({ text: `entry ${i}` }));
    for (const [i, k] of keys.entries()) {
      await cache.put(k, new Map([['so', Buffer.alloc(1000, i)]]));
      utimesSync(join(cache.path(k), 'manifest.json'), 1000 + i, 1000 + i);
    }
    return keys;
  }
  const held = async (folder: string, keys: readonly string[]): Promise<number[]> => {
    const all = (await storedEntries(folder)).map((e) => basename(e.folder));
    return keys.flatMap((k, i) => (all.includes(k) ? [i] : []));
  };

  test('is brought down to a size, what was not used for longest first', () =>
    inFolder(async (folder) => {
      const keys = await filled(folder, 5);
      await new ArtifactCache(folder, () => {}).get(keys[0]!);
      const bytes = (await storedEntries(folder)).reduce((sum, e) => sum + e.bytes, 0);
      const each = bytes / 5;
      expect(await prune(folder, bytes)).toEqual({ entries: 0, bytes: 0, leftovers: 0 });
      expect(await prune(folder, each * 3.5)).toEqual({ entries: 2, bytes: each * 2, leftovers: 0 });
      expect(await held(folder, keys)).toEqual([0, 3, 4]);
      expect(await prune(folder, 0)).toMatchObject({ entries: 3 });
      expect(await held(folder, keys)).toEqual([]);
    }));

  test('stays below its limit by itself, with the newest entry in any case', () =>
    inFolder(async (folder) => {
      const keys = await filled(folder, 40, 256 * 1500);
      // Entries with the same first letters share one folder, which has room for one of them.
      const newest = new Map(keys.map((k, i) => [k.slice(0, 2), i]));
      expect(await held(folder, keys)).toEqual([...newest.values()].sort((a, b) => a - b));
      expect(newest.size).toBeLessThan(40);
    }));

  test('what killed writers left is cleared when it is old', () =>
    inFolder(async (folder) => {
      const [k] = await filled(folder, 1);
      const left = (age: number): string => {
        const path = `${new ArtifactCache(folder, () => {}).path(k!)}.${'0'.repeat(11)}${age}.partial`;
        mkdirSync(path);
        utimesSync(path, Date.now() / 1000 - age * 3600, Date.now() / 1000 - age * 3600);
        return path;
      };
      const [young, old] = [left(0), left(2)];
      expect(await prune(folder, 2 ** 30)).toMatchObject({ entries: 0, leftovers: 1 });
      expect([existsSync(young), existsSync(old)]).toEqual([true, false]);
    }));

  test('verify takes away what is not whole', () =>
    inFolder(async (folder) => {
      const keys = await filled(folder, 3);
      const damaged = new ArtifactCache(folder, () => {}).path(keys[1]!);
      writeFileSync(join(damaged, 'so'), 'other');
      expect(await verify(folder)).toEqual({ entries: 3, damaged: [damaged] });
      expect(await verify(folder)).toEqual({ entries: 2, damaged: [] });
      expect(await verify(join(folder, 'nowhere'))).toEqual({ entries: 0, damaged: [] });
    }));

  test('keys of different parts differ, whatever their texts', () => {
    expect(keyOf({ a: 'x', b: 'y' })).toBe(keyOf({ b: 'y', a: 'x' }));
    expect(keyOf({ a: 'x1:b=1:y' })).not.toBe(keyOf({ a: 'x', b: 'y' }));
  });
});
