/** Integers and bits of 32 and 64 bits. */

import type { Form, InstructionEntry, InstructionTable } from '../instruction.js';
import { registers, vectorRegisters } from '../module.js';
import { unsupported } from '../unsupported.js';

const conditionCode = vectorRegisters + registers.vcc;

type Expression = (...sources: string[]) => string;
const forms = (count: number): Form[] => Array.from({ length: count }, () => 'v1');

/** A word of words. */
const word = (doc: string, expression: Expression): InstructionEntry => ({
  doc,
  operands: ['V1', ...forms(expression.length)],
  lane: (code) => code.setInt(expression(...Array.from({ length: expression.length }, (_, n) => code.int(n)))),
});
/** A sum or difference that may stop at the ends of its range instead of wrapping around. */
const clamped = (doc: string, expression: Expression, signed: boolean): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1'],
  modifiers: ['clamp'],
  lane: (code) => {
    const read = (n: number): string => (signed ? code.int(n) : `(${code.int(n)}>>>0)`);
    const e = expression(read(0), read(1));
    code.setInt(code.modifier('clamp') ? `N.to${signed ? 'Signed' : 'Unsigned'}(${e},32)` : `(${e})|0`);
  },
});
const unsigned = (e: string): string => `(${e}>>>0)`;

/** A sum or difference with a carry out, and perhaps one in. */
const carry = (doc: string, sign: '+' | '-', reversed: boolean, carryIn: boolean): InstructionEntry => ({
  doc,
  operands: ['V1', 'M', 'v1', 'v1', ...(carryIn ? (['m'] as const) : [])],
  lane: (code) => {
    const [a, b] = reversed ? [1, 0] : [0, 1];
    const more = carryIn ? `${sign}(${code.truth(2)}?1:0)` : '';
    const sum = code.hold(`${unsigned(code.int(a))}${sign}${unsigned(code.int(b))}${more}`);
    code.setMask(1, `${sum}>4294967295||${sum}<0`);
    code.setInt(`${sum}|0`);
  },
});
/** A product of two words and a sum of two words each. */
const wideMad = (doc: string, signed: boolean): InstructionEntry => ({
  doc,
  operands: ['V2', 'M', 'v1', 'v1', 'v2'],
  lane: (code) => {
    const [a, b, low, high] = [code.int(0), code.int(1), code.int(2, 0, 2), code.int(2, 1, 2)];
    const l = code.hold(`${unsigned(`Math.imul(${a},${b})`)}+${unsigned(low)}`);
    const h = code.hold(
      `${unsigned(`N.mulHigh${signed ? 'Signed' : 'Unsigned'}(${a},${b})`)}+${unsigned(high)}+(${l}>4294967295?1:0)`,
    );
    code.setMask(1, `${h}>4294967295`);
    code.setWords(`${l}|0`, `${h}|0`);
  },
});
const wideShift = (doc: string, kind: 'left' | 'right' | 'arithmetic'): InstructionEntry => ({
  doc,
  operands: ['V2', 'v1', 'v2'],
  lane: (code) => {
    const n = code.hold(`${code.int(0)}&63`);
    const [low, high] = [code.int(1, 0, 2), code.int(1, 1, 2)];
    if (kind === 'left') code.setWords(`N.shiftLeftLow(${low},${n})|0`, `N.shiftLeftHigh(${low},${high},${n})|0`);
    else if (kind === 'right')
      code.setWords(`N.shiftRightLow(${low},${high},${n})|0`, `N.shiftRightHigh(${high},${n})|0`);
    else code.setWords(`N.arithmeticRightLow(${low},${high},${n})|0`, `N.arithmeticRightHigh(${high},${n})|0`);
  },
});
const bitop3 = (doc: string, bits: 16 | 32): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1', 'v1'],
  modifiers: bits === 16 ? ['bitop3', 'op_sel'] : ['bitop3'],
  lane: (code, i) => {
    const read = (n: number): string => (bits === 16 ? code.short(n) : code.int(n));
    const table = i.modifiers.bitop3 ?? 0;
    if (typeof table !== 'number') return unsupported(i, 'a truth table that is no number');
    const e = `N.logic3(${read(0)},${read(1)},${read(2)},${table})`;
    if (bits === 16) code.setShort(e);
    else code.setInt(e);
  },
});
const low24 = (e: string): string => `(${e}&16777215)`;
const signed24 = (e: string): string => `(${e}<<8>>8)`;
const clamp = (f: 'max' | 'min', asUnsigned: boolean): Expression => {
  const read = asUnsigned ? unsigned : (e: string) => e;
  return (a, b) => `Math.${f}(${read(a)},${read(b)})|0`;
};
const three = (f: 'max' | 'min', asUnsigned: boolean): Expression => {
  const read = asUnsigned ? unsigned : (e: string) => e;
  return (a, b, c) => `Math.${f}(${read(a)},${read(b)},${read(c)})|0`;
};
const middle = (asUnsigned: boolean): Expression => {
  const read = asUnsigned ? unsigned : (e: string) => e;
  return (a, b, c) =>
    `Math.max(Math.min(${read(a)},${read(b)}),Math.min(Math.max(${read(a)},${read(b)}),${read(c)}))|0`;
};
/** Counts ones of a mask below the lane. */
const below = (doc: string, high: boolean): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1', 'v1'],
  lane: (code) => {
    const mask = high ? '(l<32?0:(1<<(l-32))-1)' : '(l<32?(1<<l)-1:-1)';
    code.setInt(`N.countOnes(${code.int(0)}&${mask})+${code.int(1)}|0`);
  },
});

export const integer = {
  v_mov_b32: word('copy', (a) => a),
  v_mov_b64: {
    doc: 'copy of two words',
    operands: ['V2', 'v2'],
    lane: (code) => code.setWords(code.int(0, 0, 2), code.int(0, 1, 2)),
  },
  v_pk_mov_b32: {
    doc: 'copy of one word of each source',
    operands: ['V2', 'v2', 'v2'],
    modifiers: ['op_sel', 'op_sel_hi'],
    lane: (code) =>
      code.setWords(code.int(0, code.choice('op_sel', 0, 0), 2), code.int(1, code.choice('op_sel', 1, 0), 2)),
  },
  v_accvgpr_read_b32: word('from an accumulation register', (a) => a),
  v_accvgpr_write_b32: word('into an accumulation register', (a) => a),
  v_accvgpr_mov_b32: word('between accumulation registers', (a) => a),
  v_accvgpr_read: word('from an accumulation register', (a) => a),
  v_accvgpr_write: word('into an accumulation register', (a) => a),
  v_cndmask_b32: {
    doc: 'the second where the mask has the lane',
    operands: ['V1', 'v1', 'v1', 'm?'],
    lane: (code) => code.setInt(`${code.has(2) ? code.truth(2) : code.conditionCode}?${code.int(1)}:${code.int(0)}`),
    uses: (i, { lanes }) => ({
      reads: i.operands.length > 3 ? [] : lanes === 64 ? [conditionCode, conditionCode + 1] : [conditionCode],
      writes: [],
    }),
  },
  v_not_b32: word('complement', (a) => `~${a}`),
  v_and_b32: word('and', (a, b) => `${a}&${b}`),
  v_or_b32: word('or', (a, b) => `${a}|${b}`),
  v_xor_b32: word('exclusive or', (a, b) => `${a}^${b}`),
  v_xnor_b32: word('complement of the exclusive or', (a, b) => `~(${a}^${b})`),
  v_or3_b32: word('or of three', (a, b, c) => `${a}|${b}|${c}`),
  v_xor3_b32: word('exclusive or of three', (a, b, c) => `${a}^${b}^${c}`),
  v_and_or_b32: word('and, then or', (a, b, c) => `${a}&${b}|${c}`),
  v_bitop3_b32: bitop3('any logic function of three', 32),
  v_bitop3_b16: bitop3('any logic function of three', 16),
  v_bfi_b32: word('bits of two words by a mask', (a, b, c) => `${a}&${b}|~${a}&${c}`),
  v_bfe_u32: word('a field', (a, b, c) => `N.fieldUnsigned(${a},${b},${c})`),
  v_bfe_i32: word('a field with its sign', (a, b, c) => `N.fieldSigned(${a},${b},${c})`),
  v_bfm_b32: word('a mask of a field', (a, b) => `((1<<(${a}&31))-1)<<(${b}&31)`),
  v_bfrev_b32: word('bits in reverse order', (a) => `N.reverseBits(${a})`),
  v_bcnt_u32_b32: word('number of ones, and a sum', (a, b) => `N.countOnes(${a})+${b}|0`),
  v_ffbh_u32: word('zeros above the highest one', (a) => `N.leadingZeros(${a})`),
  v_ffbh_i32: word('bits like the sign above the first other one', (a) => `N.leadingSigns(${a})`),
  v_ffbl_b32: word('zeros below the lowest one', (a) => `N.trailingZeros(${a})`),
  v_perm_b32: word('bytes of two words', (a, b, c) => `N.permute(${a},${b},${c})`),
  v_alignbit_b32: word('a word out of two, by bits', (a, b, c) => `N.align(${a},${b},${c}&31)|0`),
  v_alignbyte_b32: word('a word out of two, by bytes', (a, b, c) => `N.align(${a},${b},8*(${c}&3))|0`),
  v_lshlrev_b32: word('shift to the left', (a, b) => `${b}<<(${a}&31)`),
  v_lshrrev_b32: word('shift to the right', (a, b) => `${b}>>>(${a}&31)|0`),
  v_ashrrev_i32: word('shift to the right with the sign', (a, b) => `${b}>>(${a}&31)`),
  v_lshl_add_u32: word('shift, then sum', (a, b, c) => `(${a}<<(${b}&31))+${c}|0`),
  v_lshl_or_b32: word('shift, then or', (a, b, c) => `${a}<<(${b}&31)|${c}`),
  v_add_lshl_u32: word('sum, then shift', (a, b, c) => `(${a}+${b})<<(${c}&31)`),
  v_xad_u32: word('exclusive or, then sum', (a, b, c) => `(${a}^${b})+${c}|0`),
  v_add3_u32: word('sum of three', (a, b, c) => `${a}+${b}+${c}|0`),
  v_add_u32: clamped('sum', (a, b) => `${a}+${b}`, false),
  v_sub_u32: clamped('difference', (a, b) => `${a}-${b}`, false),
  v_subrev_u32: clamped('difference, of the second and the first', (a, b) => `${b}-${a}`, false),
  v_add_i32: clamped('sum', (a, b) => `${a}+${b}`, true),
  v_sub_i32: clamped('difference', (a, b) => `${a}-${b}`, true),
  v_add_co_u32: carry('sum with carry out', '+', false, false),
  v_sub_co_u32: carry('difference with borrow out', '-', false, false),
  v_subrev_co_u32: carry('reversed difference with borrow out', '-', true, false),
  v_addc_co_u32: carry('sum with carry in and out', '+', false, true),
  v_subb_co_u32: carry('difference with borrow in and out', '-', false, true),
  v_subbrev_co_u32: carry('reversed difference with borrow in and out', '-', true, true),
  v_mul_lo_u32: word('lower word of the product', (a, b) => `Math.imul(${a},${b})`),
  v_mul_hi_u32: word('upper word of the product', (a, b) => `N.mulHighUnsigned(${a},${b})`),
  v_mul_hi_i32: word('upper word of the signed product', (a, b) => `N.mulHighSigned(${a},${b})`),
  v_mul_u32_u24: word('product of 24 bits', (a, b) => `Math.imul(${low24(a)},${low24(b)})`),
  v_mul_i32_i24: word('product of 24 signed bits', (a, b) => `Math.imul(${signed24(a)},${signed24(b)})`),
  v_mul_hi_u32_u24: word(
    'upper word of the product of 24 bits',
    (a, b) => `N.mulHighUnsigned(${low24(a)},${low24(b)})`,
  ),
  v_mul_hi_i32_i24: word(
    'upper word of the signed product of 24 bits',
    (a, b) => `N.mulHighSigned(${signed24(a)},${signed24(b)})`,
  ),
  v_mad_u32_u24: word('product of 24 bits, and sum', (a, b, c) => `Math.imul(${low24(a)},${low24(b)})+${c}|0`),
  v_mad_i32_i24: word(
    'signed product of 24 bits, and sum',
    (a, b, c) => `Math.imul(${signed24(a)},${signed24(b)})+${c}|0`,
  ),
  v_mad_u32_u16: word('product of 16 bits, and sum', (a, b, c) => `Math.imul(${a}&65535,${b}&65535)+${c}|0`),
  v_mad_i32_i16: word('signed product of 16 bits, and sum', (a, b, c) => `Math.imul(${a}<<16>>16,${b}<<16>>16)+${c}|0`),
  v_mad_u64_u32: wideMad('product and sum of two words', false),
  v_mad_i64_i32: wideMad('signed product and sum of two words', true),
  v_max_i32: word('the larger', clamp('max', false)),
  v_min_i32: word('the smaller', clamp('min', false)),
  v_max_u32: word('the larger', clamp('max', true)),
  v_min_u32: word('the smaller', clamp('min', true)),
  v_max3_i32: word('the largest of three', three('max', false)),
  v_min3_i32: word('the smallest of three', three('min', false)),
  v_max3_u32: word('the largest of three', three('max', true)),
  v_min3_u32: word('the smallest of three', three('min', true)),
  v_med3_i32: word('the middle one of three', middle(false)),
  v_med3_u32: word('the middle one of three', middle(true)),
  v_sad_u32: word('distance, and sum', (a, b, c) => `Math.abs(${unsigned(a)}-${unsigned(b)})+${c}|0`),
  v_mbcnt_lo_u32_b32: below('ones of a mask below the lane, lower half', false),
  v_mbcnt_hi_u32_b32: below('ones of a mask below the lane, upper half', true),
  v_lshlrev_b64: wideShift('shift of two words to the left', 'left'),
  v_lshrrev_b64: wideShift('shift of two words to the right', 'right'),
  v_ashrrev_i64: wideShift('shift of two words to the right with the sign', 'arithmetic'),
  v_lshl_add_u64: {
    doc: 'shift of two words, then sum',
    operands: ['V2', 'v2', 'v1', 'v2'],
    lane: (code) => {
      const n = code.hold(`${code.int(1)}&7`);
      const [low, high, addLow, addHigh] = [code.int(0, 0, 2), code.int(0, 1, 2), code.int(2, 0, 2), code.int(2, 1, 2)];
      const sum = code.hold(`${unsigned(`N.shiftLeftLow(${low},${n})`)}+${unsigned(addLow)}`);
      code.setWords(`${sum}|0`, `N.shiftLeftHigh(${low},${high},${n})+${addHigh}+(${sum}>4294967295?1:0)|0`);
    },
  },
  v_swap_b32: {
    doc: 'exchange of two registers',
    operands: ['X1', 'X1'],
    wave: ({ instruction: { operands } }) => {
      const [a, b] = operands.map((o) => (o.kind === 'vector' ? o.index * 64 : 0)) as [number, number];
      return (wave) => {
        const { vector } = wave;
        for (let l = 0; l < 64; l++) {
          if (!wave.isActive(l)) continue;
          const old = vector[a + l]!;
          vector[a + l] = vector[b + l]!;
          vector[b + l] = old;
        }
      };
    },
  },
} satisfies InstructionTable;
