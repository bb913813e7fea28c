/**
 * Triton IR executed without a GPU: what the lowering says is what the oracle and the interpreter expect. The whole
 * matrix of the corpus is `npm run test:acceptance -- --backend ttir`; here it is the quick part.
 */

import { describe, expect, test } from '@jest/globals';
import { bf16, f16, f32 } from 'tilewright';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { histogram } from '../../examples/histogram.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import type { HostValue } from '../../src/api/bind.js';
import { interpretSource } from '../../src/api/run.js';
import { type AnyKernel, sourceOf } from '../../src/api/source.js';
import { expectClose, nd, toleranceOf } from '../../src/testing/index.js';
import { caseNames } from '../oracle/call.js';
import { oracle } from '../oracle/kernels.js';
import { runCall } from '../oracle/matrix.js';
import { runTtir } from '../support/ttir/run.js';

/** Attention of the ragged case takes half a minute. */
const slow = new Set(['flash_attention_fwd']);

describe.each(oracle)('$id $name', (entry) => {
  const quick = entry.dtypes.flatMap((dtype, i) =>
    caseNames
      .filter((kind) => kind === 'minimal' || (kind === 'ragged' && i === 0 && !slow.has(entry.name)))
      .map((kind) => [dtype, kind] as const),
  );
  test.each(quick)('%s, %s', async (dtype, kind) => {
    const { failures } = await runCall(entry, dtype, kind, 'ttir');
    expect(failures).toEqual([]);
  });
});

describe.each(['sm_90a', 'gfx942'])('examples for %s agree with the interpreter', (target) => {
  describe.each([f32, f16, bf16])('$name', (dtype) => {
    const random = (shape: readonly number[], seed: number) => nd.random(dtype, shape, { seed });
    const tiles = { bm: 16, bn: 32, bk: 16 };
    const cases: readonly (readonly [string, unknown, Readonly<Record<string, HostValue>>])[] = [
      ['vector-add', vectorAdd.with({ dtype, block: 256 }), { x: random([300], 1), y: random([300], 2) }],
      ['softmax', softmax.with({ dtype, block: 64 }), { x: random([3, 50], 3) }],
      [
        'layer-norm',
        layerNorm.with({ dtype, block: 64 }),
        { x: random([3, 50], 4), w: random([50], 5), b: random([50], 6), eps: 1e-5 },
      ],
      ['histogram', histogram.with({ dtype, bins: 16, block: 64 }), { x: random([100], 7) }],
      ['matmul', matmul.with({ dtype, ...tiles }), { a: random([21, 24], 8), b: random([24, 40], 9) }],
      ...[false, true].map(
        (causal) =>
          [
            `flash-attention, causal ${causal}`,
            flashAttention.with({ dtype, causal, bq: 16, bk: 16, bd: 16 }),
            { q: random([2, 37, 16], 10), k: random([2, 37, 16], 11), v: random([2, 37, 16], 12), scale: 0.3 },
          ] as const,
      ),
    ];
    test.each(cases)('%s', async (_, kernel, given) => {
      const expected = await interpretSource(sourceOf(kernel as AnyKernel, 'interpret'), given);
      const actual = runTtir(kernel as AnyKernel, given, target);
      for (const [name, want] of Object.entries(expected))
        expectClose(actual[name]!, want, toleranceOf(actual[name]!.dtype, 20));
    });
  });
});
