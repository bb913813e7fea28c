import { describe, expect, test } from '@jest/globals';
import {
  bf16,
  bool,
  type DType,
  dtypes,
  f4e2m1fn,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e8m0fnu,
  f16,
  f32,
  f64,
  i4,
  i8,
  i32,
  i64,
  intRange,
  isFloat,
  u8,
  u64,
} from '../../src/ir/dtypes.js';
import { expectClose, nd, toleranceOf } from '../../src/testing/index.js';

const infinity = Number.POSITIVE_INFINITY;
const nan = Number.NaN;
const messageOf = (work: () => void): string => {
  try {
    work();
  } catch (error) {
    expect((error as Error).constructor).toBe(Error);
    return (error as Error).message;
  }
  return '';
};

describe('arrays', () => {
  test('hold elements as they lie in memory', () => {
    expect(nd.from(f16, [2], [1, -2]).data).toEqual(Uint16Array.of(0x3c00, 0xc000));
    expect(nd.from(bf16, [2], [1, nan]).data).toEqual(Uint16Array.of(0x3f80, 0x7fc0));
    expect(nd.from(f8e4m3fn, [2], [1, 1e9]).data).toEqual(Uint8Array.of(0x38, 0x7e));
    expect(nd.from(i4, [3], [1, -1, 7]).data).toEqual(Uint8Array.of(0xf1, 0x07));
    expect(nd.from(bool, [3], [0, 2, -1]).data).toEqual(Uint8Array.of(0, 1, 1));
    expect(nd.from(i64, [2], [5, 2n ** 62n]).data).toEqual(BigInt64Array.of(5n, 2n ** 62n));
  });

  test('round numbers once', () => {
    expect([...nd.toNumbers(nd.from(f16, [1], [1 + 2 ** -11 + 2 ** -40]))]).toEqual([1 + 2 ** -10]);
    expect([...nd.toNumbers(nd.from(f32, [1], [0.1]))]).toEqual([Math.fround(0.1)]);
    expect([...nd.toNumbers(nd.from(f64, [1], [0.1]))]).toEqual([0.1]);
  });

  test('give numbers back, of every dtype', () => {
    for (const d of Object.values(dtypes)) {
      const numbers = d === bool || d === i4 ? [0, 1, 1] : d === f8e8m0fnu ? [0.5, 1, 4] : [0, 1, 6];
      expect([...nd.toNumbers(nd.from(d as DType, [3], numbers))]).toEqual(numbers);
    }
  });

  test('have as many elements as their shape says', () => {
    expect(() => nd.from(f32, [2, 3], [1, 2])).toThrow('shape [2, 3] holds 6 elements, got 2');
    expect(() => nd.from(f32, [], [])).toThrow('shape [] holds 1 elements, got 0');
    expect(nd.from(f32, [0, 3], []).data.length).toBe(0);
  });

  test('zeros, full, arange', () => {
    expect(nd.zeros(f32, [2, 2])).toEqual({ dtype: f32, shape: [2, 2], data: new Float32Array(4) });
    expect([...nd.toNumbers(nd.full(bf16, [3], 3.25))]).toEqual([3.25, 3.25, 3.25]);
    expect(nd.full(u64, [2], 7).data).toEqual(BigUint64Array.of(7n, 7n));
    expect([...nd.toNumbers(nd.arange(i32, [2, 2]))]).toEqual([0, 1, 2, 3]);
    expect([...nd.arange(u8, [258]).data.subarray(254)]).toEqual([254, 255, 0, 1]);
  });
});

describe('random arrays', () => {
  test('are the same everywhere for a seed, and differ between seeds', () => {
    expect([...nd.random(i32, [6], { seed: 1 }).data]).toEqual([54, 77, 1, 28, 8, 34]);
    expect([...nd.random(f32, [4], { seed: 1 }).data]).toEqual([
      0.9659740328788757, 1.123104214668274, -0.04922786355018616, -0.1808914989233017,
    ]);
    expect(nd.random(f32, [64], { seed: 2 })).not.toEqual(nd.random(f32, [64], { seed: 3 }));
  });

  test('a longer array starts like a shorter one', () => {
    const [long, short] = [nd.random(f16, [100], { seed: 4 }), nd.random(f16, [10], { seed: 4 })];
    expect(long.data.subarray(0, 10)).toEqual(short.data);
  });

  test('floats are normally distributed', () => {
    const numbers = nd.toNumbers(nd.random(f64, [20000], { seed: 5, scale: 3 }));
    const mean = numbers.reduce((a, b) => a + b) / numbers.length;
    const deviation = Math.sqrt(numbers.reduce((a, b) => a + (b - mean) ** 2, 0) / numbers.length);
    const within = numbers.filter((x) => Math.abs(x - mean) < deviation).length / numbers.length;
    expect(Math.abs(mean)).toBeLessThan(0.1);
    expect(Math.abs(deviation - 3)).toBeLessThan(0.1);
    expect(Math.abs(within - 0.6827)).toBeLessThan(0.02);
  });

  test('integers reach both ends of their range, at most ±100', () => {
    for (const d of Object.values(dtypes) as DType[]) {
      if (isFloat(d) || d === bool) continue;
      const numbers = nd.toNumbers(nd.random(d, [5000], { seed: 6 }));
      const [low, high] = intRange(d).map((x) => Math.max(-100, Math.min(100, Number(x))));
      expect([d.name, Math.min(...numbers), Math.max(...numbers)]).toEqual([d.name, low, high]);
    }
    expect(new Set(nd.random(bool, [50], { seed: 7 }).data)).toEqual(new Set([0, 1]));
  });
});

describe('expectClose', () => {
  test('accepts what lies within the tolerance of its dtype', () => {
    expectClose(nd.from(f32, [2], [1, 1000]), Float64Array.of(1 + 4e-6, 1000 + 4e-3));
    expectClose(nd.from(f16, [1], [1]), [1.001]);
    expectClose(nd.from(f8e5m2, [1], [1]), [1.13]);
    expectClose(nd.from(i32, [2], [1, 2]), nd.from(i32, [2], [1, 2]));
    expectClose(nd.from(f32, [1], [1]), [1.5], { atol: 0.5 });
    expectClose(nd.from(f32, [1], [-0]), [0]);
  });

  test('lists the first that differ, how many, and the largest error', () => {
    const actual = nd.from(f32, [2, 4], [0, 1, 2, 3, 4, 5, 6, 7]);
    const expected = nd.from(f32, [2, 4], [0, 1.5, 2, 3, 4, 5, 8, 7]);
    expect(messageOf(() => expectClose(actual, expected, { rtol: 0, atol: 0.25 }))).toBe(
      '2 of 8 elements differ by more than 0.25 + 0 |expected| (largest error 2):\n  [0, 1]: expected 1.5, got 1\n  [1, 2]: expected 8, got 6',
    );
    const all = messageOf(() => expectClose(nd.zeros(i32, [100]), nd.full(i32, [100], 1)));
    expect(all.split('\n').length).toBe(6);
    expect(all).toContain('100 of 100 elements');
  });

  test('NaN must meet NaN, an infinity the same infinity', () => {
    const wild = { rtol: 1, atol: 1e30 };
    expectClose(nd.from(f32, [3], [nan, infinity, -infinity]), [nan, infinity, -infinity]);
    for (const [a, e] of [
      [nan, 1],
      [1, nan],
      [infinity, 1],
      [1, infinity],
      [infinity, -infinity],
      [nan, infinity],
    ] as const)
      expect(messageOf(() => expectClose(nd.from(f32, [1], [a]), [e], wild))).toContain(`expected ${e}, got ${a}`);
  });

  test('shapes and counts must agree', () => {
    expect(messageOf(() => expectClose(nd.zeros(f32, [2, 3]), nd.zeros(f32, [3, 2])))).toBe(
      'expected shape [3, 2], got [2, 3]',
    );
    expect(() => expectClose(nd.zeros(f32, [2]), [0])).toThrow('expected 1 elements, got 2');
    expect(() => expectClose(nd.zeros(f32, [2]), [0, 0, 0])).toThrow('expected 3 elements, got 2');
  });

  test('64-bit integers are compared exactly', () => {
    const [a, e] = [nd.from(i64, [1], [2n ** 53n + 1n]), nd.from(i64, [1], [2n ** 53n])];
    expect(messageOf(() => expectClose(a, e))).toContain('[0]: expected 9007199254740992, got 9007199254740993');
    expectClose(a, e, { atol: 1 });
  });

  test('tolerances are those of the corpus; sums widen the absolute part', () => {
    expect(toleranceOf(f64)).toEqual({ rtol: 1e-12, atol: 1e-13 });
    expect(toleranceOf(f32, 4)).toEqual({ rtol: 4e-6, atol: 4e-6 });
    expect(toleranceOf(f16)).toEqual({ rtol: 1.5e-3, atol: 1e-4 });
    expect(toleranceOf(bf16, 2)).toEqual({ rtol: 9e-3, atol: 2e-4 });
    expect(toleranceOf(f8e4m3fn)).toEqual({ rtol: 7e-2, atol: 2e-3 });
    expect(toleranceOf(f8e4m3fnuz)).toEqual(toleranceOf(f8e4m3fn));
    expect(toleranceOf(f8e5m2)).toEqual({ rtol: 1.4e-1, atol: 2e-3 });
    for (const d of [bool, i8, i64, f4e2m1fn] as DType[]) expect(toleranceOf(d, 100)).toEqual({ rtol: 0, atol: 0 });
  });
});
