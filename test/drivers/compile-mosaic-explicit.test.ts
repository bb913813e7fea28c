/** Explicit programs by Mosaic GPU: compiled for Hopper, and run in the simulator in every schedule. */

import { expect, test } from '@jest/globals';
import { type Compiled, compile, f16 } from 'tilewright';
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
});
