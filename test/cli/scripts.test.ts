import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../..');

/** Benchmarks are not run here; what they import must be there all the same. */
test.each(
  ['bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((f) => f.endsWith('.js'))
      .map((f) => `${folder}/${f}`),
  ),
)('%s imports what the built program has', async (file) => {
  const options = { bundle: true, write: false, format: 'esm', platform: 'node', packages: 'external' } as const;
  const { warnings } = await build({ ...options, entryPoints: [join(root, file)], logLevel: 'silent' });
  expect(warnings.filter((w) => w.id.startsWith('import')).map((w) => w.text)).toEqual([]);
});
