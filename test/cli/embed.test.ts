import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { programPath } from '../support/built-cli.js';
import { inFolder } from '../support/cli.js';
import { withoutMake } from '../support/environment.js';
import { describeTool } from '../support/tools.js';

const root = resolve(import.meta.dirname, '../..');
const node = process.execPath;

/** Whether the optional package that Node calls C with is there. */
const foreign = ((): boolean => {
  try {
    createRequire(import.meta.url).resolve('koffi');
    return true;
  } catch {
    return false;
  }
})();

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(cwd: string, command: string, args: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { ...withoutMake(process.env), CC: 'cc' },
  });
  return { status, stdout, stderr };
}

/** A copy of the examples outside of the repository, with the package as `npm install` would put it. */
const withExamples = (work: (folder: string) => void): Promise<void> =>
  inFolder(async (folder) => {
    // make has no way to name a file with a space in it.
    const plain = folder.replaceAll(' ', '-');
    cpSync(join(root, 'examples'), join(plain, 'examples'), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(plain, 'node_modules'));
    try {
      work(join(plain, 'examples'));
    } finally {
      rmSync(plain, { recursive: true, force: true });
    }
  });

const tilewright = `${node} ${programPath}`;

describeTool(
  'triton',
  'the embed examples: each built by its own tool, linked for CPU, sm_80, sm_90 and gfx942, run on the CPU',
  () => {
    test('embed-c by make', () =>
      withExamples((folder) => {
        const made = run(join(folder, 'embed-c'), 'make', [`TILEWRIGHT=${tilewright}`, 'run']);
        expect(made).toMatchObject({
          status: 0,
          stdout: expect.stringMatching(/vector_add: 100000 elements are right\n$/),
        });
        const again = run(join(folder, 'embed-c'), 'make', [`TILEWRIGHT=${tilewright}`]);
        expect(again.stdout).toMatch(/Nothing to be done/);
      }));

    // CMake is in no tool set: where it is missing the test is skipped, and CI installs it.
    const cmake = spawnSync('cmake', ['--version']).status === 0;
    (cmake || process.env.TILEWRIGHT_REQUIRE_TOOLS ? test : test.skip)('embed-cpp by CMake', () =>
      withExamples((folder) => {
        const cwd = join(folder, 'embed-cpp');
        const configured = run(cwd, 'cmake', [
          '-S',
          '.',
          '-B',
          'build',
          `-DTILEWRIGHT=${tilewright.replace(' ', ';')}`,
        ]);
        expect([configured.status, configured.stderr]).toEqual([0, '']);
        expect(run(cwd, 'cmake', ['--build', 'build'])).toMatchObject({ status: 0 });
        expect(run(cwd, 'build/demo', [])).toEqual({
          status: 0,
          stdout: 'softmax: 37 rows are right; refused: softmax: n is 2000; it must be at most 1024\n',
          stderr: '',
        });
      }),
    );

    test('embed-python by ctypes', () =>
      withExamples((folder) => {
        const made = run(join(folder, 'embed-python'), 'make', [`TILEWRIGHT=${tilewright}`, 'run']);
        expect(made).toMatchObject({
          status: 0,
          stdout: expect.stringMatching(/layer_norm: 19 x 389, largest error [\d.]+e-0\d\n$/),
        });
      }));

    (foreign || process.env.TILEWRIGHT_REQUIRE_TOOLS ? test : test.skip)('embed-node by tilewright/runtime', () =>
      withExamples((folder) => {
        const cwd = join(root, 'examples/embed-node');
        const out = join(folder, 'built');
        expect(run(cwd, node, ['build.mjs', out, node, programPath])).toMatchObject({ status: 0 });
        expect(run(cwd, node, ['main.mjs', out])).toEqual({
          status: 0,
          stdout: 'vector_add: 100000 elements are right\n',
          stderr: '',
        });
      }),
    );
  },
);
