import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { inFolder, tilewright } from '../support/cli.js';
import { describeTool } from '../support/tools.js';

const kernel = (
  factor: string,
  more = '',
): string => `import { array, blockProgram, f32, grid, kernel } from 'tilewright';
${more}
export const scale = kernel('scale', {}, () => {
  const v = array(f32, [64]).block([64], [0]);
  return blockProgram({ grid: grid({ i: 1 }), inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    y.store(x.load().mul(${factor}));
  });
});
`;

describeTool('mlir', 'a build that was made before', () => {
  /** Writes files as if an hour ago: what was written during a build is not remembered. */
  const write = (cwd: string, files: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(cwd, name), text);
      const past = Date.now() / 1000 - 3600;
      utimesSync(join(cwd, name), past, past);
    }
  };
  /** Builds to kernel IR with a cache of its own: what it wrote, and whether it was remembered. */
  const build = async (cwd: string, ...more: string[]): Promise<[string, boolean]> => {
    const args = [
      'build',
      'scale.kernel.ts',
      '--emit=kir',
      '-o',
      'out.kir',
      '--cache-dir',
      join(cwd, 'cache'),
      ...more,
    ];
    const { code, stderr } = await tilewright(args, { cwd });
    expect([code, stderr]).toEqual([0, expect.stringContaining('out.kir')]);
    return [
      /value = (\d)\S* : f32/.exec(readFileSync(join(cwd, 'out.kir'), 'utf8'))![1]!,
      stderr.includes('cache hit'),
    ];
  };

  test('is made again when a file that it read has changed, and only then', () =>
    inFolder(async (cwd) => {
      write(cwd, {
        'scale.kernel.ts': kernel('factor', "import { factor } from './factor.js';"),
        'factor.ts': 'export const factor = 3;',
      });
      expect(await build(cwd)).toEqual(['3', false]);
      expect(await build(cwd)).toEqual(['3', true]);
      write(cwd, { 'factor.ts': 'export const factor = 4;' });
      expect(await build(cwd)).toEqual(['4', false]);
      expect(await build(cwd)).toEqual(['4', true]);
      write(cwd, { 'factor.ts': 'export const factor = 3;' });
      expect(await build(cwd)).toEqual(['3', false]);
      expect(await build(cwd, '--no-cache')).toEqual(['3', false]);
      expect(await build(cwd, '-g0')).toEqual(['3', false]);
    }));

  test.each([
    ['the environment', 'Number(process.env.FACTOR ?? 5)'],
    ['the clock', 'Date.now() > 0 ? 5 : 6'],
    ['the file system', "readFileSync('factor', 'utf8').length"],
  ])('is not remembered where the kernel reads %s', (_, factor) =>
    inFolder(async (cwd) => {
      const more = factor.startsWith('read') ? "import { readFileSync } from 'node:fs';" : '';
      write(cwd, { 'scale.kernel.ts': kernel(factor, more), factor: '12345' });
      expect(await build(cwd)).toEqual(['5', false]);
      expect(await build(cwd)).toEqual(['5', false]);
    }),
  );

  test('tells its warnings each time, also those that were silenced before', () =>
    inFolder(async (cwd) => {
      mkdirSync(join(cwd, 'cache'));
      writeFileSync(join(cwd, 'cache', 'v1'), '');
      write(cwd, { 'scale.kernel.ts': kernel('3') });
      const args = ['build', 'scale.kernel.ts', '--cache-dir', 'cache', '-o', 'out/'];
      expect((await tilewright([...args, '-Wno-TW3020'], { cwd })).stderr).not.toContain('TW3020');
      expect((await tilewright(args, { cwd })).stderr).toContain('warning[TW3020]');
    }));

  test('with a memory that is torn is made again', () =>
    inFolder(async (cwd) => {
      write(cwd, { 'scale.kernel.ts': kernel('3') });
      await build(cwd);
      const root = join(cwd, 'cache/builds');
      for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }))
        if (name.endsWith('.json')) writeFileSync(join(root, name), '{"');
      expect(await build(cwd)).toEqual(['3', false]);
      expect(await build(cwd)).toEqual(['3', true]);
    }));

  test('goes where this call says', () =>
    inFolder(async (cwd) => {
      write(cwd, { 'scale.kernel.ts': kernel('3') });
      await build(cwd);
      const args = ['build', 'scale.kernel.ts', '--emit=kir', '--cache-dir', join(cwd, 'cache')];
      const { stdout } = await tilewright([...args, '-o', '-'], { cwd });
      expect(stdout).toBe(readFileSync(join(cwd, 'out.kir'), 'utf8'));
      expect((await tilewright([...args, '-o', 'd/'], { cwd })).stderr).toMatch(/^d\/scale\.cpu\.kir/);
    }));
});
