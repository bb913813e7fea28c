/** Elementwise arithmetic, comparison and conversion. Operands have one shape; broadcasts are explicit. */

import { attr } from '../attributes.js';
import { defineOp, one, type Report, type TypeConstraint, types } from '../define-op.js';
import { bool, type DType, isFloat, isWide } from '../dtypes.js';
import { convertRegisters } from '../numerics/convert.js';
import * as integer from '../numerics/integer.js';
import { allocate, allocateHost, decodeElements, encodeElements, hostView, roundingOf } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, printType, sameType, type TileType, tileType } from '../types.js';
import type { Value } from '../value.js';
import { raggedElementwise } from './ragged-rules.js';

/** What a float op may give up, as recorded on the op. */
export const fastMathFlags = ['approx', 'contract', 'reassociate', 'widen'] as const;
export type FastMathFlag = (typeof fastMathFlags)[number];
export const fastAttr = { fast: attr.optional(attr.words(...fastMathFlags)) };

/** Meaning on one element. `number` serves floats and integers up to 32 bits (the register wraps integers, the op rounds floats once); `wide` 64-bit integers. */
interface Meaning<A extends readonly unknown[], W extends readonly unknown[]> {
  readonly number: (dtype: DType) => (...args: A) => number;
  readonly wide?: (dtype: DType) => (...args: W) => bigint;
}
type Unary = Meaning<[number], [bigint]>;
type Binary = Meaning<[number, number], [bigint, bigint]>;

function evaluateUnary(meaning: Unary, [x]: readonly TileValue[]): TileValue[] {
  const { dtype, shape } = x!;
  const n = elementCount(shape);
  const data = allocate(dtype, n);
  if (isWide(dtype)) {
    const f = meaning.wide!(dtype);
    const [from, to] = [x!.data as BigInt64Array, data as BigInt64Array];
    for (let i = 0; i < n; i++) to[i] = f(from[i]!);
  } else {
    const f = meaning.number(dtype);
    const round = roundingOf(dtype);
    const [from, to] = [x!.data as Float64Array, data as Float64Array];
    if (round) for (let i = 0; i < n; i++) to[i] = round(f(from[i]!));
    else for (let i = 0; i < n; i++) to[i] = f(from[i]!);
  }
  return [{ dtype, shape, data }];
}

function evaluateBinary(meaning: Binary, [a, b]: readonly TileValue[]): TileValue[] {
  const { dtype, shape } = a!;
  const n = elementCount(shape);
  const data = allocate(dtype, n);
  if (isWide(dtype)) {
    const f = meaning.wide!(dtype);
    const [x, y, to] = [a!.data as BigInt64Array, b!.data as BigInt64Array, data as BigInt64Array];
    for (let i = 0; i < n; i++) to[i] = f(x[i]!, y[i]!);
  } else {
    const f = meaning.number(dtype);
    const round = roundingOf(dtype);
    const [x, y, to] = [a!.data as Float64Array, b!.data as Float64Array, data as Float64Array];
    if (round) for (let i = 0; i < n; i++) to[i] = round(f(x[i]!, y[i]!));
    else for (let i = 0; i < n; i++) to[i] = f(x[i]!, y[i]!);
  }
  return [{ dtype, shape, data }];
}

export function sameOperandTypes(name: string, a: Value, b: Value, report: Report): boolean {
  if (sameType(a.type, b.type)) return true;
  report(`'${name}' needs operands of one type, got ${printType(a.type)} and ${printType(b.type)}`);
  return false;
}

export const unary = <const N extends string>(
  name: N,
  summary: string,
  input: TypeConstraint<TileType>,
  meaning: Unary,
  semantics?: string,
) =>
  defineOp({
    name,
    summary,
    ...(semantics === undefined ? {} : { semantics }),
    operands: { input: one(input) },
    attrs: fastAttr,
    results: { infer: ({ input: x }) => [x.type] },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: (inputs) => evaluateUnary(meaning, inputs),
  });

interface BinaryTraits {
  readonly commutative?: boolean;
  readonly semantics?: string;
}

export const binary = <const N extends string>(
  name: N,
  summary: string,
  operand: TypeConstraint<TileType>,
  meaning: Binary,
  traits: BinaryTraits = {},
) =>
  defineOp({
    name,
    summary,
    ...traits,
    operands: { left: one(operand), right: one(operand) },
    attrs: fastAttr,
    results: {
      infer: ({ left, right }, _, report) => (sameOperandTypes(name, left, right, report) ? [left.type] : undefined),
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: (inputs) => evaluateBinary(meaning, inputs),
  });

const compare = <const N extends string>(
  name: N,
  summary: string,
  holds: (a: number | bigint, b: number | bigint) => boolean,
  commutative = false,
) =>
  defineOp({
    name,
    summary,
    semantics: 'IEEE comparison: any comparison with NaN is false, except `ne`, which is true. -0 equals 0.',
    commutative,
    operands: { left: one(types.tile), right: one(types.tile) },
    results: {
      infer: ({ left, right }, _, report) =>
        sameOperandTypes(name, left, right, report) ? [tileType(bool, left.type.shape)] : undefined,
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: ([a, b]) => {
      const n = elementCount(a!.shape);
      const data = allocate(bool, n);
      const [x, y, to] = [a!.data, b!.data, data as Uint8Array];
      for (let i = 0; i < n; i++) to[i] = holds(x[i]!, y[i]!) ? 1 : 0;
      return [{ dtype: bool, shape: a!.shape, data }];
    },
  });

export const float = (f: (x: number) => number) => () => f;
const byClass = (onFloat: (a: number, b: number) => number, onInt: (a: number, b: number) => number) => (d: DType) =>
  isFloat(d) ? onFloat : onInt;

/** Maximum that propagates NaN and orders -0 below 0, as `Math.max` does. */
const propagatingMax = (a: number, b: number): number => Math.max(a, b);
const propagatingMin = (a: number, b: number): number => Math.min(a, b);
const ignoringNaN = (pick: (a: number, b: number) => number) => (a: number, b: number) =>
  Number.isNaN(a) ? b : Number.isNaN(b) ? a : pick(a, b);
const wideMax = () => (a: bigint, b: bigint) => (a > b ? a : b);
const wideMin = () => (a: bigint, b: bigint) => (a < b ? a : b);

/** Nearest integer-valued double, ties to even. */
function roundEven(x: number): number {
  const r = Math.round(x);
  const even = Math.abs(x - Math.trunc(x)) === 0.5 && r % 2 !== 0 ? r - 1 : r;
  return even === 0 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : even;
}

const wraps = 'Integers wrap. Floats are rounded once, to nearest even; f16, bf16 and fp8 compute in f32 first.';
const noTrap = 'Division by zero gives an unspecified value and never traps; the smallest integer divided by -1 wraps.';
export const elementwiseOps = [
  unary(
    'neg',
    'Flip the sign.',
    types.numeric,
    { number: () => (x) => -x, wide: () => (x) => -x },
    'Flips the sign bit of a float (also of NaN and 0); integers wrap.',
  ),
  unary(
    'abs',
    'Take the magnitude.',
    types.numeric,
    { number: () => Math.abs, wide: () => (x) => (x < 0n ? -x : x) },
    'The smallest integer wraps to itself.',
  ),
  unary('not', 'Invert every bit; of bool, the truth.', types.bits, {
    number: (d) => (d === bool ? (x) => 1 - x : (x) => ~x),
    wide: () => (x) => ~x,
  }),
  unary('floor', 'Round down to an integer value.', types.float, { number: float(Math.floor) }),
  unary('ceil', 'Round up to an integer value.', types.float, { number: float(Math.ceil) }),
  unary('round', 'Round to the nearest integer value, ties to even.', types.float, { number: float(roundEven) }),

  unary(
    'count_leading_zeros',
    'Count the zero bits above the highest set bit.',
    types.int,
    { number: (d) => (x) => integer.countLeadingZeros(d, x), wide: () => integer.wideCountLeadingZeros },
    'The width for 0.',
  ),
  unary('population_count', 'Count the set bits.', types.int, {
    number: (d) => (x) => integer.countOnes(d, x),
    wide: () => integer.wideCountOnes,
  }),

  binary(
    'add',
    'Add.',
    types.numeric,
    { number: () => (a, b) => a + b, wide: () => (a, b) => a + b },
    { commutative: true, semantics: wraps },
  ),
  binary(
    'sub',
    'Subtract.',
    types.numeric,
    { number: () => (a, b) => a - b, wide: () => (a, b) => a - b },
    { semantics: wraps },
  ),
  binary(
    'mul',
    'Multiply.',
    types.numeric,
    { number: byClass((a, b) => a * b, Math.imul), wide: () => (a, b) => a * b },
    { commutative: true, semantics: wraps },
  ),
  binary(
    'mul_hi',
    'Take the upper half of the product of twice the width.',
    types.int,
    { number: (d) => (a, b) => integer.mulHi(d, a, b), wide: () => integer.wideMulHi },
    { commutative: true },
  ),
  binary(
    'div',
    'Divide; integers truncate toward zero.',
    types.numeric,
    { number: byClass((a, b) => a / b, integer.div), wide: () => integer.wideDiv },
    { semantics: `Floats are correctly rounded unless \`approx\`. ${noTrap}` },
  ),
  binary(
    'rem',
    'Take the remainder with the sign of the dividend.',
    types.int,
    { number: () => integer.rem, wide: () => integer.wideRem },
    { semantics: noTrap },
  ),
  binary(
    'floor_div',
    'Divide, rounding down.',
    types.int,
    { number: () => integer.floorDiv, wide: () => integer.wideFloorDiv },
    { semantics: noTrap },
  ),
  binary(
    'mod',
    'Take the remainder with the sign of the divisor.',
    types.int,
    { number: () => integer.mod, wide: () => integer.wideMod },
    { semantics: noTrap },
  ),
  binary(
    'cdiv',
    'Divide, rounding up.',
    types.int,
    { number: () => integer.cdiv, wide: () => integer.wideCdiv },
    { semantics: noTrap },
  ),
  binary(
    'max',
    'Take the larger; NaN wins.',
    types.numeric,
    { number: () => propagatingMax, wide: wideMax },
    { commutative: true, semantics: 'NaN if either is NaN; -0 < 0.' },
  ),
  binary(
    'min',
    'Take the smaller; NaN wins.',
    types.numeric,
    { number: () => propagatingMin, wide: wideMin },
    { commutative: true, semantics: 'NaN if either is NaN; -0 < 0.' },
  ),
  binary(
    'max_num',
    'Take the larger; a number wins over NaN.',
    types.float,
    { number: () => ignoringNaN(propagatingMax) },
    { commutative: true },
  ),
  binary(
    'min_num',
    'Take the smaller; a number wins over NaN.',
    types.float,
    { number: () => ignoringNaN(propagatingMin) },
    { commutative: true },
  ),
  binary(
    'and',
    'Bitwise and; of bool, logical.',
    types.bits,
    { number: () => (a, b) => a & b, wide: () => (a, b) => a & b },
    { commutative: true },
  ),
  binary(
    'or',
    'Bitwise or; of bool, logical.',
    types.bits,
    { number: () => (a, b) => a | b, wide: () => (a, b) => a | b },
    { commutative: true },
  ),
  binary(
    'xor',
    'Bitwise exclusive or; of bool, inequality.',
    types.bits,
    { number: () => (a, b) => a ^ b, wide: () => (a, b) => a ^ b },
    { commutative: true },
  ),
  binary(
    'shl',
    'Shift left.',
    types.int,
    { number: (d) => (a, b) => integer.shl(d, a, b), wide: () => integer.wideShl },
    { semantics: 'The amount is read as unsigned; the width or more gives 0.' },
  ),
  binary(
    'shr',
    'Shift right; signed integers copy the sign.',
    types.int,
    { number: (d) => (a, b) => integer.shr(d, a, b), wide: (d) => (a, b) => integer.wideShr(d, a, b) },
    { semantics: 'The amount is read as unsigned; the width or more gives 0, or -1 for a negative signed value.' },
  ),

  compare('eq', 'Compare for equality.', (a, b) => a === b, true),
  compare('ne', 'Compare for inequality.', (a, b) => a !== b, true),
  compare('lt', 'Compare: less.', (a, b) => a < b),
  compare('le', 'Compare: less or equal.', (a, b) => a <= b),
  compare('gt', 'Compare: greater.', (a, b) => a > b),
  compare('ge', 'Compare: greater or equal.', (a, b) => a >= b),

  defineOp({
    name: 'select',
    summary: 'Choose element by element: `on_true` where the condition holds, else `on_false`.',
    operands: { condition: one(types.bool), on_true: one(types.tile), on_false: one(types.tile) },
    results: {
      infer: ({ condition, on_true, on_false }, _, report) => {
        if (!sameOperandTypes('select', on_true, on_false, report)) return undefined;
        if (sameType(condition.type, tileType(bool, on_true.type.shape))) return [on_true.type];
        report(
          `'select' needs a condition of the choices' shape, got ${printType(condition.type)} for ${printType(on_true.type)}`,
        );
        return undefined;
      },
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: ([condition, onTrue, onFalse]) => {
      const { dtype, shape } = onTrue!;
      const n = elementCount(shape);
      const data = allocate(dtype, n);
      const [c, a, b, to] = [
        condition!.data,
        onTrue!.data as Float64Array,
        onFalse!.data as Float64Array,
        data as Float64Array,
      ];
      for (let i = 0; i < n; i++) to[i] = c[i] ? a[i]! : b[i]!;
      return [{ dtype, shape, data }];
    },
  }),

  defineOp({
    name: 'bitcast',
    summary: 'Read the bits of each element as another dtype of the same width.',
    operands: { input: one(types.numeric) },
    results: { stated: 1 },
    verify: ({ operands, results }, report) => {
      const [from, to] = [operands.input.type, results[0]!.type];
      const fits = to.kind === 'tile' && to.dtype !== bool && to.dtype.bits === from.dtype.bits;
      if (!fits || !sameType(tileType(bool, to.shape), tileType(bool, from.shape)))
        report(`'bitcast' keeps shape and width, got ${printType(from)} and ${printType(to)}`);
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: ([x], _, [type]) => {
      const n = elementCount(x!.shape);
      const memory = allocateHost(x!.dtype, n);
      encodeElements(x!.dtype, x!.data, 0, n, memory, 0);
      const data = allocate(type!.dtype, n);
      const bytes = new Uint8Array(memory.buffer, memory.byteOffset, memory.byteLength);
      decodeElements(type!.dtype, hostView(type!.dtype, bytes), 0, n, 1, data, 0);
      return [{ dtype: type!.dtype, shape: x!.shape, data }];
    },
  }),

  defineOp({
    name: 'cast',
    summary: 'Convert to another dtype.',
    semantics:
      'Float to narrower float: nearest even; to fp8 saturating unless `saturate=false`. Float to integer: toward zero, saturating, NaN gives 0. Integer to narrower integer wraps. bool is 0 or 1.',
    operands: { input: one(types.tile) },
    attrs: { saturate: attr.optional(attr.flag) },
    results: { stated: 1 },
    verify: ({ operands, results }, report) => {
      const to = results[0]!.type;
      if (
        to.kind !== 'tile' ||
        elementCount(to.shape) !== elementCount(operands.input.type.shape) ||
        !sameType(tileType(bool, to.shape), tileType(bool, operands.input.type.shape))
      )
        report(`'cast' keeps the shape, got ${printType(operands.input.type)} and ${printType(to)}`);
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: ([x], attrs, [type]) => [
      {
        dtype: type!.dtype,
        shape: x!.shape,
        data: convertRegisters(x!.dtype, type!.dtype, x!.data, { saturate: attrs.saturate ?? true }),
      },
    ],
  }),
] as const;
