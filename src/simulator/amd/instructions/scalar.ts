/** The scalar unit: 32 and 64 bits, with the condition code SCC. */

import * as formats from '../../formats.js';
import type { Form, InstructionEntry, InstructionTable, WaveFunction } from '../instruction.js';
import { type Instruction, type Operand, registers, vectorRegisters } from '../module.js';
import * as numbers from '../numbers.js';
import { bitsOfConstant } from '../operand-bits.js';
import { unsupported } from '../unsupported.js';

/** A word of an operand as an expression of the wave's scalar registers S. */
function read(i: Instruction, o: Operand | undefined, word = 0, words = 1): string {
  if (o?.kind === 'constant') return `(${bitsOfConstant(o, word, words)})`;
  if (o?.kind === 'scalar') return `S[${o.index + word}]`;
  return unsupported(i, 'an operand that is no scalar');
}
const place = (i: Instruction, o: Operand | undefined): number =>
  o?.kind === 'scalar' ? o.index : unsupported(i, 'a result that is no scalar register');

const names = { ...formats, ...numbers };
/** Compiles statements over W, its scalar registers S and the functions N: text made of numbers and of this file only. */
const make = (body: string): WaveFunction =>
  new Function('N', `"use strict";return (W)=>{const S=W.scalar,SF=W.scalarFloats;${body}};`)(names) as WaveFunction;

const sources = (count: number, form: Form): Form[] => Array.from({ length: count }, () => form);

type Expression = (a: string, b: string, c: string) => string;
/** A word of words a and b and the old condition; `code`: the new condition, of the result r too. */
const word = (
  doc: string,
  count: 1 | 2,
  expression: Expression,
  code?: (r: string, a: string, b: string, c: string) => string,
): InstructionEntry => ({
  doc,
  operands: ['S1', ...sources(count, 's1')],
  wave: ({ instruction: i }) => {
    const b = count === 2 ? read(i, i.operands[2]) : '0';
    const condition = code ? `W.scc=${code('r', 'a', 'b', 'c')}?1:0;` : '';
    return make(
      `const a=${read(i, i.operands[1])},b=${b},c=W.scc,r=${expression('a', 'b', 'c')}|0;${condition}S[${place(i, i.operands[0])}]=r;`,
    );
  },
});
const nonZero = (r: string): string => `${r}!==0`;
/** A constant of 16 bits is added to or multiplied with the result. */
const withConstant = (
  doc: string,
  operands: readonly Form[],
  body: (d: string, k: number) => string,
): InstructionEntry => ({
  doc,
  operands,
  wave: ({ instruction: i }) => {
    const k = i.operands[1];
    if (k?.kind !== 'constant') return unsupported(i, 'an operand that is no constant');
    return make(body(`S[${place(i, i.operands[0])}]`, Number(BigInt.asIntN(16, k.value))));
  },
});

type Bits = (a: string, b: string) => string;
const logic: Readonly<Record<string, Bits>> = {
  and: (a, b) => `${a}&${b}`,
  or: (a, b) => `${a}|${b}`,
  xor: (a, b) => `${a}^${b}`,
  andn2: (a, b) => `${a}&~${b}`,
  orn2: (a, b) => `${a}|~${b}`,
  nand: (a, b) => `~(${a}&${b})`,
  nor: (a, b) => `~(${a}|${b})`,
  xnor: (a, b) => `~(${a}^${b})`,
};
const pairOf = (i: Instruction, n: number): readonly [string, string] => [
  read(i, i.operands[n], 0, 2),
  read(i, i.operands[n], 1, 2),
];
/** Writes two words at once. */
const twoWords = (i: Instruction, low: string, high: string, code = ''): WaveFunction => {
  const d = place(i, i.operands[0]);
  return make(`const r=${low}|0,q=${high}|0;${code}S[${d}]=r;S[${d + 1}]=q;`);
};
const anySet = 'W.scc=(r|q)!==0?1:0;';
const logic32 = (bits: Bits): InstructionEntry => word('logic of bits', 2, bits, nonZero);
const logic64 = (bits: Bits): InstructionEntry => ({
  doc: 'logic of bits',
  operands: ['S2', 's2', 's2'],
  wave: ({ instruction: i }) => {
    const [[a, b], [c, d]] = [pairOf(i, 1), pairOf(i, 2)];
    return twoWords(i, bits(a, c), bits(b, d), anySet);
  },
});
const execWords = (n: number): number[] => Array.from({ length: n }, (_, w) => vectorRegisters + registers.exec + w);
/** EXEC becomes what the operand and the old EXEC give; the result is the old one. */
const saveExec = (bits: Bits, words: 1 | 2, reversed = false): InstructionEntry => ({
  doc: 'saves EXEC and changes it',
  operands: words === 1 ? ['S1', 's1'] : ['S2', 's2'],
  uses: () => ({ reads: execWords(words), writes: execWords(words) }),
  wave: ({ instruction: i }) => {
    const d = place(i, i.operands[0]);
    const { exec } = registers;
    const at = Array.from({ length: words }, (_, w) => w);
    const old = at.map((w) => `const x${w}=S[${exec + w}],a${w}=${read(i, i.operands[1], w, words)};`);
    const f: Bits = reversed ? (a, x) => bits(x, a) : bits;
    const change = at.map((w) => `S[${exec + w}]=${f(`a${w}`, `x${w}`)};S[${d + w}]=x${w};`);
    return make(`${old.join('')}${change.join('')}W.scc=(${at.map((w) => `S[${exec + w}]`).join('|')})!==0?1:0;`);
  },
});
const shift64 = (kind: 'left' | 'right' | 'arithmetic'): InstructionEntry => ({
  doc: 'shift of two words',
  operands: ['S2', 's2', 's1'],
  wave: ({ instruction: i }) => {
    const [low, high] = pairOf(i, 1);
    const n = `(${read(i, i.operands[2])}&63)`;
    if (kind === 'left')
      return twoWords(i, `N.shiftLeftLow(${low},${n})`, `N.shiftLeftHigh(${low},${high},${n})`, anySet);
    if (kind === 'right')
      return twoWords(i, `N.shiftRightLow(${low},${high},${n})`, `N.shiftRightHigh(${high},${n})`, anySet);
    return twoWords(i, `N.arithmeticRightLow(${low},${high},${n})`, `N.arithmeticRightHigh(${high},${n})`, anySet);
  },
});
const wide = (doc: string, expression: (a: string, b: string) => string): InstructionEntry => ({
  doc,
  operands: ['S2', 's2', 's2'],
  wave: ({ instruction: i }) => {
    const [a, b] = [pairOf(i, 1), pairOf(i, 2)];
    const d = place(i, i.operands[0]);
    return make(
      `const r=${expression(`N.wide(${a.join(',')})`, `N.wide(${b.join(',')})`)};S[${d}]=N.lowWord(r);S[${d + 1}]=N.highWord(r);`,
    );
  },
});

const tests = { eq: '===', lg: '!==', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
const compare = (test: keyof typeof tests, type: 'i32' | 'u32'): InstructionEntry => ({
  doc: 'condition of two words',
  operands: ['s1', 's1'],
  wave: ({ instruction: i }) => {
    const [a, b] = [0, 1].map((n) => `(${read(i, i.operands[n])}${type === 'u32' ? '>>>0' : ''})`);
    return make(`W.scc=${a}${tests[test]}${b}?1:0;`);
  },
});
/** With a constant of 16 bits. */
const compareConstant = (test: keyof typeof tests, type: 'i32' | 'u32'): InstructionEntry =>
  withConstant('condition of a word and a constant', ['s1', 's1'], (d, k) =>
    type === 'u32' ? `W.scc=(${d}>>>0)${tests[test]}${k & 0xffff}?1:0;` : `W.scc=${d}${tests[test]}${k}?1:0;`,
  );
const compare64 = (test: 'eq' | 'lg'): InstructionEntry => ({
  doc: 'condition of two words each',
  operands: ['s2', 's2'],
  wave: ({ instruction: i }) => {
    const [[a, b], [c, d]] = [pairOf(i, 0), pairOf(i, 1)];
    return make(`W.scc=${test === 'eq' ? '' : '!'}(${a}===${c}&&${b}===${d})?1:0;`);
  },
});
const bitTest = (bit: 0 | 1): InstructionEntry => ({
  doc: `condition: a bit is ${bit}`,
  operands: ['s1', 's1'],
  wave: ({ instruction: i }) =>
    make(`W.scc=(${read(i, i.operands[0])}>>>(${read(i, i.operands[1])}&31)&1)===${bit}?1:0;`),
});
const floatTests = { eq: '===', lg: '!==', gt: '>', ge: '>=', lt: '<', le: '<=' } as const;
const compareFloat = (test: keyof typeof floatTests): InstructionEntry => ({
  doc: 'condition of two f32',
  operands: ['s1', 's1'],
  wave: ({ instruction: i }) =>
    make(`W.scc=N.floatOf(${read(i, i.operands[0])})${floatTests[test]}N.floatOf(${read(i, i.operands[1])})?1:0;`),
});
/** f32 in scalar registers. */
const float = (doc: string, count: 1 | 2, expression: (a: string, b: string) => string): InstructionEntry =>
  word(doc, count, (a, b) => `N.bitsOf(${expression(`N.floatOf(${a})`, `N.floatOf(${b})`)})`);

const field = (a: string, b: string, signed: boolean): string => `N.extractField(${a},${b}&31,${b}>>>16&127,${signed})`;
const shiftedSum = (n: number): InstructionEntry =>
  word(
    'shift, then sum',
    2,
    (a, b) => `(${a}<<${n})+${b}`,
    (_r, a, b) => `(${a}>>>0)*${2 ** n}+(${b}>>>0)>4294967295`,
  );

export const scalar = {
  s_mov_b32: word('copy', 1, (a) => a),
  s_mov_b64: {
    doc: 'copy of two words',
    operands: ['S2', 's2'],
    wave: ({ instruction: i }) => twoWords(i, ...pairOf(i, 1)),
  },
  s_movk_i32: withConstant('a constant', ['S1', 's1'], (d, k) => `${d}=${k};`),
  s_addk_i32: withConstant(
    'sum with a constant',
    ['B1', 's1'],
    (d, k) => `const r=${d}+${k};${d}=r;W.scc=r!==${d}?1:0;`,
  ),
  s_mulk_i32: withConstant('product with a constant', ['B1', 's1'], (d, k) => `${d}=Math.imul(${d},${k});`),
  s_cmov_b32: {
    doc: 'copy where the condition holds',
    operands: ['B1', 's1'],
    wave: ({ instruction: i }) => make(`if(W.scc)S[${place(i, i.operands[0])}]=${read(i, i.operands[1])};`),
  },
  s_cselect_b32: word('one of two by the condition', 2, (a, b, c) => `(${c}?${a}:${b})`),
  s_cselect_b64: {
    doc: 'one of two by the condition',
    operands: ['S2', 's2', 's2'],
    wave: ({ instruction: i }) => {
      const [[a, b], [c, d]] = [pairOf(i, 1), pairOf(i, 2)];
      return twoWords(i, `(W.scc?${a}:${c})`, `(W.scc?${b}:${d})`);
    },
  },
  s_not_b32: word('complement', 1, (a) => `~${a}`, nonZero),
  s_not_b64: {
    doc: 'complement',
    operands: ['S2', 's2'],
    wave: ({ instruction: i }) => {
      const [low, high] = pairOf(i, 1);
      return twoWords(i, `~${low}`, `~${high}`, anySet);
    },
  },
  s_brev_b32: word('bits in reverse order', 1, (a) => `N.reverseBits(${a})`),
  s_abs_i32: word('absolute value', 1, (a) => `Math.abs(${a})`, nonZero),
  s_bcnt1_i32_b32: word('number of ones', 1, (a) => `N.countOnes(${a})`, nonZero),
  s_bcnt1_i32_b64: {
    doc: 'number of ones',
    operands: ['S1', 's2'],
    wave: ({ instruction: i }) => {
      const [low, high] = pairOf(i, 1);
      return make(`const r=N.countOnes(${low})+N.countOnes(${high});S[${place(i, i.operands[0])}]=r;W.scc=r!==0?1:0;`);
    },
  },
  s_ff1_i32_b32: word('zeros below the lowest one', 1, (a) => `N.trailingZeros(${a})`),
  s_ff1_i32_b64: {
    doc: 'zeros below the lowest one',
    operands: ['S1', 's2'],
    wave: ({ instruction: i }) => {
      const [low, high] = pairOf(i, 1);
      const e = `${low}!==0?N.trailingZeros(${low}):${high}!==0?32+N.trailingZeros(${high}):-1`;
      return make(`S[${place(i, i.operands[0])}]=${e};`);
    },
  },
  s_flbit_i32_b32: word('zeros above the highest one', 1, (a) => `N.leadingZeros(${a})`),
  s_flbit_i32: word('bits like the sign', 1, (a) => `N.leadingSigns(${a})`),
  s_sext_i32_i8: word('a byte with its sign', 1, (a) => `${a}<<24>>24`),
  s_sext_i32_i16: word('a short with its sign', 1, (a) => `${a}<<16>>16`),
  s_add_u32: word(
    'sum, with carry out',
    2,
    (a, b) => `${a}+${b}`,
    (_r, a, b) => `(${a}>>>0)+(${b}>>>0)>4294967295`,
  ),
  s_add_i32: word(
    'sum, with overflow',
    2,
    (a, b) => `${a}+${b}`,
    (r, a, b) => `${a}+${b}!==${r}`,
  ),
  s_sub_u32: word(
    'difference, with borrow out',
    2,
    (a, b) => `${a}-${b}`,
    (_r, a, b) => `(${a}>>>0)<(${b}>>>0)`,
  ),
  s_sub_i32: word(
    'difference, with overflow',
    2,
    (a, b) => `${a}-${b}`,
    (r, a, b) => `${a}-${b}!==${r}`,
  ),
  s_addc_u32: word(
    'sum with carry in and out',
    2,
    (a, b, c) => `${a}+${b}+${c}`,
    (_r, a, b, c) => `(${a}>>>0)+(${b}>>>0)+${c}>4294967295`,
  ),
  s_subb_u32: word(
    'difference with borrow in and out',
    2,
    (a, b, c) => `${a}-${b}-${c}`,
    (_r, a, b, c) => `(${a}>>>0)<(${b}>>>0)+${c}`,
  ),
  s_add_u64: wide('sum', (a, b) => `${a}+${b}`),
  s_sub_u64: wide('difference', (a, b) => `${a}-${b}`),
  s_mul_u64: wide('product', (a, b) => `${a}*${b}`),
  s_mul_i32: word('lower word of the product', 2, (a, b) => `Math.imul(${a},${b})`),
  s_mul_hi_u32: word('upper word of the product', 2, (a, b) => `N.mulHighUnsigned(${a},${b})`),
  s_mul_hi_i32: word('upper word of the signed product', 2, (a, b) => `N.mulHighSigned(${a},${b})`),
  s_min_i32: word(
    'the smaller',
    2,
    (a, b) => `Math.min(${a},${b})`,
    (_r, a, b) => `${a}<${b}`,
  ),
  s_max_i32: word(
    'the larger',
    2,
    (a, b) => `Math.max(${a},${b})`,
    (_r, a, b) => `${a}>${b}`,
  ),
  s_min_u32: word(
    'the smaller',
    2,
    (a, b) => `Math.min(${a}>>>0,${b}>>>0)`,
    (_r, a, b) => `(${a}>>>0)<(${b}>>>0)`,
  ),
  s_max_u32: word(
    'the larger',
    2,
    (a, b) => `Math.max(${a}>>>0,${b}>>>0)`,
    (_r, a, b) => `(${a}>>>0)>(${b}>>>0)`,
  ),
  s_lshl_b32: word('shift to the left', 2, (a, b) => `${a}<<(${b}&31)`, nonZero),
  s_lshr_b32: word('shift to the right', 2, (a, b) => `${a}>>>(${b}&31)`, nonZero),
  s_ashr_i32: word('shift to the right with the sign', 2, (a, b) => `${a}>>(${b}&31)`, nonZero),
  s_lshl_b64: shift64('left'),
  s_lshr_b64: shift64('right'),
  s_ashr_i64: shift64('arithmetic'),
  s_lshl1_add_u32: shiftedSum(1),
  s_lshl2_add_u32: shiftedSum(2),
  s_lshl3_add_u32: shiftedSum(3),
  s_lshl4_add_u32: shiftedSum(4),
  s_bfe_u32: word('a field', 2, (a, b) => field(a, b, false), nonZero),
  s_bfe_i32: word('a field with its sign', 2, (a, b) => field(a, b, true), nonZero),
  s_bfm_b32: word('a mask of a field', 2, (a, b) => `((1<<(${a}&31))-1)<<(${b}&31)`),
  s_bitset0_b32: {
    doc: 'clears a bit',
    operands: ['B1', 's1'],
    wave: ({ instruction: i }) => make(`S[${place(i, i.operands[0])}]&=~(1<<(${read(i, i.operands[1])}&31));`),
  },
  s_bitset1_b32: {
    doc: 'sets a bit',
    operands: ['B1', 's1'],
    wave: ({ instruction: i }) => make(`S[${place(i, i.operands[0])}]|=1<<(${read(i, i.operands[1])}&31);`),
  },
  s_pack_ll_b32_b16: word('lower halves', 2, (a, b) => `${a}&65535|${b}<<16`),
  s_pack_lh_b32_b16: word('a lower and an upper half', 2, (a, b) => `${a}&65535|${b}&-65536`),
  s_pack_hl_b32_b16: word('an upper and a lower half', 2, (a, b) => `${a}>>>16|${b}<<16`),
  s_pack_hh_b32_b16: word('upper halves', 2, (a, b) => `${a}>>>16|${b}&-65536`),
  s_bitcmp0_b32: bitTest(0),
  s_bitcmp1_b32: bitTest(1),
  s_cmp_eq_u64: compare64('eq'),
  s_cmp_lg_u64: compare64('lg'),
  s_add_f32: float('sum', 2, (a, b) => `${a}+${b}`),
  s_sub_f32: float('difference', 2, (a, b) => `${a}-${b}`),
  s_mul_f32: float('product', 2, (a, b) => `${a}*${b}`),
  s_max_f32: float('the larger', 2, (a, b) => `N.maxNumber(${a},${b})`),
  s_min_f32: float('the smaller', 2, (a, b) => `N.minNumber(${a},${b})`),
  s_fmac_f32: {
    doc: 'fused product, added to the result',
    operands: ['B1', 's1', 's1'],
    wave: ({ instruction: i }) => {
      const d = place(i, i.operands[0]);
      const [a, b] = [read(i, i.operands[1]), read(i, i.operands[2])];
      return make(`SF[${d}]=N.fma(N.floatOf(${a}),N.floatOf(${b}),SF[${d}]);`);
    },
  },
  s_floor_f32: float('to an integer, down', 1, (a) => `Math.floor(${a})`),
  s_ceil_f32: float('to an integer, up', 1, (a) => `Math.ceil(${a})`),
  s_trunc_f32: float('to an integer, toward zero', 1, (a) => `Math.trunc(${a})`),
  s_rndne_f32: float('to an integer, ties to even', 1, (a) => `N.roundEven(${a})`),
  s_cvt_f32_i32: word('f32 of an integer', 1, (a) => `N.bitsOf(${a})`),
  s_cvt_f32_u32: word('f32 of an unsigned integer', 1, (a) => `N.bitsOf(${a}>>>0)`),
  s_cvt_i32_f32: word('integer of an f32', 1, (a) => `N.toSigned(Math.trunc(N.floatOf(${a})),32)`),
  s_cvt_u32_f32: word('unsigned integer of an f32', 1, (a) => `N.toUnsigned(Math.trunc(N.floatOf(${a})),32)`),
  v_s_rcp_f32: float('inverse', 1, (a) => `1/${a}`),
  v_s_rsq_f32: float('inverse of the square root', 1, (a) => `1/Math.sqrt(${a})`),
  v_s_sqrt_f32: float('square root', 1, (a) => `Math.sqrt(${a})`),
  v_s_exp_f32: float('power of 2', 1, (a) => `2**${a}`),
  v_s_log_f32: float('logarithm to base 2', 1, (a) => `Math.log2(${a})`),
} satisfies InstructionTable;

export const scalarFamilies: InstructionTable = Object.fromEntries([
  ...Object.entries(logic).flatMap(([name, bits]) => [
    [`s_${name}_b32`, logic32(bits)] as const,
    [`s_${name}_b64`, logic64(bits)] as const,
    [`s_${name}_saveexec_b32`, saveExec(bits, 1)] as const,
    [`s_${name}_saveexec_b64`, saveExec(bits, 2)] as const,
  ]),
  ...Object.keys(tests).flatMap((test) =>
    (['i32', 'u32'] as const).flatMap((type) => [
      [`s_cmp_${test}_${type}`, compare(test as keyof typeof tests, type)] as const,
      [`s_cmpk_${test}_${type}`, compareConstant(test as keyof typeof tests, type)] as const,
    ]),
  ),
  ...Object.keys(floatTests).map(
    (test) => [`s_cmp_${test}_f32`, compareFloat(test as keyof typeof floatTests)] as const,
  ),
]);
