import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { f32 } from 'tilewright';
import { nd } from 'tilewright/testing';
import { writeNpy } from '../../src/api/npy.js';
import { example, inFolder, tilewright } from '../support/cli.js';
import { FakeDrivers } from '../support/fake-drivers.js';
import { describeTool } from '../support/tools.js';

let fakes: FakeDrivers;
beforeAll(() => {
  fakes = new FakeDrivers();
});
afterAll(() => fakes.close());

const nowhere = { TILEWRIGHT_CUDA_LIB: '/nonexistent/libcuda.so.1', TILEWRIGHT_HIP_LIB: '/nonexistent/libamdhip64.so' };
const file = example('vector-add');

async function inputs(folder: string): Promise<string[]> {
  const x = nd.random(f32, [3000], { seed: 1 });
  await writeNpy(join(folder, 'x.npy'), x);
  await writeNpy(
    join(folder, 'twice.npy'),
    nd.from(
      f32,
      [3000],
      nd.toNumbers(x).map((v) => v + v),
    ),
  );
  return ['--input', 'x=@x.npy', '--input', 'y=@x.npy'];
}

describe('run --target cuda and hip where there is no driver', () => {
  test.each([
    ['cuda', /^error\[TW3050\]: nothing can be run with --target cuda here: no NVIDIA driver was found: .*\n/],
    ['hip', /^error\[TW3050\]: nothing can be run with --target hip here: no HIP runtime was found: .*\n/],
  ])('%s: exit 3 and what is missing', (target, message) =>
    inFolder(async (cwd) => {
      const { code, stdout, stderr } = await tilewright(['run', file, ...(await inputs(cwd)), '--target', target], {
        cwd,
        env: nowhere,
      });
      expect([code, stdout]).toEqual([3, '']);
      expect(stderr).toMatch(message);
      expect(stderr.trim().split('\n')).toHaveLength(2);
    }),
  );
});

describeTool('triton', 'launchers from the command line', () => {
  test('a program for all targets that runs on the CPU, and tells what is missing for the others', () =>
    inFolder(async (cwd) => {
      const built = await tilewright(['build', file, '--target', 'cpu,sm_80,gfx942', '-o', 'add.exe'], { cwd });
      expect([built.code, built.stdout]).toEqual([0, '']);
      expect(built.stderr).toMatch(/^add\.exe {2}[\d.]+ kB {2}\d+ ms\n$/);
      expect(statSync(join(cwd, 'add.exe')).mode & 0o111).not.toBe(0);
      const program = (...args: string[]) =>
        spawnSync('./add.exe', args, { cwd, encoding: 'utf8', env: { ...nowhere } });
      const given = await inputs(cwd);
      const right = program(...given, '--output', 'z=@z.npy', '--expect', 'z=@twice.npy', '--time', '3');
      expect([right.status, right.stderr]).toEqual([0, '']);
      expect(right.stdout).toMatch(/^z: all 3000 elements within .*\nmedian of 3 runs: [\d.]+ ms, [\d.]+ GB\/s/);
      expect(readFileSync(join(cwd, 'z.npy'))).toEqual(readFileSync(join(cwd, 'twice.npy')));
      const wrong = program(...given, '--expect', 'z=@x.npy');
      expect(wrong.status).toBe(1);
      expect(wrong.stdout).toMatch(/^z: 3000 of 3000 elements differ/);
      const cuda = program(...given, '--device', 'cuda');
      expect([cuda.status, cuda.stderr]).toEqual([3, expect.stringMatching(/error 1: CUDA driver not found/)]);
      expect(program('--input', 'x=@x.npy').stderr).toBe('vector_add: input y is missing: --input y=@FILE.npy\n');
      expect(program('--input', 'x=@x.npy').status).toBe(1);
      expect(program('--bogus', '1').status).toBe(2);
      writeFileSync(join(cwd, 'bad.npy'), 'no array');
      expect(program('--input', 'x=@bad.npy').stderr).toBe('vector_add: bad.npy is no .npy file\n');
    }));

  test('sources, objects and libraries go to one name; the header is taken by C and C++', () =>
    inFolder(async (cwd) => {
      const args = ['build', file, '--target', 'cpu,sm_80,gfx942', '--emit', 'launcher,obj,so,plan.json', '-o', 'out/'];
      const built = await tilewright(args, { cwd });
      expect(built.code).toBe(0);
      expect(readdirSync(join(cwd, 'out')).sort()).toEqual([
        'vector_add.c',
        'vector_add.cpu.plan.json',
        'vector_add.gfx942.plan.json',
        'vector_add.h',
        'vector_add.o',
        'vector_add.sm_80.plan.json',
        'vector_add.so',
      ]);
      const flags = ['-Wall', '-Wextra', '-Werror', '-pedantic', '-fsyntax-only'];
      execFileSync('cc', [...flags, '-std=c99', '-x', 'c', join(cwd, 'out/vector_add.h')]);
      execFileSync('cc', [...flags, '-std=c++11', '-x', 'c++', join(cwd, 'out/vector_add.h')]);
      execFileSync('cc', [
        '-Wall',
        '-Wextra',
        '-Werror',
        '-O2',
        '-c',
        join(cwd, 'out/vector_add.c'),
        '-o',
        '/dev/null',
      ]);
      const first = readFileSync(join(cwd, 'out/vector_add.so'));
      await tilewright(args, { cwd });
      expect(readFileSync(join(cwd, 'out/vector_add.so')).equals(first)).toBe(true);
      const one = await tilewright(['build', file, '--target', 'sm_80', '--emit', 'launcher', '-o', 'x.c'], { cwd });
      expect([one.code, one.stderr]).toEqual([2, expect.stringMatching(/TW4\d+/)]);
      expect(existsSync(join(cwd, 'x.c'))).toBe(false);
    }));

  test('-### shows the commands of the host compiler; what -Xcc adds reaches it', () =>
    inFolder(async (cwd) => {
      const args = ['build', file, '--target', 'sm_80', '--emit', 'exe'];
      const { code, stdout } = await tilewright([...args, '-###', '-Xcc', '-DX=1'], { cwd });
      expect(code).toBe(0);
      expect(stdout.trim().split('\n').at(-1)).toMatch(
        /cc -O2 -std=gnu11 -fPIC -Wl,--build-id=none -DX=1 -x c vector_add\.c vector_add_main\.c -o vector_add\.exe -ldl -lpthread -lm$/,
      );
      const failed = await tilewright([...args, '-Xcc', '-fno-such-flag'], { cwd });
      expect([failed.code, failed.stderr]).toEqual([3, expect.stringMatching(/^error\[TW3001\]: cc /)]);
    }));

  test('run on recording drivers: compiled for the device that is there', () =>
    inFolder(async (cwd) => {
      const env = { TILEWRIGHT_CUDA_LIB: fakes.cuda, TILEWRIGHT_HIP_LIB: fakes.hip };
      for (const target of ['cuda', 'hip']) {
        const args = ['run', file, ...(await inputs(cwd)), '--target', target, '--output', 'z=@z.npy', '--time', '5'];
        const { code, stderr } = await tilewright(args, { cwd, env });
        // The recording drivers run nothing and say that each launch took half a millisecond.
        expect([code, stderr]).toEqual([0, 'median of 5 runs: 0.500 ms, 0.07 GB/s\n']);
        expect(
          readFileSync(join(cwd, 'z.npy'))
            .subarray(128)
            .every((b) => b === 0),
        ).toBe(true);
      }
      const args = ['run', file, ...(await inputs(cwd)), '--target', 'cuda', '--expect', 'z=@twice.npy'];
      expect((await tilewright(args, { cwd, env })).code).toBe(1);
    }));
});

describeTool('nvcc', 'launchers by nvcc', () => {
  test('an object, a library and a program, which runs on the CPU', () =>
    inFolder(async (cwd) => {
      const args = ['build', file, '--target', 'cpu,sm_90a', '--emit', 'obj,so,exe', '-Xnvcc', '-O1', '-o', 'out/'];
      const { code } = await tilewright(args, { cwd });
      expect(code).toBe(0);
      const given = await inputs(cwd);
      const run = [...given, '--device', 'cpu', '--expect', 'z=@twice.npy'];
      const { status } = spawnSync('out/vector_add.exe', run, { cwd, encoding: 'utf8' });
      expect(status).toBe(0);
      const shown = await tilewright([...args.slice(0, -2), '-###'], { cwd });
      expect(shown.stdout).toMatch(/nvcc -O2 -cudart none -Xcompiler -fPIC,-std=gnu11 -shared -O1 -x c vector_add\.c/);
    }));
});
