import { expect, test } from '@jest/globals';
import { f16, interpret } from 'tilewright';
import { expectClose, nd } from 'tilewright/testing';
import { tmaCopy } from '../../examples/mosaic/tma-copy.kernel.js';
import { warpSpecialisedMatmul } from '../../examples/mosaic/warp-specialised-matmul.kernel.js';
import { wgmmaMatmul } from '../../examples/mosaic/wgmma-matmul.kernel.js';
import * as reference from '../support/references.js';

/** The explicit examples have nothing that the sanitizer objects to; trips: none, fewer than slots, more than slots. */
test.each([
  { k: 0, seed: 1 },
  { k: 64, seed: 2 },
  { k: 136, seed: 3 },
  { k: 320, seed: 4 },
])('explicit products of depth $k are clean', async ({ k, seed }) => {
  const [m, n] = [72, 40];
  const [a, b] = [nd.random(f16, [m, k], { seed: 1 }), nd.random(f16, [k, n], { seed: 2 })];
  for (const kernel of [wgmmaMatmul, warpSpecialisedMatmul as unknown as typeof wgmmaMatmul]) {
    const { c } = await interpret(kernel, { a, b }, { sanitize: true, seed });
    expectClose(c, reference.matmul(nd.toNumbers(a), nd.toNumbers(b), m, n, k).values);
  }
});

test('so is a copy', async () => {
  const x = nd.random(f16, [70, 72], { seed: 5 });
  const { y } = await interpret(tmaCopy, { x }, { sanitize: true, seed: 1, seeds: 5 });
  expect(nd.toNumbers(y)).toEqual(nd.toNumbers(x));
});
