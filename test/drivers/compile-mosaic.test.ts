import { expect, test } from '@jest/globals';
import { bf16, type Compiled, compile, f16, f32 } from 'tilewright';
import { expectClose, nd, toleranceOf } from 'tilewright/testing';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import type { AnyKernel } from '../../src/api/source.js';
import * as reference from '../support/references.js';
import { simulateMosaic } from '../support/simulate-mosaic.js';
import { describeTool } from '../support/tools.js';

const build = (kernel: AnyKernel, target = 'sm_90a'): Promise<Compiled> =>
  compile(kernel, { target, backend: 'mosaic_gpu', emit: ['mgpu.mlir', 'ptx', 'cubin', 'plan.json'], cache: false });
const text = (compiled: Compiled, stage: string): string =>
  Buffer.from(compiled.artifacts.get(stage)!).toString('utf8');

describeTool('mosaic', 'examples by Mosaic GPU, in the simulator', () => {
  test('matmul: TMA and wgmma, a plan with the real extents, values at ragged sizes', async () => {
    const kernel = matmul.with({ dtype: f16 });
    const compiled = await build(kernel);
    expect(text(compiled, 'ptx')).toMatch(/wgmma\.mma_async\.sync\.aligned\.m64n64k16\.f32\.f16\.f16/);
    expect(text(compiled, 'ptx')).toMatch(/cp\.async\.bulk\.tensor\.2d\.shared::cluster\.global/);
    const [launch] = compiled.plan.launches;
    expect(launch!.device!.grid).toEqual(['(cdiv(m, 128) * cdiv(n, 128))', '1', '1']);
    expect(
      launch!.device!.params.map((p) => (p.kind === 'tensorMap' ? [p.array, p.shape, p.strides, p.box] : p.kind)),
    ).toEqual([
      ['a', ['m', 'k'], ['k', '1'], [128, 64]],
      ['b', ['k', 'n'], ['n', '1'], [64, 64]],
      ['c', ['m', 'n'], ['n', '1'], [128, 64]],
      'extent',
      'extent',
    ]);
    expect(compiled.launches![0]!.resources).toMatchObject({ threads: 128, spills: 0 });
    for (const [m, n, k] of [
      [131, 136, 328],
      [1, 8, 8],
    ] as const) {
      const a = nd.random(f16, [m, k], { seed: 1, scale: 1 });
      const b = nd.random(f16, [k, n], { seed: 2, scale: 1 });
      const { outputs, reports } = simulateMosaic(kernel, compiled, { a, b });
      expect(reports.flatMap((r) => r.findings)).toEqual([]);
      expectClose(outputs.c!, reference.matmul(nd.toNumbers(a), nd.toNumbers(b), m, n, k).values);
    }
  }, 120_000);

  test.each([f32, f16, bf16])(
    'vector-add, $name',
    async (dtype) => {
      const kernel = vectorAdd.with({ dtype });
      const compiled = await build(kernel);
      for (const n of [4096, 1003, 1]) {
        const [x, y] = [nd.random(dtype, [n], { seed: 1 }), nd.random(dtype, [n], { seed: 2 })];
        const { outputs, reports } = simulateMosaic(kernel, compiled, { x, y });
        expect(reports.flatMap((r) => r.findings)).toEqual([]);
        expectClose(outputs.z!, reference.vectorAdd(nd.toNumbers(x), nd.toNumbers(y)).values);
      }
    },
    60_000,
  );

  test('softmax', async () => {
    const compiled = await build(softmax);
    const x = nd.random(f32, [5, 781], { seed: 3, scale: 3 });
    const { outputs, reports } = simulateMosaic(softmax, compiled, { x });
    expect(reports.flatMap((r) => r.findings)).toEqual([]);
    expectClose(outputs.y!, reference.softmax(nd.toNumbers(x), 5, 781).values);
  }, 60_000);

  test('layer-norm', async () => {
    const compiled = await build(layerNorm);
    const [m, n] = [5, 509];
    const [x, w, b] = [[m, n], [n], [n]].map((shape, i) => nd.random(f32, shape, { seed: i, scale: 2 }));
    const { outputs, reports } = simulateMosaic(layerNorm, compiled, { x: x!, w: w!, b: b!, eps: 1e-5 });
    expect(reports.flatMap((r) => r.findings)).toEqual([]);
    const numbers = [x!, w!, b!].map((v) => nd.toNumbers(v)) as [Float64Array, Float64Array, Float64Array];
    expectClose(outputs.y!, reference.layerNorm(...numbers, 1e-5, m, n).values);
  }, 60_000);

  test.each([
    ['all keys', false, 2, 100, 64],
    ['causal', true, 1, 131, 40],
  ] as const)(
    'flash-attention: products in registers and shared memory, keys a step ahead; %s',
    async (_, causal, h, s, d) => {
      const kernel = flashAttention.with({ dtype: f16, causal });
      const compiled = await build(kernel);
      expect(text(compiled, 'ptx')).toMatch(/wgmma\.mma_async/);
      expect(text(compiled, 'ptx')).toMatch(/cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global/);
      expect(compiled.launches![0]!.resources).toMatchObject({ spills: 0 });
      const [q, k, v] = [1, 2, 3].map((seed) => nd.random(f16, [h, s, d], { seed, scale: 1 }));
      const scale = 1 / Math.sqrt(d);
      const { outputs, reports } = simulateMosaic(kernel, compiled, { q: q!, k: k!, v: v!, scale });
      expect(reports.flatMap((r) => r.findings)).toEqual([]);
      const [a, b, c] = [q!, k!, v!].map((x) => nd.toNumbers(x)) as [Float64Array, Float64Array, Float64Array];
      // The weights are rounded to f16 before the second product.
      const tolerance = toleranceOf(f16, 8);
      expectClose(outputs.o!, reference.attention(a, b, c, scale, { h, s, d, causal }).values, tolerance);
    },
    120_000,
  );

  test('Blackwell takes tiles of rank 1', async () => {
    const compiled = await build(softmax, 'sm_100a');
    expect(text(compiled, 'ptx')).toContain('.target sm_100a');
  }, 60_000);
});
