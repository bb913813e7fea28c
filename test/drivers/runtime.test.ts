import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { example, tilewright } from '../support/cli.js';
import { FakeDrivers } from '../support/fake-drivers.js';
import { describeTool } from '../support/tools.js';

let fakes: FakeDrivers;
beforeAll(async () => {
  fakes = new FakeDrivers();
});
afterAll(() => fakes.close());

const foreign = ((): boolean => {
  try {
    createRequire(import.meta.url).resolve('koffi');
    return true;
  } catch {
    return false;
  }
})();
const maybe = foreign || process.env.TILEWRIGHT_REQUIRE_TOOLS ? test : test.skip;

describeTool('triton', 'tilewright/runtime', () => {
  const program = (target: string, env = {}) => {
    const ran = fakes.run(process.execPath, [fakes.source('runtime.mjs'), fakes.folder, target], env);
    expect(ran.stderr).toBe('');
    const told = ran.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as [string, unknown]);
    return { ...ran, told: Object.fromEntries(told) };
  };

  maybe('a kernel on typed arrays, and everything that is refused', async () => {
    const args = ['build', example('layer-norm'), '--target', 'cpu,sm_80,gfx942', '--emit', 'so,plan.json'];
    expect((await tilewright([...args, '-o', `${fakes.folder}/`])).code).toBe(0);
    const { told, calls } = program('cpu');
    const row = [-1.3416, -0.4472, 0.4472, 1.3416];
    expect(told).toEqual({
      'missing plan': 'bad-plan',
      'missing library': 'load',
      kernel: ['layer_norm', 'cpu'],
      values: [...row, ...row],
      misaligned: expect.stringMatching(
        /^LaunchError argument: layer_norm: x is at 0x\w+; its address must be a multiple of 4$/,
      ),
      'missing argument': 'LaunchError argument: layer_norm: w (input: f32[n]) is missing',
      'unknown argument': "LaunchError argument: layer_norm has no argument 'z'; it takes x, w, b, y, eps, m, n",
      'too short': 'LaunchError argument: layer_norm: x has 32 bytes; 48 are needed',
      promise: 'LaunchError argument: layer_norm: w has 32 bytes; 8000 are needed',
      'wrong kind': 'LaunchError argument: layer_norm: n (size: at most 1024) cannot be 1.5',
      empty: 'done',
      load: 'done',
    });
    expect(calls).toEqual([]);
  });

  maybe.each([
    ['sm_80', 'cuLaunchKernel', { FAKE_SM: '80' }],
    ['gfx942', 'hipModuleLaunchKernel', {}],
  ])('device buffers, streams and events on %s', (target, call, env) => {
    const { told, launches } = program(target, env);
    expect(told).toMatchObject({
      kernel: ['layer_norm', target],
      milliseconds: 0.5,
      back: [1, 2, 3, 4, 2, 4, 6, 8],
      'too large': 'LaunchError argument: 36 bytes do not fit in a buffer of 32',
      'host memory': 'LaunchError argument: layer_norm: x (input: f32[m, n]) cannot be an array',
      'too short': 'LaunchError argument: layer_norm: x has 32 bytes; 48 are needed',
      load: 'done',
    });
    expect(launches.map((l) => [l.call, l.grid, l.stream])).toEqual([
      [call, [2, 1, 1], 0x57],
      [call, [2, 1, 1], 0],
    ]);
  });

  maybe('without a driver, without an image', () => {
    expect(program('sm_80', { TILEWRIGHT_CUDA_LIB: '/nonexistent/libcuda.so.1' }).told.load).toMatch(
      /^LaunchError no-driver: CUDA driver not found/,
    );
    expect(program('sm_80', { FAKE_SM: '75' }).told.load).toBe(
      'LaunchError no-image: layer_norm: no image for sm_75; built for: sm_80',
    );
  });
});
