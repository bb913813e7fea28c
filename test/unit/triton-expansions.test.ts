/** What Triton has no op for is made of what it has: executed by the evaluator, the text gives what the interpreter gives. */

import { expect, test } from '@jest/globals';
import {
  array,
  atomic,
  blockProgram,
  type DType,
  dim,
  dot,
  f16,
  f32,
  f64,
  full,
  grid,
  i16,
  i32,
  i64,
  iota,
  kernel,
  u16,
} from 'tilewright';
import type { HostValue } from '../../src/api/bind.js';
import { fromNumbers } from '../../src/api/nd-array.js';
import { interpretSource } from '../../src/api/run.js';
import { type AnyKernel, sourceOf } from '../../src/api/source.js';
import { isWide } from '../../src/ir/dtypes.js';
import { nd } from '../../src/testing/index.js';
import { numbersOf } from '../support/random-run.js';
import { runTtir } from '../support/ttir/run.js';

async function agrees(kernel: AnyKernel, given: Readonly<Record<string, HostValue>>): Promise<void> {
  const expected = await interpretSource(sourceOf(kernel, 'interpret'), given);
  for (const target of ['sm_90a', 'gfx942']) {
    const actual = runTtir(kernel, given, target);
    for (const [name, want] of Object.entries(expected))
      expect({ target, [name]: numbersOf(actual[name]!) }).toEqual({ target, [name]: numbersOf(want) });
  }
}

/** Numbers as the registers of a dtype hold them. */
const numbers = (dtype: DType, n: number, at: (i: number) => number) =>
  Array.from({ length: n }, (_, i) => (isWide(dtype) ? BigInt(at(i)) : at(i))) as number[];

/** Small whole numbers, so that no order of sums rounds. */
const whole = (dtype: DType, shape: readonly number[], seed: number) => {
  const next = nd.words(seed);
  const count = shape.reduce((a, b) => a * b, 1);
  return fromNumbers(
    dtype,
    shape,
    numbers(dtype, count, () => (next() % 17) - (dtype.signed ? 8 : 0)),
  );
};

const product = kernel('product', { dtype: f64 as DType, batched: false }, ({ dtype, batched }) => {
  const batch = batched ? [2, 3] : [];
  const block = (rows: number, columns: number) =>
    array(dtype, [...batch, rows, columns]).block([...batch, rows, columns], [...batch.map(() => 0), 0, 0]);
  return blockProgram(
    { grid: grid({}), inputs: { a: block(4, 6), b: block(6, 8) }, outputs: { c: array(f64, [...batch, 4, 8]) } },
    ({ a, b, c }) => {
      c.store(dot(a.load() as never, b.load() as never).to(f64) as never);
    },
  );
});

test.each([f64, i16, u16, i32, i64, f32])('a dot of $name', async (dtype) => {
  await agrees(product.with({ dtype }), { a: whole(dtype, [4, 6], 1), b: whole(dtype, [6, 8], 2) });
});

test.each([f32, f16, i32])('a dot of $name with two batch axes', async (dtype) => {
  const given = { a: whole(dtype, [2, 3, 4, 6], 3), b: whole(dtype, [2, 3, 6, 8], 4) };
  await agrees(product.with({ dtype, batched: true }), given);
});

test('reshapes of what is padded', async () => {
  const reshaped = kernel('reshaped', {}, () =>
    blockProgram(
      {
        grid: grid({}),
        inputs: { x: array(f32, [6, 10]) },
        outputs: { y: array(f32, [5, 12]), z: array(f32, [60]), w: array(f32, [3, 2, 10]) },
      },
      ({ x, y, z, w }) => {
        const tile = x.load();
        y.store(tile.reshape([5, 12]));
        z.store(tile.reshape([60]));
        w.store(tile.gt(0).reshape([3, 2, 10]).to(f32));
      },
    ),
  );
  await agrees(reshaped, { x: nd.random(f32, [6, 10], { seed: 5 }) });
});

test.each([i32, f32, i64])('compare and swap of $name where a mask says so, and of a padded tile', async (dtype) => {
  const swapped = kernel('swapped', { dtype: dtype as DType, size: 8 }, ({ dtype, size }) => {
    const n = dim('n');
    return blockProgram(
      {
        grid: grid({}),
        inputs: { from: array(dtype, [size]) },
        outputs: { x: array(dtype, [n]), old: array(dtype, [size]) },
        zeroed: ['x', 'old'],
      },
      ({ x, from, old }) => {
        const places = iota([size]);
        const mask = places.mul(2).lt(n);
        const wanted = places.to(dtype).add(100 as never);
        const before = atomic.cas(x.at(places.mul(2)), from.load() as never, wanted as never, { mask });
        old.store(before as never, { mask });
      },
    );
  });
  for (const size of [8, 5])
    for (const n of [0, 1, 9, 20]) {
      // Every other one finds the zero that it expects.
      const from = fromNumbers(
        dtype,
        [size],
        numbers(dtype, size, (i) => i % 2),
      );
      await agrees(swapped.with({ size }), { n, from });
    }
});

test('more programs than the hardware takes on x are refused before a launch', () => {
  const many = kernel('many', {}, () => {
    const [a, b] = [dim('a'), dim('b')];
    const g = grid({ a, b, c: 2, d: 2 });
    return blockProgram({ grid: g, inputs: {}, outputs: { y: array(f32, [1]) } }, ({ y }) => {
      y.store(full(f32, [1], 1));
    });
  });
  expect(() => runTtir(many, { a: 2 ** 15, b: 2 ** 15 })).toThrow(
    "error[TW4106]: launch 'many' has 4294967296 programs; at most 2147483647 are possible",
  );
});
