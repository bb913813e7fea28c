/**
 * Seeded bugs: each file has a kernel that is right, and wrong in one place where it is asked to be. The line where the
 * bug shows bears the code that must be reported there; the right kernel must be silent in every order of programs.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bugsFolder, falseAlarms, findingsOf, loadBug } from './bugs.js';

const files = readdirSync(bugsFolder).sort();

test('there are at least 60 of them', () => {
  expect(files.length).toBeGreaterThanOrEqual(60);
});

describe.each(files)('%s', (file) => {
  test('is flagged at its line', async () => {
    const bug = await loadBug(join(bugsFolder, file));
    expect(await findingsOf(bug)).toContain(bug.expected);
  });

  test('is silent when it is right, under 50 schedules', async () => {
    expect(await falseAlarms(await loadBug(join(bugsFolder, file)), 50)).toEqual([]);
  });
});
