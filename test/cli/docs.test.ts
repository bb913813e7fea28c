import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { areas } from '../../src/diagnostics/codes/index.js';

const root = resolve(import.meta.dirname, '../..');

test('the generated pages are what the tables say', async () => {
  const stderr = await new Promise<string>((done) => {
    execFile(process.execPath, ['scripts/generate-docs.js', '--check'], { cwd: root }, (_, __, text) => done(text));
  });
  expect(stderr).toBe('');
});

test('every code of the catalogue is explained in docs/errors.md, once', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8');
  for (const { code } of areas.flatMap((area) => Object.values(area)))
    expect({ code, times: page.split(`## ${code}\n`).length - 1 }).toEqual({ code, times: 1 });
});
