import { describe, expect, test } from '@jest/globals';
import {
  array,
  bf16,
  blockProgram,
  type DotPrecision,
  type DType,
  dim,
  dot,
  ds,
  type F32,
  f16,
  f32,
  f64,
  grid,
  i8,
  i16,
  i32,
  i64,
  interpret,
  kernel,
  run,
  type Tile,
  u8,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

/** `c[…] = a[…, m, k] · b[…, k, n]` of whole arrays, in one tile. */
async function product(
  execute: Run,
  dtypes: readonly [DType, DType],
  batch: readonly number[],
  [m, n, k]: readonly [number, number, number],
  a: readonly number[],
  b: readonly number[],
  precision: DotPrecision = 'ieee',
): Promise<number[]> {
  const kern = kernel('product', {}, () =>
    blockProgram(
      {
        grid: grid({}),
        inputs: { a: array(dtypes[0], [...batch, m, k]), b: array(dtypes[0], [...batch, k, n]) },
        outputs: { c: array(dtypes[1], [...batch, m, n]) },
      },
      (refs) => refs.c.store(dot(refs.a.load() as never, refs.b.load() as never, { precision }) as never),
    ),
  );
  const { c } = (await execute(
    kern as never,
    {
      a: nd.from(dtypes[0], [...batch, m, k], a),
      b: nd.from(dtypes[0], [...batch, k, n], b),
    } as never,
  )) as never;
  return list(c);
}

function expected(
  batch: number,
  [m, n, k]: readonly [number, number, number],
  a: readonly number[],
  b: readonly number[],
) {
  return range(batch * m * n).map((at) => {
    const [t, i, j] = [Math.floor(at / (m * n)), Math.floor(at / n) % m, at % n];
    return range(k).reduce((s, p) => s + a[(t * m + i) * k + p]! * b[(t * k + p) * n + j]!, 0);
  });
}

function products(execute: Run): void {
  test.each([
    [f32, f32, []],
    [f16, f32, [3]],
    [bf16, f32, []],
    [f64, f64, [2]],
    [i8, i32, []],
    [u8, i32, [2]],
    [i16, i32, []],
    [i64, i64, []],
    [f32, f32, [2, 3]],
    [f32, f32, [1, 2, 1, 3]],
  ] as readonly (readonly [DType, DType, readonly number[]])[])('%p to %p, batch %p', async (from, to, batch) => {
    for (const shape of [
      [1, 1, 1],
      [7, 35, 19],
    ] as const) {
      const [m, n, k] = shape;
      const count = batch.reduce((x, y) => x * y, 1);
      const low = from === u8 ? 0 : -4;
      const a = range(count * m * k).map((i) => ((i * 7) % 9) + low);
      const b = range(count * k * n).map((i) => ((i * 5) % 11) + low);
      expect(await product(execute, [from, to], batch, shape, a, b)).toEqual(expected(count, shape, a, b));
    }
  });

  test('products of the ends of i8 and u8 are exact', async () => {
    const a = Array(40).fill(-128);
    expect(await product(execute, [i8, i32], [], [1, 1, 40], a, a)).toEqual([40 * 16384]);
    const u = Array(40).fill(255);
    expect(await product(execute, [u8, i32], [], [1, 1, 40], u, u)).toEqual([40 * 65025]);
  });

  test('f64 keeps 53 bits', async () => {
    expect(await product(execute, [f64, f64], [], [1, 1, 2], [2 ** 40 + 1, 1], [2 ** 12 + 1, -1])).toEqual([
      (2 ** 40 + 1) * (2 ** 12 + 1) - 1,
    ]);
  });

  test('a batch that is ragged in its batch, rows, columns and depth', async () => {
    const [t, m, n, k] = [dim('t'), dim('m'), dim('n'), dim('k')];
    const kern = kernel('ragged', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { a: array(f32, [t, m, k]), b: array(f32, [t, k, n]) },
          outputs: { c: array(f32, [t, m, n]) },
        },
        (refs) => {
          const [batch, rows, columns, depth] = [ds(0, 4), ds(0, 8), ds(0, 16), ds(0, 8)];
          const left = refs.a.at(batch, rows, depth).load();
          refs.c.at(batch, rows, columns).store(dot(left, refs.b.at(batch, depth, columns).load()));
        },
      ),
    );
    const [a, b] = [range(3 * 5 * 7).map((i) => (i % 11) - 5), range(3 * 7 * 9).map((i) => (i % 13) - 6)];
    const { c } = await execute(kern, { a: nd.from(f32, [3, 5, 7], a), b: nd.from(f32, [3, 7, 9], b) });
    expect(list(c)).toEqual(expected(3, [5, 9, 7], a, b));
  });

  test.each([f32, bf16, i8] as readonly DType[])(
    'a batch with the right operand transposed, ragged all over: $name',
    async (d) => {
      const [t, m, n, k] = [dim('t'), dim('m'), dim('n'), dim('k')];
      const kern = kernel('transposed', {}, () =>
        blockProgram(
          {
            grid: grid({}),
            inputs: { a: array(d, [t, m, k]), b: array(d, [t, n, k]) },
            outputs: { c: array(d === i8 ? i32 : f32, [t, m, n]) },
          },
          (refs) => {
            const [batch, rows, columns, depth] = [ds(0, 4), ds(0, 8), ds(0, 16), ds(0, 8)];
            const right = (refs.b.at(batch, columns, depth).load() as Tile<F32, 3>).transpose([0, 2, 1]);
            const product = dot(refs.a.at(batch, rows, depth).load() as Tile<F32, 3>, right);
            refs.c.at(batch, rows, columns).store(product as never);
          },
        ),
      );
      const [a, b] = [range(3 * 5 * 7).map((i) => (i % 11) - 5), range(3 * 7 * 9).map((i) => (i % 13) - 6)];
      const bt = range(3 * 9 * 7).map((i) => b[Math.floor(i / 63) * 63 + (i % 7) * 9 + (Math.floor(i / 7) % 9)]!);
      const { c } = (await execute(
        kern as never,
        { a: nd.from(d, [3, 5, 7], a), b: nd.from(d, [3, 9, 7], bt) } as never,
      )) as never;
      expect(list(c)).toEqual(expected(3, [5, 9, 7], a, b));
    },
  );

  test.each([
    ['ieee', 2e-7],
    ['tf32', 1e-3],
    ['tf32x3', 2e-6],
    ['bf16x3', 3e-5],
    ['bf16x6', 1e-6],
  ] as const)('precision %s: as near as it says, and infinities as in ieee', async (precision, error) => {
    const a = range(64).map((i) => Math.fround(Math.sin(i + 1)));
    const b = range(64).map((i) => Math.fround(Math.cos(3 * i)));
    const [c] = await product(execute, [f32, f32], [], [1, 1, 64], a, b, precision);
    const exact = expected(1, [1, 1, 64], a, b)[0]!;
    const size = a.reduce((s, x, i) => s + Math.abs(x * b[i]!), 0);
    expect(Math.abs(c! - exact) / size).toBeLessThan(error);
    const special = await product(execute, [f32, f32], [], [2, 2, 2], [inf, 1.1, nan, 1], [1, -1.3, 0.7, 2], precision);
    expect(special).toEqual([inf, -inf, nan, nan]);
  });
}

describe('dots in the interpreter', () => {
  products(interpret);

  test('tf32 has 10 bits of mantissa, tf32x3 and bf16x6 nearly all of f32', async () => {
    const x = [1 + 2 ** -12];
    const of = (p: DotPrecision) => product(interpret, [f32, f32], [], [1, 1, 1], x, [1], p);
    expect(await of('tf32')).toEqual([1]);
    expect(await of('tf32x3')).toEqual(x);
    expect(await of('bf16x3')).toEqual(x);
    expect(await of('bf16x6')).toEqual(x);
    const y = [1 + 2 ** -23];
    const third = (p: DotPrecision) => product(interpret, [f32, f32], [], [1, 1, 1], y, [1], p);
    expect(await third('bf16x3')).toEqual(y);
    const z = [1 + 2 ** -9 + 2 ** -18];
    expect(await product(interpret, [f32, f32], [], [1, 1, 1], z, [1], 'bf16x3')).not.toEqual(z);
    expect(await product(interpret, [f32, f32], [], [1, 1, 1], z, [1], 'bf16x6')).toEqual(z);
  });
});
describeTool('mlir', 'dots on the CPU', () => products(run as Run));
