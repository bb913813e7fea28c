/** Floats of 8 and 4 bits and 4-bit integers: every code, and what conversions make of boundaries, by the interpreter, the folder and the CPU. */

import { describe, expect, test } from '@jest/globals';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import {
  bf16,
  bool,
  type DType,
  f4e2m1fn,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0fnu,
  f16,
  f32,
  f64,
  i4,
  i8,
  i32,
  i64,
  intRange,
  u4,
  u8,
  u32,
} from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { type TileType, tileType } from '../../src/ir/types.js';
import type { Value } from '../../src/ir/value.js';
import { byFolder, byInterpreter, type Execute, onCpu } from '../support/edge-run.js';
import { type Emit, elementwiseKernel, plainOp } from '../support/op-kernels.js';
import { describeTool } from '../support/tools.js';

type Ops = Parameters<typeof elementwiseKernel>[1];

const resultOf =
  (d: DType) =>
  ([x]: readonly Value[]): readonly TileType[] => [tileType(d, (x!.type as TileType).shape)];
const cast = (to: DType, attrs: object = {}): { emit: Emit; dtype: DType } => ({
  emit: plainOp('cast', ['input'], attrs, resultOf(to)),
  dtype: to,
});
const copy: Emit = (_, [x]) => x!;

/** Values with -0 told from 0. */
const shown = (x: number | bigint | undefined): string => (Object.is(x, -0) ? '-0' : String(x));
const values = (array: NdArray): string[] => Array.from(toRegisters(array), shown);

const floats8: readonly DType[] = [f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz];
const floats: readonly DType[] = [...floats8, f8e8m0fnu, f4e2m1fn];

/** An array of every code in turn. */
function everyCode(dtype: DType): NdArray {
  const n = 2 ** dtype.bits;
  const data =
    dtype.bits === 4
      ? Uint8Array.from({ length: n / 2 }, (_, i) => ((2 * i + 1) << 4) | (2 * i))
      : Uint8Array.from({ length: n }, (_, i) => i);
  return { dtype, shape: [n], data } as NdArray;
}

/** Each number of a format, what lies halfway to its neighbour, and what is next to these; and the ends of f32. */
function boundaries(dtype: DType): number[] {
  const finite = [...new Set(codecOf(dtype).decode)].filter((x) => Number.isFinite(x) && x >= 0).sort((a, b) => a - b);
  const last = finite.at(-1)!;
  const steps = [...finite, 2 * last - finite.at(-2)!];
  const middles = steps.slice(1).map((x, i) => (x + steps[i]!) / 2);
  const near = [...steps, ...middles].flatMap((x) => [x, x * (1 + 2 ** -23), x * (1 - 2 ** -24)]);
  const all = [...near, 1e-45, 1e-40, 1e38, 3.4e38, 65504, 65536, Infinity, Number.NaN].map(Math.fround);
  return all.flatMap((x) => [x, -x]);
}

/** Of the pairs of 8-bit floats every `stride`th: the folder makes a kernel for each. */
function narrow(execute: Execute, stride = 1): void {
  describe.each(floats)('$name', (dtype) => {
    const { decode, encode } = codecOf(dtype);
    const codes = everyCode(dtype);

    test('every code is the number it should be, and goes back unchanged', async () => {
      const ops: Ops = { f32: cast(f32), f64: cast(f64), copy: { emit: copy, dtype } };
      const out = await execute(elementwiseKernel([dtype], ops), { in0: codes });
      const expected = Array.from(decode, shown);
      expect(values(out.f32!)).toEqual(expected);
      expect(values(out.f64!)).toEqual(expected);
      expect(values(out.copy!)).toEqual(expected);
    });

    test.each<[DType, boolean]>([
      [f32, true],
      [f32, false],
      [f64, true],
      [f64, false],
      [f16, true],
      [bf16, false],
    ])('casts from %s round once, saturate: %s', async (from, saturate) => {
      const given = fromNumbers(from, [boundaries(dtype).length], boundaries(dtype));
      const ops: Ops = { out: cast(dtype, saturate ? {} : { saturate: false }), wide: cast(f32) };
      const { out, wide } = await execute(
        elementwiseKernel([from], { out: ops.out!, ...(from === f32 ? {} : { wide: ops.wide! }) }),
        { in0: given },
      );
      const inputs = Array.from(toRegisters(given), Number);
      expect(values(out!)).toEqual(inputs.map((x) => shown(decode[encode(x, saturate)])));
      if (wide) expect(values(wide)).toEqual(inputs.map((x) => shown(Math.fround(x))));
    });

    test('casts from integers and to them', async () => {
      const list = [0, 1, 7, 9, -5, -17, 447, 449, 464, 465, 65535, -70000, 2 ** 31 - 1];
      const out = await execute(elementwiseKernel([i32], { out: cast(dtype) }), {
        in0: fromNumbers(i32, [list.length], list),
      });
      expect(values(out.out!)).toEqual(list.map((x) => shown(decode[encode(x, true)])));
      const back = await execute(elementwiseKernel([dtype], { i8: cast(i8), bool: cast(bool) }), { in0: codes });
      const numbers = Array.from(decode);
      expect(values(back.i8!)).toEqual(
        numbers.map((x) => shown(Number.isNaN(x) ? 0 : Math.trunc(Math.min(Math.max(x, -128), 127)) + 0)),
      );
      expect(values(back.bool!)).toEqual(numbers.map((x) => shown(x === 0 ? 0 : 1)));
    });

    test('bitcasts move the code', async () => {
      if (dtype.bits === 4) return;
      const ops: Ops = { out: { emit: plainOp('bitcast', ['input'], {}, resultOf(u8)), dtype: u8 } };
      const out = await execute(elementwiseKernel([dtype], ops), { in0: codes });
      const same = Array.from(decode, (x, code) => (Number.isNaN(x) ? undefined : code));
      const got = toRegisters(out.out!);
      expect(same.map((code, i) => (code === undefined ? undefined : got[i]))).toEqual(same);
    });
  });

  describe.each(floats8)('arithmetic in $name', (dtype) => {
    const { decode, encode } = codecOf(dtype);
    const list = [...new Set(Array.from(decode))].filter((_, i) => i % 5 === 0 || i > 120);
    const pairs = list.flatMap((x) => list.map((y) => [x, y] as const)).filter((_, i) => i % stride === 0);
    const [a, b] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
    const hasInfinity = decode.includes(Infinity);
    const rounded = (x: number): number => {
      const y = Math.fround(x);
      return decode[encode(y, !(hasInfinity && Math.abs(y) === Infinity))]!;
    };
    const two: Readonly<Record<string, (x: number, y: number) => number>> = {
      add: (x, y) => x + y,
      mul: (x, y) => x * y,
      div: (x, y) => x / y,
      max: Math.max,
      min: Math.min,
    };
    const one: Readonly<Record<string, (x: number) => number>> = {
      neg: (x) => -x,
      abs: Math.abs,
      floor: Math.floor,
      sqrt: Math.sqrt,
    };

    test('computes in f32 and rounds once; the largest number for too much, but infinities stay', async () => {
      const ops: Ops = {
        ...Object.fromEntries(Object.keys(two).map((n) => [n, { emit: plainOp(n, ['left', 'right']), dtype }])),
        ...Object.fromEntries(Object.keys(one).map((n) => [n, { emit: plainOp(n, ['input']), dtype }])),
      };
      const out = await execute(elementwiseKernel([dtype, dtype], ops), {
        in0: { dtype, shape: [a.length], data: Uint8Array.from(a, (x) => encode(x, false)) } as NdArray,
        in1: { dtype, shape: [b.length], data: Uint8Array.from(b, (x) => encode(x, false)) } as NdArray,
      });
      for (const [n, f] of Object.entries(two))
        expect([n, values(out[n]!)]).toEqual([n, a.map((x, i) => shown(rounded(f(x, b[i]!))))]);
      for (const [n, f] of Object.entries(one))
        expect([n, values(out[n]!)]).toEqual([n, a.map((x) => shown(rounded(f(x))))]);
    });
  });

  describe.each([i4, u4] as readonly DType[])('$name', (d) => {
    const [low, high] = intRange(d).map(Number) as [number, number];
    const all = Array.from({ length: 16 }, (_, i) => low + i);
    const [a, b] = [all.flatMap((x) => all.map(() => x)), all.flatMap(() => all)];
    const wrap = (x: number): number => (d.signed ? (x << 28) >> 28 : x & 15);
    const inputs = { in0: fromNumbers(d, [a.length], a), in1: fromNumbers(d, [b.length], b) };
    const amount = (x: number): number => x & 15;
    const two: Readonly<Record<string, (x: number, y: number) => number | undefined>> = {
      add: (x, y) => x + y,
      sub: (x, y) => x - y,
      mul: (x, y) => x * y,
      mul_hi: (x, y) => (x * y) >> 4,
      div: (x, y) => (y === 0 ? undefined : Math.trunc(x / y)),
      mod: (x, y) => (y === 0 ? undefined : x - y * Math.floor(x / y)),
      max: Math.max,
      min: Math.min,
      and: (x, y) => x & y,
      xor: (x, y) => x ^ y,
      shl: (x, y) => (amount(y) >= 4 ? 0 : x << amount(y)),
      shr: (x, y) => x >> Math.min(amount(y), 5),
    };
    const one: Readonly<Record<string, (x: number) => number>> = {
      neg: (x) => -x,
      abs: Math.abs,
      not: (x) => ~x,
      count_leading_zeros: (x) => Math.clz32(x & 15) - 28,
      population_count: (x) => (x & 15).toString(2).replaceAll('0', '').length,
    };

    test('arithmetic wraps to 4 bits', async () => {
      const ops: Ops = {
        ...Object.fromEntries(Object.keys(two).map((n) => [n, { emit: plainOp(n, ['left', 'right']), dtype: d }])),
        ...Object.fromEntries(Object.keys(one).map((n) => [n, { emit: plainOp(n, ['input']), dtype: d }])),
        lt: { emit: plainOp('lt', ['left', 'right']), dtype: bool },
      };
      const out = await execute(elementwiseKernel([d, d], ops), inputs);
      for (const [n, f] of Object.entries(two)) {
        const expected = a.map((x, i) => f(x, b[i]!));
        const got = toRegisters(out[n]!);
        expect([n, expected.map((x, i) => (x === undefined ? undefined : got[i]))]).toEqual([
          n,
          expected.map((x) => (x === undefined ? undefined : wrap(x))),
        ]);
      }
      for (const [n, f] of Object.entries(one))
        expect([n, values(out[n]!)]).toEqual([n, a.map((x) => shown(wrap(f(x))))]);
      expect(values(out.lt!)).toEqual(a.map((x, i) => shown(Number(x < b[i]!))));
    });

    test('casts wrap from integers, saturate from floats', async () => {
      const targets: readonly DType[] = [i8, u8, i32, u32, i64, f32, bf16, f8e4m3fn, bool];
      const out = await execute(elementwiseKernel([d], Object.fromEntries(targets.map((t) => [t.name, cast(t)]))), {
        in0: inputs.in1,
      });
      for (const t of targets) {
        const mask = (x: number): number | bigint => {
          if (t === bool) return Number(x !== 0);
          if (t === u8) return x & 255;
          if (t === u32) return x >>> 0;
          return t === i64 ? BigInt(x) : x;
        };
        expect([t.name, values(out[t.name]!)]).toEqual([t.name, b.map((x) => shown(mask(x)))]);
      }
      const list = [0, 7, 8, 15, 16, -1, -8, -9, 100, -100, 2 ** 31 - 1];
      const fromInts = await execute(elementwiseKernel([i32], { out: cast(d) }), {
        in0: fromNumbers(i32, [list.length], list),
      });
      expect(values(fromInts.out!)).toEqual(list.map((x) => shown(wrap(x))));
      const reals = [0, -0, 0.9, -0.9, 7.9, 8, 15.9, 16, -8.9, -9, Infinity, -Infinity, Number.NaN];
      const fromFloats = await execute(elementwiseKernel([f32], { out: cast(d) }), {
        in0: fromNumbers(f32, [reals.length], reals),
      });
      expect(values(fromFloats.out!)).toEqual(
        reals.map((x) => shown(Number.isNaN(x) ? 0 : Math.trunc(Math.min(Math.max(x, low), high)) + 0)),
      );
    });

    test.each([0, 1, 2, 15, 16, 17, 33])('arrays of %i elements end where they end', async (n) => {
      const list = Array.from({ length: n }, (_, i) => wrap(i * 7 + 3));
      const out = await execute(elementwiseKernel([d], { out: { emit: plainOp('not', ['input']), dtype: d } }), {
        in0: fromNumbers(d, [n], list),
      });
      expect(values(out.out!)).toEqual(list.map((x) => shown(wrap(~x))));
    });
  });
}

describe('narrow dtypes in the interpreter', () => narrow(byInterpreter));
describe('narrow dtypes by the constant folder', () => narrow(byFolder, 41));
describeTool('mlir', 'narrow dtypes on the CPU', () => narrow(onCpu));
