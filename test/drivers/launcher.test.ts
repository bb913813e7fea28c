import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { array, blockProgram, cdiv, dim, f16, f32, grid, i32 as int32, kernel, scalar, sequence, u8 } from 'tilewright';
import { nd } from 'tilewright/testing';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { histogram } from '../../examples/histogram.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import { buildLauncher, compileLauncher, launcherFiles } from '../../src/api/launcher.js';
import type { NdArray } from '../../src/api/nd-array.js';
import { writeNpy } from '../../src/api/npy.js';
import type { AnyKernel } from '../../src/api/source.js';
import { argumentsOf, FakeDrivers, namesOf } from '../support/fake-drivers.js';
import { errorOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

let fakes: FakeDrivers;
beforeAll(() => {
  fakes = new FakeDrivers();
});
afterAll(() => fakes.close());

const targets = ['sm_80', 'sm_90a', 'gfx942', 'cpu'];
const quick = { toolFlags: { cc: ['-O0'] } };

/** Builds the program of a kernel and gives its path. */
async function programOf(
  name: string,
  kernel: AnyKernel,
  names: readonly string[] = targets,
  options = {},
): Promise<string> {
  const launcher = await buildLauncher(kernel, names, options);
  const { bytes } = await compileLauncher(launcher, 'exe', quick);
  const path = join(fakes.folder, `${name}.exe`);
  writeFileSync(path, bytes, { mode: 0o755 });
  return path;
}

let callerPath: Promise<string> | undefined;

/** The program of caller.c. */
function caller(): Promise<string> {
  const build = async (): Promise<string> => {
    const launcher = await buildLauncher(vectorAdd, targets);
    for (const [file, text] of launcherFiles(launcher)) writeFileSync(join(fakes.folder, file), text);
    const files = [join(fakes.folder, 'vector_add.c'), fakes.source('caller.c')];
    return fakes.program('caller', files, ['-Wall', '-Wextra', '-Werror']);
  };
  callerPath ??= build();
  return callerPath;
}

const i32 = (value: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes.toString('hex');
};
const f32Bits = (value: number): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes.toString('hex');
};
const null64 = '0'.repeat(16);

interface Example {
  readonly kernel: AnyKernel;
  readonly inputs: Readonly<Record<string, NdArray | number>>;
  /** Arrays in the order of the C function. */
  readonly arrays: readonly string[];
  readonly grid: Readonly<Record<string, readonly number[]>>;
  /** Behind the pointers and before the two scratch pointers. */
  readonly values: readonly string[];
  /** Bytes of the output that are zeroed first. */
  readonly zeroed?: number;
}

const random = (shape: readonly number[], dtype: typeof f32 | typeof f16 = f32) => nd.random(dtype, shape, { seed: 1 });
const everywhere = (...sizes: number[]) => ({ sm_80: sizes, sm_90: sizes, gfx942: sizes });
const examples: Readonly<Record<string, Example>> = {
  vector_add: {
    kernel: vectorAdd,
    inputs: { x: random([3000]), y: random([3000]) },
    arrays: ['x', 'y', 'z'],
    grid: everywhere(3, 1, 1),
    values: [i32(3000)],
  },
  softmax: {
    kernel: softmax,
    inputs: { x: random([5, 300]) },
    arrays: ['x', 'y'],
    grid: everywhere(5, 1, 1),
    values: [i32(300)],
  },
  layer_norm: {
    kernel: layerNorm,
    inputs: { x: random([5, 300]), w: random([300]), b: random([300]), eps: 1e-5 },
    arrays: ['x', 'w', 'b', 'y'],
    grid: everywhere(5, 1, 1),
    values: [f32Bits(1e-5), i32(300)],
  },
  histogram: {
    kernel: histogram,
    inputs: { x: random([3000]) },
    arrays: ['x', 'counts'],
    grid: everywhere(3, 1, 1),
    values: [i32(3000)],
    zeroed: 256,
  },
  matmul: {
    kernel: matmul.with({ dtype: f16 }),
    inputs: { a: random([200, 64], f16), b: random([64, 264], f16) },
    arrays: ['a', 'b', 'c'],
    grid: everywhere(6, 1, 1),
    values: [i32(200), i32(64), i32(264)],
  },
  flash_attention: {
    kernel: flashAttention.with({ dtype: f16 }),
    inputs: { q: random([2, 70, 40], f16), k: random([2, 70, 40], f16), v: random([2, 70, 40], f16), scale: 0.25 },
    arrays: ['q', 'k', 'v', 'o'],
    grid: everywhere(4, 1, 1),
    values: [f32Bits(0.25), i32(70), i32(40)],
  },
};

async function inputFlags(name: string, inputs: Example['inputs']): Promise<string[]> {
  mkdirSync(join(fakes.folder, name), { recursive: true });
  const flags: string[] = [];
  for (const [input, value] of Object.entries(inputs)) {
    const file = join(name, `${input}.npy`);
    if (typeof value !== 'number') await writeNpy(join(fakes.folder, file), value);
    flags.push('--input', `${input}=${typeof value === 'number' ? value : `@${file}`}`);
  }
  return flags;
}

describeTool('triton', 'launchers on recording drivers', () => {
  const devices = [
    { device: 'cuda', name: 'sm_80', env: { FAKE_SM: '86' } },
    { device: 'cuda', name: 'sm_90', env: { FAKE_SM: '90' } },
    { device: 'hip', name: 'gfx942', env: {} },
  ] as const;

  test.each(Object.entries(examples))('%s: grid, parameters and memory of every target', async (name, example) => {
    const program = await programOf(name, example.kernel);
    const flags = await inputFlags(name, example.inputs);
    const { compiled } = await buildLauncher(example.kernel, targets);
    for (const { device, name: target, env } of devices) {
      const { code, stderr, calls, launches } = fakes.run(program, [...flags, '--device', device], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const plan = compiled.find((c) => c.target.startsWith(target))!.plan.launches[0]!.device!;
      expect(launches).toHaveLength(1);
      const [launch] = launches;
      expect(launch).toMatchObject({
        call: device === 'cuda' ? 'cuLaunchKernel' : 'hipModuleLaunchKernel',
        name,
        grid: example.grid[target],
        block: plan.block,
        cluster: 1,
        shared: plan.sharedBytes,
        stream: 0,
      });
      // The image says how many parameters there are, where and how long.
      expect(launch!.args.map((a) => [a.offset, a.hex.length / 2])).toEqual(
        plan.params.map((p) => [p.offset, p.bytes]),
      );
      expect(argumentsOf(launch!, calls, example.arrays)).toEqual([
        ...example.arrays,
        ...example.values,
        null64,
        null64,
      ]);
      const zeroed = calls.filter((c) => /Mem[sS]et/.test(c.call));
      expect(zeroed.map((c) => [c.bytes, c.value])).toEqual(example.zeroed === undefined ? [] : [[example.zeroed, 0]]);
      expect(calls.filter((c) => /LoadData/.test(c.call))).toHaveLength(1);
      const attributes = calls.filter((c) => c.call === 'cuKernelSetAttribute').map((c) => [c.attribute, c.value]);
      expect(attributes).toEqual(device === 'cuda' && plan.sharedBytes > 48 * 1024 ? [[8, plan.sharedBytes]] : []);
    }
  });

  test('a program that calls the C function: threads, streams, unloading, arguments that are refused', async () => {
    const program = await caller();

    for (const env of [{ TILEWRIGHT_DEVICE: 'cuda' }, { TILEWRIGHT_DEVICE: 'hip' }]) {
      const { code, calls, launches } = fakes.run(program, ['threads'], env);
      expect(code).toBe(0);
      expect(calls.filter((c) => /LoadData/.test(c.call))).toHaveLength(1);
      // Programs of no element are no launch: thread 0 has one of them.
      expect(launches).toHaveLength(8 * 50 - 1);
      const seen = launches.map((l) => {
        const n = Buffer.from(l.args[3]!.hex, 'hex').readInt32LE();
        expect(l.stream).toBe(Math.floor(n / 1000) + 1);
        expect(l.grid).toEqual([Math.ceil(n / 1024), 1, 1]);
        return n;
      });
      expect(new Set(seen).size).toBe(8 * 50 - 1);
    }

    const twice = fakes.run(program, ['twice'], { TILEWRIGHT_DEVICE: 'cuda' });
    expect(twice.stdout).toBe('load: 0 \nfirst: 0 \nsecond: 0 \nunload: 0 \nthird: 0 \ndevice 2\n');
    const names = namesOf(twice.calls);
    // A launch is one call of the driver, whichever came before.
    const at = names.indexOf('cuLaunchKernel');
    expect(names.slice(at)).toEqual([
      'cuLaunchKernel',
      'cuLaunchKernel',
      'cuLibraryUnload',
      'cuCtxGetCurrent',
      'cuLibraryLoadData',
      'cuLibraryGetKernel',
      'cuLaunchKernel',
    ]);
    const hip = fakes.run(program, ['twice'], { TILEWRIGHT_DEVICE: 'hip' });
    expect(namesOf(hip.calls)).toEqual([
      'hipInit',
      'hipModuleLoadData',
      'hipModuleGetFunction',
      'hipModuleLaunchKernel',
      'hipModuleLaunchKernel',
      'hipModuleUnload',
      'hipModuleLoadData',
      'hipModuleGetFunction',
      'hipModuleLaunchKernel',
    ]);

    const refused = fakes.run(program, ['arguments'], { TILEWRIGHT_DEVICE: 'cuda' });
    expect(refused.stdout.replace(/0x[0-9a-f]+/, 'ADDRESS')).toBe(
      [
        'null: 8 vector_add: x is a null pointer',
        'misaligned: 8 vector_add: x is at ADDRESS; its address must be a multiple of 16',
        'negative: 8 vector_add: n is -1; it must be at least 0',
        'large: 8 vector_add: n is 4294967296; it must be at most 2147483647',
        'empty: 0 ',
        'select: 8 vector_add: device 9 is none',
        'select hip: 0 ',
        'launch: 0 ',
        '',
      ].join('\n'),
    );
    expect(refused.launches.map((l) => l.call)).toEqual(['hipModuleLaunchKernel']);
    expect(fakes.run(program, ['cpu']).stdout).toBe('select: 0 \nlaunch: 0 \n3 11997 0\n');
    expect(fakes.run(program, ['cpu']).calls).toEqual([]);
  });

  test('devices of several kinds, the choice of an image, and every failure of a driver', async () => {
    const program = await caller();
    const says = (env: Readonly<Record<string, string>>): string => {
      const { stdout, code, signal, launches } = fakes.run(program, [], env);
      expect({ code, signal }).toEqual({ code: 0, signal: null });
      // Whatever is wrong is found before a launch, unless the launch is what fails.
      if (!/^launch: [07] /.test(stdout)) expect(launches).toEqual([]);
      return stdout.trim();
    };
    const cuda = { TILEWRIGHT_DEVICE: 'cuda' };
    const hip = { TILEWRIGHT_DEVICE: 'hip' };
    expect(says(cuda)).toBe('launch: 0');
    expect(says({ ...cuda, FAKE_SM: '75' })).toBe('launch: 4 vector_add: no image for sm_75; built for: sm_80 sm_90a');
    expect(says({ ...cuda, FAKE_SM: '100' })).toBe(
      'launch: 4 vector_add: no image for sm_100; built for: sm_80 sm_90a',
    );
    // A GPU without an image is told, although the CPU has one.
    expect(says({ FAKE_SM: '75' })).toBe('launch: 4 vector_add: no image for sm_75; built for: sm_80 sm_90a');
    expect(says({ FAKE_FAIL: 'cuInit:100,hipInit:100' })).toBe('launch: 0');
    expect(says({ ...cuda, FAKE_SM: '86,75' })).toBe('launch: 0');
    expect(says({ ...cuda, FAKE_SM: '75,86' })).toBe(
      'launch: 4 vector_add: no image for CUDA device 0; built for: sm_80 sm_90a',
    );
    expect(says({ ...cuda, FAKE_SM: '' })).toMatch(/^launch: 3 there is no CUDA device/);
    expect(says({ ...hip, FAKE_GFX: 'gfx1100' })).toBe('launch: 4 vector_add: no image for gfx1100; built for: gfx942');
    expect(says({ ...hip, FAKE_GFX: '' })).toMatch(/^launch: 3 there is no HIP device/);
    expect(says({ ...hip, FAKE_HIP_5: '1' })).toBe('launch: 0');
    expect(says({ ...hip, FAKE_HIP_5: '1', FAKE_GFX: 'gfx1100' })).toBe(
      'launch: 4 vector_add: no image for this device; built for: gfx942',
    );
    expect(says({ TILEWRIGHT_DEVICE: 'tpu' })).toBe("launch: 8 TILEWRIGHT_DEVICE is 'tpu'; it is cpu, cuda or hip");
    expect(says({ ...cuda, TILEWRIGHT_CUDA_LIB: '/nonexistent/libcuda.so.1' })).toMatch(
      /^launch: 1 CUDA driver not found: .*install the NVIDIA driver/,
    );
    expect(says({ ...hip, TILEWRIGHT_HIP_LIB: '/nonexistent/libamdhip64.so' })).toMatch(
      /^launch: 1 HIP runtime not found: .*install ROCm/,
    );
    expect(says({ ...cuda, TILEWRIGHT_CUDA_LIB: fakes.hip })).toMatch(
      /^launch: 2 .*fake-hip\.so lacks cuGetErrorName; a driver of CUDA 12/,
    );
    expect(says({ ...hip, TILEWRIGHT_HIP_LIB: fakes.cuda })).toMatch(
      /^launch: 2 .*fake-cuda\.so lacks hipGetErrorName/,
    );
    const failures: readonly (readonly [string, string, number])[] = [
      ['cuda', 'cuInit', 2],
      ['cuda', 'cuDeviceGetCount', 3],
      ['cuda', 'cuDeviceGet', 3],
      ['cuda', 'cuDeviceGetAttribute', 3],
      ['cuda', 'cuCtxGetCurrent', 3],
      ['cuda', 'cuCtxSetCurrent', 3],
      ['cuda', 'cuDevicePrimaryCtxRetain', 3],
      ['cuda', 'cuLibraryLoadData', 5],
      ['cuda', 'cuLibraryGetKernel', 6],
      ['cuda', 'cuKernelGetFunction', 5],
      ['cuda', 'cuLaunchKernel', 7],
      ['hip', 'hipInit', 2],
      ['hip', 'hipGetDeviceCount', 3],
      ['hip', 'hipModuleLoadData', 5],
      ['hip', 'hipModuleGetFunction', 6],
      ['hip', 'hipModuleLaunchKernel', 7],
    ];
    for (const [device, call, status] of failures)
      expect([call, says({ TILEWRIGHT_DEVICE: device, FAKE_FAIL: `${call}:719` })]).toEqual([
        call,
        expect.stringMatching(new RegExp(`^launch: ${status} .*error 719, FAKE_ERROR_719$`)),
      ]);
    expect(says({ ...cuda, FAKE_FAIL: 'cuInit:100' })).toBe('launch: 3 cuInit: error 100, FAKE_ERROR_100');
  });

  test('a damaged image is refused before any driver sees it', async () => {
    const launcher = await buildLauncher(vectorAdd, ['sm_80', 'gfx942', 'cpu']);
    const damaged = launcher.source.replace(/(aligned\(64\)\)\) = \{[^}]*?, )0, /g, (_, before) => `${before}1, `);
    expect(damaged).not.toBe(launcher.source);
    await caller();
    writeFileSync(join(fakes.folder, 'damaged.c'), damaged);
    const program = fakes.program('damaged', [join(fakes.folder, 'damaged.c'), fakes.source('caller.c')]);
    for (const device of ['cuda', 'hip', 'cpu']) {
      const { stdout, calls } = fakes.run(program, [], { TILEWRIGHT_DEVICE: device, FAKE_SM: '80' });
      expect(stdout).toMatch(/^launch: 5 vector_add: the image of vector_add is damaged/);
      expect(calls.filter((c) => /LoadData/.test(c.call))).toEqual([]);
    }
  });

  test('names that C does not take, many arguments, narrow scalars', async () => {
    const names = ['int', 'größe "\\n %s*/', 'linux', 'stream', ...Array.from({ length: 66 }, (_, i) => `p${i}`)];
    const odd = kernel('while', {}, () => {
      const n = dim('for');
      const g = grid({ i: cdiv(n, 64) });
      const v = array(f32, [n]).block([64], [g.i]);
      const inputs = Object.fromEntries(names.map((name) => [name, v]));
      return blockProgram(
        { grid: g, inputs: { ...inputs, half: scalar(f16), byte: scalar(u8) }, outputs: { out: v } },
        ({ out, half, byte, ...arrays }) => {
          const first = (arrays as Record<string, typeof out>).int!;
          out.store(first.load().add(half.to(f32)).add(byte.to(f32)));
        },
      );
    });
    const program = await programOf('odd', odd, ['sm_80', 'gfx942', 'cpu']);
    const inputs = Object.fromEntries(names.map((name) => [name, random([64])]));
    const files: Record<string, NdArray | number> = {};
    const flags: string[] = [];
    for (const [i, name] of names.entries()) {
      files[`f${i}`] = inputs[name]!;
      flags.push('--input', `${name}=@odd/f${i}.npy`);
    }
    await inputFlags('odd', files);
    flags.push('--input', 'half=1.5', '--input', 'byte=200');
    for (const device of ['cuda', 'hip']) {
      const { code, stderr, launches } = fakes.run(program, [...flags, '--device', device], { FAKE_SM: '80' });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const values = launches[0]!.args.map((a) => a.hex);
      expect(values).toContain('003e');
      expect(values).toContain('c8');
    }
    await writeNpy(
      join(fakes.folder, 'expected.npy'),
      nd.from(
        f32,
        [64],
        nd.toNumbers(inputs.int!).map((x) => x + 201.5),
      ),
    );
    const cpu = fakes.run(program, [...flags, '--device', 'cpu', '--expect', 'out=@expected.npy']);
    expect({ code: cpu.code, stderr: cpu.stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('several launches, temporaries, an output that shares an input, zeroed memory', async () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 64) });
    const v = array(f32, [n]).block([64], [g.i]);
    const two = kernel('two', {}, () =>
      sequence({ temps: { t: v } }, [
        blockProgram({ grid: g, inputs: { x: v, a: scalar(int32) }, outputs: { t: v } }, ({ x, a, t }) => {
          t.store(x.load().add(a.to(f32)));
        }),
        blockProgram(
          { grid: g, inputs: { y: v, t: v }, outputs: { z: v, w: v }, aliases: { z: 'y' }, zeroed: ['w'] },
          ({ t, z, w }) => {
            z.store(z.load().add(t.load()));
            w.store(w.load().add(t.load()));
          },
        ),
      ]),
    );
    const program = await programOf('two', two, ['sm_80', 'gfx942', 'cpu']);
    const [x, y] = [random([200]), nd.random(f32, [200], { seed: 2 })];
    const flags = [...(await inputFlags('two', { x, y, a: 3 })), '--device'];
    for (const [device, env] of [
      ['cuda', { FAKE_SM: '80' }],
      ['hip', {}],
    ] as const) {
      const { code, stderr, calls, launches } = fakes.run(program, [...flags, device], env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(launches.map((l) => l.grid)).toEqual([
        [4, 1, 1],
        [4, 1, 1],
      ]);
      expect(new Set(launches.map((l) => l.name)).size).toBe(2);
      const order = calls.map((c) => c.call).filter((c) => /Async|Launch/.test(c));
      expect(order.map((c) => c.replace(/^cu|^hip|D8|Mem|Module/g, '').toLowerCase())).toEqual([
        expect.stringMatching(/^m?allocasync$/),
        'setasync',
        'launchkernel',
        'launchkernel',
        'freeasync',
      ]);
      const [temporary] = calls.filter((c) => /AllocAsync|MallocAsync/.test(c.call));
      expect(temporary!.bytes).toBe(800);
      const address = Buffer.from(
        BigInt(`0x${temporary!.address as string}`)
          .toString(16)
          .padStart(16, '0'),
        'hex',
      ).reverse();
      for (const l of launches) expect(l.args.map((a) => a.hex)).toContain(address.toString('hex'));
      // Without memory nothing is launched.
      const call = device === 'cuda' ? 'cuMemAllocAsync' : 'hipMallocAsync';
      const full = fakes.run(program, [...flags, device], { ...env, FAKE_FAIL: `${call}:2` });
      expect([full.code, full.launches, full.stderr]).toEqual([
        3,
        [],
        expect.stringMatching(/error 9: two: .* of 800 bytes: error 2/),
      ]);
    }
    const sum = nd.from(
      f32,
      [200],
      nd.toNumbers(x).map((value, i) => Math.fround(Math.fround(value + 3) + nd.toNumbers(y)[i]!)),
    );
    await writeNpy(join(fakes.folder, 'two', 'z.expected.npy'), sum);
    const cpu = fakes.run(program, [...flags, 'cpu', '--expect', 'z=@two/z.expected.npy']);
    expect([cpu.code, cpu.stderr]).toEqual([0, '']);
  });

  test('clusters are launched as such', async () => {
    const program = await programOf('clusters', matmul.with({ dtype: f16 }), ['sm_90a'], {
      backendOptions: { num_ctas: 2 },
    });
    const flags = await inputFlags('clusters', { a: random([200, 64], f16), b: random([64, 264], f16) });
    const { code, stderr, launches } = fakes.run(program, flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(launches).toMatchObject([{ call: 'cuLaunchKernelEx', cluster: 2, grid: [12, 1, 1] }]);
  });

  test('targets that take different arguments make no launcher', async () => {
    const { perTarget } = await import('tilewright');
    const different = kernel('different', perTarget({ cuda: { rank: 2 } }, { rank: 1 }), ({ rank }) => {
      const n = dim('n');
      const g = grid({ i: n });
      const v = array(f32, rank === 1 ? [n] : [n, 1]).block(rank === 1 ? [1] : [1, 1], rank === 1 ? [g.i] : [g.i, 0]);
      return blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v } }, ({ x, y }) => y.store(x.load()));
    });

    expect(await errorOf(() => buildLauncher(different, ['cpu', 'sm_80']))).toMatch(/^TW2060 /);
  });
});

describeTool('mosaic', 'launchers of Mosaic GPU on recording drivers', () => {
  test('tensor maps go by value, in one parameter, over the real extents', async () => {
    const launcher = matmul.with({ dtype: f16 });
    const program = await programOf('mosaic', launcher, ['sm_90a'], { backend: 'mosaic_gpu' });
    const flags = await inputFlags('mosaic', { a: random([200, 64], f16), b: random([64, 264], f16) });
    const { code, stderr, calls, launches } = fakes.run(program, flags);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [a, b, c] = calls.filter((x) => x.call === 'cuMemAlloc').map((x) => x.address);
    expect(calls.filter((x) => x.call === 'cuTensorMapEncodeTiled').map(({ call: _, ...map }) => map)).toEqual([
      { type: 6, address: a, sizes: [64, 200], strides: [128], box: [64, 128], swizzle: 3, interleave: 0, fill: 0 },
      { type: 6, address: b, sizes: [264, 64], strides: [528], box: [64, 64], swizzle: 3, interleave: 0, fill: 0 },
      { type: 6, address: c, sizes: [264, 200], strides: [528], box: [64, 128], swizzle: 0, interleave: 0, fill: 0 },
    ]);
    expect(launches[0]).toMatchObject({ grid: [6, 1, 1] });
    const block = launches[0]!.args[0]!.hex;
    expect(block).toHaveLength(3 * 128 * 2);
    const addresses = [0, 128, 256].map((at) => Buffer.from(block, 'hex').readBigUInt64LE(at).toString(16));
    expect(addresses).toEqual([a, b, c]);
    const odd = await inputFlags('mosaic', { a: random([200, 64], f16), b: random([64, 263], f16) });
    const refused = fakes.run(program, odd);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/error 8: matmul: n is 263; it must be a multiple of 8/);
    expect(refused.launches).toEqual([]);
  });
});
