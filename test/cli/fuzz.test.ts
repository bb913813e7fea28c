import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const script = resolve(import.meta.dirname, '../../scripts/fuzz.js');

test('damaged kernels and random command lines end in coded diagnostics', () => {
  const options = ['--count', '4000', '--seed', '7'];
  const { status, stderr, stdout } = spawnSync(process.execPath, [script, ...options], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain('4000 inputs, seed 7');
  expect(status).toBe(0);
});
