import { describe, expect, test } from '@jest/globals';
import { Float16Array } from '@petamoriken/float16';
import fc from 'fast-check';
import {
  bf16,
  bool,
  type DType,
  dtypes,
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
  i16,
  i32,
  i64,
  intRange,
  isFloat,
  isWide,
  u4,
  u8,
  u16,
  u32,
  u64,
} from '../../src/ir/dtypes.js';
import { converter, convertRegisters } from '../../src/ir/numerics/convert.js';
import { codecOf, isNarrowFloat } from '../../src/ir/numerics/formats.js';
import * as integer from '../../src/ir/numerics/integer.js';
import {
  allocate,
  allocateHost,
  decodeElements,
  encodeElement,
  encodeElements,
  hostView,
  roundingOf,
} from '../../src/ir/numerics/registers.js';
import { middlesOf, numbersOf, roundTo, roundToF32, wrap } from '../support/rounding.js';

const shown = (x: unknown): string => (Object.is(x, -0) ? '-0' : String(x));
/** Where two functions of the same inputs differ, in words; the first few. */
function differences<T>(inputs: Iterable<T>, actual: (x: T) => unknown, expected: (x: T) => unknown): string[] {
  const found: string[] = [];
  for (const x of inputs) {
    const [a, e] = [actual(x), expected(x)];
    if (!Object.is(a, e)) found.push(`${shown(x)}: ${shown(a)}, expected ${shown(e)}`);
    if (found.length === 5) break;
  }
  return found;
}
const both = (xs: readonly number[]): number[] => xs.flatMap((x) => [x, -x]);
const codes = (bits: number): number[] => Array.from({ length: 2 ** bits }, (_, code) => code);
/** Every 37th and both ends: the tables of 16-bit formats are long. */
const sample = (xs: readonly number[]): number[] => xs.filter((_, i) => i % 37 === 0 || i < 40 || i > xs.length - 40);

const signedFormats: readonly DType[] = [f16, bf16, f8e4m3fn, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, f4e2m1fn];

describe.each(signedFormats)('$name', (d) => {
  const { decode, encode, largest } = codecOf(d);
  const rounded = (x: number, saturate: boolean): number => decode[encode(x, saturate)]!;
  const numbers = numbersOf(d);

  test('codes stand for the numbers of the format, and those for their codes', () => {
    const sign = 2 ** (d.bits - 1);
    expect(decode.length).toBe(2 * sign);
    expect(
      differences(
        numbers.keys(),
        (i) => decode[i],
        (i) => numbers[i],
      ),
    ).toEqual([]);
    expect(
      differences(
        [...numbers.keys()].slice(1),
        (i) => decode[sign + i],
        (i) => -numbers[i]!,
      ),
    ).toEqual([]);
    expect(largest).toBe(numbers.at(-1));
    const own = codes(d.bits).filter((c) => !Number.isNaN(decode[c]));
    expect(
      differences(
        own,
        (c) => encode(decode[c]!, false),
        (c) => c,
      ),
    ).toEqual([]);
  });

  test.each([true, false])(
    'turns exactly in the middle between neighbours, ties to even (saturate: %s)',
    (saturate) => {
      const near = sample(middlesOf(d)).flatMap((m) => [m, m * (1 + 2 ** -52), m * (1 - 2 ** -53), m * (1 + 2 ** -30)]);
      expect(
        differences(
          both(near),
          (x) => rounded(x, saturate),
          (x) => roundTo(d, x, saturate),
        ),
      ).toEqual([]);
    },
  );

  test('rounds any double once', () => {
    const span = largest * 2;
    fc.assert(
      fc.property(fc.double({ min: -span, max: span, noNaN: true }), fc.boolean(), (x, saturate) =>
        Object.is(rounded(x, saturate), roundTo(d, x, saturate)),
      ),
      { numRuns: 3000, seed: 2 },
    );
  });

  test('infinity, NaN and zeros', () => {
    const { POSITIVE_INFINITY: infinity, NaN: nan } = Number;
    expect(both([infinity]).map((x) => rounded(x, false))).toEqual(both([infinity]).map((x) => roundTo(d, x)));
    if (d.bits <= 8) expect(both([infinity]).map((x) => rounded(x, true))).toEqual([largest, -largest]);
    // e2m1 has no NaN; every other format keeps it, saturating or not.
    if (d !== f4e2m1fn) expect([rounded(nan, true), rounded(nan, false)]).toEqual([nan, nan]);
    expect(Object.is(rounded(-0, true), d === f8e4m3fnuz || d === f8e5m2fnuz ? 0 : -0)).toBe(true);
  });
});

test('the numbers that the standards name', () => {
  const at = (d: DType, ...cs: number[]): number[] => cs.map((c) => codecOf(d).decode[c]!);
  const { POSITIVE_INFINITY: infinity, NaN: nan } = Number;
  expect(at(f16, 0x3c00, 0x7bff, 0x0001, 0x0400, 0x7c00, 0x7e00)).toEqual([
    1,
    65504,
    2 ** -24,
    2 ** -14,
    infinity,
    nan,
  ]);
  expect(at(bf16, 0x3f80, 0x7f7f, 0x0001, 0x7f80)).toEqual([1, (2 - 2 ** -7) * 2 ** 127, 2 ** -133, infinity]);
  expect(at(f8e4m3fn, 0x38, 0x7e, 0x01, 0x7f, 0xff)).toEqual([1, 448, 2 ** -9, nan, nan]);
  expect(at(f8e5m2, 0x3c, 0x7b, 0x01, 0x7c, 0x7f)).toEqual([1, 57344, 2 ** -16, infinity, nan]);
  expect(at(f8e4m3fnuz, 0x40, 0x7f, 0x01, 0x80)).toEqual([1, 240, 2 ** -10, nan]);
  expect(at(f8e5m2fnuz, 0x40, 0x7f, 0x01, 0x80)).toEqual([1, 57344, 2 ** -17, nan]);
  expect(at(f4e2m1fn, ...codes(3))).toEqual([0, 0.5, 1, 1.5, 2, 3, 4, 6]);
});

test('all codes of f16 are those of another implementation', () => {
  const theirs = new Float16Array(Uint16Array.from(codes(16)).buffer);
  const { decode, encode } = codecOf(f16);
  expect(
    differences(
      codes(16),
      (c) => decode[c],
      (c) => theirs[c],
    ),
  ).toEqual([]);
  const one = new Float16Array(1);
  const bits = new Uint16Array(one.buffer as ArrayBuffer);
  fc.assert(
    fc.property(fc.float({ noNaN: true }), (x) => {
      one[0] = x;
      return encode(x, false) === bits[0];
    }),
    { numRuns: 3000, seed: 1 },
  );
});

test('all codes of bf16 are the upper halves of f32', () => {
  const word = new Uint32Array(1);
  const float = new Float32Array(word.buffer);
  const upper = (c: number): number => {
    word[0] = c * 65536;
    return float[0]!;
  };
  expect(differences(codes(16), (c) => codecOf(bf16).decode[c], upper)).toEqual([]);
});

describe('e8m0', () => {
  const { decode, encode } = codecOf(f8e8m0fnu);
  test('holds the powers of two from 2^-127 to 2^127, and NaN', () => {
    expect(
      differences(
        codes(8).slice(0, 255),
        (c) => decode[c],
        (c) => 2 ** (c - 127),
      ),
    ).toEqual([]);
    expect(decode[255]).toBeNaN();
    expect(
      differences(
        codes(8),
        (c) => encode(decode[c]!, false),
        (c) => c,
      ),
    ).toEqual([]);
  });
  test.each([
    [0, 0],
    [-0, 0],
    [2 ** -140, 0],
    [1.49 * 2 ** -127, 0],
    [1.5 * 2 ** -127, 1],
    [1.4999999999, 127],
    [1.5, 128],
    [3, 129],
    [-1, 255],
    [Number.NaN, 255],
  ])('%d has code %i', (x, code) => {
    expect([encode(x, true), encode(x, false)]).toEqual([code, code]);
  });
  test('beyond its largest number it saturates, or is NaN', () => {
    expect([3.4e38, Number.POSITIVE_INFINITY].map((x) => [encode(x, true), encode(x, false)])).toEqual([
      [254, 255],
      [254, 255],
    ]);
  });
});

describe('arithmetic in narrow floats', () => {
  test('goes through f32 and is rounded there first', () => {
    // One rounding from double would go up from just above the tie; f32 has dropped what is above it.
    const x = 1 + 2 ** -8 + 2 ** -30;
    expect(roundingOf(bf16)!(x)).toBe(1);
    expect(roundTo(bf16, x)).toBe(1 + 2 ** -7);
  });
  test('saturates in fp8, not in f16 and bf16', () => {
    expect(roundingOf(f8e5m2)!(1e9)).toBe(57344);
    expect(roundingOf(f8e4m3fn)!(Number.NEGATIVE_INFINITY)).toBe(-448);
    expect(roundingOf(f16)!(65520)).toBe(Number.POSITIVE_INFINITY);
  });
  test('is left to the register array in f32, f64 and whole bytes; 4-bit integers wrap', () => {
    expect([f32, f64, i8, u32, bool].map(roundingOf)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect([8, -9, 16].map(roundingOf(i4)!)).toEqual([-8, 7, 0]);
    expect([16, -1].map(roundingOf(u4)!)).toEqual([0, 15]);
  });
});

/** Values of a dtype at its ends, around zero and in between. */
function valuesOf(d: DType): (number | bigint)[] {
  if (d === bool) return [0, 1];
  if (isNarrowFloat(d) && d !== f8e8m0fnu) {
    const hasNegativeZero = d !== f8e4m3fnuz && d !== f8e5m2fnuz;
    const numbers = both(sample(numbersOf(d)).filter((_, i) => i % 5 === 0));
    return [...numbers.filter((x) => hasNegativeZero || !Object.is(x, -0)), Number.NaN];
  }
  if (d === f8e8m0fnu) return [0, 1, 100, 127, 128, 200, 254, 255].map((c) => codecOf(d).decode[c]!);
  if (isFloat(d)) {
    const fine = d === f64 ? 2 ** -40 : 2 ** -20;
    const near = [0.5, 1, 1.5, 127, 128, 255, 256, 32768, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, 2 ** 64].flatMap((x) => [
      x,
      x * (1 + fine),
      x * (1 - fine),
    ]);
    // Just above and below ties of f16, bf16 and f32.
    const ties = [2 ** -11, 2 ** -8, 2 ** -24].flatMap((t) => [
      1 + t,
      1 + t + 2 ** -45,
      1 + 3 * t,
      1 + 3 * t - 2 ** -45,
    ]);
    const all = both([
      0,
      2 ** -24,
      2 ** -133,
      2 ** -149,
      65504,
      65520,
      3e38,
      1e300,
      Number.POSITIVE_INFINITY,
      ...near,
      ...ties,
    ]);
    return (d === f64 ? all : all.map(Math.fround)).concat(Number.NaN);
  }
  const [low, high] = intRange(d);
  const ties = [7, 10, 23].flatMap((p) =>
    [20, 30, 40, 61].map((e) => (1n << BigInt(e)) + (1n << BigInt(Math.max(0, e - p - 1)))),
  );
  const wide = [
    0n,
    1n,
    2n,
    7n,
    127n,
    128n,
    255n,
    65519n,
    65520n,
    high,
    high - 1n,
    low,
    low + 1n,
    ...ties.flatMap((t) => [t - 1n, t, t + 1n]),
  ];
  const fitting = [...new Set([...wide, ...wide.map((x) => -x)])].filter((x) => x >= low && x <= high);
  return isWide(d) ? fitting : fitting.map(Number);
}

/** What `semantics.md` says of a conversion, by exact arithmetic on integers and searches in the narrow formats. */
function converted(from: DType, to: DType, x: number | bigint, saturate: boolean): number | bigint {
  const exact = typeof x === 'bigint' ? x : Number.isInteger(x) ? BigInt(x) : undefined;
  if (to === bool) return Number(x) === 0 ? 0 : 1;
  if (to === f64) return Number(x);
  if (to === f32)
    return exact !== undefined && !Object.is(x, -0) ? Math.fround(roundToF32(exact)) : Math.fround(x as number);
  if (to === f8e8m0fnu) {
    // The one format that is searched by ratio: up from 1.5 times a power.
    if (Number.isNaN(x as number) || x < 0) return Number.NaN;
    let power = -127;
    while (power < 128 && Number(x) >= 1.5 * 2 ** power) power++;
    return power < 128 ? 2 ** power : saturate ? 2 ** 127 : Number.NaN;
  }
  if (isFloat(to)) {
    const narrow = to.bits <= 8 && saturate;
    if (typeof x === 'number') return roundTo(to, x, narrow);
    // A double on the same side of every tie: beyond 53 bits, one that ends in 1.
    const size = x < 0n ? -x : x;
    const spare = BigInt(Math.max(0, size.toString(2).length - 50));
    const odd = ((size >> spare) | ((size >> spare) << spare === size ? 0n : 1n)) << spare;
    return roundTo(to, Number(x < 0n ? -odd : odd), narrow);
  }
  const give = (y: bigint): number | bigint => (isWide(to) ? y : Number(y));
  if (!isFloat(from)) return give(wrap(to, exact!));
  if (Number.isNaN(x as number)) return give(0n);
  const [low, high] = intRange(to);
  if (!Number.isFinite(x as number)) return give(x < 0 ? low : high);
  const whole = BigInt(Math.trunc(x as number));
  return give(whole < low ? low : whole > high ? high : whole);
}

describe('conversions', () => {
  const all: readonly DType[] = Object.values(dtypes);
  describe.each(all)('from $name', (from) => {
    test.each(all)('to $name', (to) => {
      for (const saturate of [true, false]) {
        const values = valuesOf(from);
        const convert = converter(from, to, { saturate });
        // Of e2m1 there is no NaN to give.
        const given = values.filter((x) => to !== f4e2m1fn || !Number.isNaN(x as number));
        expect(differences(given, convert, (x) => converted(from, to, x, saturate))).toEqual([]);
      }
    });
  });

  test('of whole registers', () => {
    const from = Float32Array.of(1.5, -300, Number.NaN, 1e10);
    expect(convertRegisters(f32, i8, from, { saturate: true })).toEqual(Int8Array.of(1, -128, 0, 127));
    expect(convertRegisters(f32, u64, from, { saturate: true })).toEqual(BigUint64Array.of(1n, 0n, 0n, 10000000000n));
  });

  test('of random 64-bit integers to floats', () => {
    for (const to of [f32, bf16, f16] as readonly DType[]) {
      const convert = converter(i64, to, { saturate: true });
      fc.assert(
        fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (x) =>
          Object.is(convert(x), converted(i64, to, x, true)),
        ),
        { numRuns: 2000, seed: 3 },
      );
    }
  });
});

describe('integer division and shifts', () => {
  const floorDiv = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;
  const reference: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
    div: (a, b) => a / b,
    rem: (a, b) => a % b,
    floorDiv,
    mod: (a, b) => a - b * floorDiv(a, b),
    cdiv: (a, b) => -floorDiv(-a, b),
  };
  const narrow: Readonly<Record<string, (a: number, b: number) => number>> = {
    div: integer.div,
    rem: integer.rem,
    floorDiv: integer.floorDiv,
    mod: integer.mod,
    cdiv: integer.cdiv,
  };
  const wide: Readonly<Record<string, (a: bigint, b: bigint) => bigint>> = {
    div: integer.wideDiv,
    rem: integer.wideRem,
    floorDiv: integer.wideFloorDiv,
    mod: integer.wideMod,
    cdiv: integer.wideCdiv,
  };
  const pairsOf = (d: DType): fc.Arbitrary<[bigint, bigint]> => {
    const [min, max] = intRange(d);
    const edges = fc.constantFrom(...[min, min + 1n, -1n, 0n, 1n, 2n, 7n, max - 1n, max].filter((x) => x >= min));
    const any = fc.oneof(fc.bigInt({ min, max }), edges);
    return fc.tuple(any, any);
  };
  /** Stores a result in a register, which is what wraps it. */
  const store = (d: DType, x: number | bigint): bigint => {
    const register = allocate(d, 1);
    (register as Float64Array)[0] = x as number;
    return BigInt(register[0]!);
  };

  describe.each([i8, u8, i16, u16, i32, u32, i64, u64] as readonly DType[])('$name', (d) => {
    test.each(Object.keys(reference))('%s', (name) => {
      fc.assert(
        fc.property(pairsOf(d), ([a, b]) => {
          const got = isWide(d) ? wide[name]!(a, b) : narrow[name]!(Number(a), Number(b));
          expect(store(d, got)).toBe(b === 0n ? 0n : wrap(d, reference[name]!(a, b)));
        }),
        { numRuns: 300, seed: 4 },
      );
    });

    test('shifts, by amounts read as unsigned', () => {
      fc.assert(
        fc.property(pairsOf(d), ([a, b]) => {
          const by = b < 0n ? b + (1n << BigInt(d.bits)) : b;
          const out = by >= BigInt(d.bits);
          const left = isWide(d) ? integer.wideShl(a, b) : integer.shl(d, Number(a), Number(b));
          const right = isWide(d) ? integer.wideShr(d, a, b) : integer.shr(d, Number(a), Number(b));
          expect(store(d, left)).toBe(out ? 0n : wrap(d, a << by));
          expect(store(d, right)).toBe(out ? (a < 0n ? -1n : 0n) : a >> by);
        }),
        { numRuns: 500, seed: 5 },
      );
    });
  });

  test('the least integer over -1 wraps', () => {
    expect(store(i32, integer.div(-(2 ** 31), -1))).toBe(-(2n ** 31n));
    expect(store(i8, integer.div(-128, -1))).toBe(-128n);
    expect(store(i64, integer.wideDiv(-(2n ** 63n), -1n))).toBe(-(2n ** 63n));
    expect(store(i32, integer.rem(-(2 ** 31), -1))).toBe(0n);
  });
});

describe('between memory and registers', () => {
  const all: readonly DType[] = Object.values(dtypes);
  const elements = (d: DType): (number | bigint)[] =>
    valuesOf(d)
      .filter((x) => !Number.isNaN(x as number))
      .slice(0, 23);

  test.each(all)('$name there and back, at any offset', (d) => {
    const values = elements(d);
    const n = values.length;
    const registers = allocate(d, n + 3);
    values.forEach((x, i) => {
      (registers as Float64Array)[i + 3] = x as number;
    });
    const memory = allocateHost(d, n + 5);
    encodeElements(d, registers, 3, n, memory, 5);
    const back = allocate(d, n);
    decodeElements(d, memory, 5, n, 1, back, 0);
    expect(Array.from(back as Float64Array)).toEqual(values);
    // What lies in front stays as it was.
    const front = allocate(d, 5);
    decodeElements(d, memory, 0, 5, 1, front, 0);
    const zero = allocate(d, 1);
    decodeElements(d, allocateHost(d, 1), 0, 1, 1, zero, 0);
    expect(Array.from(front as Float64Array)).toEqual(Array.from({ length: 5 }, () => (zero as Float64Array)[0]));
  });

  test.each(all)('$name with a stride, and element by element', (d) => {
    const values = elements(d);
    const memory = allocateHost(d, 3 * values.length + 1);
    values.forEach((x, i) => {
      encodeElement(d, x, memory, 1 + 3 * i);
    });
    const back = allocate(d, values.length);
    decodeElements(d, memory, 1, values.length, 3, back, 0);
    expect(Array.from(back as Float64Array)).toEqual(values);
  });

  test('4-bit kinds lie two to a byte, the low nibble first; a write leaves the other nibble', () => {
    const memory = allocateHost(i4, 5) as Uint8Array;
    encodeElements(i4, Int8Array.of(-8, 7, -1, 3, 1), 0, 5, memory, 0);
    expect(memory).toEqual(Uint8Array.of(0x78, 0x3f, 0x01));
    encodeElement(i4, 2, memory, 1);
    encodeElement(i4, -2, memory, 2);
    expect(memory).toEqual(Uint8Array.of(0x28, 0x3e, 0x01));
    encodeElements(f4e2m1fn, Float32Array.of(6, -0.5), 0, 2, memory, 2);
    expect(memory).toEqual(Uint8Array.of(0x28, 0x97, 0x01));
  });

  test('memory that exists is seen as an array, without a copy', () => {
    const bytes = Uint8Array.of(1, 0, 0, 0, 0, 0, 128, 63);
    expect(hostView(i32, bytes)).toEqual(Int32Array.of(1, 0x3f800000));
    expect(hostView(bf16, bytes)).toEqual(Uint16Array.of(1, 0, 0, 0x3f80));
    expect(hostView(u4, bytes).length).toBe(8);
    expect(hostView(f8e4m3fn, bytes).buffer).toBe(bytes.buffer);
  });
});
