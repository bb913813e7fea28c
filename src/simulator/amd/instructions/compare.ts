/** Comparisons: a mask of the lanes in which they hold. */

import type { Form, InstructionEntry, InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { registers, type ScalarRegister, vectorRegisters } from '../module.js';

const plain = { eq: '===', lt: '<', le: '<=', gt: '>', ge: '>=' } as const;
const ordered = (test: keyof typeof plain) => (a: string, b: string) => `${a}${plain[test]}${b}`;
const negated = (test: keyof typeof plain) => (a: string, b: string) => `!(${a}${plain[test]}${b})`;

type Test = (a: string, b: string) => string;
const integerTests: Readonly<Record<string, Test>> = {
  eq: ordered('eq'),
  ne: negated('eq'),
  lt: ordered('lt'),
  le: ordered('le'),
  gt: ordered('gt'),
  ge: ordered('ge'),
};
/** `u`: one is NaN; those with `n` hold where it is. */
const floatTests: Readonly<Record<string, Test>> = {
  eq: ordered('eq'),
  lt: ordered('lt'),
  le: ordered('le'),
  gt: ordered('gt'),
  ge: ordered('ge'),
  lg: (a, b) => `(${a}<${b}||${a}>${b})`,
  o: (a, b) => `(${a}===${a}&&${b}===${b})`,
  u: (a, b) => `(${a}!==${a}||${b}!==${b})`,
  neq: negated('eq'),
  nlt: negated('lt'),
  nle: negated('le'),
  ngt: negated('gt'),
  nge: negated('ge'),
  nlg: (a, b) => `!(${a}<${b}||${a}>${b})`,
};

interface Type {
  readonly form: Form;
  readonly tests: Readonly<Record<string, Test>>;
  readonly read: (code: LaneCode, n: number) => string;
  readonly modifiers?: readonly string[];
}
const types: Readonly<Record<string, Type>> = {
  f16: { form: 'v1', tests: floatTests, read: (c, n) => c.half(n), modifiers: ['op_sel'] },
  f32: { form: 'v1', tests: floatTests, read: (c, n) => c.float(n) },
  f64: { form: 'v2', tests: floatTests, read: (c, n) => c.hold(c.double(n)) },
  i16: { form: 'v1', tests: integerTests, read: (c, n) => `(${c.short(n)}<<16>>16)`, modifiers: ['op_sel'] },
  u16: { form: 'v1', tests: integerTests, read: (c, n) => c.short(n), modifiers: ['op_sel'] },
  i32: { form: 'v1', tests: integerTests, read: (c, n) => c.int(n) },
  u32: { form: 'v1', tests: integerTests, read: (c, n) => `(${c.int(n)}>>>0)` },
  i64: { form: 'v2', tests: integerTests, read: (c, n) => c.wide(n, true) },
  u64: { form: 'v2', tests: integerTests, read: (c, n) => c.wide(n, false) },
};

const exec: ScalarRegister = { kind: 'scalar', index: registers.exec, count: 2, negate: false, absolute: false };

/** `x`: the mask is EXEC, and no operand names it. */
const comparison = (test: string, type: Type, x: boolean): InstructionEntry => ({
  doc: x ? 'keeps the lanes in which the comparison holds' : 'mask of the lanes in which the comparison holds',
  operands: x ? [type.form, type.form] : ['M', type.form, type.form],
  ...(type.modifiers ? { modifiers: type.modifiers } : {}),
  lane: (code) => code.setMask(x ? exec : 0, type.tests[test]!(type.read(code, 0), type.read(code, 1))),
  ...(x
    ? { uses: () => ({ reads: [], writes: [vectorRegisters + registers.exec, vectorRegisters + registers.exec + 1] }) }
    : {}),
});

const classes = (type: 'f16' | 'f32' | 'f64', x: boolean): InstructionEntry => ({
  doc: 'mask of the lanes whose number is of one of the classes',
  operands: x ? [types[type]!.form, 'v1'] : ['M', types[type]!.form, 'v1'],
  lane: (code) => {
    const smallest = { f16: '2**-14', f32: '2**-126', f64: '2**-1022' }[type];
    code.setMask(x ? exec : 0, `N.isOfClass(${types[type]!.read(code, 0)},${smallest},${code.int(1)})`);
  },
});

export const compare: InstructionTable = Object.fromEntries([
  ...Object.entries(types).flatMap(([name, type]) =>
    Object.keys(type.tests).flatMap((test) => [
      [`v_cmp_${test}_${name}`, comparison(test, type, false)] as const,
      [`v_cmpx_${test}_${name}`, comparison(test, type, true)] as const,
    ]),
  ),
  ...(['f16', 'f32', 'f64'] as const).flatMap((type) => [
    [`v_cmp_class_${type}`, classes(type, false)] as const,
    [`v_cmpx_class_${type}`, classes(type, true)] as const,
  ]),
]);
