import { describe, expect, test } from '@jest/globals';
import { bf16, type DType, f16, f32, i32, interpret, run } from 'tilewright';
import { expectClose, nd, toleranceOf } from 'tilewright/testing';
import { flashAttention } from '../../examples/flash-attention.kernel.js';
import { histogram } from '../../examples/histogram.kernel.js';
import { layerNorm } from '../../examples/layer-norm.kernel.js';
import { matmul } from '../../examples/matmul.kernel.js';
import { softmax } from '../../examples/softmax.kernel.js';
import { vectorAdd } from '../../examples/vector-add.kernel.js';
import * as reference from '../support/references.js';
import { describeTool } from '../support/tools.js';

type FloatDType = typeof f32 | typeof f16 | typeof bf16;
type Run = typeof interpret;
const float: readonly FloatDType[] = [f32, f16, bf16];

const random = <D extends DType>(dtype: D, shape: readonly number[], seed: number, scale = 1) =>
  nd.random(dtype, shape, { seed, scale });

/** Each example against float64, in aligned, ragged and minimal sizes. */
function examples(execute: Run, interpreted: boolean): void {
  describe.each(float)('$name', (dtype) => {
    test.each([4096, 1003, 1, 0])('vector-add, n = %i', async (n) => {
      const [x, y] = [random(dtype, [n], 1), random(dtype, [n], 2)];
      const { z } = await execute(vectorAdd.with({ dtype }), { x, y });
      expectClose(z, reference.vectorAdd(nd.toNumbers(x), nd.toNumbers(y)).values);
    });

    test.each([
      [16, 1024],
      [37, 781],
      [1, 1],
    ])('softmax, %i × %i', async (m, n) => {
      const x = random(dtype, [m, n], 3, 3);
      const { y } = await execute(softmax.with({ dtype }), { x });
      expectClose(y, reference.softmax(nd.toNumbers(x), m, n).values);
    });

    test.each([
      [32, 512],
      [19, 389],
      [1, 1],
    ])('layer-norm, %i × %i', async (m, n) => {
      const [x, w, b] = [random(dtype, [m, n], 4), random(dtype, [n], 5), random(dtype, [n], 6)];
      const { y } = await execute(layerNorm.with({ dtype }), { x, w, b, eps: 1e-5 });
      const expected = reference.layerNorm(nd.toNumbers(x), nd.toNumbers(w), nd.toNumbers(b), 1e-5, m, n);
      expectClose(y, expected.values, toleranceOf(dtype, 4));
    });

    test.each([
      [128, 128, 128],
      [129, 67, 93],
      [1, 1, 1],
      [5, 7, 0],
    ])('matmul, %i × %i × %i', async (m, n, k) => {
      const [a, b] = [random(dtype, [m, k], 7), random(dtype, [k, n], 8)];
      const { c } = await execute(matmul.with({ dtype, bm: 64, bn: 64, bk: 64 }), { a, b });
      expectClose(
        c,
        reference.matmul(nd.toNumbers(a), nd.toNumbers(b), m, n, k).values,
        toleranceOf(dtype, 3 * Math.sqrt(k)),
      );
    });

    test.each([
      [2, 128, 64, false],
      [2, 128, 64, true],
      [1, 197, 40, false],
      [1, 197, 40, true],
      [1, 1, 1, true],
    ])('flash-attention, h %i, s %i, d %i, causal %p', async (h, s, d, causal) => {
      const [q, k, v] = [random(dtype, [h, s, d], 9), random(dtype, [h, s, d], 10), random(dtype, [h, s, d], 11)];
      const scale = 1 / Math.sqrt(d);
      const { o } = await execute(flashAttention.with({ dtype, causal }), { q, k, v, scale });
      const expected = reference.attention(nd.toNumbers(q), nd.toNumbers(k), nd.toNumbers(v), Math.fround(scale), {
        h,
        s,
        d,
        causal,
      });
      const bounds = {
        f32: { rtol: 2e-5, atol: 1e-5 },
        f16: { rtol: 3e-3, atol: 1.5e-3 },
        bf16: { rtol: 1.5e-2, atol: 1e-2 },
      };
      expectClose(o, expected.values, bounds[dtype.name]);
    });

    test.each([4096, 1003, 1])('histogram, n = %i', async (n) => {
      const uniform = nd.words(12);
      const x = nd.from(
        dtype,
        [n],
        Float64Array.from({ length: n }, () => uniform() / 2 ** 32),
      );
      const { counts } = await execute(histogram.with({ dtype }), { x });
      expect(counts.dtype).toBe(i32);
      expectClose(counts, reference.histogram(nd.toNumbers(x), 64).values);
    });
  });
  expect(interpreted).toBeDefined();
}

describe('examples in the interpreter', () =>
  examples((kernel, given) => interpret(kernel, given, { sanitize: true }), true));

describeTool('mlir', 'examples on the CPU', () => examples(run as Run, false));
