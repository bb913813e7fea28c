/** Conversions between formats, in single lanes. */

import type { InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { bitsOfType, type Instruction, isSigned, type Operand } from '../module.js';
import { unsupported } from '../symbols.js';
import { has, integer, narrow } from './arithmetic.js';

const integerTypes = /^[sub](8|16|32|64)$/;
const eightBit: Readonly<Record<string, string>> = { e4m3x2: 'E4m3', e5m2x2: 'E5m2' };
/** Functions that give the code of a double. */
const encoders: Readonly<Record<string, string>> = {
  f16: 'N.toHalf',
  bf16: 'N.toBrain',
  f16x2: 'N.toHalf',
  bf16x2: 'N.toBrain',
};

/** Two f32, or the two halves of a word, as expressions: upper first. */
function pairOf(code: LaneCode, i: Instruction, type: string): readonly [string, string] {
  const [, a, b] = i.operands as [Operand, Operand, Operand?];
  if (type === 'f32' && b !== undefined) return [code.float(a), code.float(b)];
  const values = { f16x2: 'N.halfValues', bf16x2: 'N.brainValues' }[type] ?? unsupported(i, `type '${type}'`);
  return [`${values}[${code.int(a)}>>>16]`, `${values}[${code.int(a)}&65535]`];
}

/** The value of an operand as a double, or undefined for 64-bit integers that a double cannot hold. */
function numberOf(code: LaneCode, i: Instruction, a: Operand, type: string): string {
  if (type === 'f32') return has(i, 'ftz') ? `N.flush(${code.float(a)})` : code.float(a);
  if (type === 'f64') return code.double(a);
  if (type === 'f16') return code.half(a);
  if (type === 'bf16') return code.brain(a);
  if (!integerTypes.test(type)) return unsupported(i, `type '${type}'`);
  if (bitsOfType(type) === 64) return `Number(${code.wide(a, isSigned(type))})`;
  const x = integer(code, a, type);
  return isSigned(type) ? x : `(${x}>>>0)`;
}

function integerToInteger(code: LaneCode, i: Instruction, to: string, from: string): void {
  const [d, a] = i.operands as [Operand, Operand];
  const [bits, wide] = [bitsOfType(to), bitsOfType(from) === 64];
  if (has(i, 'sat')) {
    if (wide || bits === 64) unsupported(i, 'saturation of 64 bits');
    return code.setInt(
      d,
      narrow(to, `N.to${isSigned(to) ? 'Signed' : 'Unsigned'}(${numberOf(code, i, a, from)},${bits})`),
    );
  }
  const low = wide ? code.int(a) : integer(code, a, from);
  if (bits < 64) return code.setInt(d, narrow(to, low));
  code.setWords(d, low, wide ? code.int(a, 1) : isSigned(from) ? `(${low})>>31` : '0');
}

const roundings: Readonly<Record<string, string>> = {
  rni: 'N.roundEven',
  rzi: 'Math.trunc',
  rmi: 'Math.floor',
  rpi: 'Math.ceil',
};

function convert(code: LaneCode, i: Instruction): void {
  const [d, a, b] = i.operands as [Operand, Operand, Operand?];
  const types = i.parts.slice(1).filter((p) => bitsOfType(p) > 1);
  const [to, from] = [types.at(-2) ?? unsupported(i), types.at(-1)!];
  const positive = (e: string): string => (has(i, 'relu') ? `Math.max(0,${e})` : e);
  const eight = eightBit[to];
  if (eight) {
    const [high, low] = pairOf(code, i, from).map(positive) as [string, string];
    return code.setInt(d, `N.to${eight}(${high})<<8|N.to${eight}(${low})`);
  }
  const source8 = eightBit[from];
  if (source8) {
    const [values, encode] = [`N.${source8.toLowerCase()}Values`, encoders[to] ?? unsupported(i)];
    const word = code.int(a);
    return code.setInt(
      d,
      `${encode}(${positive(`${values}[${word}>>>8&255]`)})<<16|${encode}(${positive(`${values}[${word}&255]`)})`,
    );
  }
  if ((to === 'f16x2' || to === 'bf16x2') && from === 'f32' && b) {
    if (has(i, 'rz')) unsupported(i, "rounding 'rz'");
    const encode = encoders[to]!;
    return code.setInt(d, `${encode}(${positive(code.float(a))})<<16|${encode}(${positive(code.float(b))})`);
  }
  if (integerTypes.test(to) && integerTypes.test(from)) return integerToInteger(code, i, to, from);
  if (to === 'tf32') return code.setInt(d, `${code.int(a)}+4096&-8192`);
  const rounded = roundings[i.parts.find((p) => roundings[p]) ?? ''];
  const source = numberOf(code, i, a, from);
  const value = positive(rounded ? `${rounded}(${source})` : source);
  const mode = i.parts.find((p) => ['rz', 'rm', 'rp'].includes(p));
  if (integerTypes.test(to)) {
    if (bitsOfType(to) === 64) return code.setWide(d, `N.toWide(${value},${isSigned(to)})`);
    return code.setInt(d, narrow(to, `N.to${isSigned(to) ? 'Signed' : 'Unsigned'}(${value},${bitsOfType(to)})`));
  }
  if (to === 'f64') return code.setDouble(d, value);
  if (to === 'f32') {
    if (mode && /64/.test(from) && from !== 'f64') unsupported(i, `rounding '${mode}'`);
    const single = mode ? `N.roundTo(${value},0,'${mode}')` : `fr(${value})`;
    return code.setFloat(d, has(i, 'sat') ? `N.saturate(${single})` : single);
  }
  const encode = encoders[to] ?? unsupported(i, `type '${to}'`);
  if (mode) unsupported(i, `rounding '${mode}'`);
  code.setInt(d, `${encode}(${has(i, 'sat') ? `N.saturate(${value})` : value})`);
}

export const conversions = {
  cvt: {
    doc: 'conversion',
    modifiers: ['rn', 'rna', 'rz', 'rm', 'rp', 'rni', 'rzi', 'rmi', 'rpi', 'ftz', 'sat', 'relu', 'satfinite'],
    types: 2,
    operands: ['register', 'value', 'value?'],
    lane: convert,
  },
} satisfies InstructionTable;
