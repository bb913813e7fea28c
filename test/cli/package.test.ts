import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');

/** The package as npm packs it, beside the one dependency that it declares: nothing else of this folder is in reach. */
describe('the packed package', () => {
  const base = mkdtempSync(join(tmpdir(), 'tilewright-packed-'));
  const modules = join(base, 'user/node_modules');

  beforeAll(async () => {
    const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', base], {
      cwd: root,
    });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    await run('tar', ['-xzf', join(base, filename), '-C', base]);
    mkdirSync(join(modules, 'tilewright'), { recursive: true });
    cpSync(join(base, 'package'), join(modules, 'tilewright'), { recursive: true });
    for (const name of ['esbuild', '@esbuild']) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  });

  afterAll(() => rmSync(base, { recursive: true, force: true }));

  const program = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, [join(modules, 'tilewright/bin/tilewright.js'), ...args], { cwd: join(base, 'user') });

  test('helps, checks a kernel and lowers it', async () => {
    cpSync(join(root, 'examples/vector-add.kernel.ts'), join(base, 'user/vector-add.kernel.ts'));
    expect((await program('run', '--help')).stdout).toContain('tilewright run FILE');
    await program('check', 'vector-add.kernel.ts', '-D', 'dtype=f32');
    const { stdout } = await program('build', 'vector-add.kernel.ts', '-D', 'dtype=f32', '--emit', 'mlir', '-o', '-');
    expect(stdout).toContain('"arith.addf"');
  });

  test('is one copy, whichever of its entry points a program imports', async () => {
    const script = `
      import { interpret, f32 } from 'tilewright';
      import { nd } from 'tilewright/testing';
      import { vectorAdd } from 'tilewright/kernels';
      const x = nd.from(f32, [3], [1, 2, 3]);
      const { z } = await interpret(vectorAdd.with({ dtype: f32 }), { x, y: x });
      console.log(nd.toNumbers(z).join());`;
    writeFileSync(join(base, 'user/program.mjs'), script);
    const { stdout } = await run(process.execPath, ['program.mjs'], { cwd: join(base, 'user') });
    expect(stdout).toBe('2,4,6\n');
  });
});
