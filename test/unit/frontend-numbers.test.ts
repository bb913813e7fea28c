import { describe, expect, test } from '@jest/globals';
import {
  type AnyDType,
  bf16,
  bool,
  f4e2m1fn,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e8m0fnu,
  f16,
  f32,
  f64,
  full,
  i4,
  i8,
  i32,
  i64,
  u8,
  u32,
  u64,
} from 'tilewright';
import { bodyOf, vector } from '../support/kernels.js';
import { errorOf } from '../support/thrown.js';

/** A row of a table with a title for the test's name. */
const titled = (rows: readonly (readonly [AnyDType, number, string])[]) =>
  rows.map(([dtype, x, text]) => ({ title: `${Object.is(x, -0) ? '-0' : x} in ${dtype.name}`, dtype, x, text }));

/** The constant that a JavaScript number becomes, as kernel IR prints it. */
const constantOf = (dtype: AnyDType, x: number): string => {
  const line = bodyOf(
    vector(({ z }) => {
      full(dtype, [], x);
      z.store(0);
    }),
  )
    .filter((l) => l.endsWith(`: ${dtype.name}`) && l.includes('constant'))
    .at(-1);
  return /value = (.*)\}/.exec(line!)![1]!;
};

describe('a number becomes a constant of the dtype', () => {
  const rows = titled([
    [f32, 0.1, '0.10000000149011612'],
    [f32, -0, '-0'],
    [f32, Number.NaN, 'nan'],
    [f32, Number.NEGATIVE_INFINITY, '-inf'],
    [f64, 0.1, '0.1'],
    [f64, 1e300, '1e+300'],
    [f16, 0.1, '0.0999755859375'],
    [f16, 65519, '65504'],
    [bf16, 0.1, '0.10009765625'],
    [f8e4m3fn, 0.3, '0.3125'],
    [f8e4m3fn, 463, '448'],
    [f8e8m0fnu, 4, '4'],
    [f4e2m1fn, 2.4, '2'],
    [i4, -8, '-8'],
    [i8, 127, '127'],
    [u8, 255, '255'],
    [i32, -(2 ** 31), '-2147483648'],
    [u32, 2 ** 32 - 1, '4294967295'],
    [i64, 2 ** 53, '9007199254740992n'],
    [u64, 2 ** 63, '9223372036854775808n'],
    [bool, 1, '1'],
  ]);
  test.each(rows)('$title', ({ dtype, x, text }) => {
    expect(constantOf(dtype, x)).toBe(text);
  });
});

describe('a number that the dtype cannot hold is refused', () => {
  const rows = titled([
    [f32, 1e300, 'the largest number is 3.4028234663852886e+38'],
    [f16, 65520, 'the largest number is 65504'],
    [f16, 70000, 'the largest number is 65504'],
    [f8e4m3fn, 465, 'the largest number is 448'],
    [f8e4m3fn, Number.NEGATIVE_INFINITY, 'it has no infinity'],
    [f8e4m3fnuz, -0, 'it has no negative zero'],
    [f8e5m2, 1e6, 'the largest number is 57344'],
    [f8e8m0fnu, 0, 'it has no zero'],
    [f8e8m0fnu, -2, 'it has no negative numbers'],
    [f4e2m1fn, 6.5, 'the largest number is 6'],
    [f4e2m1fn, Number.NaN, 'it has no NaN'],
    [i4, 8, 'the range is -8 to 7'],
    [i8, 128, 'the range is -128 to 127'],
    [u8, -1, 'the range is 0 to 255'],
    [i32, 2 ** 31, 'the range is -2147483648 to 2147483647'],
    [i64, 2 ** 63, 'the range is -9223372036854775808 to 9223372036854775807'],
    [i32, 0.5, 'it has a fraction'],
    [i32, Number.NaN, 'integers have no NaN'],
    [i32, Number.POSITIVE_INFINITY, 'integers have no infinity'],
    [i32, -0, 'integers have no negative zero'],
    [bool, 2, 'it is neither 0 nor 1'],
  ]);
  test.each(rows)('$title', async ({ dtype, x, text }) => {
    const shown = Object.is(x, -0) ? '-0' : String(x);
    const error = await errorOf(() => vector(() => full(dtype, [], x)).trace());
    expect(error).toMatch(/^TW1012 frontend-numbers.test.ts:\d+ /);
    expect(error).toContain(` ${shown} is not a value of ${dtype.name}: ${text}`);
  });
});
