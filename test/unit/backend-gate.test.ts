import { afterEach, describe, expect, test } from '@jest/globals';
import {
  array,
  blockProgram,
  blockSpec,
  cdiv,
  type DType,
  dim,
  f4e2m1fn,
  f8e4m3fnuz,
  f16,
  f32,
  grid,
  kernel,
  pallasCall,
  sequence,
  shapeDtype,
  supportedBackends,
} from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import * as pltriton from 'tilewright/triton';
import { backendFor } from '../../src/api/backend.js';
import { asTarget } from '../../src/api/compile.js';
import { type AnyKernel, readKernels, withDisplayLocations } from '../../src/api/source.js';
import type { BackendRequest } from '../../src/lowering/backend.js';
import { mosaicGates } from '../../src/lowering/mosaic-gpu/gate.js';
import { findingOf } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

type Params = ConstructorParameters<typeof plgpu.CompilerParams>[0];
const mosaic = (options?: Params) => new plgpu.CompilerParams(options);
const triton = () => new pltriton.CompilerParams();

/** A copy of n elements with these compilerParams. */
const copy = (compilerParams?: unknown, dtype: DType = f32) =>
  kernel('copy', {}, () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 128) });
    const v = array(dtype, [n]).block([128], [g.i]);
    const spec = { grid: g, inputs: { x: v }, outputs: { z: v } };
    return blockProgram({ ...spec, ...((compilerParams ? { compilerParams } : {}) as {}) }, ({ x, z }) =>
      z.store(x.load()),
    );
  });

const chosen = (k: AnyKernel, target: string, request: BackendRequest = {}): string =>
  backendFor(k, asTarget(target), request).backend;

/** What is wrong with the choice, at places that can be opened. */
const refused = (k: AnyKernel, target: string, request?: BackendRequest) => () =>
  withDisplayLocations(k.folder, () => chosen(k, target, request));

const variable = 'TILEWRIGHT_USE_MOSAIC_GPU';
afterEach(() => {
  delete process.env[variable];
});

describe('which back end compiles', () => {
  test('selected, else the class of the params, else the setting, else that of the target', () => {
    expect(chosen(copy(), 'cpu')).toBe('cpu');
    expect(chosen(copy(), 'sm_90')).toBe('triton');
    expect(chosen(copy(), 'gfx942')).toBe('triton');
    expect(chosen(copy(mosaic()), 'sm_90')).toBe('mosaic_gpu');
    expect(chosen(copy(triton()), 'sm_90')).toBe('triton');
    expect(chosen(copy([triton(), mosaic()]), 'sm_90')).toBe('triton');
    expect(chosen(copy([triton(), mosaic()]), 'sm_90', { useMosaicGpu: true })).toBe('mosaic_gpu');
    expect(chosen(copy(triton()), 'sm_90', { useMosaicGpu: true })).toBe('triton');
    expect(chosen(copy(), 'sm_90', { useMosaicGpu: true })).toBe('mosaic_gpu');
    expect(chosen(copy(), 'sm_90', { useMosaicGpu: true, backend: 'triton' })).toBe('triton');
    expect(chosen(copy([triton(), mosaic()]), 'gfx942')).toBe('triton');
    expect(chosen(copy(), 'sm_100', { backend: 'mosaic_gpu' })).toBe('mosaic_gpu');
  });

  test('the setting comes from the option, then from the environment; the CPU ignores it', () => {
    process.env[variable] = '1';
    expect(chosen(copy(), 'sm_90')).toBe('mosaic_gpu');
    expect(chosen(copy(), 'sm_90', { useMosaicGpu: false })).toBe('triton');
    expect(chosen(copy(mosaic()), 'cpu')).toBe('cpu');
    process.env[variable] = '0';
    expect(chosen(copy(), 'sm_90')).toBe('triton');
  });

  test('of a sequence, what all launches say together', () => {
    const two = (a: unknown, b: unknown) =>
      kernel('two', {}, () => {
        const n = dim('n');
        const g = grid({ i: cdiv(n, 128) });
        const v = array(f32, [n]).block([128], [g.i]);
        const step = (from: string, to: string, compilerParams: unknown) =>
          blockProgram(
            { grid: g, inputs: { [from]: v }, outputs: { [to]: v }, compilerParams: compilerParams as never },
            (refs) => refs[to]!.store(refs[from]!.load() as never),
          );
        return sequence({ temps: { t: array(f32, [n]) } }, [step('x', 't', a), step('t', 'z', b)]) as never;
      });
    expect(chosen(two(mosaic(), mosaic()), 'sm_90')).toBe('mosaic_gpu');
    expect(chosen(two(mosaic(), []), 'sm_90')).toBe('mosaic_gpu');
    expect(chosen(two(mosaic(), triton()), 'sm_90')).toBe('triton');
  });

  test.each<[string, () => unknown, string]>([
    [
      'a back end that the kernel has no params for',
      refused(copy(triton()), 'sm_90', { backend: 'mosaic_gpu' }),
      'TW2030 at blockProgram: back end mosaic_gpu was selected, but the kernel has compilerParams of triton',
    ],
    [
      'the other way round',
      refused(copy(mosaic()), 'sm_90', { backend: 'triton' }),
      'TW2030 at blockProgram: back end triton was selected, but the kernel has compilerParams of mosaic_gpu',
    ],
    [
      'triton for the CPU',
      refused(copy(), 'cpu', { backend: 'triton' }),
      "TW2031 at kernel: back end triton does not compile for 'cpu'",
    ],
    [
      'cpu for a GPU',
      refused(copy(), 'gfx942', { backend: 'cpu' }),
      "TW2031 at kernel: back end cpu does not compile for 'gfx942'",
    ],
    [
      'a GPU without TMA',
      refused(copy(mosaic()), 'sm_80'),
      "TW2031 at blockProgram: back end mosaic_gpu does not compile for 'sm_80'",
    ],
  ])('%s', async (_, work, expected) => expect(await findingOf(work)).toBe(expected));

  const rocm =
    'TW2032 at blockProgram: Mosaic GPU does not yet support AMD ROCm devices. Use `compilerParams: new pltriton.CompilerParams()` for ROCm.';

  test.each<[string, () => unknown]>([
    ['by its params', refused(copy(mosaic()), 'gfx942')],
    ['by name', refused(copy(), 'gfx942', { backend: 'mosaic_gpu' })],
    ['by the setting', refused(copy(), 'gfx1100', { useMosaicGpu: true })],
  ])('Mosaic GPU on AMD, %s', async (_, work) => {
    expect(await findingOf(work)).toBe(rocm);
    const [first] = await diagnosticsOf(work);
    for (const way of ['pltriton.CompilerParams()', 'useMosaicGpu', 'sm_90a']) expect(first!.help).toContain(way);
  });

  test('pallasCall is deprecated there, and only there', () => {
    const ported = pallasCall({
      kernel: (x, o) => o.store(x.load()),
      outShape: shapeDtype([256], f32),
      grid: [2],
      inSpecs: [blockSpec([128], (i) => [i])],
      outSpecs: blockSpec([128], (i) => [i]),
      name: 'ported',
    })(shapeDtype([256], f32));
    const warned = (backend: BackendRequest['backend']) =>
      backendFor(ported, asTarget('sm_90'), { backend: backend! }).warnings.map((w) => `${w.code} ${w.message}`);
    expect(warned('triton')).toEqual([]);
    expect(warned('mosaic_gpu')).toEqual([
      "TW2040 pallasCall is deprecated on the Mosaic GPU backend: migrate 'ported' to plgpu.warpgroupProgram (or blockProgram)",
    ]);
    expect(backendFor(copy(mosaic()), asTarget('sm_90'), {}).warnings).toEqual([]);
  });

  test('programs can ask', () => {
    expect(supportedBackends(copy(), 'cpu')).toEqual(['cpu']);
    expect(supportedBackends(copy(mosaic()), 'gfx942')).toEqual([]);
    expect(supportedBackends(copy(), 'sm_90')).toEqual(['triton', 'mosaic_gpu']);
    expect(supportedBackends(copy([triton(), mosaic()]), 'sm_90')).toEqual(['triton', 'mosaic_gpu']);
    expect(supportedBackends(copy(mosaic()), 'sm_90')).toEqual(['mosaic_gpu']);
    expect(supportedBackends(copy(triton()), 'sm_90')).toEqual(['triton']);
    expect(supportedBackends(copy([triton(), mosaic()]), 'gfx942')).toEqual(['triton']);
  });
});

describe('what Mosaic GPU cannot do', () => {
  test('a grid that depends on a scalar', () => {
    const text = (extent: string) =>
      `kernel @k {\n  dim n\n  scalar %count: i32\n  out %z: ref<gmem f32[n]>\n  launch @k grid(i = ${extent}) {\n  }\n}\n`;
    const gates = (extent: string) => {
      const [source] = readKernels(text(extent), 'k.kir', '.');
      return mosaicGates(source!.kernel).map((d) => `${d.code} ${d.message}; ${d.notes[0]?.message}`);
    };
    expect(gates('cdiv(n, 64)')).toEqual([]);
    expect(gates('cdiv(count, 64)')).toEqual([
      "TW2034 dynamic grid bounds not supported in the Mosaic GPU backend; grid axis 'i' is cdiv(count, 64)",
    ]);
  });

  test.each([f8e4m3fnuz, f4e2m1fn])('the dtype $name', (dtype) => {
    const [first, ...rest] = mosaicGates(copy(undefined, dtype).trace().kernel);
    expect([first!.code, first!.message]).toEqual(['TW2037', `Unsupported dtype: ${dtype.name}`]);
    expect(rest).toEqual([]);
  });

  const program = (mesh: unknown) =>
    kernel('k', {}, () =>
      plgpu.warpgroupProgram({ mesh: mesh as plgpu.Mesh, inputs: {}, outputs: {} }, () => {}),
    ).trace();

  const devices = plgpu.deviceMesh({ x: 2 });
  const mesh = plgpu.mesh({ grid: { m: 4 }, cluster: { c: 2 }, threads: { wg: 3 } });

  test.each<[string, () => unknown, string]>([
    [
      'a mesh of another kind',
      () => program({ core: 2 }),
      'TW2033 at warpgroupProgram: Mesh an object is not supported by the Mosaic GPU backend',
    ],
    [
      'a mesh of devices',
      () => program(devices),
      'TW2035 at warpgroupProgram: External meshes are not supported by the Mosaic GPU backend',
    ],
    [
      'a collective over devices and blocks',
      () => plgpu.checkCollective(['x', 'c'], mesh, devices),
      'TW2036 at checkCollective: (x, c) mixes device mesh and kernel mesh axes',
    ],
    [
      'a collective over no axis',
      () => plgpu.checkCollective('q', mesh),
      'TW1016 at checkCollective: "q" is not an axis of the mesh',
    ],
    [
      'a transform of global memory',
      () => plgpu.gmem(f16, [64, 64], { transforms: [plgpu.swizzle(128)] }),
      'TW2038 at gmem: Only SMEM and TMEM refs are supported.',
    ],
    [
      'the same of a view',
      () => plgpu.transformRef(plgpu.gmem(f16, [64, 64]), plgpu.tiling([8, 64])),
      'TW2038 at transformRef: Only SMEM and TMEM refs are supported.',
    ],
    [
      'an unknown transform',
      () => plgpu.smem(f16, [64, 64], { transforms: [{ kind: 'shuffle' } as never] }),
      'TW2039 at smem: Unsupported transform: shuffle',
    ],
    [
      'nine warpgroups',
      () => plgpu.mesh({ threads: { wg: 9 } }),
      'TW1013 at mesh: there are at most 8 warpgroups of a block (1024 threads), got 9',
    ],
    [
      'two axes of a name',
      () => plgpu.mesh({ grid: { m: 2 }, threads: { m: 2 } }),
      "TW1016 at mesh: the mesh has two axes 'm'",
    ],
    [
      'a cluster, as long as there is none',
      () => program(mesh),
      'TW2041 at warpgroupProgram: plgpu.warpgroupProgram does not have clusters of blocks yet',
    ],
  ])('%s', async (_, work, expected) => expect(await findingOf(work)).toBe(expected));

  test('axes of one kind are a collective', () => {
    expect(plgpu.checkCollective(['c', 'wg'], mesh, devices)).toEqual(['c', 'wg']);
    expect(plgpu.checkCollective('x', mesh, devices)).toEqual(['x']);
    expect(plgpu.transformRef(plgpu.smem(f16, [64, 64]), plgpu.swizzle(128)).transforms).toEqual([
      { kind: 'swizzle', bytes: 128 },
    ]);
  });
});
