import { describe, expect, test } from '@jest/globals';
import { placedError } from '../../src/drivers/mlir-place.js';
import { cubinStage, ptxVersion } from '../../src/drivers/ptxas.js';
import { amdgcnResources, ptxasResources, sharedBuffers } from '../../src/drivers/triton/resources.js';
import { estimateSize, isHuge, warpsFor } from '../../src/drivers/triton/size-estimate.js';
import { argument, symbolic } from '../../src/ir/symbolic.js';
import { type CompiledLaunch, compiledSlots, planDeviceLaunch } from '../../src/lowering/device-plan.js';
import { findGpuTarget, type NvidiaTarget } from '../../src/lowering/gpu-target.js';
import { describeResources, excesses, occupancy } from '../../src/lowering/resource-bill.js';

const target = (name: string) => findGpuTarget(name)!;

describe('what compilers say about a kernel', () => {
  test('ptxas', () => {
    const printed = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'f' for 'sm_80'
ptxas info    : Function properties for f
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 400 bytes cmem[0]`;
    expect(ptxasResources(printed)).toEqual({ registers: 255, spills: 20, stackBytes: 16 });
    expect(ptxasResources('')).toEqual({});
  });

  test('AMD metadata', () => {
    const text = `amdhsa.kernels:
  - .agpr_count:     0
    .private_segment_fixed_size: 8
    .sgpr_count:     42
    .sgpr_spill_count: 3
    .vgpr_count:     124
    .vgpr_spill_count: 2
`;
    expect(amdgcnResources(text)).toEqual({ registers: 124, scalarRegisters: 42, spills: 2, stackBytes: 8 });
  });

  test('buffers in shared memory, with their places', () => {
    const ttgir = `#loc = loc("a.kernel.ts":1:1)
#loc7 = loc("a.kernel.ts":12:5)
#loc9 = loc(fused<"licm">[#loc7, #loc])
#shared = #ttg.swizzled_shared<{vec = 8}>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable> loc(#loc7)
    %2 = ttg.local_alloc %v : (tensor<64x64xf8E4M3FN, #b>) -> !ttg.memdesc<64x64xf8E4M3FN, #shared, #smem> loc(#loc9)
    %3 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable> loc(#loc)`;
    expect(sharedBuffers(ttgir)).toEqual([
      { shape: '3 x 128 x 64 x f16', bytes: 49152, place: { file: 'a.kernel.ts', line: 12, col: 5 } },
      { shape: '64 x 64 x f8E4M3FN', bytes: 4096, place: { file: 'a.kernel.ts', line: 12, col: 5 } },
    ]);
  });

  test('places of errors: verifiers name the file, parsers a line that carries it', () => {
    const input = Buffer.from(
      'module {\n  tt.bogus loc("k.ts":7:3)\n  tt.bogus loc(#loc4)\n}\n#loc4 = loc(fused<"p">["k.ts":9:2])\n',
    );
    expect(placedError('loc("k.ts":3:4): error: too large\nnote', input)).toMatchObject({
      loc: { file: 'k.ts', line: 3, col: 4 },
      cause: 'too large',
    });
    expect(placedError('x\nloc(callsite("k.ts":3:4 at "m.ts":8:1)): error: e', input)?.loc).toMatchObject({ line: 3 });
    expect(placedError('loc("kernel.ttir":2:3): error: e', input)?.loc).toMatchObject({ file: 'k.ts', line: 7 });
    expect(placedError('loc("kernel.ttir":3:3): error: e', input)?.loc).toMatchObject({ file: 'k.ts', line: 9 });
    expect(placedError('kernel.mlir:2:3: error: e', input)?.loc).toMatchObject({ file: 'k.ts', line: 7 });
    expect(placedError('loc(unknown): error: e', input)).toEqual({ loc: undefined, cause: 'e' });
    expect(placedError('Assertion failed', input)).toBeUndefined();
  });
});

describe('the assembler', () => {
  test('its PTX version', () => {
    expect(['12.4', '12.8', '12.9', '13.0', '13.4', '14.1'].map(ptxVersion)).toEqual([84, 87, 88, 90, 94, 101]);
  });
  test('its command line', () => {
    const options = { target: target('sm_90a') as NvidiaTarget, lineInfo: false, fpFusion: false, extra: ['-O1'] };
    expect(cubinStage('ptxas', options).args('k.ptx', 'k.cubin')).toEqual(
      '-v -lineinfo -suppress-debug-info --fmad=false --regAllocOptLevel=2 --gpu-name=sm_90a -O1 k.ptx -o k.cubin'.split(
        ' ',
      ),
    );
    expect(cubinStage('ptxas', { ...options, lineInfo: true, fpFusion: true, extra: [] }).args('i', 'o')).toEqual(
      '-v -lineinfo --regAllocOptLevel=2 --gpu-name=sm_90a i -o o'.split(' '),
    );
  });
});

describe('the bill', () => {
  test.each([
    ['sm_80', 163],
    ['sm_86', 99],
    ['sm_89', 99],
    ['sm_90a', 227],
    ['sm_100a', 227],
    ['sm_120a', 99],
    ['gfx90a', 64],
    ['gfx942', 64],
    ['gfx950', 160],
    ['gfx1100', 64],
    ['gfx1201', 64],
  ])('%s has %i KiB of shared memory for one program', (name, kib) => {
    const full = { threads: 128, sharedBytes: kib * 1024, registers: 64 };
    expect(excesses(full, target(name))).toEqual([]);
    expect(excesses({ ...full, sharedBytes: kib * 1024 + 1 }, target(name))).toEqual([
      { resource: 'sharedBytes', used: kib * 1024 + 1, limit: kib * 1024 },
    ]);
  });

  test('registers of all threads, tensor memory', () => {
    expect(excesses({ threads: 1024, registers: 96 }, target('sm_90a'))).toEqual([
      { resource: 'registers', used: 96, limit: 64 },
    ]);
    expect(excesses({ threads: 128, tensorColumns: 640 }, target('sm_100a'))).toEqual([
      { resource: 'tensorColumns', used: 640, limit: 512 },
    ]);
  });

  test('programs at once, and what limits them', () => {
    const h100 = target('sm_90a');
    expect(occupancy({ threads: 256, registers: 104, sharedBytes: 98304 }, h100)).toEqual({
      programs: 2,
      limitedBy: 'registers',
    });
    expect(occupancy({ threads: 128, registers: 40, sharedBytes: 98304 }, h100)).toEqual({
      programs: 2,
      limitedBy: 'shared memory',
    });
    expect(occupancy({ threads: 128, registers: 22, sharedBytes: 0 }, h100)).toEqual({
      programs: 16,
      limitedBy: 'threads',
    });
    expect(occupancy({ threads: 256, registers: 124, sharedBytes: 0 }, target('gfx942'))).toEqual({
      programs: 4,
      limitedBy: 'registers',
    });
  });

  test('in one line', () => {
    expect(describeResources({ threads: 256, registers: 104, spills: 0, sharedBytes: 98304 }, target('sm_90a'))).toBe(
      '104 registers, no spills, 96 KiB shared memory, 256 threads, 2 programs per SM (registers)',
    );
    expect(describeResources({ threads: 64, registers: 256, spills: 4 }, target('gfx1100'))).toBe(
      '256 registers, 4 registers spilled, 64 threads, 11 programs per WGP (registers)',
    );
  });

  test('the size of code is guessed from the text', () => {
    const text = `
      %0 = arith.constant dense<0.0> : tensor<128x128xf32>
      %1 = tt.splat %p : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
      %2 = tt.load %1 : tensor<128x128x!tt.ptr<f32>>
      %3 = arith.addf %2, %2 : tensor<128x128xf32>
      %4 = arith.addi %i, %i : i32`;
    expect(estimateSize(text, 128, target('sm_90a'))).toEqual({ perThread: 128, instructions: 256, products: 0 });
    const dot = '%5 = tt.dot %a, %b, %c : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>';
    const [slow, fast] = [64 * 64 * (32 / 128) + 32, 32];
    const sizes = ['sm_90a', 'gfx1100', 'gfx942'].map((t) => estimateSize(dot, 128, target(t)).instructions);
    expect(sizes).toEqual([slow, slow, fast]);
    expect([
      warpsFor(text, target('sm_90a')),
      warpsFor(text, target('gfx942')),
      warpsFor(dot, target('sm_90a')),
    ]).toEqual([8, 4, 8]);
    expect(estimateSize(dot.replace(' :', ', inputPrecision = tf32 :'), 128, target('sm_90a')).instructions).toBe(fast);
    expect(estimateSize(dot.replaceAll('f32>', 'f16>'), 128, target('sm_90a')).instructions).toBe(fast);
    expect([isHuge({ perThread: 128, instructions: 256 }), isHuge({ perThread: 2048, instructions: 6144 })]).toEqual([
      false,
      true,
    ]);
  });
});

describe('the plan of a launch', () => {
  const n = argument('n');
  const launch = {
    name: 'k',
    symbol: 'k',
    text: '',
    params: [
      { kind: 'pointer', array: 'x', alignment: 16 },
      { kind: 'scalar', name: 'on', dtype: 'bool' },
      { kind: 'scalar', name: 'half', dtype: 'f16' },
      { kind: 'extent', value: n, type: 'i32', divisibleBy: 16 },
      { kind: 'tensorMap', array: 'y', block: [64, 128], shape: [n, 256], strides: [256, 1] },
    ],
    grid: [symbolic('cdiv', n, 64), 1, 1],
    options: {},
  } as const;
  const compiled: CompiledLaunch = {
    image: { stage: 'cubin', architecture: 'sm_90a', bytes: 1, sha256: '' },
    threads: 128,
    sharedBytes: 1024,
    clusterPrograms: 2,
    globalScratch: { bytesPerProgram: 384, alignment: 128 },
    profileScratch: { bytesPerProgram: 0, alignment: 1 },
    descriptors: [{ box: [64, 64], swizzle: 3, elementType: 6, elementBytes: 2, fp4Padded: false }],
  };

  test('parameters in their order, with places, promises and what the compiler added', () => {
    expect(planDeviceLaunch(launch, compiled)).toEqual({
      image: compiled.image,
      grid: ['(cdiv(n, 64) * 2)', '1', '1'],
      block: [128, 1, 1],
      cluster: [2, 1, 1],
      sharedBytes: 1024,
      params: [
        { kind: 'pointer', array: 'x', alignment: 16, offset: 0, bytes: 8 },
        { kind: 'scalar', name: 'on', dtype: 'bool', offset: 8, bytes: 1 },
        { kind: 'scalar', name: 'half', dtype: 'f16', offset: 10, bytes: 2 },
        { kind: 'extent', value: 'n', type: 'i32', divisibleBy: 16, offset: 12, bytes: 4 },
        {
          kind: 'tensorMap',
          array: 'y',
          offset: 64,
          bytes: 128,
          shape: ['n', '256'],
          strides: ['256', '1'],
          box: [64, 64],
          swizzle: 3,
          elementType: 6,
          elementBytes: 2,
          fp4Padded: false,
        },
        { kind: 'scratch', use: 'global', offset: 192, bytes: 8, bytesPerProgram: 384, alignment: 128 },
        { kind: 'scratch', use: 'profile', offset: 200, bytes: 8, bytesPerProgram: 0, alignment: 1 },
      ],
    });
  });

  test('what the compiled function says', () => {
    const ptx = `.visible .entry k(
	.param .u64 .ptr .global .align 1 k_param_0,
	.param .u8 k_param_1,
	.param .b16 k_param_2,
	.param .u32 k_param_3,
	.param .align 64 .b8 k_param_4[128],
	.param .u64 .ptr .global .align 1 k_param_5,
	.param .u64 .ptr .global .align 1 k_param_6
)`;
    const slots = planDeviceLaunch(launch, compiled).params.map(({ offset, bytes }) => ({ offset, bytes }));
    expect(compiledSlots(ptx, target('sm_90a'))).toEqual(slots);
    const amdgcn = `    .args:
      - .address_space:  global
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
      - .offset:         16
        .size:           4
        .value_kind:     hidden_block_count_x
`;
    expect(compiledSlots(amdgcn, target('gfx942'))).toEqual([
      { offset: 0, bytes: 8 },
      { offset: 8, bytes: 4 },
    ]);
  });
});
