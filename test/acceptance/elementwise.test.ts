import { describe, expect, test } from '@jest/globals';
import {
  array,
  atan2,
  bf16,
  bitcast,
  blockProgram,
  clamp,
  copysign,
  countLeadingZeros,
  type DType,
  erfInv,
  f16,
  f32,
  f64,
  fma,
  grid,
  i8,
  i16,
  i32,
  i64,
  integerPow,
  interpret,
  isFinite,
  isInfinite,
  isNaN,
  kernel,
  logistic,
  mulHi,
  nextAfter,
  populationCount,
  pow,
  reciprocal,
  roundAway,
  run,
  sign,
  square,
  type Tile,
  trunc,
  u32,
  u64,
} from 'tilewright';
import { type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { erf, erfc } from '../../src/ir/numerics/special.js';
import { nd } from '../../src/testing/index.js';
import { describeTool } from '../support/tools.js';

type Value = number | bigint;

/** `f` applied to a list of values, in the interpreter or on the CPU. */
async function apply(
  execute: typeof interpret,
  from: DType,
  to: DType,
  f: (x: Tile) => unknown,
  values: readonly Value[],
): Promise<Value[]> {
  const k = kernel('apply', {}, () => {
    const vector = (d: DType) => array(d, [values.length]).block([values.length], [0]);
    const g = grid({ i: 1 });
    return blockProgram({ grid: g, inputs: { x: vector(from) }, outputs: { y: vector(to) } }, ({ x, y }) => {
      const result = f(x.load() as never) as Tile;
      y.store((result.dtype.name === 'bool' ? result.to(i32) : result) as never);
    });
  });
  const result = await execute(k as never, { x: nd.from(from, [values.length], values as number[]) } as never);
  return Array.from(toRegisters((result as { y: NdArray }).y) as ArrayLike<Value>);
}

const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

const rows: readonly (readonly [string, DType, DType, (x: Tile) => unknown, readonly Value[], readonly Value[]])[] = [
  ['clamp', f32, f32, (x) => clamp(x, -1, 2), [-3, -1, 0, 2.5, nan, inf, -inf], [-1, -1, 0, 2, nan, 2, -1]],
  ['clamp of integers', i32, i32, (x) => clamp(x, -1, 2), [-3, 0, 5], [-1, 0, 2]],
  ['sign', f32, f32, sign, [-3, 0, -0, 1e-40, nan, inf], [-1, 0, -0, 1, nan, 1]],
  ['sign of unsigned integers', u32, u32, sign, [7, 0, 2 ** 32 - 1], [1, 0, 1]],
  ['square', f16, f16, square, [3, -0, 300, nan], [9, 0, inf, nan]],
  [
    'nextAfter 2',
    f32,
    f32,
    (x) => nextAfter(x, x.mul(0).add(2)),
    [1, 2, 3, 0, -0, nan],
    [1 + 2 ** -23, 2, 3 - 2 ** -22, 2 ** -149, 2 ** -149, nan],
  ],
  [
    'nextAfter -x',
    f32,
    f32,
    (x) => nextAfter(x, x.neg()),
    [1, -1, 0, -0, inf, 2 ** -149, -(2 ** -149)],
    [1 - 2 ** -24, -1 + 2 ** -24, -0, 0, 3.4028234663852886e38, 0, -0],
  ],
  [
    'nextAfter inf',
    f64,
    f64,
    (x) => nextAfter(x, x.abs().mul(inf)),
    [Number.MAX_VALUE, -1, 1],
    [inf, -1 + 2 ** -53, 1 + 2 ** -52],
  ],
  ['nextAfter inf', bf16, bf16, (x) => nextAfter(x, x.abs().mul(inf)), [1, -1], [1 + 2 ** -7, -1 + 2 ** -8]],
  ['nextAfter inf', f16, f16, (x) => nextAfter(x, x.abs().mul(inf)), [65504, -1], [inf, -1 + 2 ** -11]],
  [
    'erfInv',
    f32,
    f32,
    erfInv,
    [0, -0, 0.5, -0.5, 1, -1, 1.5, nan],
    [0, -0, Math.fround(0.4769362762044699), -Math.fround(0.4769362762044699), inf, -inf, nan, nan],
  ],
  ['sign of integers', i32, i32, sign, [-7, 0, 9], [-1, 0, 1]],
  [
    'trunc',
    f32,
    f32,
    trunc,
    [-1.5, -0.5, -0, 0.5, 1.5, nan, inf, 1e30],
    [-1, -0, -0, 0, 1, nan, inf, Math.fround(1e30)],
  ],
  [
    'roundAway',
    f32,
    f32,
    roundAway,
    [-2.5, -0.5, -0.25, 0.49999997, 0.5, 1.5, 8388609, nan, -inf],
    [-3, -1, -0, 0, 1, 2, 8388609, nan, -inf],
  ],
  ['roundAway', f16, f16, roundAway, [2.5, -2.5, 1023.5, 0.4998], [3, -3, 1024, 0]],
  ['isNaN', f32, i32, isNaN, [nan, 1, inf], [1, 0, 0]],
  ['isInfinite', f32, i32, isInfinite, [nan, 1, inf, -inf], [0, 0, 1, 1]],
  ['isFinite', bf16, i32, isFinite, [nan, 1, inf, -inf], [0, 1, 0, 0]],
  ['copysign', f32, f32, (x) => copysign(x, x.neg()), [1, -2, 0, -0, inf], [-1, 2, -0, 0, -inf]],
  ['copysign', bf16, bf16, (x) => copysign(x, x.neg()), [1, -2, 0, -0], [-1, 2, -0, 0]],
  ['copysign', f64, f64, (x) => copysign(x, x.neg()), [1, -2, 0, -0], [-1, 2, -0, 0]],
  ['reciprocal', f32, f32, reciprocal, [2, -0.25, 0, -0, inf], [0.5, -4, inf, -inf, 0]],
  ['integerPow', f32, f32, (x) => integerPow(x, 5), [2, -3, 0.5], [32, -243, 0.03125]],
  ['integerPow, negative', f32, f32, (x) => integerPow(x, -2), [2, -4], [0.25, 0.0625]],
  ['integerPow of integers', i32, i32, (x) => integerPow(x, 3), [2, -3], [8, -27]],
  ['integerPow 0', f32, f32, (x) => integerPow(x, 0), [2, 7, nan], [1, 1, 1]],
  ['integerPow, rounded once', bf16, bf16, (x) => integerPow(x, 4), [1.0078125], [1.03125]],
  ['pow', f32, f32, (x) => pow(x, 2), [3, -3, 0, inf], [9, 9, 0, inf]],
  ['pow of 1 and to 0', f64, f64, (x) => pow(x, x), [1, 0], [1, 1]],
  ['pow, no integer', f32, f32, (x) => pow(x, 0.5), [4, -4], [2, nan]],
  ['atan2', f64, f64, (x) => atan2(x, -1), [0, -0], [Math.PI, -Math.PI]],
  ['logistic', f32, f32, logistic, [0, inf, -inf, nan, 100, -1e4], [0.5, 1, 0, nan, 1, 0]],
  ['fma', f32, f32, (x) => fma(x, x, -1), [1 + 2 ** -12, 3], [2 ** -11 + 2 ** -24, 8]],
  ['fma', f64, f64, (x) => fma(x, x, -1), [1 + 2 ** -30, 2 ** -600], [2 ** -29 + 2 ** -60, -1]],
  ['countLeadingZeros', i32, i32, countLeadingZeros, [0, 1, -1, 256], [32, 31, 0, 23]],
  ['countLeadingZeros', i8, i8, countLeadingZeros, [0, 1, -1, 16], [8, 7, 0, 3]],
  ['countLeadingZeros', u64, u64, countLeadingZeros, [0n, 1n, 2n ** 63n], [64n, 63n, 0n]],
  ['populationCount', i16, i16, populationCount, [0, 1, -1, 0x55], [0, 1, 16, 4]],
  ['populationCount', i64, i64, populationCount, [0n, -1n, 5n], [0n, 64n, 2n]],
  ['mulHi', u32, u32, (x) => mulHi(x, 0xd2511f53), [0, 1, 0xffffffff], [0, 0, 0xd2511f52]],
  ['mulHi', i32, i32, (x) => mulHi(x, -3), [2 ** 30, -(2 ** 31), 1], [-1, 1, -1]],
  ['mulHi', u64, u64, (x) => mulHi(x, x), [2n ** 63n, 3n], [2n ** 62n, 0n]],
  ['mulHi', i64, i64, (x) => mulHi(x, x), [-(2n ** 63n), -3n], [2n ** 62n, 0n]],
  ['bitcast', f32, i32, (x) => bitcast(x, i32), [1, -0, inf], [0x3f800000, -(2 ** 31), 0x7f800000]],
  ['bitcast', i32, f32, (x) => bitcast(x, f32), [0x3f800000, 1], [1, 2 ** -149]],
  ['bitcast', bf16, i16, (x) => bitcast(x, i16), [1, -2], [0x3f80, -0x4000]],
  ['bitcast', i16, f16, (x) => bitcast(x, f16), [0x3c00, 1, 0x7c00], [1, 2 ** -24, inf]],
  ['bitcast', i64, f64, (x) => bitcast(x, f64), [0x3ff0000000000000n], [1]],
];

const all = (execute: typeof interpret): void => {
  test.each(rows.map((r) => [r[0], r[1].name, r] as const))(
    '%s (%s)',
    async (_, __, [, from, to, f, values, expected]) => {
      expect(await apply(execute, from, to, f, values)).toEqual(expected);
    },
  );
};

/** erfInv by bisection, of x in (0, 1). */
function inverse(x: number): number {
  let [low, high] = [0, 6];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    const beyond = x < 0.5 ? erf(middle) > x : erfc(middle) < 1 - x;
    if (beyond) high = middle;
    else low = middle;
  }
  return low;
}

const inverseWithin2Ulp = (execute: typeof interpret): void =>
  test('erfInv within 2 ulp', async () => {
    const list = Array.from({ length: 24 }, (_, k) => 2 ** (-1 - k)).flatMap((x) => [x, 1.3 * x, 1.9 * x, 1 - x]);
    const values = list.map(Math.fround).filter((x) => x < 1);
    const got = await apply(execute, f32, f32, erfInv, values);
    const wrong = values.flatMap((x, i) => {
      const y = inverse(x);
      return Math.abs(Number(got[i]) - y) <= 2 ** (Math.floor(Math.log2(y)) - 22) ? [] : [`${x}: ${got[i]}, not ${y}`];
    });
    expect(wrong).toEqual([]);
  });

describe('elementwise functions in the interpreter', () => {
  all(interpret);
  inverseWithin2Ulp(interpret);
});
describeTool('mlir', 'elementwise functions on the CPU', () => {
  all(run as never);
  inverseWithin2Ulp(run as never);
});
