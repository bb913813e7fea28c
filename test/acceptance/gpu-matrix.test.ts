import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { histogram } from '../../examples/histogram.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import { compile } from '../../src/api/compile.js';
import type { AnyKernel } from '../../src/api/source.js';
import type { ForkServer } from '../../src/drivers/fork-server.js';
import { withTritonWorker } from '../../src/drivers/triton/worker.js';
import { bf16, f16, f32 } from '../../src/ir/dtypes.js';
import { describeTool } from '../support/tools.js';

const dtypes = { f32, f16, bf16 };
const kernels: Readonly<Record<string, AnyKernel>> = {
  'vector-add': vectorAdd,
  softmax,
  'layer-norm': layerNorm,
  histogram,
  matmul,
  'flash-attention': flashAttention,
};

// A sample: `npm run test:matrix` compiles all examples and kernels in every dtype for every target.
const matrix: readonly (readonly [name: string, dtype: keyof typeof dtypes, targets: string])[] = [
  ['vector-add', 'f32', 'sm_80 sm_121 gfx90a gfx1201'],
  ['vector-add', 'bf16', 'sm_90 gfx950'],
  ['softmax', 'f16', 'sm_86 gfx1100'],
  ['layer-norm', 'bf16', 'sm_90 gfx942'],
  ['histogram', 'f32', 'sm_100 gfx942'],
  ['matmul', 'f32', 'sm_80 gfx950'],
  ['matmul', 'bf16', 'sm_120 gfx1201'],
  ['flash-attention', 'f32', 'gfx942'],
];

/** Instructions that a kernel in f16 must have on a target. */
const evidence: readonly (readonly [name: string, target: string, instructions: readonly RegExp[]])[] = [
  ['matmul', 'sm_80', [/mma\.sync\.aligned\.m16n8k16/, /cp\.async\.cg/]],
  ['matmul', 'sm_90', [/wgmma\.mma_async/, /cp\.async\.cg/]],
  ['matmul', 'sm_100', [/tcgen05\.mma/, /cp\.async\.cg/]],
  ['matmul', 'gfx942', [/v_mfma_f32_\d+x\d+x\d+_f16/]],
  ['flash-attention', 'sm_90', [/wgmma\.mma_async/]],
  ['flash-attention', 'sm_100', [/tcgen05\.mma/]],
  ['flash-attention', 'gfx942', [/v_mfma_f32_\d+x\d+x\d+_f16/]],
];

describeTool('triton', 'examples for GPUs', () => {
  let worker: ForkServer;
  let end: () => void;
  let ended: Promise<void>;
  beforeAll(
    () =>
      new Promise<void>((ready) => {
        ended = withTritonWorker({}, (w) => {
          worker = w;
          ready();
          return new Promise<void>((done) => {
            end = done;
          });
        });
      }),
  );
  afterAll(async () => {
    end();
    await ended;
  });

  const kernelOf = (name: string, dtype: keyof typeof dtypes): AnyKernel =>
    kernels[name]!.with({ dtype: dtypes[dtype] });

  test.each(matrix)('%s in %s compiles without spills for %s', async (name, dtype, targets) => {
    const kernel = kernelOf(name, dtype);
    for (const target of targets.split(' ')) {
      const { artifacts, plan, launches } = await compile(kernel, { target, worker, cache: false });
      expect([...artifacts.keys()]).toEqual([target.startsWith('sm') ? 'cubin' : 'hsaco', 'plan.json']);
      expect([target, launches!.map((l) => l.resources.spills)]).toEqual([target, [0]]);
      const { device, grid } = plan.launches[0]!;
      expect(device!.params.filter((p) => p.kind === 'pointer').map((p) => p.array)).toEqual(
        plan.params.filter((p) => p.kind === 'array').map((p) => p.name),
      );
      expect(device!.params.slice(-2).map((p) => p.kind === 'scratch' && p.use)).toEqual(['global', 'profile']);
      expect([device!.grid.length, grid.length > 0]).toEqual([3, true]);
    }
  });

  test.each(evidence)('%s in f16 on %s uses its matrix unit', async (name, target, instructions) => {
    const stage = target.startsWith('sm') ? 'ptx' : 'amdgcn';
    const kernel = kernelOf(name, 'f16');
    const { artifacts } = await compile(kernel, { target, worker, cache: false, emit: [stage] });
    const assembly = Buffer.from(artifacts.get(stage)!).toString('utf8');
    for (const instruction of instructions) expect(assembly).toMatch(instruction);
    // Places in the machine code are lines of TypeScript.
    if (stage === 'ptx') expect(assembly).toContain(`.file\t1 "${name}.kernel.ts"`);
  });
});
