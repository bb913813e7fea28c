/** Conversions between formats. */

import type { Form, InstructionEntry, InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';

/** From f32 to a word. */
const fromFloat = (doc: string, expression: (...a: string[]) => string): InstructionEntry => ({
  doc,
  operands: ['V1', ...Array.from({ length: expression.length }, (): Form => 'v1')],
  modifiers: ['clamp'],
  lane: (code) => code.setInt(expression(...Array.from({ length: expression.length }, (_, n) => code.float(n)))),
});
/** From a word or a part of it to f32. */
const toFloat = (doc: string, expression: (a: string) => string): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1'],
  modifiers: ['clamp', 'mul', 'div'],
  lane: (code) => code.setFloat(expression(code.int(0))),
});
const doubleTo = (doc: string, write: (code: LaneCode, a: string) => void): InstructionEntry => ({
  doc,
  operands: ['V1', 'v2'],
  modifiers: ['clamp'],
  lane: (code) => write(code, code.double(0)),
});
const toDouble = (doc: string, read: (code: LaneCode) => string): InstructionEntry => ({
  doc,
  operands: ['V2', 'v1'],
  modifiers: ['clamp'],
  lane: (code) => code.setDouble(read(code)),
});
const shortOf = (doc: string, read: (code: LaneCode) => string): InstructionEntry => ({
  doc,
  operands: ['V1', 'v1'],
  modifiers: ['clamp', 'op_sel'],
  lane: (code) => code.setShort(read(code)),
});
const trunc = (a: string): string => `Math.trunc(${a})`;

/** The tables of an 8-bit float, by the device's kind. */
const eight = (code: LaneCode, name: string): string => `N.eightBits.${code.target.fp8}.${name}`;
/** Bytes of a register to f32. */
const fromEight = (name: 'fp8' | 'bf8'): InstructionEntry => ({
  doc: 'f32 of a byte',
  operands: ['V1', 'v1'],
  modifiers: ['byte_sel', 'op_sel'],
  lane: (code) => {
    // Without SDWA, two bits choose the byte.
    const byte = code.number('byte_sel') || 2 * code.choice('op_sel', 0, 0) + code.choice('op_sel', 1, 0);
    code.setFloat(`${eight(code, name)}.values[${code.int(0)}>>>${8 * byte}&255]`);
  },
});
const fromEights = (name: 'fp8' | 'bf8'): InstructionEntry => ({
  doc: 'two f32 of two bytes',
  operands: ['V2', 'v1'],
  modifiers: ['op_sel'],
  lane: (code) => {
    const select = code.modifier('src0_sel');
    const word = select === undefined ? `(${code.int(0)}>>>${16 * code.choice('op_sel', 0, 0)})` : code.int(0);
    for (const part of [0, 1]) code.setFloat(`${eight(code, name)}.values[${word}>>>${8 * part}&255]`, part);
  },
});
const toEights = (name: 'fp8' | 'bf8'): InstructionEntry => ({
  doc: 'two bytes of two f32, into one half of the result',
  operands: ['V1', 'v1', 'v1'],
  modifiers: ['op_sel'],
  lane: (code) => {
    const encode = `${eight(code, name)}.encode`;
    const bytes = `${encode}(${code.float(0)})|${encode}(${code.float(1)})<<8`;
    code.setShort(bytes, code.choice('op_sel', 2, 0) ? 'high' : 'low');
  },
});

export const conversions = {
  v_cvt_f32_i32: toFloat('f32 of an integer', (a) => `Math.fround(${a})`),
  v_cvt_f32_u32: toFloat('f32 of an unsigned integer', (a) => `Math.fround(${a}>>>0)`),
  v_cvt_f32_ubyte0: toFloat('f32 of a byte', (a) => `(${a}&255)`),
  v_cvt_f32_ubyte1: toFloat('f32 of a byte', (a) => `(${a}>>>8&255)`),
  v_cvt_f32_ubyte2: toFloat('f32 of a byte', (a) => `(${a}>>>16&255)`),
  v_cvt_f32_ubyte3: toFloat('f32 of a byte', (a) => `(${a}>>>24)`),
  v_cvt_f32_f16: {
    doc: 'f32 of an f16',
    operands: ['V1', 'v1'],
    modifiers: ['clamp', 'mul', 'div', 'op_sel'],
    lane: (code) => code.setFloat(code.half(0)),
  },
  v_cvt_f32_bf16: {
    doc: 'f32 of a bf16',
    operands: ['V1', 'v1'],
    modifiers: ['op_sel'],
    lane: (code) => code.setFloat(`N.brainValues[${code.short(0)}]`),
  },
  v_cvt_i32_f32: fromFloat('integer of an f32, toward zero', (a) => `N.toSigned(${trunc(a)},32)`),
  v_cvt_u32_f32: fromFloat('unsigned integer of an f32, toward zero', (a) => `N.toUnsigned(${trunc(a)},32)`),
  v_cvt_rpi_i32_f32: fromFloat('nearest integer, up', (a) => `N.toSigned(Math.floor(${a}+0.5),32)`),
  v_cvt_flr_i32_f32: fromFloat('integer below', (a) => `N.toSigned(Math.floor(${a}),32)`),
  v_cvt_f16_f32: {
    doc: 'f16 of an f32',
    operands: ['V1', 'v1'],
    modifiers: ['clamp', 'op_sel'],
    lane: (code) => code.setHalf(code.float(0)),
  },
  v_cvt_pk_f16_f32: fromFloat('two f16 of two f32', (a, b) => `N.toHalf(${a})|N.toHalf(${b})<<16`),
  v_cvt_pk_bf16_f32: fromFloat('two bf16 of two f32', (a, b) => `N.toBrain(${a})|N.toBrain(${b})<<16`),
  v_cvt_pkrtz_f16_f32: fromFloat(
    'two f16 of two f32, toward zero',
    (a, b) => `N.toHalfTowardZero(${a})|N.toHalfTowardZero(${b})<<16`,
  ),
  v_cvt_f16_i16: shortOf('f16 of a short', (c) => `N.toHalf(${c.short(0)}<<16>>16)`),
  v_cvt_f16_u16: shortOf('f16 of an unsigned short', (c) => `N.toHalf(${c.short(0)})`),
  v_cvt_i16_f16: shortOf('short of an f16', (c) => `N.toSigned(${trunc(c.half(0))},16)`),
  v_cvt_u16_f16: shortOf('unsigned short of an f16', (c) => `N.toUnsigned(${trunc(c.half(0))},16)`),
  v_cvt_i32_i16: {
    doc: 'integer of a short',
    operands: ['V1', 'v1'],
    modifiers: ['op_sel'],
    lane: (code) => code.setInt(`${code.short(0)}<<16>>16`),
  },
  v_cvt_u32_u16: {
    doc: 'integer of an unsigned short',
    operands: ['V1', 'v1'],
    modifiers: ['op_sel'],
    lane: (code) => code.setInt(code.short(0)),
  },
  v_cvt_pk_u16_u32: {
    doc: 'two unsigned shorts, clamped',
    operands: ['V1', 'v1', 'v1'],
    lane: (code) => code.setInt(`N.toUnsigned(${code.int(0)}>>>0,16)|N.toUnsigned(${code.int(1)}>>>0,16)<<16`),
  },
  v_cvt_pk_i16_i32: {
    doc: 'two shorts, clamped',
    operands: ['V1', 'v1', 'v1'],
    lane: (code) => code.setInt(`N.toSigned(${code.int(0)},16)&65535|N.toSigned(${code.int(1)},16)<<16`),
  },
  v_cvt_f64_i32: toDouble('f64 of an integer', (c) => c.int(0)),
  v_cvt_f64_u32: toDouble('f64 of an unsigned integer', (c) => `(${c.int(0)}>>>0)`),
  v_cvt_f64_f32: toDouble('f64 of an f32', (c) => c.float(0)),
  v_cvt_f32_f64: doubleTo('f32 of an f64', (c, a) => c.setFloat(`Math.fround(${a})`)),
  v_cvt_i32_f64: doubleTo('integer of an f64, toward zero', (c, a) => c.setInt(`N.toSigned(${trunc(a)},32)`)),
  v_cvt_u32_f64: doubleTo('unsigned integer of an f64', (c, a) => c.setInt(`N.toUnsigned(${trunc(a)},32)`)),
  v_cvt_f32_fp8: fromEight('fp8'),
  v_cvt_f32_bf8: fromEight('bf8'),
  v_cvt_pk_f32_fp8: fromEights('fp8'),
  v_cvt_pk_f32_bf8: fromEights('bf8'),
  v_cvt_pk_fp8_f32: toEights('fp8'),
  v_cvt_pk_bf8_f32: toEights('bf8'),
} satisfies InstructionTable;
