import { describe, expect, test } from '@jest/globals';
import { f16round } from '@petamoriken/float16';
import fc from 'fast-check';
import {
  bf16,
  type DType,
  f4e2m1fn,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0fnu,
  f16,
  f32,
  i4,
  i8,
  i32,
  i64,
  u4,
  u64,
} from '../../src/ir/dtypes.js';
import { converter } from '../../src/ir/numerics/convert.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { allocate, allocateHost, decodeElements, encodeElements } from '../../src/ir/numerics/registers.js';

/** Nearest value of a format by search over all its codes; ties go to the even code. */
function nearestCode(decode: Float32Array, x: number, codes: readonly number[]): number {
  let best = codes[0]!;
  for (const c of codes) {
    const [d, e] = [Math.abs(decode[c]! - x), Math.abs(decode[best]! - x)];
    if (d < e || (d === e && c % 2 === 0 && best % 2 === 1)) best = c;
  }
  return best;
}

describe('f16', () => {
  const { decode, encode } = codecOf(f16);
  test('every code decodes to what another implementation says and encodes back', () => {
    for (let code = 0; code < 65536; code++) {
      const x = decode[code]!;
      expect(Object.is(f16round(x), x)).toBe(true);
      if (!Number.isNaN(x)) expect(encode(x, false)).toBe(code);
    }
  });
  test('rounds as another implementation does', () => {
    fc.assert(
      fc.property(fc.float(), (x) => {
        expect(Object.is(decode[encode(x, false)]!, f16round(x)) || Number.isNaN(x)).toBe(true);
      }),
      { numRuns: 3000, seed: 1 },
    );
  });
  test.each([
    [65519.99, 65504],
    [65520, Number.POSITIVE_INFINITY],
    [-65520, Number.NEGATIVE_INFINITY],
    [2 ** -25, 0],
    [2 ** -25 * 1.0001, 2 ** -24],
    [1 + 2 ** -11, 1],
    [1 + 3 * 2 ** -11, 1 + 2 ** -9],
  ])('%d rounds to %d', (x, y) => {
    expect(decode[encode(x, false)]).toBe(y);
  });
});

describe('bf16', () => {
  const { decode, encode } = codecOf(bf16);
  test('is the upper half of f32', () => {
    const word = new Uint32Array(1);
    const float = new Float32Array(word.buffer);
    for (let code = 0; code < 65536; code++) {
      word[0] = code * 65536;
      expect(Object.is(decode[code], float[0]) || Number.isNaN(float[0])).toBe(true);
      if (!Number.isNaN(float[0])) expect(encode(float[0]!, false)).toBe(code);
    }
  });
  test.each([
    [1 + 2 ** -8, 1],
    [1 + 3 * 2 ** -8, 1 + 2 ** -6],
    [3.4e38, Number.POSITIVE_INFINITY],
  ])('%d rounds to %d', (x, y) => {
    expect(decode[encode(x, false)]).toBe(y);
  });
});

describe.each([f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, f4e2m1fn] as readonly DType[])('$name', (d) => {
  const { decode, encode, largest } = codecOf(d);
  const finite = Array.from(decode.keys()).filter((c) => Number.isFinite(decode[c]!) && !Object.is(decode[c], -0));
  const positive = finite.filter((c) => decode[c]! >= 0);

  test('every code encodes back', () => {
    decode.forEach((x, code) => {
      if (!Number.isNaN(x)) expect(encode(x, false)).toBe(code);
    });
  });
  test('rounds to the nearest value, ties to even', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: largest, noNaN: true }), (x) => {
        const narrow = Math.fround(x);
        expect(decode[encode(narrow, true)]).toBe(decode[nearestCode(decode, narrow, positive)]);
        expect(decode[encode(-narrow, true)]! + 0).toBe(-decode[nearestCode(decode, narrow, positive)]! + 0);
      }),
      { numRuns: 2000, seed: 2 },
    );
  });
  test('saturates; without it overflow is the format’s own; NaN stays NaN where there is one', () => {
    expect(decode[encode(1e9, true)]).toBe(largest);
    expect(decode[encode(Number.NEGATIVE_INFINITY, true)]).toBe(-largest);
    const own = decode[encode(1e9, false)]!;
    expect(d === f8e5m2 ? own === Number.POSITIVE_INFINITY : d === f4e2m1fn ? own === largest : Number.isNaN(own)).toBe(
      true,
    );
    if (d !== f4e2m1fn) expect(decode[encode(Number.NaN, true)]).toBeNaN();
  });
});

test('e8m0 holds powers of two', () => {
  const { decode, encode } = codecOf(f8e8m0fnu);
  expect(decode[127]).toBe(1);
  expect(decode[255]).toBeNaN();
  expect(encode(2 ** 10, true)).toBe(137);
});

describe('4-bit integers lie two to a byte, the low nibble first', () => {
  test.each([
    [i4, [-8, 7, -1, 3, 0]],
    [u4, [15, 0, 8, 1, 9]],
  ] as const)('%s', (d, values) => {
    const host = allocateHost(d, 5);
    const registers = allocate(d, 5);
    (registers as Int8Array).set(values);
    encodeElements(d, registers, 0, 5, host, 0);
    expect(host.length).toBe(3);
    expect((host as Uint8Array)[0]).toBe((values[0] & 15) | ((values[1] & 15) << 4));
    const back = allocate(d, 5);
    decodeElements(d, host, 0, 5, 1, back, 0);
    expect(Array.from(back as Int8Array)).toEqual(values);
  });
});

describe('conversions of 64-bit integers', () => {
  const exact = { saturate: true };
  test('to f32 in one rounding', () => {
    // Through double this tie would be rounded twice, the wrong way.
    const x = (1n << 60n) + (1n << 36n) + 1n;
    expect(converter(i64, f32, exact)(x)).toBe(2 ** 60 + 2 ** 37);
    expect(converter(i64, f32, exact)(-x)).toBe(-(2 ** 60 + 2 ** 37));
    expect(converter(u64, f32, exact)(2n ** 64n - 1n)).toBe(2 ** 64);
  });
  test('from floats, saturating', () => {
    expect(converter(f32, i64, exact)(1e30)).toBe(2n ** 63n - 1n);
    expect(converter(f32, i64, exact)(Number.NaN)).toBe(0n);
    expect(converter(f32, u64, exact)(-1)).toBe(0n);
  });
  test('to narrower integers, wrapping', () => {
    expect(converter(i64, i32, exact)(2n ** 31n)).toBe(-(2 ** 31));
    expect(converter(i64, i8, exact)(-129n)).toBe(127);
  });
});
