/** What `npm run bench:cpu` runs: the kernels of the corpus and two examples, in f32, at sizes that take some milliseconds. */

import { loadKernels } from '../dist/api/loader.js';
import { assetPath } from '../dist/drivers/assets.js';
import { bool, f32 } from '../dist/ir/dtypes.js';
import { nd } from '../dist/testing/index.js';

const load = async (path) =>
  [...(await loadKernels(assetPath(`${path}.kernel.ts`))).kernels.values()][0].with({ dtype: f32 });
const random = (shape, seed) => nd.random(f32, shape, { seed });
/** Numbers from 0 up to 1. */
const uniforms = (count, seed) => {
  const next = nd.words(seed);
  return Float64Array.from({ length: count }, () => next() / 2 ** 32);
};
/** True at one place in fifty. */
const starts = ([m, n], seed) =>
  nd.from(
    bool,
    [m, n],
    uniforms(m * n, seed).map((u) => Number(u < 0.02)),
  );

const bytes = (work) => ({ work, unit: 'GB/s' });
/** Kernels whose time goes into products of matrices. */
const products = (work) => ({ work, unit: 'GFLOP/s', products: true });
const many = (count) => ({ work: count, unit: 'G elements/s' });

const M = 1 << 20;

/**
 * By the names that `peers/` knows too. `sides`: who runs it besides us; JAX allocates its result on each call, and
 * where that is most of the work the comparison is with NumPy in place.
 */
export const cases = {
  add: {
    kernel: (await load('kernels/vector-add')).with({ block: 8192 }),
    given: () => ({ x: random([16 * M], 1), y: random([16 * M], 2) }),
    ...bytes(12 * 16 * M),
    sides: ['numpy'],
  },
  softmax: {
    kernel: await load('kernels/softmax'),
    given: () => ({ x: random([4096, 1024], 3) }),
    ...bytes(8 * 4 * M),
  },
  fill_iota: {
    kernel: await load('kernels/fill-iota'),
    given: () => ({ value: 3.25, m: 2048, n: 2048 }),
    ...bytes(8 * 4 * M),
  },
  gated_activations: {
    kernel: await load('kernels/gated-activations'),
    given: () => ({ x: random([1024, 2048], 10), g: random([1024, 2048], 11) }),
    ...bytes(28 * 2 * M),
  },
  philox_dropout: {
    kernel: await load('kernels/philox-dropout'),
    given: () => ({ x: random([M], 12), p: 0.25, seed: 123456789 }),
    ...many(M),
  },
  asin: {
    kernel: await load('kernels/asin'),
    given: () => ({
      x: nd.from(
        f32,
        [4 * M],
        uniforms(4 * M, 13).map((u) => 2 * u - 1),
      ),
    }),
    ...many(4 * M),
  },
  transpose: {
    kernel: await load('kernels/transpose'),
    given: () => ({ x: random([2048, 2048], 14) }),
    ...bytes(8 * 4 * M),
  },
  row_reductions: {
    kernel: await load('kernels/row-reductions'),
    given: () => ({ x: random([8192, 1024], 15) }),
    ...bytes(4 * 8 * M),
  },
  matvec: {
    kernel: await load('kernels/matvec'),
    given: () => ({ a: random([4096, 4096], 16), x: random([4096], 17) }),
    ...bytes(4 * 16 * M),
  },
  cumsum_segmented: {
    kernel: await load('kernels/cumsum-segmented'),
    given: () => ({ x: random([1024, 1024], 18), start: starts([1024, 1024], 19) }),
    ...bytes(17 * M),
  },
  matmul: {
    kernel: await load('examples/matmul'),
    given: () => ({ a: random([1024, 1024], 4), b: random([1024, 1024], 5) }),
    ...products(2 * 1024 ** 3),
  },
  matmul_epilogue: {
    kernel: await load('kernels/matmul-epilogue'),
    given: () => ({
      a: random([1024, 1024], 20),
      b: random([1024, 1024], 21),
      bias: random([1024], 22),
      slope: 0.01,
    }),
    ...products(2 * 1024 ** 3),
  },
  attention: {
    kernel: await load('examples/flash-attention'),
    given: () => ({
      q: random([1, 1024, 64], 6),
      k: random([1, 1024, 64], 7),
      v: random([1, 1024, 64], 8),
      scale: 0.125,
    }),
    ...products(4 * 1024 * 1024 * 64),
  },
  flash_attention_fwd: {
    kernel: await load('kernels/flash-attention-fwd'),
    given: () => ({
      q: random([1, 4, 1024, 64], 23),
      k: random([1, 2, 1024, 64], 24),
      v: random([1, 2, 1024, 64], 25),
      scale: 0.125,
    }),
    // Of the causal half, what is visible.
    ...products(6 * 4 * 1024 * 1024 * 64),
  },
};
