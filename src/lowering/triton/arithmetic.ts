/** Elementwise ops in Triton IR: one rule an op, on scalars and tensors alike, as `semantics.md` fixes their meaning. */

import { bf16, type DType, f32, f64, isFloat } from '../../ir/dtypes.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp } from '../../ir/value.js';
import type { GpuTarget } from '../gpu-target.js';
import type { MlirValue } from '../mlir.js';
import type { FloatPredicate, IntPredicate, TritonEmitter } from './emitter.js';
import { elementOf, shapeOfType } from './types.js';

export interface ElementContext {
  readonly e: TritonEmitter;
  readonly target: GpuTarget;
  /** Of the first operand; of the result for `cast` and `bitcast` see the op. */
  readonly dtype: DType;
  readonly op: GenericOp;
}

export type ElementRule = (c: ElementContext, ...args: readonly MlirValue[]) => MlirValue;

const mayApproximate = (op: GenericOp): boolean =>
  ((op.attrs as { fast?: readonly string[] }).fast ?? []).includes('approx');

const isNarrow = (dtype: DType): boolean => isFloat(dtype) && dtype.bits < 32;
const isFp8 = (dtype: DType): boolean => isFloat(dtype) && dtype.bits === 8;

/** To f32 from a narrower float. */
export function widen({ e }: Pick<ElementContext, 'e'>, x: MlirValue, dtype: DType): MlirValue {
  if (isFp8(dtype)) return e.op('tt.fp_to_fp', [x], e.retyped(x, 'f32'));
  return isNarrow(dtype) ? e.convert('extf', x, 'f32') : x;
}

const largest: Readonly<Record<string, number>> = {
  f8e4m3fn: 448,
  f8e5m2: 57344,
  f8e4m3fnuz: 240,
  f8e5m2fnuz: 57344,
};

/** From f32 to a narrower float, to nearest even; to fp8 saturating. */
export function narrow({ e }: Pick<ElementContext, 'e'>, x: MlirValue, dtype: DType): MlirValue {
  if (!isNarrow(dtype)) return x;
  if (!isFp8(dtype)) return e.convert('truncf', x, elementOf(dtype));
  const most = largest[dtype.name]!;
  const low = e.binary('maximumf', x, e.like(-most, x));
  const held = e.binary('minimumf', low, e.like(most, x));
  return e.op('tt.fp_to_fp', [held], e.retyped(x, elementOf(dtype)), { properties: { rounding: 'rtne' } });
}

/** Computes in f32 at least and rounds once to the dtype. */
const inF32 =
  (f: (c: ElementContext, ...args: readonly MlirValue[]) => MlirValue): ElementRule =>
  (c, ...args) =>
    narrow(c, f(c, ...args.map((x) => widen(c, x, c.dtype))), c.dtype);

/** f16 and bf16 have the exact ops themselves; fp8 has none. */
const exact =
  (f: (c: ElementContext, ...args: readonly MlirValue[]) => MlirValue): ElementRule =>
  (c, ...args) =>
    isFp8(c.dtype) ? inF32(f)(c, ...args) : f(c, ...args);

const byClass = (float: string, int: string): ElementRule =>
  exact(({ e, dtype }, a, b) => e.binary(isFloat(dtype) ? float : int, a!, b!));

const bySign = (float: string, signed: string, unsigned: string): ElementRule =>
  exact(({ e, dtype }, a, b) => e.binary(isFloat(dtype) ? float : dtype.signed ? signed : unsigned, a!, b!));

const same =
  (name: string): ElementRule =>
  ({ e }, a, b) =>
    e.binary(name, a!, b!);

/** A function of the vendor's library, of f32 or f64; where approximation is allowed, the instruction for f32. */
const library = (name: string, approximate?: string): ElementRule =>
  inF32(({ e, target, dtype, op }, ...args) => {
    const wide = dtype === f64;
    if (approximate && !wide && mayApproximate(op)) return e.unary(`math.${approximate}`, args[0]!);
    const nvidia = `__nv_${name}${wide ? '' : 'f'}`;
    return e.extern(target.vendor === 'nvidia' ? nvidia : `__ocml_${name}_f${wide ? 64 : 32}`, args);
  });

const divideFloats = inF32(({ e, dtype, op }, a, b) =>
  dtype === f64 || mayApproximate(op) ? e.binary('divf', a!, b!) : e.op('tt.precise_divf', [a!, b!], a!.type),
);

const squareRoot = inF32(({ e, dtype, op }, x) =>
  dtype === f64 || mayApproximate(op) ? e.unary('math.sqrt', x!) : e.unary('tt.precise_sqrt', x!),
);

// ---- integers -----------------------------------------------------------------------------------------------------

/** Quotient and remainder toward zero; neither a zero divisor nor the least integer over -1 reaches the instruction. */
function divide(c: ElementContext, a: MlirValue, b: MlirValue): { quotient: MlirValue; remainder: MlirValue } {
  const { e, dtype } = c;
  const op = dtype.signed ? 'divsi' : 'divui';
  const known = e.known(b);
  if (known !== undefined && Number(known) !== 0 && Number(known) !== -1) {
    const quotient = e.binary(op, a, b);
    return { quotient, remainder: e.binary(dtype.signed ? 'remsi' : 'remui', a, b) };
  }
  const zero = e.compareInt('eq', b, e.like(0, b));
  const minusOne = dtype.signed ? e.compareInt('eq', b, e.like(-1, b)) : undefined;
  const safe = e.select(minusOne ? e.binary('ori', zero, minusOne) : zero, e.like(1, b), b);
  const divided = e.binary(op, a, safe);
  const negated = minusOne ? e.select(minusOne, e.binary('subi', e.like(0, a), a), divided) : divided;
  const quotient = e.select(zero, e.like(0, a), negated);
  const remainder = e.select(zero, e.like(0, a), e.binary('subi', a, e.binary('muli', quotient, b)));
  return { quotient, remainder };
}

function signsDiffer({ e }: ElementContext, remainder: MlirValue, divisor: MlirValue): MlirValue {
  const nonzero = e.compareInt('ne', remainder, e.like(0, remainder));
  return e.binary('andi', nonzero, e.compareInt('slt', e.binary('xori', remainder, divisor), e.like(0, remainder)));
}

/** Log2 of a divisor of a scalar that is a known power of two: then shifts and masks are exact. Of tiles the axes are followed better through divisions. */
function shiftFor({ e, dtype }: ElementContext, a: MlirValue, b: MlirValue): number | undefined {
  const by = Number(e.known(b) ?? 0);
  const power = Math.log2(by);
  return shapeOfType(a.type).length === 0 && by > 0 && Number.isInteger(power) && power < dtype.bits - 1
    ? power
    : undefined;
}

const shiftedDown = ({ e, dtype }: ElementContext, x: MlirValue, by: number): MlirValue =>
  e.binary(dtype.signed ? 'shrsi' : 'shrui', x, e.like(by, x));

const floorDivide: ElementRule = (c, a, b) => {
  const { e } = c;
  const by = shiftFor(c, a!, b!);
  if (by !== undefined) return shiftedDown(c, a!, by);
  const { quotient, remainder } = divide(c, a!, b!);
  if (!c.dtype.signed) return quotient;
  return e.select(signsDiffer(c, remainder, b!), e.binary('subi', quotient, e.like(1, quotient)), quotient);
};

const modulo: ElementRule = (c, a, b) => {
  if (shiftFor(c, a!, b!) !== undefined) return c.e.binary('andi', a!, c.e.like(Number(c.e.known(b!)) - 1, a!));
  const { remainder } = divide(c, a!, b!);
  if (!c.dtype.signed) return remainder;
  return c.e.select(signsDiffer(c, remainder, b!), c.e.binary('addi', remainder, b!), remainder);
};

const ceilDivide: ElementRule = (c, a, b) => {
  const { e, dtype } = c;
  const by = shiftFor(c, a!, b!);
  if (by !== undefined) {
    const rest = e.binary('andi', a!, e.like(2 ** by - 1, a!));
    const more = e.convert('extui', e.compareInt('ne', rest, e.like(0, rest)), elementOf(dtype));
    return e.binary('addi', shiftedDown(c, a!, by), more);
  }
  const { quotient, remainder } = divide(c, a!, b!);
  const nonzero = e.compareInt('ne', remainder, e.like(0, remainder));
  const alike = dtype.signed ? e.compareInt('sge', e.binary('xori', remainder, b!), e.like(0, remainder)) : undefined;
  return e.select(
    alike ? e.binary('andi', nonzero, alike) : nonzero,
    e.binary('addi', quotient, e.like(1, quotient)),
    quotient,
  );
};

/** Amounts are read as unsigned; the width or more shifts everything out. */
const shift =
  (left: boolean): ElementRule =>
  ({ e, dtype }, a, b) => {
    if (!left && dtype.signed) return e.binary('shrsi', a!, e.binary('minui', b!, e.like(dtype.bits - 1, b!)));
    const inside = e.compareInt('ult', b!, e.like(dtype.bits, b!));
    const shifted = e.binary(left ? 'shli' : 'shrui', a!, e.select(inside, b!, e.like(0, b!)));
    return e.select(inside, shifted, e.like(0, a!));
  };

const mulHigh: ElementRule = ({ e, dtype }, a, b) => {
  if (!dtype.signed && dtype.bits >= 32) return e.op('tt.mulhiui', [a!, b!], a!.type);
  if (dtype.bits === 64) {
    // Of the unsigned product, less what the signs added to it.
    const high = e.op('tt.mulhiui', [a!, b!], a!.type);
    const part = (x: MlirValue, y: MlirValue): MlirValue => e.binary('andi', e.binary('shrsi', x, e.like(63, x)), y);
    return e.binary('subi', e.binary('subi', high, part(a!, b!)), part(b!, a!));
  }
  const [x, y] = [a!, b!].map((v) => e.convert(dtype.signed ? 'extsi' : 'extui', v, 'i64'));
  const product = e.binary('muli', x!, y!);
  return e.convert('trunci', e.binary('shrui', product, e.like(dtype.bits, product)), elementOf(dtype));
};

/** Set bits by adding neighbours. */
const populationCount: ElementRule = ({ e, dtype }, x) => {
  const element = elementOf(dtype);
  const wide = dtype.bits < 32 ? e.convert('extui', x!, 'i32') : x!;
  const bits = Math.max(32, dtype.bits);
  const mask = (pattern: number): MlirValue =>
    e.like(
      BigInt(
        `0x${pattern
          .toString(16)
          .padStart(2, '0')
          .repeat(bits / 8)}`,
      ),
      wide,
    );
  const shr = (v: MlirValue, n: number): MlirValue => e.binary('shrui', v, e.like(n, v));
  const pairs = e.binary('subi', wide, e.binary('andi', shr(wide, 1), mask(0x55)));
  const quads = e.binary('addi', e.binary('andi', pairs, mask(0x33)), e.binary('andi', shr(pairs, 2), mask(0x33)));
  const bytes = e.binary('andi', e.binary('addi', quads, shr(quads, 4)), mask(0x0f));
  const total = shr(e.binary('muli', bytes, mask(0x01)), bits - 8);
  return dtype.bits < 32 ? e.convert('trunci', total, element) : total;
};

/** Leading zeros are what is not set once every bit below the highest set one is. */
const countLeadingZeros: ElementRule = (c, x) => {
  const { e, dtype } = c;
  let filled = x!;
  for (let n = 1; n < dtype.bits; n *= 2)
    filled = e.binary('ori', filled, e.binary('shrui', filled, e.like(n, filled)));
  return populationCount(c, e.not(filled));
};

// ---- comparison and conversion -------------------------------------------------------------------------------------

const compare =
  (float: FloatPredicate, signed: IntPredicate, unsigned: IntPredicate): ElementRule =>
  (c, a, b) => {
    const { e, dtype } = c;
    if (!isFloat(dtype)) return e.compareInt(dtype.signed ? signed : unsigned, a!, b!);
    return e.compareFloat(float, widenFp8(c, a!), widenFp8(c, b!));
  };

const widenFp8 = (c: ElementContext, x: MlirValue): MlirValue => (isFp8(c.dtype) ? widen(c, x, c.dtype) : x);

const ignoringNaN = (name: string): ElementRule => exact(({ e }, a, b) => e.binary(name, a!, b!));

/** Converts between dtypes: float to int toward zero, saturating, NaN to 0; int to narrower int wraps. */
export function cast(c: Pick<ElementContext, 'e'>, x: MlirValue, from: DType, to: DType): MlirValue {
  const { e } = c;
  if (to.cls === 'bool') {
    if (!isFloat(from)) return e.compareInt('ne', x, e.like(0, x));
    const wide = widen(c, x, from);
    return e.compareFloat('une', wide, e.like(0, wide));
  }
  if (isFloat(to)) return toFloat(c, x, from, to);
  if (isFloat(from)) return floatToInt(c, widen(c, x, from), to);
  const [bits, target] = [from.cls === 'bool' ? 1 : from.bits, elementOf(to)];
  if (bits === to.bits) return x;
  if (bits > to.bits) return e.convert('trunci', x, target);
  return e.convert(from.signed ? 'extsi' : 'extui', x, target);
}

function toFloat(c: Pick<ElementContext, 'e'>, x: MlirValue, from: DType, to: DType): MlirValue {
  const { e } = c;
  if (!isFloat(from)) {
    const name = from.signed ? 'sitofp' : 'uitofp';
    if (to === bf16 && from.bits >= 32) {
      const exact64 = from.bits === 64 ? oddInteger(e, x, from.signed) : x;
      return narrow(c, oddF32(e, e.convert(name, exact64, 'f64')), to);
    }
    return to === f64 ? e.convert(name, x, 'f64') : narrow(c, e.convert(name, x, 'f32'), to);
  }
  if (to === f64) return e.convert('extf', widen(c, x, from), 'f64');
  if (from === f64) return to === f32 ? e.convert('truncf', x, 'f32') : narrow(c, oddF32(e, x), to);
  if (to === f32) return widen(c, x, from);
  return from === to ? x : narrow(c, widen(c, x, from), to);
}

/** f64 rounded to odd in f32: what is rounded again from there, to fewer bits, ends where one rounding would have. */
function oddF32(e: TritonEmitter, x: MlirValue): MlirValue {
  const nearest = e.convert('truncf', x, 'f32');
  const back = e.convert('extf', nearest, 'f64');
  const away = e.compareFloat('ogt', e.unary('math.absf', back), e.unary('math.absf', x));
  const bits = e.bitcast(nearest, 'i32');
  const truncated = e.select(away, e.binary('subi', bits, e.like(1, bits)), bits);
  const inexact = e.compareFloat('une', back, x);
  return e.bitcast(e.select(inexact, e.binary('ori', truncated, e.like(1, bits)), truncated), 'f32');
}

/** 64-bit integers that f64 holds exactly: of those past 2^53 the low 11 bits are folded into one. */
function oddInteger(e: TritonEmitter, x: MlirValue, signed: boolean): MlirValue {
  const limit = 1n << 53n;
  const shifted = signed ? e.binary('addi', x, e.like(limit, x)) : x;
  const small = e.compareInt('ule', shifted, e.like(signed ? 2n * limit : limit, x));
  const rest = e.compareInt('ne', e.binary('andi', x, e.like(0x7ffn, x)), e.like(0n, x));
  const kept = e.binary('andi', x, e.like(-0x800n, x));
  return e.select(small, x, e.binary('ori', kept, e.select(rest, e.like(0x800n, x), e.like(0n, x))));
}

function floatToInt({ e }: Pick<ElementContext, 'e'>, x: MlirValue, to: DType): MlirValue {
  const [low, high] = to.signed ? [-(2 ** (to.bits - 1)), 2 ** (to.bits - 1)] : [0, 2 ** to.bits];
  const below = e.compareFloat('ole', x, e.like(low, x));
  const above = e.compareFloat('oge', x, e.like(high, x));
  const nan = e.compareFloat('uno', x, x);
  const outside = e.binary('ori', e.binary('ori', below, above), nan);
  const target = elementOf(to);
  const inside = e.convert(to.signed ? 'fptosi' : 'fptoui', e.select(outside, e.like(0, x), x), target);
  const capped = e.select(above, e.like(BigInt(high) - 1n, inside), inside);
  return e.select(below, e.like(BigInt(low), inside), e.select(nan, e.like(0, inside), capped));
}

const resultDType = (op: GenericOp): DType => (op.results[0]!.type as TileType).dtype;

/** The rules of the elementwise ops. */
export const elementRules = {
  neg: exact(({ e, dtype }, x) => (isFloat(dtype) ? e.unary('arith.negf', x!) : e.binary('subi', e.like(0, x!), x!))),
  abs: exact(({ e, dtype }, x) => {
    if (isFloat(dtype)) return e.unary('math.absf', x!);
    return dtype.signed ? e.binary('maxsi', x!, e.binary('subi', e.like(0, x!), x!)) : x!;
  }),
  not: ({ e }, x) => e.not(x!),
  exp: library('exp', 'exp'),
  exp2: library('exp2', 'exp2'),
  expm1: library('expm1'),
  log: library('log', 'log'),
  log2: library('log2', 'log2'),
  log10: library('log10'),
  log1p: library('log1p'),
  cbrt: library('cbrt'),
  sin: library('sin', 'sin'),
  cos: library('cos', 'cos'),
  tan: library('tan'),
  asin: library('asin'),
  acos: library('acos'),
  atan: library('atan'),
  sinh: library('sinh'),
  cosh: library('cosh'),
  tanh: library('tanh'),
  asinh: library('asinh'),
  acosh: library('acosh'),
  atanh: library('atanh'),
  erf: library('erf', 'erf'),
  erfc: library('erfc'),
  pow: library('pow'),
  atan2: library('atan2'),
  fma: inF32(({ e }, a, b, c) => e.op('math.fma', [a!, b!, c!], a!.type)),
  sqrt: squareRoot,
  rsqrt: library('rsqrt', 'rsqrt'),
  floor: inF32(({ e }, x) => e.unary('math.floor', x!)),
  ceil: inF32(({ e }, x) => e.unary('math.ceil', x!)),
  round: library('rint'),
  add: byClass('addf', 'addi'),
  sub: byClass('subf', 'subi'),
  mul: byClass('mulf', 'muli'),
  div: (c, a, b) => (isFloat(c.dtype) ? divideFloats(c, a!, b!) : divide(c, a!, b!).quotient),
  rem: (c, a, b) => divide(c, a!, b!).remainder,
  floor_div: floorDivide,
  mod: modulo,
  cdiv: ceilDivide,
  mul_hi: mulHigh,
  max: bySign('maximumf', 'maxsi', 'maxui'),
  min: bySign('minimumf', 'minsi', 'minui'),
  max_num: ignoringNaN('maxnumf'),
  min_num: ignoringNaN('minnumf'),
  and: same('andi'),
  or: same('ori'),
  xor: same('xori'),
  shl: shift(true),
  shr: shift(false),
  population_count: populationCount,
  count_leading_zeros: countLeadingZeros,
  eq: compare('oeq', 'eq', 'eq'),
  ne: compare('une', 'ne', 'ne'),
  lt: compare('olt', 'slt', 'ult'),
  le: compare('ole', 'sle', 'ule'),
  gt: compare('ogt', 'sgt', 'ugt'),
  ge: compare('oge', 'sge', 'uge'),
  select: ({ e }, c, a, b) => e.select(c!, a!, b!),
  cast: (c, x) => cast(c, x!, c.dtype, resultDType(c.op)),
  bitcast: ({ e, op }, x) => e.bitcast(x!, elementOf(resultDType(op))),
} satisfies Record<string, ElementRule>;
