/** Arithmetic of f32 and f64, and of pairs of f32. */

import type { Form, InstructionEntry, InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { registers, vectorRegisters } from '../module.js';

const conditionCode = vectorRegisters + registers.vcc;

type Expression = (...sources: string[]) => string;

const results = ['clamp', 'mul', 'div'] as const;
const sourcesOf = (count: number, read: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => read(n));
const forms = (form: Form, count: number): Form[] => Array.from({ length: count }, () => form);

/** An f32 of f32: the expression has one rounding at most, and ends in an f32. */
const single = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms('v1', expression.length)],
  modifiers: results,
  lane: (code) => code.setFloat(expression(...sourcesOf(expression.length, (n) => code.float(n)))),
});
const double = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V2', ...forms('v2', expression.length)],
  modifiers: ['clamp'],
  lane: (code) => code.setDouble(expression(...sourcesOf(expression.length, (n) => code.double(n)))),
});
/** Two f32 at once, each operand's part by `op_sel`. */
const pair = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V2', ...forms('v2', expression.length)],
  modifiers: ['clamp', 'op_sel', 'op_sel_hi', 'neg_lo', 'neg_hi'],
  lane: (code) => {
    for (const part of [0, 1] as const)
      code.setFloat(expression(...sourcesOf(expression.length, (n) => code.packedFloat(n, part))), part);
  },
});
const fround = (e: string): string => `Math.fround(${e})`;
const fma: Expression = (a, b, c) => `N.fma(${a},${b},${c})`;

/** Three operands of which one is a literal inside of the instruction. */
const literalFma = (doc: string): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1', 'v1'],
  lane: (code) => code.setFloat(fma(code.float(0), code.float(1), code.float(2))),
});
const accumulate = (doc: string): InstructionEntry => ({
  doc,
  operands: ['X1', 'v1', 'v1'],
  modifiers: results,
  lane: (code) => code.setFloat(fma(code.float(0), code.float(1), code.oldFloat())),
});

const divScale = (kind: 'single' | 'double'): InstructionEntry => ({
  doc: 'scales an operand of a division into range, and tells whether the result must be scaled back',
  operands: kind === 'single' ? ['V1', 'M', 'v1', 'v1', 'v1'] : ['V2', 'M', 'v2', 'v2', 'v2'],
  lane: (code) => {
    const read = (n: number): string => (kind === 'single' ? code.float(n) : code.double(n));
    const value = code.hold(`N.divScale${kind === 'double' ? 'Double' : ''}(${sourcesOf(3, read).join(',')})`);
    code.setMask(1, 'N.divisionScaled()');
    if (kind === 'single') code.setFloat(value);
    else code.setDouble(value);
  },
});
const readsConditionCode = (_: unknown, { lanes }: { readonly lanes: number }) => ({
  reads: lanes === 64 ? [conditionCode, conditionCode + 1] : [conditionCode],
  writes: [],
});
const divFmas = (kind: 'single' | 'double'): InstructionEntry => ({
  doc: 'fma of a division, scaled back where `vcc` says so',
  operands: kind === 'single' ? ['V1', 'v1', 'v1', 'v1'] : ['V2', 'v2', 'v2', 'v2'],
  uses: readsConditionCode,
  lane: (code) => {
    if (kind === 'single')
      code.setFloat(`N.divFmas(${sourcesOf(3, (n) => code.float(n)).join(',')},${code.conditionCode})`);
    else code.setDouble(`N.divFmasDouble(${sourcesOf(3, (n) => code.double(n)).join(',')},${code.conditionCode})`);
  },
});
const propagating = (f: 'max' | 'min', double: boolean): Expression => {
  const round = double ? (e: string) => e : fround;
  return (a, b) => round(`Math.${f}(${a},${b})`);
};

export const float = {
  v_add_f32: single('sum', (a, b) => fround(`${a}+${b}`)),
  v_sub_f32: single('difference', (a, b) => fround(`${a}-${b}`)),
  v_subrev_f32: single('difference, of the second and the first', (a, b) => fround(`${b}-${a}`)),
  v_mul_f32: single('product', (a, b) => fround(`${a}*${b}`)),
  v_mul_legacy_f32: single('product, 0 where a factor is 0', (a, b) => `(${a}===0||${b}===0?0:${fround(`${a}*${b}`)})`),
  v_max_f32: single('the larger, or the number where one is NaN', (a, b) => `N.maxNumber(${a},${b})`),
  v_min_f32: single('the smaller, or the number where one is NaN', (a, b) => `N.minNumber(${a},${b})`),
  v_maximum_f32: single('the larger, or NaN', propagating('max', false)),
  v_minimum_f32: single('the smaller, or NaN', propagating('min', false)),
  v_max3_f32: single('the largest of three', (a, b, c) => `N.maxNumber(N.maxNumber(${a},${b}),${c})`),
  v_min3_f32: single('the smallest of three', (a, b, c) => `N.minNumber(N.minNumber(${a},${b}),${c})`),
  v_maximum3_f32: single('the largest of three, or NaN', (a, b, c) => fround(`Math.max(${a},${b},${c})`)),
  v_minimum3_f32: single('the smallest of three, or NaN', (a, b, c) => fround(`Math.min(${a},${b},${c})`)),
  v_maxmin_f32: single('the larger of the smaller', (a, b, c) => `N.maxNumber(N.minNumber(${a},${b}),${c})`),
  v_minmax_f32: single('the smaller of the larger', (a, b, c) => `N.minNumber(N.maxNumber(${a},${b}),${c})`),
  v_med3_f32: single('the middle one of three', (a, b, c) => `N.median(${a},${b},${c})`),
  v_fma_f32: single('fused product and sum', fma),
  v_fmac_f32: accumulate('fused product, added to the result'),
  v_fmaak_f32: literalFma('fused product and sum with a constant'),
  v_fmamk_f32: literalFma('fused product with a constant, and sum'),
  v_exp_f32: single('power of 2', (a) => `N.exp2(${a})`),
  v_log_f32: single('logarithm to base 2', (a) => `N.log2(${a})`),
  v_rcp_f32: single('inverse', (a) => fround(`1/${a}`)),
  v_rcp_iflag_f32: single('inverse, for integer division', (a) => fround(`1/${a}`)),
  v_rsq_f32: single('inverse of the square root', (a) => fround(`1/Math.sqrt(${a})`)),
  v_sqrt_f32: single('square root', (a) => fround(`Math.sqrt(${a})`)),
  v_sin_f32: single('sine of so many turns', (a) => `N.sine(${a})`),
  v_cos_f32: single('cosine of so many turns', (a) => `N.cosine(${a})`),
  v_floor_f32: single('to an integer, down', (a) => `Math.floor(${a})`),
  v_ceil_f32: single('to an integer, up', (a) => `Math.ceil(${a})`),
  v_trunc_f32: single('to an integer, toward zero', (a) => `Math.trunc(${a})`),
  v_rndne_f32: single('to an integer, ties to even', (a) => `N.roundEven(${a})`),
  v_fract_f32: single('what is above the integer below', (a) => `N.fraction(${a})`),
  v_frexp_mant_f32: single('mantissa in [0.5, 1)', (a) => `N.frexpMantissa(${a})`),
  v_div_fixup_f32: single('puts special values of a division right', (a, b, c) => `N.divFixup(${a},${b},${c})`),
  v_div_scale_f32: divScale('single'),
  v_div_fmas_f32: divFmas('single'),
  v_ldexp_f32: {
    doc: 'times a power of 2',
    operands: ['V1', 'v1', 'v1'],
    modifiers: results,
    lane: (code) => code.setFloat(`N.ldexp(${code.float(0)},${code.int(1)})`),
  },
  v_frexp_exp_i32_f32: {
    doc: 'exponent of the mantissa in [0.5, 1)',
    operands: ['V1', 'v1'],
    lane: (code) => code.setInt(`N.frexpExponent(${code.float(0)})`),
  },
  v_pk_add_f32: pair('two sums', (a, b) => fround(`${a}+${b}`)),
  v_pk_mul_f32: pair('two products', (a, b) => fround(`${a}*${b}`)),
  v_pk_fma_f32: pair('two fused products and sums', fma),

  v_add_f64: double('sum', (a, b) => `${a}+${b}`),
  v_mul_f64: double('product', (a, b) => `${a}*${b}`),
  v_max_f64: double('the larger, or the number where one is NaN', (a, b) => `N.maxNumber(${a},${b})`),
  v_min_f64: double('the smaller, or the number where one is NaN', (a, b) => `N.minNumber(${a},${b})`),
  v_maximum_f64: double('the larger, or NaN', propagating('max', true)),
  v_minimum_f64: double('the smaller, or NaN', propagating('min', true)),
  v_fma_f64: double('fused product and sum', (a, b, c) => `N.fmaDouble(${a},${b},${c})`),
  v_fmac_f64: {
    doc: 'fused product, added to the result',
    operands: ['X2', 'v2', 'v2'],
    lane: (code: LaneCode) => code.setDouble(`N.fmaDouble(${code.double(0)},${code.double(1)},${code.oldDouble()})`),
  },
  v_rcp_f64: double('inverse', (a) => `1/${a}`),
  v_rsq_f64: double('inverse of the square root', (a) => `1/Math.sqrt(${a})`),
  v_sqrt_f64: double('square root', (a) => `Math.sqrt(${a})`),
  v_floor_f64: double('to an integer, down', (a) => `Math.floor(${a})`),
  v_ceil_f64: double('to an integer, up', (a) => `Math.ceil(${a})`),
  v_trunc_f64: double('to an integer, toward zero', (a) => `Math.trunc(${a})`),
  v_rndne_f64: double('to an integer, ties to even', (a) => `N.roundEven(${a})`),
  v_fract_f64: double('what is above the integer below', (a) => `Math.min(${a}-Math.floor(${a}),1-2**-53)`),
  v_frexp_mant_f64: double('mantissa in [0.5, 1)', (a) => `N.frexpMantissa(${a})`),
  v_div_fixup_f64: double('puts special values of a division right', (a, b, c) => `N.divFixupDouble(${a},${b},${c})`),
  v_div_scale_f64: divScale('double'),
  v_div_fmas_f64: divFmas('double'),
  v_ldexp_f64: {
    doc: 'times a power of 2',
    operands: ['V2', 'v2', 'v1'],
    lane: (code) => code.setDouble(`N.ldexpDouble(${code.double(0)},${code.int(1)})`),
  },
  v_frexp_exp_i32_f64: {
    doc: 'exponent of the mantissa in [0.5, 1)',
    operands: ['V1', 'v2'],
    lane: (code) => code.setInt(`N.frexpExponent(${code.double(0)})`),
  },
} satisfies InstructionTable;
