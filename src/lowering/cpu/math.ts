/**
 * Math functions in f32 from plain arithmetic: no library, any vector width. Polynomials are minimax fits on the
 * reduced range; the bounds stated were measured against double over all f32 exponents (test/unit/lowering-math).
 */

import type { Emitter, Lanes } from './emitter.js';

const ln2High = 0.693145752; // 13 trailing zero bits: k * ln2High is exact for |k| < 2^11
const ln2Low = 1.42860682e-6;
const log2e = Math.LOG2E;
/** 1.5 * 2^23: adding it rounds to the nearest integer and leaves that integer in the low bits. */
const roundingShift = 12582912;

/** sum of coefficients[i] * x^(n - 1 - i), by Horner's rule. */
function polynomial(e: Emitter, x: Lanes, coefficients: readonly number[]): Lanes {
  const [first, ...rest] = coefficients;
  return rest.reduce((acc, c) => e.fma(acc, x, e.float(c, 'f32', x.width)), e.float(first!, 'f32', x.width));
}

const f = (e: Emitter, x: number, like: Lanes): Lanes => e.float(x, 'f32', like.width);
const i = (e: Emitter, x: number, like: Lanes): Lanes => e.int(x, 'i32', like.width);

/** Widths of the vectors that AVX-512's `vscalefps` takes, with the type of their mask and whether rounding is an operand. */
const scalefForms = [
  { width: 16, mask: 'i16', rounding: true },
  { width: 8, mask: 'i8', rounding: false },
  { width: 4, mask: 'i8', rounding: false },
] as const;

/** The instruction's number for the rounding mode in force. */
const currentRounding = 4;

/** y * 2^k by the instruction for it, piece by piece; undefined where there is none for the width. */
function scaleByInstruction(e: Emitter, y: Lanes, k: Lanes): Lanes | undefined {
  const form = e.unit.scalef ? scalefForms.find(({ width }) => width <= y.width) : undefined;
  if (!form) return undefined;
  const { width, mask, rounding } = form;
  const pieces = Array.from({ length: y.width / width }, (_, piece) => {
    const [part, power] = [e.slice(y, piece * width, width), e.slice(k, piece * width, width)];
    const operands = [part, power, part, e.int(-1, mask), ...(rounding ? [e.int(currentRounding, 'i32')] : [])];
    return e.intrinsic(`llvm.x86.avx512.mask.scalef.ps.${width * 32}`, operands, part);
  });
  return e.concatenate(pieces);
}
/**
 * y * 2^k for an integer k >= -151 that `shifted` (k + roundingShift) has in its low bits, and y in [½, 2). Two exact
 * factors, the first of them such that only the second product can be subnormal: it rounds once. `approx`: one factor,
 * and 0 in place of subnormal numbers.
 */
function scaleByPower(e: Emitter, y: Lanes, k: Lanes, shifted: Lanes, approx: boolean): Lanes {
  const direct = scaleByInstruction(e, y, k);
  if (direct) return direct;
  const exponent = (n: number): Lanes => i(e, n * 2 ** 23, y);
  const n = e.binary('shli', e.bitcast(shifted, 'i32'), i(e, 23, y));
  if (approx) {
    const power = e.binary('addi', e.binary('maxsi', n, exponent(-127)), exponent(127));
    return e.binary('mulf', y, e.bitcast(power, 'f32'));
  }
  const first = e.binary('maxsi', n, exponent(-124));
  // 2^(first - 1) and 2^(k - first + 1): k may be 128, which is too much for one factor.
  const low = e.bitcast(e.binary('addi', first, exponent(126)), 'f32');
  const high = e.bitcast(e.binary('addi', e.binary('subi', n, first), exponent(128)), 'f32');
  return e.binary('mulf', e.binary('mulf', y, low), high);
}

/** Clamps to where exp neither over- nor underflows further, and keeps NaN. */
function clamp(e: Emitter, x: Lanes, low: number, high: number): Lanes {
  const above = e.select(e.compareFloat('olt', x, f(e, low, x)), f(e, low, x), x);
  return e.select(e.compareFloat('ogt', above, f(e, high, x)), f(e, high, x), above);
}

/** e^r for |r| <= ln2 / 2, relative error below 2^-26. */
const expTerms = [1.392625083e-3, 8.363232884e-3, 4.166655421e-2, 1.666657667e-1, 0.5, 1, 1];

/** e^x within 1 ulp, subnormal results included. */
export function exp(e: Emitter, x: Lanes, approx = false): Lanes {
  // Beyond these bounds the result is 0 or infinity already.
  const bounded = clamp(e, x, -104, 89);
  const shifted = e.fma(bounded, f(e, log2e, x), f(e, roundingShift, x));
  const k = e.binary('subf', shifted, f(e, roundingShift, x));
  const r = e.fma(k, f(e, -ln2Low, x), e.fma(k, f(e, -ln2High, x), bounded));
  return scaleByPower(e, polynomial(e, r, expTerms), k, shifted, approx);
}

/** 2^r for |r| <= ½, relative error below 2^-28. */
const exp2Terms = [
  1.53293105540797e-4, 1.3390970416367054e-3, 9.61849931627512e-3, 5.550359562039375e-2, 2.4022647738456726e-1,
  6.931471824645996e-1, 1,
];

/** 2^x within 1 ulp, subnormal results included. */
export function exp2(e: Emitter, x: Lanes, approx = false): Lanes {
  const bounded = clamp(e, x, -151, 128);
  const shifted = e.binary('addf', bounded, f(e, roundingShift, x));
  const k = e.binary('subf', shifted, f(e, roundingShift, x));
  const r = e.binary('subf', bounded, k);
  return scaleByPower(e, polynomial(e, r, exp2Terms), k, shifted, approx);
}

/** log(1 + t) = t - t²/2 + t³ p(t) for 1 + t in [√½, √2] (coefficients after Cephes logf). */
const logTail = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
];

/** Splits x = m 2^k with m in [√½, √2); gives m - 1 and k as f32. `approx`: not for subnormal x. */
function splitExponent(e: Emitter, x: Lanes, approx: boolean): { t: Lanes; k: Lanes } {
  const tiny = e.compareFloat('olt', x, f(e, 1.17549435e-38, x));
  const scaled = approx ? x : e.select(tiny, e.binary('mulf', x, f(e, 2 ** 23, x)), x);
  // Shifting the bits by those of √½ puts the mantissa's split where it belongs.
  const bits = e.binary('subi', e.bitcast(scaled, 'i32'), i(e, 0x3f3504f3, x));
  const exponent = e.binary('shrsi', bits, i(e, 23, x));
  const mantissa = e.binary('addi', e.binary('andi', bits, i(e, 0x7fffff, x)), i(e, 0x3f3504f3, x));
  const k = e.convert('arith.sitofp', exponent, 'f32');
  return {
    t: e.binary('subf', e.bitcast(mantissa, 'f32'), f(e, 1, x)),
    k: approx ? k : e.select(tiny, e.binary('subf', k, f(e, 23, x)), k),
  };
}

/** What log gives outside of the positive finite numbers. */
function logSpecials(e: Emitter, x: Lanes, y: Lanes): Lanes {
  const zero = e.compareFloat('oeq', x, f(e, 0, x));
  const negative = e.compareFloat('olt', x, f(e, 0, x));
  const infinite = e.compareFloat('oeq', x, f(e, Number.POSITIVE_INFINITY, x));
  const nan = e.compareFloat('uno', x, x);
  const kept = e.select(e.binary('ori', infinite, nan), x, y);
  return e.select(zero, f(e, Number.NEGATIVE_INFINITY, x), e.select(negative, f(e, Number.NaN, x), kept));
}

/** Natural logarithm within 1 ulp. */
export function log(e: Emitter, x: Lanes, approx = false): Lanes {
  const { t, k } = splitExponent(e, x, approx);
  const t2 = e.binary('mulf', t, t);
  const tail = e.fma(k, f(e, -2.1219444e-4, x), e.binary('mulf', e.binary('mulf', t2, t), polynomial(e, t, logTail)));
  const small = e.fma(t2, f(e, -0.5, x), tail);
  return logSpecials(e, x, e.fma(k, f(e, 0.693359375, x), e.binary('addf', t, small)));
}

/** Logarithm to base 2 within 2 ulp. */
export function log2(e: Emitter, x: Lanes, approx = false): Lanes {
  const { t, k } = splitExponent(e, x, approx);
  const t2 = e.binary('mulf', t, t);
  const y = e.fma(t2, f(e, -0.5, x), e.binary('mulf', e.binary('mulf', t2, t), polynomial(e, t, logTail)));
  // log2(1 + t) = (t + y) log2(e), with log2(e) = 1 + 0.4427: the large parts are added last.
  const fraction = f(e, log2e - 1, x);
  const low = e.fma(t, fraction, e.binary('mulf', y, fraction));
  return logSpecials(e, x, e.binary('addf', k, e.binary('addf', t, e.binary('addf', y, low))));
}

/** tanh within 2 ulp: an odd polynomial near 0 (after Cephes tanhf), 1 - 2 / (e^2|x| + 1) elsewhere. */
export function tanh(e: Emitter, x: Lanes, approx = false): Lanes {
  const magnitude = e.unary('math.absf', x);
  const square = e.binary('mulf', magnitude, magnitude);
  const tail = polynomial(
    e,
    square,
    [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1],
  );
  const near = e.fma(e.binary('mulf', tail, square), magnitude, magnitude);
  const grown = exp(e, e.binary('addf', magnitude, magnitude), approx);
  const far = e.binary('subf', f(e, 1, x), e.binary('divf', f(e, 2, x), e.binary('addf', grown, f(e, 1, x))));
  return copySign(e, e.select(e.compareFloat('olt', magnitude, f(e, 0.625, x)), near, far), x);
}

/**
 * erf within 2 ulp: an odd polynomial near 0, 1 - e^p(|x|) elsewhere (coefficients after N. Juffa's erff).
 */
export function erf(e: Emitter, x: Lanes, approx = false): Lanes {
  const t = e.unary('math.absf', x);
  const square = e.binary('mulf', t, t);
  const low = polynomial(e, t, [3.83197126e-4, -1.7285347e-5].reverse());
  const middle = polynomial(e, t, [2.42546219e-2, -3.88396438e-3].reverse());
  const joined = e.fma(low, square, middle);
  const power = [-1.06777877e-1, -6.34846687e-1, -1.28717512e-1].reduce((sum, c) => e.fma(sum, t, f(e, c, x)), joined);
  const far = e.binary('subf', f(e, 1, x), exp(e, e.fma(power, t, e.unary('arith.negf', t)), approx));
  const near = polynomial(
    e,
    square,
    [-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1],
  );
  const split = e.compareFloat('ogt', t, f(e, 0.927734375, x));
  return e.select(split, copySign(e, far, x), e.fma(near, x, x));
}

/** (asin(x) - x) / x³ in x², for |x| <= ½; error 5e-9 of x. */
const asinTail = [4.22185665e-2, 2.41476011e-2, 4.54770989e-2, 7.49524177e-2, 1.66667539e-1];

/** asin within 2 ulp: a polynomial up to ½, beyond it π/2 - 2 asin(√((1 - |x|) / 2)). */
export function asin(e: Emitter, x: Lanes): Lanes {
  const t = e.unary('math.absf', x);
  const beyond = e.compareFloat('ogt', t, f(e, 0.5, x));
  const halved = e.fma(t, f(e, -0.5, x), f(e, 0.5, x));
  const square = e.select(beyond, halved, e.binary('mulf', t, t));
  const root = e.select(beyond, e.unary('math.sqrt', halved), t);
  const angle = e.fma(e.binary('mulf', polynomial(e, square, asinTail), square), root, root);
  // π/2 is a little less than its f32.
  const folded = e.binary('addf', e.fma(angle, f(e, -2, x), f(e, -4.37113883e-8, x)), f(e, 1.57079637, x));
  return copySign(e, e.select(beyond, folded, angle), x);
}

function copySign(e: Emitter, magnitude: Lanes, sign: Lanes): Lanes {
  const kept = e.binary('andi', e.bitcast(magnitude, 'i32'), i(e, 0x7fffffff, sign));
  const bit = e.binary('andi', e.bitcast(sign, 'i32'), i(e, -0x80000000, sign));
  return e.bitcast(e.binary('ori', kept, bit), 'f32');
}
