import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, jest, test } from '@jest/globals';
import type { Kernel } from '../../src/ir/kernel.js';
import type { DeviceLaunch } from '../../src/lowering/device-launch.js';
import type { TritonLowering } from '../../src/lowering/triton/index.js';
import { inFolder } from '../support/cli.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

const text = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../support/ttir/${name}.ttir`, import.meta.url)), 'utf8');

/** What lowering gives, in the tests' hands. */
let lowerToTriton: (kernel: Kernel, options: TritonLowering) => readonly DeviceLaunch[];
jest.unstable_mockModule('../../src/lowering/triton/index.js', () => ({
  lowerToTriton: (kernel: Kernel, options: TritonLowering) => lowerToTriton(kernel, options),
}));
const { compile, compileForTargets, resumeFrom } = await import('../../src/api/compile.js');
const { dumpStages } = await import('../../src/api/dump.js');
const { array, blockProgram, cdiv, dim, f8e4m3fn, f32, grid, kernel } = await import('../../src/index.js');

const scale = kernel('scale', { block: 1024 }, ({ block }) => {
  const n = dim('n', { multipleOf: 16 });
  const g = grid({ i: cdiv(n, block) });
  const v = array(f32, [n]).block([block], [g.i]);
  return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => {
    y.store(x.load().add(x.load()));
  });
});

const launchOf = (kernel: Kernel, more: Partial<DeviceLaunch> = {}): DeviceLaunch => ({
  name: 'scale',
  symbol: 'scale',
  text: text('scale'),
  params: [
    { kind: 'pointer', array: 'x', alignment: 16 },
    { kind: 'pointer', array: 'y', alignment: 16 },
    {
      kind: 'extent',
      value: kernel.dims[0]!.name === 'n' ? { kind: 'argument', name: 'n' } : 0,
      type: 'i32',
      divisibleBy: 16,
    },
  ],
  grid: [kernel.launches[0]!.grid[0]!.extent, 1, 1],
  options: {},
  ...more,
});

describeTool('triton', 'compile for a GPU', () => {
  test.each(['sm_90', 'gfx942'])('image and plan for %s', async (target) => {
    lowerToTriton = (k) => [launchOf(k)];
    const { artifacts, plan, launches } = await compile(scale, { target, cache: false });
    expect([...artifacts.keys()]).toEqual([target === 'sm_90' ? 'cubin' : 'hsaco', 'plan.json']);
    expect(JSON.parse(Buffer.from(artifacts.get('plan.json')!).toString('utf8'))).toEqual(plan);
    expect(plan.launches[0]!.device).toMatchObject({
      grid: ['cdiv(n, 1024)', '1', '1'],
      block: [target === 'sm_90' ? 128 : 256, 1, 1],
      sharedBytes: 0,
    });
    expect(plan.dims).toEqual([{ name: 'n', multipleOf: 16 }]);
    expect(launches![0]!.resources.spills).toBe(0);
  });

  test('several targets share a worker', async () => {
    lowerToTriton = (k) => [launchOf(k)];
    const all = await compileForTargets(scale, ['sm_80', 'sm_100', 'gfx1100'], { cache: false });
    expect(all.map((c) => `${c.target} ${[...c.artifacts.keys()].join(' ')}`)).toEqual([
      'sm_80 cubin plan.json',
      'sm_100a cubin plan.json',
      'gfx1100 hsaco plan.json',
    ]);
    await expect(compileForTargets(scale, ['sm_80', 'sm_1'], { cache: false })).rejects.toThrow(/TW2002/);
  });

  test('a dump holds every stage, how to go on from each, and what the tools did', async () => {
    lowerToTriton = (k) => [launchOf(k, { options: { numWarps: 8 } })];
    for (const target of ['sm_90', 'gfx942']) {
      const files = await dumpStages(scale, 'scale', { target });
      const stages = target === 'sm_90' ? ['ttgir', 'llir', 'ptx', 'cubin'] : ['ttgir', 'llir', 'amdgcn', 'hsaco'];
      expect(files.map((f) => f.file)).toEqual([
        '00-scale.kir',
        '01-scale.lowered.kir',
        '02-scale.ttir',
        ...stages.map((s, i) => `0${i + 3}-scale.${s}`),
        '07-scale.plan.json',
        'manifest.json',
      ]);
      const manifest = JSON.parse(Buffer.from(files.at(-1)!.content).toString('utf8'));
      expect(manifest.stages.map((s: { stage: string }) => s.stage)).toEqual(stages);
      // Each stage began with what the one before left.
      for (const [i, s] of manifest.stages.slice(1).entries()) expect(s.sha256In).toBe(manifest.stages[i].sha256Out);
      const head = Buffer.from(files[3]!.content).toString('utf8').split('\n')[0]!;
      expect(head).toMatch(
        /^\/\/ go on from here: tilewright build 03-scale\.ttgir --start-from=ttgir --target \w+ -Xtriton num_warps=8 /,
      );
      // The lines that dumps begin with do not disturb what reads them.
      for (const [file, stage] of [
        [files[2]!, 'ttir'],
        [files[3]!, 'ttgir'],
        [files[4]!, 'llir'],
        [files[5]!, stages[2]!],
      ] as const)
        await inFolder(async (folder) => {
          const path = join(folder, file.file);
          writeFileSync(path, file.content);
          const again = await resumeFrom(path, stage, [stages[3]!], {
            target,
            cache: false,
            backendOptions: { numWarps: 8 },
          });
          expect(again.artifacts.get(stages[3]!)!.length).toBeGreaterThan(1000);
        });
    }
  });

  const matmul = (k: Kernel, options: DeviceLaunch['options'], source = text('matmul')): DeviceLaunch =>
    launchOf(k, {
      text: source,
      symbol: 'matmul',
      params: [
        { kind: 'pointer', array: 'x' },
        { kind: 'pointer', array: 'x' },
        { kind: 'pointer', array: 'y' },
        { kind: 'extent', value: { kind: 'argument', name: 'n' }, type: 'i32', divisibleBy: 16 },
      ],
      options,
    });

  test('over the limit: the bill by buffer, at the lines, and how many stages fit', async () => {
    lowerToTriton = (k, { params = {} }) => [matmul(k, { numWarps: 8, numStages: 6, ...params })];
    const [d] = await diagnosticsOf(() => compile(scale, { target: 'sm_86', cache: false }));
    expect(`${d!.code} ${d!.message}`).toBe(
      "TW2020 launch 'matmul' takes 160 KiB of shared memory; 'sm_86' has 99 KiB",
    );
    expect(d!.help).toBe("'numStages: 4' fits, with 96 KiB of shared memory");
    expect(d!.loc).toMatchObject({ file: expect.stringContaining('compile-triton.test.ts') });
    expect(d!.notes.map((n) => n.message)).toEqual([
      '80 KiB: a buffer of 5 x 128 x 64 x f16',
      '80 KiB: a buffer of 5 x 64 x 128 x f16',
    ]);
    expect(d!.notes.map((n) => n.loc)).toMatchObject([{ line: 7 }, { line: 8 }]);
  });

  test('over the limit with one stage: the tile that fits', async () => {
    const half = text('matmul').replaceAll('128', '64');
    lowerToTriton = (k, { params = {} }) => {
      const small = JSON.stringify(k.launches[0]!.grid).includes('512');
      // Stages are fixed, as a loop's own attribute would fix them.
      return [matmul(k, { ...params, numWarps: 8, numStages: 6 }, small ? half : text('matmul'))];
    };
    const [d] = await diagnosticsOf(() =>
      compile(scale, { target: 'sm_86', cache: false, backendOptions: { numStages: 6 } }),
    );
    expect(d!.help).toMatch(/^'(-D block=512|numStages: \d)' fits, with \d+ KiB of shared memory$/);
  });

  test('several launches have files of their own', async () => {
    const two = (k: Kernel): Kernel => ({ ...k, launches: [k.launches[0]!, { ...k.launches[0]!, name: 'again' }] });
    const { kernel: traced } = scale.trace();
    const source = { kernel: two(traced), warnings: [], folder: process.cwd() };
    lowerToTriton = (k) => [
      launchOf(k),
      launchOf(k, { name: 'again', symbol: 'again', text: text('scale').replace('@scale', '@again') }),
    ];
    const { artifacts, plan } = await compile(source, {
      target: 'sm_80',
      cache: false,
      emit: ['ttir', 'cubin', 'plan.json'],
    });
    expect([...artifacts.keys()]).toEqual(['scale.ttir', 'again.ttir', 'scale.cubin', 'again.cubin', 'plan.json']);
    const [first, second] = plan.launches.map((l) => l.device!.image.sha256);
    expect(first).not.toBe(second);
  });

  test('huge tiles are warned about before anything is compiled', async () => {
    const transposed = `module { tt.func public @scale(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %n: i32) {
      %ps = tt.splat %p : !tt.ptr<f32> -> tensor<256x512x!tt.ptr<f32>>
      %v = tt.load %ps : tensor<256x512x!tt.ptr<f32>>
      %t = tt.trans %v {order = array<i32: 1, 0>} : tensor<256x512xf32> -> tensor<512x256xf32>
      %qs = tt.splat %q : !tt.ptr<f32> -> tensor<512x256x!tt.ptr<f32>>
      tt.store %qs, %t : tensor<512x256x!tt.ptr<f32>>
      tt.return
    } }`;
    lowerToTriton = (k) => [launchOf(k, { text: transposed, options: { numWarps: 2 } })];
    const early: string[] = [];
    const { warnings } = await compile(scale, {
      target: 'sm_80',
      cache: false,
      onWarning: (w) => early.push(w.message),
    });
    expect(early).toEqual([
      "launch 'scale' has tiles with 2048 elements per thread, about 6144 instructions; compiling may take minutes",
    ]);
    expect(warnings.map((w) => w.code)).toContain('TW2022');
  });

  test('spills are warned about', async () => {
    lowerToTriton = (k) => [matmul(k, { numWarps: 8, maxnreg: 64 })];
    const { warnings } = await compile(scale, { target: 'sm_80', cache: false });
    expect(warnings.map((w) => w.message)).toEqual([
      expect.stringMatching(/^launch 'scale' on 'sm_80' uses all 64 registers and spills [\d.]+ (Ki)?B$/),
    ]);
  });

  test('parameters that are not those of the plan are a bug that is told as one', async () => {
    lowerToTriton = (k) => [{ ...launchOf(k), params: launchOf(k).params.slice(1) }];
    await expect(compile(scale, { target: 'sm_80', cache: false })).rejects.toThrow(/parameters of 'scale' are/);
  });

  test('fp8 that a target does not have is refused at its line, before lowering', async () => {
    const half = kernel('half', {}, () => {
      const v = array(f8e4m3fn, [16]).block([16], [0]);
      return blockProgram({ grid: grid({ i: 1 }), inputs: { x: v }, outputs: { y: v } }, ({ x, y }) =>
        y.store(x.load()),
      );
    });
    const [d] = await diagnosticsOf(() => compile(half, { target: 'sm_80' }));
    expect(`${d!.code} ${d!.message}`).toBe("TW2001 target 'sm_80' does not support f8e4m3fn");
    expect(d!.help).toBe('this target has f8e5m2; f8e4m3fn is there on sm_89, sm_90a, sm_100a, sm_120a, sm_121a');
    expect(d!.loc).toMatchObject({ file: expect.stringContaining('compile-triton.test.ts') });
  });
});
