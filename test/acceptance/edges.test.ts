import { describe, expect, test } from '@jest/globals';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import {
  bf16,
  bool,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  intRange,
  isFloat,
  isWide,
  u8,
  u16,
  u32,
  u64,
} from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { type TileType, tileType } from '../../src/ir/types.js';
import { byFolder, byInterpreter, type Execute, onCpu } from '../support/edge-run.js';
import { elementwiseKernel, plainOp } from '../support/op-kernels.js';
import { describeTool } from '../support/tools.js';

const { fround } = Math;
const floats: Readonly<Record<string, readonly number[]>> = {
  f32: [
    0,
    -0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3,
    -7.25,
    1e-40,
    -1e-45,
    1.17549435e-38,
    3.4028234e38,
    -3.4028234e38,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    16777217,
  ],
  f16: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    -2.5,
    6e-8,
    -6.1e-5,
    65504,
    -65504,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    2049,
  ],
  bf16: [
    0,
    -0,
    1,
    -1,
    0.5,
    1.5,
    -2.5,
    1e-40,
    3.3e38,
    -3.3e38,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.NaN,
    257,
    1.0078125,
  ],
};
const ints = (d: DType): readonly bigint[] => {
  const [low, high] = intRange(d);
  const near = [low, low + 1n, high, high - 1n, 0n, 1n, 2n, 3n, 7n, 8n, 31n, 32n, 33n, 63n, 64n, -1n, -2n, -7n, -8n];
  return [...new Set(near.filter((x) => x >= low && x <= high))];
};

/** All pairs of a list, as two arrays. */
function pairs<T>(list: readonly T[]): [T[], T[]] {
  return [list.flatMap((x) => list.map(() => x)), list.flatMap(() => [...list])];
}

const round = (d: DType): ((x: number) => number) => {
  if (d === f32) return fround;
  const { encode, decode } = codecOf(d);
  return (x) => decode[encode(fround(x), false)]!;
};

/** Expected results of float ops, straight from the semantics. `Object.is` decides: -0 is not 0. */
const floatOps: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  max: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : a > b || (a === b && !Object.is(a, -0)) ? a : b),
  min: (a, b) => (Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : a < b || (a === b && Object.is(a, -0)) ? a : b),
  max_num: (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b)),
  min_num: (a, b) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b)),
};
const floatUnary: Readonly<Record<string, (x: number) => number>> = {
  neg: (x) => -x,
  abs: (x) => Math.abs(x),
  sqrt: (x) => Math.sqrt(x),
  floor: (x) => Math.floor(x),
  ceil: (x) => Math.ceil(x),
  round: (x) => {
    if (!Number.isFinite(x) || Math.abs(x) >= 2 ** 52) return x;
    const down = Math.floor(x);
    const nearest = x - down < 0.5 ? down : x - down > 0.5 ? down + 1 : down % 2 === 0 ? down : down + 1;
    return nearest === 0 && (x < 0 || Object.is(x, -0)) ? -0 : nearest;
  },
};
const comparisons: Readonly<Record<string, (a: number | bigint, b: number | bigint) => boolean>> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
};

const wrap = (d: DType, x: bigint): bigint => (d.signed ? BigInt.asIntN(d.bits, x) : BigInt.asUintN(d.bits, x));
const floorDiv = (a: bigint, b: bigint): bigint => (a % b !== 0n && a < 0n !== b < 0n ? a / b - 1n : a / b);
/** Expected results of integer ops; undefined where the semantics leave the value open (division by zero). */
const intOps: Readonly<Record<string, (a: bigint, b: bigint, d: DType) => bigint | undefined>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => (b === 0n ? undefined : a / b),
  rem: (a, b) => (b === 0n ? undefined : a % b),
  floor_div: (a, b) => (b === 0n ? undefined : floorDiv(a, b)),
  mod: (a, b) => (b === 0n ? undefined : a - b * floorDiv(a, b)),
  cdiv: (a, b) => (b === 0n ? undefined : -floorDiv(-a, b)),
  max: (a, b) => (a > b ? a : b),
  min: (a, b) => (a < b ? a : b),
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b, d) => (BigInt.asUintN(d.bits, b) >= BigInt(d.bits) ? 0n : a << BigInt.asUintN(d.bits, b)),
  shr: (a, b, d) =>
    BigInt.asUintN(d.bits, b) >= BigInt(d.bits) ? (a < 0n ? -1n : 0n) : a >> BigInt.asUintN(d.bits, b),
};
const intUnary: Readonly<Record<string, (x: bigint) => bigint>> = {
  neg: (x) => -x,
  abs: (x) => (x < 0n ? -x : x),
  not: (x) => ~x,
};

const pairGroups = ['left', 'right'];
const asNumber = (d: DType, x: bigint): number | bigint => (isWide(d) ? x : Number(x));

/** Compares with Object.is; NaN is NaN whatever its bits. */
function expectExact(
  name: string,
  actual: NdArray,
  expected: readonly (number | bigint | undefined)[],
  inputs: readonly (readonly unknown[])[],
): void {
  const got = toRegisters(actual);
  const wrong: string[] = [];
  expected.forEach((e, i) => {
    if (e !== undefined && !Object.is(got[i], e))
      wrong.push(
        `${name}(${inputs.map((x) => (Object.is(x[i], -0) ? '-0' : String(x[i]))).join(', ')}) = ${Object.is(got[i], -0) ? '-0' : String(got[i])}, expected ${Object.is(e, -0) ? '-0' : String(e)}`,
      );
  });
  expect(wrong).toEqual([]);
}

const castType =
  (d: DType) =>
  (operands: readonly { type: unknown }[]): readonly TileType[] => [tileType(d, (operands[0]!.type as TileType).shape)];

function edges(execute: Execute): void {
  describe.each([f32, f16, bf16])('$name', (d) => {
    const r = round(d);
    const [a, b] = pairs(floats[d.name]!.map(r));
    const inputs = { in0: fromNumbers(d, [a.length], a), in1: fromNumbers(d, [b.length], b) };

    test('arithmetic, rounded once', async () => {
      const ops = Object.fromEntries(Object.keys(floatOps).map((n) => [n, { emit: plainOp(n, pairGroups), dtype: d }]));
      const out = await execute(elementwiseKernel([d, d], ops), inputs);
      for (const [n, f] of Object.entries(floatOps))
        expectExact(
          n,
          out[n]!,
          a.map((x, i) => r(f(x, b[i]!))),
          [a, b],
        );
    });

    test('comparisons are IEEE', async () => {
      const ops = Object.fromEntries(
        Object.keys(comparisons).map((n) => [n, { emit: plainOp(n, pairGroups), dtype: bool as DType }]),
      );
      const out = await execute(elementwiseKernel([d, d], ops), inputs);
      for (const [n, f] of Object.entries(comparisons))
        expectExact(
          n,
          out[n]!,
          a.map((x, i) => Number(f(x, b[i]!))),
          [a, b],
        );
    });

    test('functions of one operand', async () => {
      const list = floats[d.name]!.map(r);
      const ops = Object.fromEntries(
        Object.keys(floatUnary).map((n) => [n, { emit: plainOp(n, ['input']), dtype: d }]),
      );
      const out = await execute(elementwiseKernel([d], ops), { in0: fromNumbers(d, [list.length], list) });
      for (const [n, f] of Object.entries(floatUnary))
        expectExact(
          n,
          out[n]!,
          list.map((x) => r(f(x))),
          [list],
        );
    });

    test('casts: to integers saturate toward zero, NaN gives 0; to narrower floats nearest even', async () => {
      const list = [...floats[d.name]!, 127.9, -128.9, 255.5, 2147483520, -2147483648, 1e10, -1e10, 300, -300].map(r);
      const targets = [i8, i16, i32, u8, u16, u32, i64, f16, bf16, f32, bool].filter((t) => t !== (d as DType));
      const ops = Object.fromEntries(
        targets.map((t) => [t.name, { emit: plainOp('cast', ['input'], {}, castType(t)), dtype: t as DType }]),
      );
      const out = await execute(elementwiseKernel([d], ops), { in0: fromNumbers(d, [list.length], list) });
      for (const t of targets) {
        const convert = (x: number): number | bigint => {
          if (t === bool) return x === 0 ? 0 : 1;
          if (isFloat(t)) return round(t)(x);
          const [low, high] = intRange(t);
          if (Number.isNaN(x)) return asNumber(t, 0n);
          const whole = Number.isFinite(x) ? BigInt(Math.trunc(x)) : x > 0 ? high : low;
          return asNumber(t, whole < low ? low : whole > high ? high : whole);
        };
        expectExact(`cast to ${t.name}`, out[t.name]!, list.map(convert), [list]);
      }
    });
  });

  describe.each([i8, i16, i32, u8, u32, i64])('$name', (d) => {
    const [a, b] = pairs(ints(d));
    const inputs = {
      in0: fromNumbers(
        d,
        [a.length],
        a.map((x) => asNumber(d, x)),
      ),
      in1: fromNumbers(
        d,
        [b.length],
        b.map((x) => asNumber(d, x)),
      ),
    };

    test('arithmetic wraps, division never traps, shifts run out', async () => {
      const ops = Object.fromEntries(
        Object.keys(intOps).map((n) => [n, { emit: plainOp(n, pairGroups), dtype: d as DType }]),
      );
      const out = await execute(elementwiseKernel([d, d], ops), inputs);
      for (const [n, f] of Object.entries(intOps)) {
        const expected = a.map((x, i) => {
          const y = f(x, b[i]!, d);
          return y === undefined ? undefined : asNumber(d, wrap(d, y));
        });
        expectExact(n, out[n]!, expected, [a, b]);
      }
    });

    test('comparisons, and functions of one operand', async () => {
      const ops = Object.fromEntries([
        ...Object.keys(comparisons).map((n) => [n, { emit: plainOp(n, pairGroups), dtype: bool as DType }]),
        ...Object.keys(intUnary).map((n) => [n, { emit: plainOp(n, ['input']), dtype: d }]),
      ]);
      const out = await execute(elementwiseKernel([d, d], ops), inputs);
      for (const [n, f] of Object.entries(comparisons))
        expectExact(
          n,
          out[n]!,
          a.map((x, i) => Number(f(x, b[i]!))),
          [a, b],
        );
      for (const [n, f] of Object.entries(intUnary))
        expectExact(
          n,
          out[n]!,
          a.map((x) => asNumber(d, wrap(d, f(x)))),
          [a],
        );
    });

    test('casts wrap between integers and round to floats once', async () => {
      const list = ints(d);
      const targets = [i8, i16, i32, u8, u32, i64, f32, f16, bf16, bool].filter((t) => t !== (d as DType));
      const ops = Object.fromEntries(
        targets.map((t) => [t.name, { emit: plainOp('cast', ['input'], {}, castType(t)), dtype: t as DType }]),
      );
      const out = await execute(elementwiseKernel([d], ops), {
        in0: fromNumbers(
          d,
          [list.length],
          list.map((x) => asNumber(d, x)),
        ),
      });
      for (const t of targets) {
        const expected = list.map((x) =>
          t === bool ? Number(x !== 0n) : isFloat(t) ? round(t)(Number(x)) : asNumber(t, wrap(t, x)),
        );
        expectExact(`cast to ${t.name}`, out[t.name]!, expected, [list]);
      }
    });
  });

  test('math functions of f32: within 2 ulp over all exponents, specials exact', async () => {
    const list: number[] = [
      0,
      -0,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NaN,
      88.72283,
      88.8,
      -87.4,
      -103.97,
      -104,
      127.99999,
      128,
      -149,
      -150,
      -126.5,
    ];
    list.forEach((x, i) => (list[i] = fround(x)));
    for (let e = -149; e < 128; e++)
      for (const m of [1, 1.1, 1.4, 1.5, 1.99]) list.push(fround(m * 2 ** e), fround(-m * 2 ** e));
    for (let i = -400; i < 400; i++) list.push(fround(i / 4.37), fround(i / 61));
    const functions: Readonly<Record<string, (x: number) => number>> = {
      exp: Math.exp,
      exp2: (x) => 2 ** x,
      log: Math.log,
      log2: Math.log2,
      tanh: Math.tanh,
      rsqrt: (x) => 1 / Math.sqrt(x),
    };
    const ops = Object.fromEntries(
      Object.keys(functions).map((n) => [n, { emit: plainOp(n, ['input']), dtype: f32 as DType }]),
    );
    const out = await execute(elementwiseKernel([f32], ops), { in0: fromNumbers(f32, [list.length], list) });
    for (const [n, f] of Object.entries(functions)) {
      const got = toRegisters(out[n]!);
      const wrong = list.flatMap((x, i) => {
        const exact = f(x);
        const ulp = Math.max(2 ** -149, 2 ** (Math.floor(Math.log2(Math.abs(exact))) - 23));
        const y = Number(got[i]);
        const special = !Number.isFinite(fround(exact)) || exact === 0;
        return (special ? Object.is(y, fround(exact)) : Math.abs(y - exact) <= 2 * ulp)
          ? []
          : [`${n}(${x}) = ${y}, expected ${exact}`];
      });
      expect(wrong).toEqual([]);
    }
  });

  describe('casts of what f32 cannot hold round once', () => {
    const [i, l] = [2n ** 30n + 2n ** 22n, 2n ** 62n + 2n ** 54n];
    test.each<[DType, DType, readonly (number | bigint)[], readonly number[]]>([
      [f64, f16, [1 + 2 ** -11, 1 + 2 ** -11 + 2 ** -40, -1 - 2 ** -11 - 2 ** -40], [1, 1 + 2 ** -10, -1 - 2 ** -10]],
      [
        f64,
        f16,
        [1 + 3 * 2 ** -11 - 2 ** -40, 2 ** -25 + 2 ** -60, 1e-300, 1e300],
        [1 + 2 ** -10, 2 ** -24, 0, Infinity],
      ],
      [f64, f16, [NaN, -Infinity, 65519.99999999, 65520], [NaN, -Infinity, 65504, Infinity]],
      [f64, bf16, [1 + 2 ** -8, 1 + 2 ** -8 + 2 ** -40, 1 + 3 * 2 ** -8 - 2 ** -40], [1, 1 + 2 ** -7, 1 + 2 ** -7]],
      [f64, bf16, [NaN, -Infinity, 1e300, 2 ** -134, 2 ** -134 + 2 ** -170], [NaN, -Infinity, Infinity, 0, 2 ** -133]],
      [
        i32,
        bf16,
        [i, i + 1n, -i - 1n, i - 1n, 16777217].map(Number),
        [2 ** 30, 2 ** 30 + 2 ** 23, -(2 ** 30) - 2 ** 23, 2 ** 30, 2 ** 24],
      ],
      [u32, bf16, [2n * i, 2n * i + 1n, 2n * i - 1n].map(Number), [2 ** 31, 2 ** 31 + 2 ** 24, 2 ** 31]],
      [
        i64,
        bf16,
        [l, l + 1n, -l - 1n, l - 1n, 5n, -5n],
        [2 ** 62, 2 ** 62 + 2 ** 55, -(2 ** 62) - 2 ** 55, 2 ** 62, 5, -5],
      ],
      [i64, f32, [2n ** 60n + 2n ** 36n, 2n ** 60n + 2n ** 36n + 1n], [2 ** 60, 2 ** 60 + 2 ** 37]],
      [i64, f16, [2049n, 2051n, 65519n, 65520n, -(2n ** 63n)], [2048, 2052, 65504, Infinity, -Infinity]],
      [u64, bf16, [2n * l, 2n * l + 1n, 2n * l - 1n], [2 ** 63, 2 ** 63 + 2 ** 56, 2 ** 63]],
    ])('%s to %s', async (from, to, values, expected) => {
      const ops = { out: { emit: plainOp('cast', ['input'], {}, castType(to)), dtype: to } };
      const out = await execute(elementwiseKernel([from], ops), { in0: fromNumbers(from, [values.length], values) });
      expectExact(`${from.name} to ${to.name}`, out.out!, expected, [values]);
    });
  });
}

describe('edges in the interpreter', () => edges(byInterpreter));
describe('edges by the constant folder', () => edges(byFolder));
describeTool('mlir', 'edges on the CPU', () => edges(onCpu));
