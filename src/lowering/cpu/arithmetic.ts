/** Elementwise ops on lanes: one rule an op, as `semantics.md` fixes its meaning. */

import { bf16, type DType, f32, f64, isFloat, u4 } from '../../ir/dtypes.js';
import type { FastMathFlag } from '../../ir/ops/elementwise.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp } from '../../ir/value.js';
import { type Elem, type Emitter, isFloatElem, type Lanes, lanesType } from './emitter.js';
import { callLibm, type LibmOp } from './libm.js';
import * as math from './math.js';
import { decodeFloat, encodeFloat, type Overflow } from './narrow-float.js';
import { philoxWord } from './random.js';

/** Register element of a dtype. Narrow floats live in f32: every op computes there and rounds once. */
export function elemOf(dtype: DType): Elem {
  if (dtype.cls === 'bool') return 'i1';
  if (dtype.cls === 'float') return dtype === f64 ? 'f64' : 'f32';
  return `i${Math.max(8, dtype.bits)}` as Elem;
}

const isNarrow = (dtype: DType): boolean => isFloat(dtype) && dtype.bits < 32;

/** Rounds f32 lanes to the values of a narrow float dtype, to nearest even. */
export function roundTo(e: Emitter, dtype: DType, x: Lanes, overflow: Overflow = 'held'): Lanes {
  if (!isNarrow(dtype)) return x;
  if (dtype.bits <= 8) return decodeFloat(e, encodeFloat(e, x, dtype, overflow), dtype);
  if (dtype === bf16) return roundToBf16(e, x);
  const half = e.op('arith.truncf', { operands: [x.value], types: [x.width === 1 ? 'f16' : `vector<${x.width}xf16>`] });
  const value = e.op('arith.extf', { operands: [half], types: [x.value.type] });
  return { ...x, value };
}

/** Values of the dtype, where the program lets chains of ops keep f32. */
export const settled = (e: Emitter, dtype: DType, x: Lanes): Lanes => (e.widens ? roundTo(e, dtype, x) : x);

/** bf16 is the upper half of f32: adding half of what goes, less one for an even rest, rounds to nearest even. */
function roundToBf16(e: Emitter, x: Lanes): Lanes {
  const int = (n: number): Lanes => e.int(n, 'i32', x.width);
  const bits = e.bitcast(x, 'i32');
  const odd = e.binary('andi', e.binary('shrui', bits, int(16)), int(1));
  const rounded = e.binary('addi', e.binary('addi', bits, int(0x7fff)), odd);
  // A NaN must stay one: rounding could carry it into infinity.
  const quiet = e.binary('ori', bits, int(0x400000));
  const kept = e.select(e.compareFloat('uno', x, x), quiet, rounded);
  return e.bitcast(e.binary('andi', kept, int(-0x10000)), 'f32');
}

type Args = readonly Lanes[];
export type ElementRule = (e: Emitter, args: Args, dtype: DType, op: GenericOp) => Lanes;

/** Whether an op's program gives up something for speed. */
const gives = (op: GenericOp, flag: FastMathFlag): boolean =>
  ((op.attrs as { fast?: readonly FastMathFlag[] }).fast ?? []).includes(flag);

/** What an op gives up, in LLVM's words. Sums that may be regrouped may not keep the sign of a zero. */
function fastFlags(op: GenericOp): Record<string, string> {
  const words = [
    ...(gives(op, 'reassociate') ? ['reassoc', 'nsz'] : []),
    ...(gives(op, 'approx') ? ['arcp'] : []),
    ...(gives(op, 'contract') ? ['contract'] : []),
  ];
  return words.length === 0 ? {} : { fastmath: `#arith.fastmath<${words.join(',')}>` };
}

const floatBinary = (e: Emitter, name: string, [a, b]: Args, dtype: DType, op: GenericOp): Lanes =>
  roundTo(e, dtype, e.binary(name, a!, b!, fastFlags(op)));

const byClass =
  (float: string, int: string): ElementRule =>
  (e, args, dtype, op) =>
    isFloat(dtype) ? floatBinary(e, float, args, dtype, op) : e.binary(int, args[0]!, args[1]!);

const bySign =
  (float: string, signed: string, unsigned: string): ElementRule =>
  (e, [a, b], dtype) =>
    e.binary(isFloat(dtype) ? float : dtype.signed ? signed : unsigned, a!, b!);

const same =
  (name: string): ElementRule =>
  (e, [a, b]) =>
    e.binary(name, a!, b!);

/** A function of f32 lanes, where there is one, for dtypes up to f32; else that of the C library. */
const mathFunction =
  (name: LibmOp, inF32?: (e: Emitter, x: Lanes, approx: boolean) => Lanes): ElementRule =>
  (e, [x], dtype, op) =>
    roundTo(e, dtype, dtype !== f64 && inF32 ? inF32(e, x!, gives(op, 'approx')) : callLibm(e, name, [x!]));

const mathOfTwo =
  (name: LibmOp): ElementRule =>
  (e, args, dtype) =>
    roundTo(e, dtype, callLibm(e, name, args));

const float =
  (name: string): ElementRule =>
  (e, [x], dtype) =>
    roundTo(e, dtype, e.unary(name, x!));

/** Of a number and a NaN the number; the instruction for this leaves the order of zeros open. */
const ignoringNaN =
  (name: string): ElementRule =>
  (e, [a, b]) => {
    const nan = (x: Lanes): Lanes => e.compareFloat('uno', x, x);
    return e.select(nan(a!), b!, e.select(nan(b!), a!, e.binary(name, a!, b!)));
  };

const zeroOf = (e: Emitter, x: Lanes): Lanes => e.number(0, x.elem, x.width);

/** Quotient and remainder toward zero; neither a zero divisor nor the least integer over -1 may reach the instruction. */
function divide(e: Emitter, a: Lanes, b: Lanes, signed: boolean): { quotient: Lanes; remainder: Lanes } {
  const int = (n: number): Lanes => e.int(n, a.elem, a.width);
  const op = signed ? 'divsi' : 'divui';
  const known = e.knownInt(b.value);
  if (known !== undefined && known !== 0n && known !== -1n) {
    const quotient = e.binary(op, a, b);
    return { quotient, remainder: e.binary('subi', a, e.binary('muli', quotient, b)) };
  }
  const zero = e.compareInt('eq', b, int(0));
  const minusOne = signed ? e.compareInt('eq', b, int(-1)) : undefined;
  const unsafe = minusOne ? e.binary('ori', zero, minusOne) : zero;
  const safe = e.select(unsafe, int(1), b);
  const divided = e.binary(op, a, safe);
  const negated = minusOne ? e.select(minusOne, e.binary('subi', int(0), a), divided) : divided;
  const quotient = e.select(zero, int(0), negated);
  const remainder = e.select(zero, int(0), e.binary('subi', a, e.binary('muli', quotient, b)));
  return { quotient, remainder };
}

/** Whether a remainder toward zero and its divisor have unlike signs (and the remainder is not zero). */
function signsDiffer(e: Emitter, remainder: Lanes, divisor: Lanes): Lanes {
  const nonzero = e.compareInt('ne', remainder, zeroOf(e, remainder));
  const unlike = e.compareInt('slt', e.binary('xori', remainder, divisor), zeroOf(e, remainder));
  return e.binary('andi', nonzero, unlike);
}

const floorDivide: ElementRule = (e, [a, b], { signed }) => {
  const { quotient, remainder } = divide(e, a!, b!, signed);
  if (!signed) return quotient;
  return e.select(signsDiffer(e, remainder, b!), e.binary('subi', quotient, e.int(1, a!.elem, a!.width)), quotient);
};

const modulo: ElementRule = (e, [a, b], { signed }) => {
  const { remainder } = divide(e, a!, b!, signed);
  return signed ? e.select(signsDiffer(e, remainder, b!), e.binary('addi', remainder, b!), remainder) : remainder;
};

const ceilDivide: ElementRule = (e, [a, b], { signed }) => {
  const { quotient, remainder } = divide(e, a!, b!, signed);
  const nonzero = e.compareInt('ne', remainder, zeroOf(e, remainder));
  const alike = signed ? e.compareInt('sge', e.binary('xori', remainder, b!), zeroOf(e, remainder)) : undefined;
  const up = alike ? e.binary('andi', nonzero, alike) : nonzero;
  return e.select(up, e.binary('addi', quotient, e.int(1, a!.elem, a!.width)), quotient);
};

/** Shift with amounts read as unsigned; the width or more shifts everything out. */
const shift =
  (left: boolean): ElementRule =>
  (e, [a, b], dtype) => {
    const int = (n: number): Lanes => e.int(n, a!.elem, a!.width);
    if (!left && dtype.signed) return e.binary('shrsi', a!, e.binary('minui', b!, int(dtype.bits - 1)));
    const inside = e.compareInt('ult', b!, int(dtype.bits));
    const shifted = e.binary(left ? 'shli' : 'shrui', a!, e.select(inside, b!, int(0)));
    return e.select(inside, shifted, int(0));
  };

const compare =
  (
    float: Parameters<Emitter['compareFloat']>[0],
    signed: Parameters<Emitter['compareInt']>[0],
    unsigned: Parameters<Emitter['compareInt']>[0],
  ): ElementRule =>
  (e, [a, b], dtype) =>
    isFloat(dtype) ? e.compareFloat(float, a!, b!) : e.compareInt(dtype.signed ? signed : unsigned, a!, b!);

/**
 * Converts lanes between dtypes: float to int toward zero, saturating, NaN to 0; int to narrower int wraps.
 * @param saturate whether what is too large for a float of 8 bits becomes its largest number.
 */
export function cast(e: Emitter, x: Lanes, from: DType, to: DType, saturate = true): Lanes {
  const overflow = saturate ? 'finite' : 'own';
  const target = elemOf(to);
  if (to.cls === 'bool')
    return isFloat(from) ? e.compareFloat('une', x, zeroOf(e, x)) : e.compareInt('ne', x, zeroOf(e, x));
  if (isFloat(to)) return isFloat(from) ? floatToFloat(e, x, from, to, overflow) : intToFloat(e, x, from, to, overflow);
  if (isFloat(from)) return floatToInt(e, x, to);
  const [bits, targetBits] = [from.cls === 'bool' ? 1 : from.bits, Number(target.slice(1))];
  if (to.bits === 4)
    return wrapNibble(
      e,
      bits > 8 ? e.convert('arith.trunci', x, 'i8') : x.elem === 'i1' ? e.convert('arith.extui', x, 'i8') : x,
      to,
    );
  if (bits === targetBits) return { ...x, elem: target };
  if (bits > targetBits) return e.convert('arith.trunci', x, target);
  return e.convert(from.signed ? 'arith.extsi' : 'arith.extui', x, target);
}

/** 4-bit integers lie extended in i8: what arithmetic leaves above the low bits goes. */
export function wrapNibble(e: Emitter, x: Lanes, dtype: DType): Lanes {
  const four = e.int(4, 'i8', x.width);
  return dtype.signed
    ? e.binary('shrsi', e.binary('shli', x, four), four)
    : e.binary('andi', x, e.int(15, 'i8', x.width));
}

function floatToFloat(e: Emitter, x: Lanes, from: DType, to: DType, overflow: Overflow): Lanes {
  if (to === f64) return e.convert('arith.extf', x, 'f64');
  if (from === f64) return isNarrow(to) ? roundTo(e, to, oddF32(e, x), overflow) : e.convert('arith.truncf', x, 'f32');
  return to.bits < from.bits || (isNarrow(to) && to !== from) ? roundTo(e, to, x, overflow) : x;
}

function intToFloat(e: Emitter, x: Lanes, from: DType, to: DType, overflow: Overflow): Lanes {
  const name = from.signed ? 'arith.sitofp' : 'arith.uitofp';
  // Up to 24 bits f32 holds exactly, and what f16 does not reach becomes infinite either way.
  if (to !== bf16 || from.bits < 32) return roundTo(e, to, e.convert(name, x, elemOf(to)), overflow);
  const exact = from.bits === 64 ? oddInteger(e, x, from.signed) : x;
  return roundTo(e, to, oddF32(e, e.convert(name, exact, 'f64')));
}

/**
 * f64 lanes rounded to odd in f32: toward zero, the last bit set where something was cut off. What is rounded again from
 * there, to fewer bits, ends where one rounding would have ended (Boldo and Melquiond, "When double rounding is odd").
 */
function oddF32(e: Emitter, x: Lanes): Lanes {
  const int = (n: number): Lanes => e.int(n, 'i32', x.width);
  const nearest = e.convert('arith.truncf', x, 'f32');
  const back = e.convert('arith.extf', nearest, 'f64');
  const away = e.compareFloat('ogt', e.unary('math.absf', back), e.unary('math.absf', x));
  const bits = e.bitcast(nearest, 'i32');
  const truncated = e.select(away, e.binary('subi', bits, int(1)), bits);
  const inexact = e.compareFloat('une', back, x);
  return e.bitcast(e.select(inexact, e.binary('ori', truncated, int(1)), truncated), 'f32');
}

/** 64-bit integers that f64 holds exactly: of those past 2^53 the low 11 bits are folded into one, rounding to odd. */
function oddInteger(e: Emitter, x: Lanes, signed: boolean): Lanes {
  const int = (n: bigint): Lanes => e.int(n, 'i64', x.width);
  const limit = 1n << 53n;
  const shifted = signed ? e.binary('addi', x, int(limit)) : x;
  const small = e.compareInt('ule', shifted, int(signed ? 2n * limit : limit));
  const rest = e.compareInt('ne', e.binary('andi', x, int(0x7ffn)), int(0n));
  const kept = e.binary('andi', x, int(-0x800n));
  return e.select(small, x, e.binary('ori', kept, e.select(rest, int(0x800n), int(0n))));
}

function floatToInt(e: Emitter, x: Lanes, to: DType): Lanes {
  const target = elemOf(to);
  const [low, high] = to.signed ? [-(2 ** (to.bits - 1)), 2 ** (to.bits - 1)] : [0, 2 ** to.bits];
  const float = (n: number): Lanes => e.float(n, x.elem as 'f32' | 'f64', x.width);
  const int = (n: bigint): Lanes => e.int(n, target, x.width);
  const below = e.compareFloat('ole', x, float(low));
  const above = e.compareFloat('oge', x, float(high));
  const nan = e.compareFloat('uno', x, x);
  const outside = e.binary('ori', e.binary('ori', below, above), nan);
  const inside = e.convert(to.signed ? 'arith.fptosi' : 'arith.fptoui', e.select(outside, float(0), x), target);
  const capped = e.select(above, int(BigInt(high) - 1n), inside);
  return e.select(below, int(BigInt(low)), e.select(nan, int(0n), capped));
}

/** Upper half of a product: of twice the width, or of the two halves that arith gives for 64 bits. */
function mulHigh(e: Emitter, a: Lanes, b: Lanes, { bits, signed }: DType): Lanes {
  if (bits === 64) return e.mulExtended(signed ? 'mulsi_extended' : 'mului_extended', a, b);
  const [x, y] = [a, b].map((v) => e.convert(signed ? 'arith.extsi' : 'arith.extui', v, 'i64'));
  const product = e.binary('muli', x!, y!);
  return e.convert('arith.trunci', e.binary('shrui', product, e.int(bits, 'i64', a.width)), a.elem);
}

/** Bits of f16 and bf16 are held widened: the upper half of f32 for bf16, a conversion for f16. */
export function bitcast(e: Emitter, x: Lanes, from: DType, to: DType): Lanes {
  return bitsToDType(e, dtypeToBits(e, x, from), to);
}

function dtypeToBits(e: Emitter, x: Lanes, from: DType): Lanes {
  if (!isFloat(from)) return x;
  if (from.bits >= 32) return e.bitcast(x, `i${from.bits}` as Elem);
  if (from === bf16) {
    const upper = e.binary('shrui', e.bitcast(settled(e, from, x), 'i32'), e.int(16, 'i32', x.width));
    return e.convert('arith.trunci', upper, 'i16');
  }
  if (from.bits <= 8) return encodeFloat(e, x, from, 'held');
  const half = e.op('arith.truncf', { operands: [x.value], types: [lanesType('f16', x.width)] });
  const value = e.op('arith.bitcast', { operands: [half], types: [lanesType('i16', x.width)] });
  return { value, elem: 'i16', width: x.width };
}

function bitsToDType(e: Emitter, bits: Lanes, to: DType): Lanes {
  if (!isFloat(to)) return to.bits === 4 ? wrapNibble(e, bits, to) : bits;
  if (to.bits >= 32) return e.bitcast(bits, to === f64 ? 'f64' : 'f32');
  if (to === bf16) {
    const upper = e.binary('shli', e.convert('arith.extui', bits, 'i32'), e.int(16, 'i32', bits.width));
    return e.bitcast(upper, 'f32');
  }
  if (to.bits <= 8) return decodeFloat(e, to.bits === 4 ? wrapNibble(e, bits, u4) : bits, to);
  const half = e.op('arith.bitcast', { operands: [bits.value], types: [lanesType('f16', bits.width)] });
  const value = e.op('arith.extf', { operands: [half], types: [lanesType('f32', bits.width)] });
  return { value, elem: 'f32', width: bits.width };
}

/** Bits above those of a dtype are not counted. */
const ownBits = (e: Emitter, x: Lanes, { bits }: DType): Lanes =>
  bits === 4 ? e.binary('andi', x, e.int(15, 'i8', x.width)) : x;

const rules = {
  neg: (e, [x], dtype) => {
    if (!isFloatElem(x!.elem)) return e.binary('subi', zeroOf(e, x!), x!);
    const flipped = e.unary('arith.negf', x!);
    // Not every float of 8 bits has a negative zero.
    return dtype.bits <= 8 ? roundTo(e, dtype, flipped) : flipped;
  },
  abs: (e, [x], dtype) => {
    if (isFloat(dtype)) return e.unary('math.absf', x!);
    return dtype.signed ? e.binary('maxsi', x!, e.binary('subi', zeroOf(e, x!), x!)) : x!;
  },
  not: (e, [x]) => e.binary('xori', x!, e.int(-1, x!.elem, x!.width)),
  bitcast: (e, [x], dtype, op) => bitcast(e, x!, dtype, (op.results[0]!.type as TileType).dtype),
  count_leading_zeros: (e, [x], dtype) => {
    const zeros = e.unary('math.ctlz', ownBits(e, x!, dtype));
    return dtype.bits === 4 ? e.binary('subi', zeros, e.int(4, 'i8', x!.width)) : zeros;
  },
  population_count: (e, [x], dtype) => e.unary('math.ctpop', ownBits(e, x!, dtype)),
  mul_hi: (e, [a, b], dtype) => mulHigh(e, a!, b!, dtype),
  exp: mathFunction('exp', math.exp),
  exp2: mathFunction('exp2', math.exp2),
  expm1: mathFunction('expm1'),
  log: mathFunction('log', math.log),
  log2: mathFunction('log2', math.log2),
  log10: mathFunction('log10'),
  log1p: mathFunction('log1p'),
  cbrt: mathFunction('cbrt'),
  sin: mathFunction('sin'),
  cos: mathFunction('cos'),
  tan: mathFunction('tan'),
  asin: mathFunction('asin', math.asin),
  acos: mathFunction('acos'),
  atan: mathFunction('atan'),
  sinh: mathFunction('sinh'),
  cosh: mathFunction('cosh'),
  tanh: mathFunction('tanh', math.tanh),
  asinh: mathFunction('asinh'),
  acosh: mathFunction('acosh'),
  atanh: mathFunction('atanh'),
  erf: mathFunction('erf', math.erf),
  erfc: mathFunction('erfc'),
  pow: mathOfTwo('pow'),
  atan2: mathOfTwo('atan2'),
  fma: (e, [a, b, c], dtype) => roundTo(e, dtype, e.fma(a!, b!, c!)),
  sqrt: float('math.sqrt'),
  rsqrt: (e, [x], dtype) =>
    roundTo(e, dtype, e.binary('divf', e.number(1, x!.elem, x!.width), e.unary('math.sqrt', x!))),
  floor: float('math.floor'),
  ceil: float('math.ceil'),
  round: float('math.roundeven'),
  add: byClass('addf', 'addi'),
  sub: byClass('subf', 'subi'),
  mul: byClass('mulf', 'muli'),
  div: (e, args, dtype, op) =>
    isFloat(dtype) ? floatBinary(e, 'divf', args, dtype, op) : divide(e, args[0]!, args[1]!, dtype.signed).quotient,
  rem: (e, [a, b], { signed }) => divide(e, a!, b!, signed).remainder,
  floor_div: floorDivide,
  mod: modulo,
  cdiv: ceilDivide,
  max: bySign('maximumf', 'maxsi', 'maxui'),
  min: bySign('minimumf', 'minsi', 'minui'),
  max_num: ignoringNaN('maximumf'),
  min_num: ignoringNaN('minimumf'),
  and: same('andi'),
  or: same('ori'),
  xor: same('xori'),
  shl: shift(true),
  shr: shift(false),
  eq: compare('oeq', 'eq', 'eq'),
  ne: compare('une', 'ne', 'ne'),
  lt: compare('olt', 'slt', 'ult'),
  le: compare('ole', 'sle', 'ule'),
  gt: compare('ogt', 'sgt', 'ugt'),
  ge: compare('oge', 'sge', 'uge'),
  select: (e, [c, a, b]) => e.select(c!, a!, b!),
  philox: philoxWord,
} satisfies Record<string, ElementRule>;

/** A rule whose results, where they are 4-bit integers, are wrapped to that, and where they may stay wide, are not rounded. */
const settling =
  (rule: ElementRule): ElementRule =>
  (e, args, dtype, op) => {
    const lanes = rule(e, args, isNarrow(dtype) && gives(op, 'widen') ? f32 : dtype, op);
    const result = (op.results[0]!.type as TileType).dtype;
    return result.bits === 4 && result.cls === 'int' ? wrapNibble(e, lanes, result) : lanes;
  };

/** The rules of the elementwise ops. Comparisons get the dtype of their operands. */
export const elementRules = Object.fromEntries(
  Object.entries<ElementRule>(rules).map(([name, rule]) => [name, settling(rule)]),
) as Readonly<Record<keyof typeof rules, ElementRule>>;
