/** Arithmetic of f16, of pairs of f16 and of 16-bit integers, and fma with f16 operands. */

import type { Form, InstructionEntry, InstructionTable } from '../instruction.js';

type Expression = (...sources: string[]) => string;
const forms = (count: number): Form[] => Array.from({ length: count }, () => 'v1');
const sources = (count: number, read: (n: number) => string): string[] =>
  Array.from({ length: count }, (_, n) => read(n));

/** An f16 of f16, given as a number that is rounded once. */
const half = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms(expression.length)],
  modifiers: ['clamp', 'op_sel'],
  lane: (code) => code.setHalf(expression(...sources(expression.length, (n) => code.half(n)))),
});
const pair = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms(expression.length)],
  modifiers: ['clamp', 'op_sel', 'op_sel_hi', 'neg_lo', 'neg_hi'],
  lane: (code) => {
    const part = (which: 0 | 1): string => {
      const e = expression(...sources(expression.length, (n) => code.packedHalf(n, which)));
      return `N.toHalf(${code.modifier('clamp') ? `N.saturate(${e})` : e})`;
    };
    code.setInt(`${part(0)}|${part(1)}<<16`);
  },
});
/** 16 bits of 16 bits. */
const short = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms(expression.length)],
  modifiers: ['op_sel'],
  lane: (code) => code.setShort(expression(...sources(expression.length, (n) => code.short(n)))),
});
const shorts = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms(expression.length)],
  modifiers: ['op_sel', 'op_sel_hi'],
  lane: (code) => {
    const part = (which: 0 | 1): string => expression(...sources(expression.length, (n) => code.packed(n, which)));
    code.setInt(`(${part(0)})&65535|(${part(1)})<<16`);
  },
});
const mixed = (doc: string, part: 'low' | 'high' | undefined): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1', 'v1'],
  modifiers: ['op_sel', 'op_sel_hi', 'clamp'],
  lane: (code) => {
    const e = `N.fma(${sources(3, (n) => code.mixed(n)).join(',')})`;
    if (!part) return code.setFloat(e);
    code.setShort(`N.toHalf(${code.modifier('clamp') ? `N.saturate(${e})` : e})`, part);
  },
});
/** Dot product of packed numbers, added to a 32-bit one. */
const dot = (doc: string, expression: (part: (n: number, which: 0 | 1) => string) => string): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1', 'v1'],
  modifiers: ['op_sel', 'op_sel_hi', 'neg_lo', 'neg_hi'],
  lane: (code) => code.setFloat(`Math.fround(${expression((n, which) => code.packedHalf(n, which))}+${code.float(2)})`),
});

const sign = (e: string): string => `(${e}<<16>>16)`;

export const halves = {
  v_add_f16: half('sum', (a, b) => `${a}+${b}`),
  v_sub_f16: half('difference', (a, b) => `${a}-${b}`),
  v_subrev_f16: half('difference, of the second and the first', (a, b) => `${b}-${a}`),
  v_mul_f16: half('product', (a, b) => `${a}*${b}`),
  v_fma_f16: half('fused product and sum', (a, b, c) => `${a}*${b}+${c}`),
  v_fmac_f16: {
    doc: 'fused product, added to the result',
    operands: ['X1', 'v1', 'v1'],
    lane: (code) => code.setHalf(`${code.half(0)}*${code.half(1)}+${code.oldHalf()}`),
  },
  v_max_f16: half('the larger, or the number where one is NaN', (a, b) => `N.maxNumber(${a},${b})`),
  v_min_f16: half('the smaller, or the number where one is NaN', (a, b) => `N.minNumber(${a},${b})`),
  v_maximum_f16: half('the larger, or NaN', (a, b) => `Math.max(${a},${b})`),
  v_minimum_f16: half('the smaller, or NaN', (a, b) => `Math.min(${a},${b})`),
  v_max3_f16: half('the largest of three', (a, b, c) => `N.maxNumber(N.maxNumber(${a},${b}),${c})`),
  v_min3_f16: half('the smallest of three', (a, b, c) => `N.minNumber(N.minNumber(${a},${b}),${c})`),
  v_rcp_f16: half('inverse', (a) => `1/${a}`),
  v_rsq_f16: half('inverse of the square root', (a) => `1/Math.sqrt(${a})`),
  v_sqrt_f16: half('square root', (a) => `Math.sqrt(${a})`),
  v_exp_f16: half('power of 2', (a) => `2**${a}`),
  v_log_f16: half('logarithm to base 2', (a) => `Math.log2(${a})`),
  v_floor_f16: half('to an integer, down', (a) => `Math.floor(${a})`),
  v_ceil_f16: half('to an integer, up', (a) => `Math.ceil(${a})`),
  v_trunc_f16: half('to an integer, toward zero', (a) => `Math.trunc(${a})`),
  v_rndne_f16: half('to an integer, ties to even', (a) => `N.roundEven(${a})`),
  v_fract_f16: half('what is above the integer below', (a) => `${a}-Math.floor(${a})`),
  v_ldexp_f16: {
    doc: 'times a power of 2',
    operands: ['V1', 'v1', 'v1'],
    modifiers: ['clamp', 'op_sel'],
    lane: (code) => code.setHalf(`N.ldexp(${code.half(0)},${sign(code.short(1))})`),
  },
  v_pk_add_f16: pair('two sums', (a, b) => `${a}+${b}`),
  v_pk_mul_f16: pair('two products', (a, b) => `${a}*${b}`),
  v_pk_fma_f16: pair('two fused products and sums', (a, b, c) => `${a}*${b}+${c}`),
  v_pk_max_f16: pair('the larger of two pairs', (a, b) => `N.maxNumber(${a},${b})`),
  v_pk_min_f16: pair('the smaller of two pairs', (a, b) => `N.minNumber(${a},${b})`),
  v_pk_maximum_f16: pair('the larger of two pairs, or NaN', (a, b) => `Math.max(${a},${b})`),
  v_pk_minimum_f16: pair('the smaller of two pairs, or NaN', (a, b) => `Math.min(${a},${b})`),
  v_pk_maximum3_f16: pair('the largest of three, or NaN, twice', (a, b, c) => `Math.max(${a},${b},${c})`),
  v_pk_minimum3_f16: pair('the smallest of three, or NaN, twice', (a, b, c) => `Math.min(${a},${b},${c})`),
  v_maximum3_f16: half('the largest of three, or NaN', (a, b, c) => `Math.max(${a},${b},${c})`),
  v_minimum3_f16: half('the smallest of three, or NaN', (a, b, c) => `Math.min(${a},${b},${c})`),
  v_med3_f16: half('the middle one of three', (a, b, c) => `N.median(${a},${b},${c})`),
  v_fma_mix_f32: mixed('fused product and sum of f32 and f16', undefined),
  v_fma_mixlo_f16: mixed('the same, into the lower half', 'low'),
  v_fma_mixhi_f16: mixed('the same, into the upper half', 'high'),
  v_dot2_f32_f16: dot('two products of f16 and a sum', (p) => `${p(0, 0)}*${p(1, 0)}+${p(0, 1)}*${p(1, 1)}`),
  v_pack_b32_f16: {
    doc: 'two halves to one register',
    operands: ['V1', 'v1', 'v1'],
    modifiers: ['op_sel'],
    lane: (code) => code.setInt(`${code.short(0)}|${code.short(1)}<<16`),
  },

  v_mov_b16: short('copy', (a) => a),
  v_not_b16: short('complement', (a) => `~${a}`),
  v_and_b16: short('and', (a, b) => `${a}&${b}`),
  v_or_b16: short('or', (a, b) => `${a}|${b}`),
  v_xor_b16: short('exclusive or', (a, b) => `${a}^${b}`),
  v_add_u16: short('sum', (a, b) => `${a}+${b}`),
  v_sub_u16: short('difference', (a, b) => `${a}-${b}`),
  v_subrev_u16: short('difference, of the second and the first', (a, b) => `${b}-${a}`),
  v_add_i16: short('sum', (a, b) => `${a}+${b}`),
  v_sub_i16: short('difference', (a, b) => `${a}-${b}`),
  v_mul_lo_u16: short('lower half of the product', (a, b) => `Math.imul(${a},${b})`),
  v_mad_u16: short('product and sum', (a, b, c) => `Math.imul(${a},${b})+${c}`),
  v_mad_i16: short('product and sum', (a, b, c) => `Math.imul(${a},${b})+${c}`),
  v_lshlrev_b16: short('shift to the left', (a, b) => `${b}<<(${a}&15)`),
  v_lshrrev_b16: short('shift to the right', (a, b) => `${b}>>>(${a}&15)`),
  v_ashrrev_i16: short('shift to the right with the sign', (a, b) => `${sign(b)}>>(${a}&15)`),
  v_max_u16: short('the larger', (a, b) => `Math.max(${a},${b})`),
  v_min_u16: short('the smaller', (a, b) => `Math.min(${a},${b})`),
  v_max_i16: short('the larger', (a, b) => `Math.max(${sign(a)},${sign(b)})`),
  v_min_i16: short('the smaller', (a, b) => `Math.min(${sign(a)},${sign(b)})`),
  v_cndmask_b16: {
    doc: 'the second where the mask has the lane',
    operands: ['V1', 'v1', 'v1', 'm'],
    modifiers: ['op_sel'],
    lane: (code) => code.setShort(`${code.truth(2)}?${code.short(1)}:${code.short(0)}`),
  },
  v_pk_add_u16: shorts('two sums', (a, b) => `${a}+${b}`),
  v_pk_sub_u16: shorts('two differences', (a, b) => `${a}-${b}`),
  v_pk_add_i16: shorts('two sums', (a, b) => `${a}+${b}`),
  v_pk_sub_i16: shorts('two differences', (a, b) => `${a}-${b}`),
  v_pk_mul_lo_u16: shorts('lower halves of two products', (a, b) => `Math.imul(${a},${b})`),
  v_pk_mad_u16: shorts('two products and sums', (a, b, c) => `Math.imul(${a},${b})+${c}`),
  v_pk_mad_i16: shorts('two products and sums', (a, b, c) => `Math.imul(${a},${b})+${c}`),
  v_pk_lshlrev_b16: shorts('two shifts to the left', (a, b) => `${b}<<(${a}&15)`),
  v_pk_lshrrev_b16: shorts('two shifts to the right', (a, b) => `${b}>>>(${a}&15)`),
  v_pk_ashrrev_i16: shorts('two shifts to the right with the sign', (a, b) => `${sign(b)}>>(${a}&15)`),
  v_pk_max_u16: shorts('the larger of two pairs', (a, b) => `Math.max(${a},${b})`),
  v_pk_min_u16: shorts('the smaller of two pairs', (a, b) => `Math.min(${a},${b})`),
  v_pk_max_i16: shorts('the larger of two pairs', (a, b) => `Math.max(${sign(a)},${sign(b)})`),
  v_pk_min_i16: shorts('the smaller of two pairs', (a, b) => `Math.min(${sign(a)},${sign(b)})`),
} satisfies InstructionTable;
