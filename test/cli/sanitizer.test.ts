import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { example, tilewright } from '../support/cli.js';

const bugs = resolve(import.meta.dirname, '../sanitizer/bugs');
const overlapping = join(bugs, 'race-overlapping-outputs.kernel.ts');
const line = readFileSync(overlapping, 'utf8')
  .split('\n')
  .findIndex((text) => text.endsWith('// TW5101'));

const run = (file: string, ...more: string[]) => tilewright(['run', file, '--target', 'interpret', ...more]);
const wrong = (...more: string[]) => run(overlapping, '-D', 'wrong=true', '--input', 'x=random:1', ...more);

describe('run --target interpret looks for what is wrong', () => {
  test('with a source frame for both accesses and a map of the array', async () => {
    const { code, stderr } = await wrong('--input', 'n=16');
    expect(code).toBe(1);
    expect(stderr).toContain(
      'error[TW5101]: race: store of y[3] and 2 more elements in program (i=1) and store in program (i=0), which nothing orders',
    );
    expect(stderr).toMatch(new RegExp(`--> \\S*race-overlapping-outputs\\.kernel\\.ts:${line + 1}:`));
    expect(stderr).toContain('note: the other access, in program (i=0)');
    expect(stderr).toContain(
      "note: 'y', 1 x 16: b store in program (i=0), a this access, X [3]\n  bbbXaaa.........\nhelp:",
    );
  });

  test('in JSON and SARIF', async () => {
    const json = JSON.parse((await wrong('--input', 'n=16', '--diagnostics', 'json')).stderr);
    expect(json.diagnostics[0]).toMatchObject({ code: 'TW5101', severity: 'error', location: { line: line + 1 } });
    const sarif = JSON.parse((await wrong('--input', 'n=16', '--diagnostics', 'sarif')).stderr);
    expect(sarif.runs[0].results[0]).toMatchObject({ ruleId: 'TW5101', level: 'error' });
  });

  test('unless it is told not to', async () => {
    for (const list of ['none', 'uninit,padding']) {
      const { code, stderr } = await wrong('--input', 'n=16', '--sanitize', list);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
    const { code, stderr } = await wrong('--input', 'n=16', '--sanitize', 'races');
    expect(code).toBe(2);
    expect(stderr).toContain('--sanitize');
  });

  test('in several orders, one of which can be run again', async () => {
    const slots = join(bugs, 'schedule-slots.kernel.ts');
    const given = ['-D', 'wrong=true', '--input', 'x=random:3'];
    const { code, stderr } = await run(slots, ...given, '--seeds', '20');
    expect(code).toBe(1);
    expect(stderr).toContain('error[TW5108]: y[');
    const [, first, second] = /--replay (\d+), --replay (\d+)/.exec(stderr) ?? [];
    const results = await Promise.all([first, second, first].map((s) => run(slots, ...given, '--replay', s!)));
    expect(results.map((r) => r.code)).toEqual([0, 0, 0]);
    expect(results[0]!.stdout).toBe(results[2]!.stdout);
    expect(results[0]!.stdout).not.toBe(results[1]!.stdout);
  });
});

describe('run --target interpret', () => {
  const add = (...more: string[]) =>
    run(example('vector-add'), '--input', 'n=3', '--input', 'x=random:1', '--input', 'y=random:2', ...more);

  test('refuses a grid that is too large, and names the CPU', async () => {
    const { code, stderr } = await add('--max-programs', '1', '--input', 'n=3000');
    expect(code).toBe(1);
    expect(stderr).toContain('error[TW5112]: the launch has 3 programs; the interpreter runs at most 1');
    expect(stderr).toContain('--target cpu');
  });

  test('stops an endless loop at its line', async () => {
    const file = join(bugs, 'endless-loop.kernel.ts');
    const at = readFileSync(file, 'utf8').split('\n');
    const { code, stderr } = await run(file, '-D', 'wrong=true', '--input', 'x=random:3', '--max-steps', '5000');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(
        `error\\[TW5002\\]: stopped after 5000 steps in program \\(\\)\n +--> \\S+:${at.findIndex((t) => t.endsWith('// TW5002')) + 1}:`,
      ),
    );
  });

  test('prints the values of a line, and says so where there is none', async () => {
    const text = readFileSync(example('vector-add'), 'utf8').split('\n');
    const at = text.findIndex((t) => t.includes('.store(')) + 1;
    const shown = await add('--print-values', `vector-add.kernel.ts:${at}`);
    expect(shown.code).toBe(0);
    expect(shown.stderr).toMatch(/^\(i=0\) load \(line \d+\): f32\[\d+\] = \[0\.965974033, 1\.12310421, .*_\]$/m);
    const { code, stderr } = await add('--print-values', 'acc');
    expect(code).toBe(1);
    expect(stderr).toContain("error[TW5007]: no value to print is meant by 'acc'");
  });
});
