/**
 * Seeded bugs: each file has a kernel that is right, and wrong in one place where it is asked to be. The line where the
 * bug shows bears the code that must be reported there; the right kernel must be silent in every order of programs.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { bugsFolder, falseAlarms, findingsOf, loadBug } from './bugs.js';

const files = readdirSync(bugsFolder).sort();
const page = join(bugsFolder, '../../../docs/sanitizer.md');
/** Rows of the page's table: what each wrong kernel was found to have. */
const rows: string[] = [];

test('there are at least 60 of them', () => {
  expect(files.length).toBeGreaterThanOrEqual(60);
});

describe.each(files)('%s', (file) => {
  test('is flagged at its line', async () => {
    const bug = await loadBug(join(bugsFolder, file));
    const found = await findingsOf(bug);
    expect(found).toContain(bug.expected);
    const code = bug.expected.slice(0, 6);
    rows.push(`| [${bug.name}](../test/sanitizer/bugs/${file}) | ${bug.what} | \`${code}\` at its line |`);
  });

  test('is silent when it is right, under 50 schedules', async () => {
    expect(await falseAlarms(await loadBug(join(bugsFolder, file)), 50)).toEqual([]);
  });
});

/** `BLESS=1` writes it. */
test('docs/sanitizer.md has the table of what was found', () => {
  if (rows.length < files.length) return;
  const text = readFileSync(page, 'utf8');
  const [head] = text.split('| seeded bug |');
  const table = `| seeded bug | what is wrong | found |\n|---|---|---|\n${rows.join('\n')}\n`;
  if (process.env.BLESS) writeFileSync(page, `${head}${table}`);
  expect(readFileSync(page, 'utf8')).toBe(`${head}${table}`);
});
