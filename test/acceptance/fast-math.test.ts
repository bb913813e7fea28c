/** What each option of `fastMath` changes on the CPU, and that nothing does without it. */

import { describe, expect, test } from '@jest/globals';
import {
  array,
  bf16,
  bitcast,
  blockProgram,
  type DType,
  f8e4m3fnuz,
  f16,
  f32,
  grid,
  i16,
  interpret,
  kernel,
  run,
  type Tile,
} from 'tilewright';
import { type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { nd } from '../../src/testing/index.js';
import { describeTool } from '../support/tools.js';

type FastMath = NonNullable<Parameters<typeof blockProgram>[0]['fastMath']>;

/** `f` of a list of values on the CPU, with and without an option. */
async function apply(
  dtype: DType,
  f: (x: Tile) => Tile,
  values: readonly number[],
  fastMath: FastMath,
  execute: typeof interpret = run,
  to: DType = dtype,
): Promise<number[]> {
  const k = kernel('apply', {}, () => {
    const vector = (d: DType) => array(d, [values.length]).block([values.length], [0]);
    const outputs = { y: vector(to) };
    return blockProgram({ grid: grid({ i: 1 }), inputs: { x: vector(dtype) }, outputs, fastMath }, ({ x, y }) =>
      y.store(f(x.load() as never) as never),
    );
  });
  const result = await execute(k as never, { x: nd.from(dtype, [values.length], values) } as never);
  return Array.from(toRegisters((result as { y: NdArray }).y), Number);
}

describeTool('mlir', 'fastMath on the CPU', () => {
  describe('contract', () => {
    const a = 1 + 2 ** -12;
    const f = (x: Tile): Tile => x.mul(x).sub(1 + 2 ** -11) as Tile;
    test('a product goes into a sum unrounded', async () => {
      expect(await apply(f32, f, [a], { contract: true })).toEqual([2 ** -24]);
      for (const strict of [{}, { approx: true, reassociate: true, widen: true }])
        expect(await apply(f32, f, [a], strict)).toEqual([0]);
    });
    test('a narrow product is rounded all the same', async () => {
      const half = (x: Tile): Tile => x.mul(x).sub(1 + 2 ** -6) as Tile;
      expect(await apply(bf16, half, [1 + 2 ** -7], { contract: true })).toEqual([0]);
      expect(await apply(bf16, half, [1 + 2 ** -7], { contract: true, widen: true })).toEqual([2 ** -14]);
    });
  });

  describe('reassociate', () => {
    const f = (x: Tile): Tile => x.add(1e8).sub(1e8) as Tile;
    test('constants of a chain meet', async () => {
      expect(await apply(f32, f, [1], { reassociate: true })).toEqual([1]);
      expect(await apply(f32, f, [1], {})).toEqual([0]);
    });
  });

  describe('widen', () => {
    const small = (x: Tile): Tile => x.add(1).sub(1) as Tile;
    const large = (x: Tile): Tile => x.mul(2).mul(0.5) as Tile;
    test.each<[DType, (x: Tile) => Tile, number, number, number]>([
      [bf16, small, 2 ** -9, 2 ** -9, 0],
      [f16, small, 2 ** -12, 2 ** -12, 0],
      [f16, large, 60000, 60000, Infinity],
      [f8e4m3fnuz, large, 240, 240, 120],
    ])('a chain in %s stays in f32', async (dtype, f, x, wide, strict) => {
      expect(await apply(dtype, f, [x], { widen: true })).toEqual([wide]);
      expect(await apply(dtype, f, [x], {})).toEqual([strict]);
      expect(await apply(dtype, f, [x], { widen: true }, interpret)).toEqual([strict]);
    });
    test.each([bf16, f16] as readonly DType[])(
      'what is stored, and whose bits are read, is rounded: %s',
      async (dtype) => {
        const x = dtype === bf16 ? 1 + 3 * 2 ** -7 : 1 + 3 * 2 ** -10;
        const squared = (t: Tile): Tile => t.mul(t) as Tile;
        const stored = await apply(dtype, squared, [x], {});
        expect(await apply(dtype, squared, [x], { widen: true })).toEqual(stored);
        const bits = (t: Tile): Tile => bitcast(squared(t), i16) as never;
        expect(await apply(dtype, bits, [x], { widen: true }, run, i16)).toEqual(
          await apply(dtype, bits, [x], {}, interpret, i16),
        );
      },
    );
  });

  describe('approx', () => {
    const functions: Readonly<Record<string, [(x: Tile) => Tile, (x: number) => number]>> = {
      exp: [(x) => x.exp() as Tile, Math.exp],
      exp2: [(x) => x.exp2() as Tile, (x) => 2 ** x],
      log: [(x) => x.log() as Tile, Math.log],
      log2: [(x) => x.log2() as Tile, Math.log2],
      tanh: [(x) => x.tanh() as Tile, Math.tanh],
      div: [(x) => x.div(3) as Tile, (x) => x / 3],
    };
    const list = Array.from({ length: 400 }, (_, i) => Math.fround((i - 200) / 2.37)).filter((x) => x !== 0);
    test('a quotient by a constant is a product', async () => {
      const third = (x: Tile): Tile => x.div(3) as Tile;
      const products = list.map((x) => Math.fround(x * Math.fround(1 / 3)));
      expect(await apply(f32, third, list, { approx: true })).toEqual(products);
      expect(await apply(f32, third, list, {})).not.toEqual(products);
    });
    test.each(Object.keys(functions))('%s stays within 4 ulp where results are normal', async (name) => {
      const [f, exact] = functions[name]!;
      const got = await apply(f32, f, [...list, Infinity, Number.NaN], { approx: true });
      const wrong = list.flatMap((x, i) => {
        const y = Math.fround(exact(x));
        if (Math.abs(y) < 2 ** -126) return got[i]! <= 2 ** -126 ? [] : [`${name}(${x}) = ${got[i]}`];
        if (!Number.isFinite(y)) return Object.is(got[i], y) ? [] : [`${name}(${x}) = ${got[i]}`];
        return Math.abs(got[i]! - y) <= 2 ** -21 * Math.abs(y) ? [] : [`${name}(${x}) = ${got[i]}, expected ${y}`];
      });
      expect(wrong).toEqual([]);
      expect(got.slice(-2)).toEqual([exact(Infinity), Number.NaN]);
    });
  });
});
