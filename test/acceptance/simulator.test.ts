import { describe, expect, test } from '@jest/globals';
import { bf16, type DType, f16, f32, interpret } from 'tilewright';
import { expectClose, nd } from 'tilewright/testing';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { histogram } from '../../examples/histogram.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import type { HostValue } from '../../src/api/bind.js';
import { simulateSource } from '../../src/api/simulate.js';
import type { AnyKernel } from '../../src/api/source.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

const random = <D extends DType>(dtype: D, shape: readonly number[], seed: number, scale = 1) =>
  nd.random(dtype, shape, { seed, scale });

type Given = Readonly<Record<string, HostValue>>;
const attention = (shape: readonly number[]): Given => ({
  q: random(f16, shape, 9),
  k: random(f16, shape, 10),
  v: random(f16, shape, 11),
  scale: 1 / Math.sqrt(shape[2]!),
});

/** Ragged sizes, and loops that are longer than the pipeline is deep. */
const cases: readonly (readonly [name: string, kernel: AnyKernel, given: Given, tolerance: number])[] = [
  ['vector-add f32', vectorAdd.with({ dtype: f32 }), { x: random(f32, [1003], 1), y: random(f32, [1003], 2) }, 0],
  ['vector-add of nothing', vectorAdd.with({ dtype: f32 }), { x: random(f32, [0], 1), y: random(f32, [0], 2) }, 0],
  ['softmax bf16', softmax.with({ dtype: bf16 }), { x: random(bf16, [3, 781], 3, 3) }, 1e-2],
  [
    'layer-norm f16',
    layerNorm.with({ dtype: f16 }),
    { x: random(f16, [3, 389], 4), w: random(f16, [389], 5), b: random(f16, [389], 6), eps: 1e-5 },
    4e-3,
  ],
  ['histogram', histogram.with({ dtype: f32 }), { x: random(f32, [1000], 7) }, 0],
  [
    'matmul f16',
    matmul.with({ dtype: f16, bm: 64, bn: 64, bk: 64 }),
    { a: random(f16, [65, 336], 7), b: random(f16, [336, 72], 8) },
    4e-2,
  ],
  ['flash-attention', flashAttention.with({ dtype: f16, causal: true }), attention([1, 133, 40]), 4e-3],
];

describeTool('triton', 'examples on simulated devices', () => {
  const all = ['sm_80', 'sm_90a', 'sm_100a', 'gfx942', 'gfx1100'].map((target) => [target, true] as const);
  const first = ['gfx950', 'gfx1201'].map((target) => [target, false] as const);
  describe.each([...all, ...first])('%s, every schedule: %s', (target, allSchedules) => {
    test.each(cases)('%s', async (_, kernel, given, tolerance) => {
      const expected = await interpret(kernel, given as never);
      const { outputs, findings } = await simulateSource(kernel, given, { target, allSchedules });
      expect(findings).toEqual([]);
      for (const [name, output] of Object.entries(outputs)) {
        const want = nd.toNumbers((expected as Record<string, typeof output>)[name]!);
        expectClose(output, want, { rtol: tolerance, atol: tolerance });
      }
    });
  });
});

test('a device that has no simulator is told with those that have', async () => {
  const given = { x: random(f32, [4], 1), y: random(f32, [4], 2) };
  const [d] = await diagnosticsOf(() => simulateSource(vectorAdd, given, { target: 'cpu' }));
  expect(d!.message).toContain("'sim:cpu'");
  expect(d!.message).toContain('sim:sm_80');
});
