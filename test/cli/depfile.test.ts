import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { depfileText, escapeForMake } from '../../src/cli/depfile.js';
import { programPath } from '../support/built-cli.js';
import { inFolder, tilewright } from '../support/cli.js';
import { withoutMake } from '../support/environment.js';
import { describeTool } from '../support/tools.js';

describe('a depfile', () => {
  test.each([
    ['plain/k.ts', 'plain/k.ts'],
    ['two words.ts', 'two\\ words.ts'],
    ['a#b.ts', 'a\\#b.ts'],
    ['$HOME.ts', '$$HOME.ts'],
    ['back\\ slash.ts', 'back\\\\\\ slash.ts'],
    ['größe-核.ts', 'größe-核.ts'],
  ])('names %s as %s', (path, escaped) => expect(escapeForMake(path)).toBe(escaped));

  test('is a rule for the outputs, with one without prerequisites for each source but the first', () => {
    expect(depfileText(['k.so', 'k.json'], ['/k.ts', '/a b.ts', '/c.ts'], true)).toBe(
      'k.so k.json: /k.ts \\\n  /a\\ b.ts \\\n  /c.ts\n\n/a\\ b.ts:\n\n/c.ts:\n',
    );
    expect(depfileText(['k.so'], ['/k.ts', '/c.ts'], false)).toBe('k.so: /k.ts \\\n  /c.ts\n');
  });
});

const kernel = (name: string, factor: string): string => `
import { array, blockProgram, cdiv, dim, f32, grid, kernel } from 'tilewright';
import { block } from './${factor}.ts';
export const ${name} = kernel('${name}', {}, () => {
  const n = dim('n');
  const g = grid({ i: cdiv(n, block) });
  const v = array(f32, [n]).block([block], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => y.store(x.load()));
});
`;

const write = (cwd: string, file: string, text: string): void => {
  mkdirSync(join(cwd, file, '..'), { recursive: true });
  writeFileSync(join(cwd, file), text);
  // What was written within a second of a build counts as newer than it for make, and is not remembered.
  const past = Date.now() / 1000 - 10;
  utimesSync(join(cwd, file), past, past);
};

describe('build -MD', () => {
  test('names what was read and this installation; -MMD the user’s files alone', () =>
    inFolder(async (cwd) => {
      write(cwd, 'a.kernel.ts', kernel('a', 'shared'));
      write(cwd, 'shared.ts', 'export const block = 128;\n');
      const build = (...flags: string[]) =>
        tilewright(['build', 'a.kernel.ts', '-o', 'a.kir', '--cache-dir', 'cache', ...flags], { cwd });
      for (const time of ['first', 'remembered']) {
        expect([time, (await build('-MD', '-MP')).code]).toEqual([time, 0]);
        const text = readFileSync(join(cwd, 'a.d'), 'utf8');
        expect(text).toMatch(
          /^a\.kir: \S.*\/a\.kernel\.ts \\\n {2}\S.*\/shared\.ts \\\n {2}.*\/package\.json \\\n {2}.*\/locks\/mlir\.lock\n/,
        );
        expect(text).toMatch(/\n\S.*\/shared\.ts:\n/);
        rmSync(join(cwd, 'a.d'));
      }
      expect((await build('-MMD', '-MF', 'deps.mk', '-MT', '$(objects)')).code).toBe(0);
      expect(readFileSync(join(cwd, 'deps.mk'), 'utf8')).toMatch(
        /^\$\(objects\): \S.*\/a\.kernel\.ts \\\n.*\/shared\.ts\n$/,
      );
    }));

  test('asks where it goes, where that is not clear, and leaves nothing behind an error', () =>
    inFolder(async (cwd) => {
      write(cwd, 'a.kernel.ts', kernel('a', 'missing'));
      expect((await tilewright(['build', 'a.kernel.ts', '-o', 'a.kir', '-MD'], { cwd })).code).toBe(1);
      expect([existsSync(join(cwd, 'a.d')), existsSync(join(cwd, 'a.kir'))]).toEqual([false, false]);
      write(cwd, 'missing.ts', 'export const block = 128;\n');
      expect(await tilewright(['build', 'a.kernel.ts', '--emit', 'kir', '-o', 'out/', '-MD'], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("'-MD'"),
      });
      expect(existsSync(join(cwd, 'out'))).toBe(false);
    }));
});

const make = promisify(execFile);

describeTool('mlir', 'a Makefile that includes depfiles', () => {
  test('builds all, then nothing, then the users of what changed; a removed import is no error', () =>
    inFolder(async (cwd) => {
      for (const [name, factor] of [
        ['a', 'shared'],
        ['b', 'shared'],
        ['c', 'own'],
      ] as const)
        write(cwd, `${name}.kernel.ts`, kernel(name, factor));
      write(cwd, 'shared.ts', 'export const block = 128;\n');
      write(cwd, 'own.ts', 'export const block = 256;\n');
      write(
        cwd,
        'Makefile',
        `all: a.so b.so c.so\n%.so: %.kernel.ts\n\t@echo built $@\n\t@"${process.execPath}" "${programPath}" build $< -o $@ -MD -MP\n-include $(wildcard *.d)\n`,
      );
      const built = async (): Promise<string[]> => {
        const { stdout } = await make('make', ['-j8'], { cwd, env: withoutMake(process.env) });
        return [...stdout.matchAll(/^built (\w)\.so$/gm)].map((m) => m[1]!).sort();
      };
      expect(await built()).toEqual(['a', 'b', 'c']);
      expect(await built()).toEqual([]);
      writeFileSync(join(cwd, 'shared.ts'), 'export const block = 64;\n');
      expect(await built()).toEqual(['a', 'b']);
      expect(await built()).toEqual([]);
      writeFileSync(join(cwd, 'c.kernel.ts'), kernel('c', 'shared'));
      rmSync(join(cwd, 'own.ts'));
      expect(await built()).toEqual(['c']);
      expect(await built()).toEqual([]);
    }));
});
