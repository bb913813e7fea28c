/** Explicit programs by Mosaic GPU: compiled for Hopper, and run in the simulator in every schedule. */

import { expect, test } from '@jest/globals';
import { array, type Compiled, compile, ds, f16, f32, kernel, run } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { expectClose, nd } from 'tilewright/testing';
import { tmaCopy } from '../../examples/mosaic/tma-copy.kernel.js';
import { warpSpecialisedMatmul } from '../../examples/mosaic/warp-specialised-matmul.kernel.js';
import { wgmmaMatmul } from '../../examples/mosaic/wgmma-matmul.kernel.js';
import type { AnyKernel } from '../../src/api/source.js';
import * as reference from '../support/references.js';
import { simulateMosaic } from '../support/simulate-mosaic.js';
import { describeTool } from '../support/tools.js';

const build = (kernel: AnyKernel): Promise<Compiled> =>
  compile(kernel, { target: 'sm_90a', emit: ['mgpu.mlir', 'ptx', 'cubin', 'plan.json'], cache: false });
const text = (compiled: Compiled, stage: string): string =>
  Buffer.from(compiled.artifacts.get(stage)!).toString('utf8');

/** c = a · bᵀ of one block, in two panels each. */
const turned = kernel('turned', {}, () => {
  const swizzled = { transforms: [plgpu.swizzle(128)] };
  const scratch = {
    left: plgpu.smem(f16, [64, 128], swizzled),
    right: plgpu.smem(f16, [128, 128], swizzled),
    result: plgpu.smem(f16, [64, 128], swizzled),
    full: plgpu.barrier({ arrivals: 2 }),
    acc: plgpu.accumulator(f32, [64, 128]),
  };
  return plgpu.warpgroupProgram(
    {
      mesh: plgpu.mesh(),
      inputs: { a: array(f16, [64, 128]), b: array(f16, [128, 128]) },
      outputs: { c: array(f16, [64, 128]) },
      scratch,
    },
    ({ a, b, c, left, right, result, full, acc }) => {
      plgpu.copyGmemToSmem(a.at(ds(0, 64), ds(0, 128)), left, full);
      plgpu.copyGmemToSmem(b.at(ds(0, 128), ds(0, 128)), right, full);
      full.wait();
      plgpu.wgmma(acc, left, right, { transposeB: true });
      result.store(acc.load().to(f16));
      plgpu.commitSmem();
      plgpu.copySmemToGmem(result, c.at(ds(0, 64), ds(0, 128)));
      plgpu.waitSmemToGmem(0);
    },
  );
});

describeTool('mosaic', 'explicit programs by Mosaic GPU, in the simulator', () => {
  test('tma-copy', async () => {
    const compiled = await build(tmaCopy);
    expect(text(compiled, 'ptx')).toMatch(/cp\.async\.bulk\.tensor\.2d\.global\.shared::cta/);
    for (const [m, n] of [
      [70, 136],
      [1, 8],
    ] as const) {
      const x = nd.random(f16, [m, n], { seed: 1 });
      const { outputs, reports } = simulateMosaic(tmaCopy, compiled, { x });
      expect(reports.flatMap((r) => r.findings)).toEqual([]);
      expect(outputs.y!.data).toEqual(x.data);
    }
  }, 120_000);

  test.each<[string, AnyKernel, number]>([
    ['wgmma-matmul', wgmmaMatmul, 128],
    ['warp-specialised-matmul', warpSpecialisedMatmul, 384],
  ])(
    '%s',
    async (_, kernel, threads) => {
      const compiled = await build(kernel);
      expect(text(compiled, 'ptx')).toMatch(/wgmma\.mma_async\.sync\.aligned\.m64n64k16\.f32\.f16\.f16/);
      expect(compiled.launches![0]!.resources).toMatchObject({ threads, spills: 0 });
      const [m, n, k] = [100, 72, 200];
      const a = nd.random(f16, [m, k], { seed: 1, scale: 1 });
      const b = nd.random(f16, [k, n], { seed: 2, scale: 1 });
      const { outputs, reports } = simulateMosaic(kernel, compiled, { a, b });
      expect(reports.flatMap((r) => r.findings)).toEqual([]);
      expectClose(outputs.c!, reference.matmul(nd.toNumbers(a), nd.toNumbers(b), m, n, k).values);
    },
    120_000,
  );

  test('a product with the second side transposed in shared memory', async () => {
    const compiled = await build(turned);
    const a = nd.random(f16, [64, 128], { seed: 1, scale: 1 });
    const b = nd.random(f16, [128, 128], { seed: 2, scale: 1 });
    const { outputs, reports } = simulateMosaic(turned, compiled, { a, b });
    expect(reports.flatMap((r) => r.findings)).toEqual([]);
    const { c } = await run(turned, { a, b });
    expectClose(outputs.c!, nd.toNumbers(c));
  }, 120_000);
});
