import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withWorkspace } from '../../src/drivers/workspace.js';
import { inFolder } from '../support/cli.js';
import { diagnosticsOf } from '../support/thrown.js';

test('a folder exists while it is worked in', async () => {
  const folder = await withWorkspace(async (path) => {
    writeFileSync(join(path, 'file'), '');
    return path;
  });
  expect(existsSync(folder)).toBe(false);
});

test('it is gone after an error, which passes through', async () => {
  let folder = '';
  const work = withWorkspace(async (path) => {
    folder = path;
    throw new Error('mine');
  });
  await expect(work).rejects.toThrow('mine');
  expect([folder !== '', existsSync(folder)]).toEqual([true, false]);
});

test('where none can be made, the error says so', () =>
  inFolder(async (folder) => {
    const parent = join(folder, 'none');
    const [d] = await diagnosticsOf(() => withWorkspace(async () => {}, parent));
    expect(d!.code).toBe('TW3021');
    expect(d!.message).toContain(`temporary files cannot be written to ${parent} (ENOENT: no such file`);
    expect(d!.help).toBe('TMPDIR names another folder');
  }));

test.each(['ENOSPC', 'EDQUOT'])('%s while working is that error, too', async (code) => {
  const full = Object.assign(new Error(`${code}: write`), { code });
  const [d] = await diagnosticsOf(() => withWorkspace(() => Promise.reject(full)));
  expect(`${d!.code} ${d!.message}`).toMatch(new RegExp(`^TW3021 .*${code}: write`));
});
