import { describe, expect, test } from '@jest/globals';
import { bf16, f8e4m3fn, f8e5m2, f16 } from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { instructions } from '../../src/simulator/ptx/instructions/index.js';
import { parsePtx } from '../../src/simulator/ptx/parser.js';
import { opcodeOf } from '../../src/simulator/ptx/program.js';
import { elementAddress, ptxModule, runPtx } from '../support/ptx.js';

type Kind = 'b32' | 'b64' | 'f32' | 'f64' | 'b16';
const bytes: Readonly<Record<Kind, number>> = { b16: 2, b32: 4, f32: 4, b64: 8, f64: 8 };
const arrays = { b16: Uint16Array, b32: Int32Array, f32: Float32Array, b64: BigInt64Array, f64: Float64Array } as const;
/** Registers of operands a, b, c and of the result, by kind. */
const register: Readonly<Record<Kind, string>> = { b16: '%h', b32: '%r', f32: '%f', b64: '%d', f64: '%d' };

interface Case {
  readonly op: string;
  readonly kinds: readonly [result: Kind, ...operands: Kind[]];
  readonly model: (...x: never[]) => number | bigint;
  readonly inputs?: readonly (readonly (number | bigint)[])[];
  /** Operands behind the registers. */
  readonly rest?: string;
}

const words = [0, 1, -1, 2, 7, -5, 31, 32, 255, 65535, 65536, -65536, 0x7fffffff, -0x80000000, 123456789, -987654321];
const wides = words.flatMap((w) => [BigInt(w), BigInt(w) * 0x1_0000_0003n]).map((w) => BigInt.asIntN(64, w));
const floats = [
  0,
  -0,
  1,
  -1,
  1.5,
  -2.25,
  1e-3,
  3.125,
  1e10,
  -1e20,
  1e-40,
  65504,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  0.3,
];
const halves = [
  0, 0x8000, 0x3c00, 0xbc00, 0x3e00, 0x0001, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3555, 0xc900, 0x1234, 0x2a66, 0x0400,
  0x5640,
];
const defaults: Readonly<Record<Kind, readonly (number | bigint)[]>> = {
  b16: halves,
  b32: words,
  f32: floats.map(Math.fround),
  b64: wides,
  f64: floats,
};

const arrayOf = (kind: Kind, values: readonly (number | bigint)[]) => {
  const array = new arrays[kind](values.length);
  values.forEach((v, i) => ((array as Float64Array)[i] = v as number));
  return array;
};

const { fround, imul } = Math;
const u = (x: number): number => x >>> 0;
const s16 = (x: number): number => (x << 16) >> 16;
const half = codecOf(f16).decode;
const toHalf = (x: number): number => (Number.isNaN(x) ? 0x7fff : codecOf(f16).encode(x, false));
const brain = codecOf(bf16).decode;
const toBrain = (x: number): number => (Number.isNaN(x) ? 0x7fff : codecOf(bf16).encode(x, false));
const clamp = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.min(high, Math.max(low, x));
const even = (x: number): number => {
  const f = Math.floor(x);
  return x - f === 0.5 ? f + Math.abs(f % 2) : Math.round(x);
};
const wideUnsigned = (x: bigint): bigint => BigInt.asUintN(64, x);

const b32: readonly ['b32', 'b32', 'b32'] = ['b32', 'b32', 'b32'];
const b64: readonly ['b64', 'b64', 'b64'] = ['b64', 'b64', 'b64'];
const single: readonly ['f32', 'f32', 'f32'] = ['f32', 'f32', 'f32'];
const double: readonly ['f64', 'f64', 'f64'] = ['f64', 'f64', 'f64'];

const cases: readonly Case[] = [
  { op: 'add.s32', kinds: b32, model: (a: number, b: number) => a + b },
  { op: 'add.s64', kinds: b64, model: (a: bigint, b: bigint) => a + b },
  { op: 'add.rn.f32', kinds: single, model: (a: number, b: number) => a + b },
  { op: 'add.f64', kinds: double, model: (a: number, b: number) => a + b },
  { op: 'add.f16', kinds: ['b16', 'b16', 'b16'], model: (a: number, b: number) => toHalf(half[a]! + half[b]!) },
  { op: 'add.rn.f32.f16', kinds: ['f32', 'b16', 'f32'], model: (a: number, b: number) => half[a]! + b },
  { op: 'sub.s32', kinds: b32, model: (a: number, b: number) => a - b },
  { op: 'sub.s64', kinds: b64, model: (a: bigint, b: bigint) => a - b },
  { op: 'sub.f32', kinds: single, model: (a: number, b: number) => a - b },
  { op: 'mul.lo.s32', kinds: b32, model: imul },
  { op: 'mul.hi.s32', kinds: b32, model: (a: number, b: number) => Number((BigInt(a) * BigInt(b)) >> 32n) },
  { op: 'mul.hi.u32', kinds: b32, model: (a: number, b: number) => Number((BigInt(u(a)) * BigInt(u(b))) >> 32n) },
  { op: 'mul.wide.s32', kinds: ['b64', 'b32', 'b32'], model: (a: number, b: number) => BigInt(a) * BigInt(b) },
  { op: 'mul.wide.u32', kinds: ['b64', 'b32', 'b32'], model: (a: number, b: number) => BigInt(u(a)) * BigInt(u(b)) },
  { op: 'mul.wide.s32', kinds: ['b64', 'b32'], rest: ', 12', model: (a: number) => BigInt(a) * 12n },
  { op: 'mul.wide.s16', kinds: ['b32', 'b16', 'b16'], model: (a: number, b: number) => s16(a) * s16(b) },
  { op: 'mul.lo.s64', kinds: b64, model: (a: bigint, b: bigint) => a * b },
  { op: 'mul.hi.u64', kinds: b64, model: (a: bigint, b: bigint) => (wideUnsigned(a) * wideUnsigned(b)) >> 64n },
  { op: 'mul.f32', kinds: single, model: (a: number, b: number) => a * b },
  {
    op: 'mul.ftz.f32',
    kinds: single,
    model: (a: number, b: number) => (Math.abs(fround(a * b)) < 2 ** -126 ? 0 * a * b : a * b),
  },
  { op: 'mad.lo.s32', kinds: ['b32', ...b32], model: (a: number, b: number, c: number) => imul(a, b) + c },
  {
    op: 'mad.wide.s32',
    kinds: ['b64', 'b32', 'b32', 'b64'],
    model: (a: number, b: number, c: bigint) => BigInt(a) * BigInt(b) + c,
  },
  { op: 'mad.lo.s64', kinds: ['b64', ...b64], model: (a: bigint, b: bigint, c: bigint) => a * b + c },
  {
    op: 'fma.rn.f64',
    kinds: ['f64', ...double],
    model: (a: number, b: number, c: number) => a * b + c,
    inputs: [
      [1, 2, 3.5],
      [4, 0.5, 8],
      [16, 1, 0.25],
    ],
  },
  // 1 + 2^-24 + 2^-60 is above the tie; twice rounded it would fall on it.
  {
    op: 'fma.rn.f32',
    kinds: ['f32', ...single],
    inputs: [
      [2 ** -12 * (1 + 2 ** -23), 3],
      [2 ** -12, 5],
      [1, 7],
    ],
    model: (a: number, b: number, c: number) => (c === 1 ? 1 + 2 ** -23 : a * b + c),
  },
  {
    op: 'fma.rz.f32',
    kinds: ['f32', ...single],
    inputs: [
      [1, 1, -1],
      [1, 1, 1],
      [2 ** -30, -(2 ** -30), 2 ** -30],
    ],
    model: (a: number, _: number, c: number) => (c < 0 ? 1 - 2 ** -24 : a < 0 ? -1 + 2 ** -24 : 1),
  },
  {
    op: 'div.s32',
    kinds: b32,
    inputs: [
      [7, -7, 100, -0x80000000],
      [2, 2, -3, 3],
    ],
    model: (a: number, b: number) => Math.trunc(a / b),
  },
  {
    op: 'div.u32',
    kinds: b32,
    inputs: [
      [7, -7, 100, -1],
      [2, 2, 3, 10],
    ],
    model: (a: number, b: number) => Math.trunc(u(a) / u(b)),
  },
  {
    op: 'div.s64',
    kinds: b64,
    inputs: [
      [7n, -7n, 10n ** 18n],
      [2n, 2n, -3n],
    ],
    model: (a: bigint, b: bigint) => a / b,
  },
  { op: 'div.full.f32', kinds: single, model: (a: number, b: number) => a / b },
  {
    op: 'rem.s32',
    kinds: b32,
    inputs: [
      [7, -7, 100],
      [4, 4, -3],
    ],
    model: (a: number, b: number) => a % b,
  },
  {
    op: 'rem.u64',
    kinds: b64,
    inputs: [
      [7n, -7n],
      [4n, 4n],
    ],
    model: (a: bigint, b: bigint) => wideUnsigned(a) % b,
  },
  { op: 'min.s32', kinds: b32, model: Math.min },
  { op: 'min.u32', kinds: b32, model: (a: number, b: number) => Math.min(u(a), u(b)) },
  { op: 'max.s64', kinds: b64, model: (a: bigint, b: bigint) => (a > b ? a : b) },
  {
    op: 'max.f32',
    kinds: single,
    model: (a: number, b: number) => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b)),
  },
  { op: 'max.NaN.f32', kinds: single, model: (a: number, b: number) => Math.max(a, b) },
  { op: 'neg.s32', kinds: ['b32', 'b32'], model: (a: number) => -a },
  { op: 'neg.s64', kinds: ['b64', 'b64'], model: (a: bigint) => -a },
  { op: 'neg.f32', kinds: ['f32', 'f32'], model: (a: number) => -a },
  { op: 'neg.f64', kinds: ['f64', 'f64'], model: (a: number) => -a },
  { op: 'neg.f16x2', kinds: ['b32', 'b32'], model: (a: number) => a ^ 0x80008000 },
  { op: 'abs.s32', kinds: ['b32', 'b32'], model: (a: number) => Math.abs(a) },
  { op: 'abs.f32', kinds: ['f32', 'f32'], model: Math.abs },
  {
    op: 'copysign.f32',
    kinds: single,
    inputs: [
      [-1, 2, -0],
      [3, -4, 5],
    ],
    model: (a: number, b: number) => (a < 0 || Object.is(a, -0) ? -Math.abs(b) : Math.abs(b)),
  },
  { op: 'ex2.approx.f32', kinds: ['f32', 'f32'], model: (a: number) => 2 ** a },
  {
    op: 'ex2.approx.ftz.f32',
    kinds: ['f32', 'f32'],
    inputs: [[-130, -1, 3]],
    model: (a: number) => (a < -126 ? 0 : 2 ** a),
  },
  { op: 'lg2.approx.f32', kinds: ['f32', 'f32'], model: Math.log2 },
  { op: 'rcp.rn.f32', kinds: ['f32', 'f32'], model: (a: number) => 1 / a },
  { op: 'rsqrt.approx.f32', kinds: ['f32', 'f32'], model: (a: number) => 1 / Math.sqrt(a) },
  { op: 'sqrt.rn.f32', kinds: ['f32', 'f32'], model: Math.sqrt },
  { op: 'sqrt.rn.f64', kinds: ['f64', 'f64'], model: Math.sqrt },
  { op: 'sin.approx.f32', kinds: ['f32', 'f32'], inputs: [[0, 1, -2]], model: Math.sin },
  { op: 'cos.approx.f32', kinds: ['f32', 'f32'], inputs: [[0, 1, -2]], model: Math.cos },
  { op: 'tanh.approx.f32', kinds: ['f32', 'f32'], inputs: [[0, 1, -2]], model: Math.tanh },
  { op: 'and.b32', kinds: b32, model: (a: number, b: number) => a & b },
  { op: 'or.b64', kinds: b64, model: (a: bigint, b: bigint) => a | b },
  { op: 'xor.b32', kinds: b32, model: (a: number, b: number) => a ^ b },
  { op: 'not.b32', kinds: ['b32', 'b32'], model: (a: number) => ~a },
  { op: 'not.b64', kinds: ['b64', 'b64'], model: (a: bigint) => ~a },
  { op: 'cnot.b32', kinds: ['b32', 'b32'], model: (a: number) => (a === 0 ? 1 : 0) },
  { op: 'shl.b32', kinds: b32, model: (a: number, n: number) => (u(n) > 31 ? 0 : a << n) },
  { op: 'shr.u32', kinds: b32, model: (a: number, n: number) => (u(n) > 31 ? 0 : a >>> n) },
  { op: 'shr.s32', kinds: b32, model: (a: number, n: number) => a >> (u(n) > 31 ? 31 : n) },
  {
    op: 'shl.b64',
    kinds: ['b64', 'b64', 'b32'],
    inputs: [wides.slice(0, 8), [0, 1, 31, 32, 33, 63, 64, 100]],
    model: (a: bigint, n: number) => (n > 63 ? 0n : a << BigInt(n)),
  },
  {
    op: 'shr.u64',
    kinds: ['b64', 'b64', 'b32'],
    inputs: [wides.slice(2, 10), [0, 1, 31, 32, 33, 63, 64, 100]],
    model: (a: bigint, n: number) => (n > 63 ? 0n : wideUnsigned(a) >> BigInt(n)),
  },
  {
    op: 'shr.s64',
    kinds: ['b64', 'b64', 'b32'],
    inputs: [wides.slice(2, 10), [0, 1, 31, 32, 33, 63, 64, 100]],
    model: (a: bigint, n: number) => a >> BigInt(Math.min(n, 63)),
  },
  {
    op: 'shl.b16',
    kinds: ['b16', 'b16', 'b32'],
    inputs: [
      [0x1234, 0xffff, 0x8001],
      [4, 15, 16],
    ],
    model: (a: number, n: number) => (n > 15 ? 0 : (a << n) & 0xffff),
  },
  {
    op: 'shf.l.wrap.b32',
    kinds: ['b32', ...b32],
    inputs: [
      [0x12345678, -1],
      [-0x12345678, 0],
      [4, 33],
    ],
    model: (a: number, b: number, n: number) =>
      Number(BigInt.asIntN(32, ((BigInt.asIntN(64, BigInt(b) << 32n) | BigInt(u(a))) << BigInt(n & 31)) >> 32n)),
  },
  { op: 'lop3.b32', kinds: ['b32', ...b32], rest: ', 0x96', model: (a: number, b: number, c: number) => a ^ b ^ c },
  {
    op: 'bfe.u32',
    kinds: ['b32', ...b32],
    inputs: [
      [0x12345678, -1, 5],
      [8, 28, 0],
      [12, 8, 0],
    ],
    model: (a: number, p: number, n: number) => Number((BigInt(u(a)) >> BigInt(p)) & ((1n << BigInt(n)) - 1n)),
  },
  {
    op: 'bfe.s32',
    kinds: ['b32', ...b32],
    inputs: [
      [0x00000f00, 0x700],
      [8, 8],
      [4, 4],
    ],
    model: (a: number, p: number, n: number) => (a << (32 - p - n)) >> (32 - n),
  },
  {
    op: 'bfi.b32',
    kinds: ['b32', 'b32', 'b32'],
    rest: ', 4, 8',
    model: (a: number, b: number) => (b & ~0xff0) | ((a & 0xff) << 4),
  },
  { op: 'bfind.u32', kinds: ['b32', 'b32'], model: (a: number) => (a === 0 ? -1 : 31 - Math.clz32(a)) },
  {
    op: 'prmt.b32',
    kinds: ['b32', 'b32', 'b32'],
    rest: ', 0x5410',
    model: (a: number, b: number) => (a & 0xffff) | (b << 16),
  },
  { op: 'popc.b32', kinds: ['b32', 'b32'], model: (a: number) => u(a).toString(2).replaceAll('0', '').length },
  { op: 'clz.b32', kinds: ['b32', 'b32'], model: Math.clz32 },
  {
    op: 'brev.b32',
    kinds: ['b32', 'b32'],
    model: (a: number) => Number.parseInt([...u(a).toString(2).padStart(32, '0')].reverse().join(''), 2),
  },
  { op: 'cvt.s64.s32', kinds: ['b64', 'b32'], model: (a: number) => BigInt(a) },
  { op: 'cvt.u64.u32', kinds: ['b64', 'b32'], model: (a: number) => BigInt(u(a)) },
  { op: 'cvt.u32.u64', kinds: ['b32', 'b64'], model: (a: bigint) => Number(BigInt.asIntN(32, a)) },
  { op: 'cvt.s32.s16', kinds: ['b32', 'b16'], model: s16 },
  { op: 'cvt.rn.f32.s32', kinds: ['f32', 'b32'], model: (a: number) => a },
  { op: 'cvt.rn.f32.u32', kinds: ['f32', 'b32'], model: u },
  { op: 'cvt.rzi.s32.f32', kinds: ['b32', 'f32'], model: (a: number) => clamp(Math.trunc(a), -(2 ** 31), 2 ** 31 - 1) },
  { op: 'cvt.rni.f32.f32', kinds: ['f32', 'f32'], inputs: [[0.5, 1.5, 2.5, -0.6, 7]], model: even },
  { op: 'cvt.rmi.f32.f32', kinds: ['f32', 'f32'], model: Math.floor },
  { op: 'cvt.rn.f16.f32', kinds: ['b16', 'f32'], model: toHalf },
  { op: 'cvt.f32.f16', kinds: ['f32', 'b16'], model: (a: number) => half[a]! },
  { op: 'cvt.rn.bf16.f32', kinds: ['b16', 'f32'], model: toBrain },
  { op: 'cvt.f32.bf16', kinds: ['f32', 'b16'], model: (a: number) => brain[a]! },
  {
    op: 'cvt.rn.f16x2.f32',
    kinds: ['b32', 'f32', 'f32'],
    model: (a: number, b: number) => (toHalf(a) << 16) | toHalf(b),
  },
  {
    op: 'cvt.rn.satfinite.e4m3x2.f32',
    kinds: ['b16', 'f32', 'f32'],
    inputs: [
      [1, 500, 0.3],
      [-2, 0.001, 448],
    ],
    model: (a: number, b: number) => (codecOf(f8e4m3fn).encode(a, true) << 8) | codecOf(f8e4m3fn).encode(b, true),
  },
  {
    op: 'cvt.rn.satfinite.e5m2x2.f32',
    kinds: ['b16', 'f32', 'f32'],
    inputs: [
      [1, 1e6, 0.3],
      [-2, 0.001, 448],
    ],
    model: (a: number, b: number) => (codecOf(f8e5m2).encode(a, true) << 8) | codecOf(f8e5m2).encode(b, true),
  },
  {
    op: 'cvt.rn.f16x2.e4m3x2',
    kinds: ['b32', 'b16'],
    inputs: [[0x3840, 0xb801]],
    model: (a: number) =>
      (toHalf(codecOf(f8e4m3fn).decode[a >> 8]!) << 16) | toHalf(codecOf(f8e4m3fn).decode[a & 255]!),
  },
  { op: 'cvt.f64.f32', kinds: ['f64', 'f32'], model: (a: number) => a },
  { op: 'cvt.rn.f32.f64', kinds: ['f32', 'f64'], model: fround },
  { op: 'mov.b32', kinds: ['b32', 'b32'], model: (a: number) => a },
  { op: 'mov.b64', kinds: ['b64', 'b64'], model: (a: bigint) => a },
];

/** A kernel that runs one instruction in each of 32 lanes. */
function laneKernel({ op, kinds: [result, ...operands], rest = '' }: Case): string {
  const names = ['x', 'y', 'z'].slice(0, operands.length);
  const lines = operands.map(
    (kind, i) =>
      `${elementAddress(i, bytes[kind])} ld.global.${kind === 'b16' ? 'b16' : kind} ${register[kind]}${10 + i}, [%d${i}];`,
  );
  const list = [`${register[result]}20`, ...operands.map((kind, i) => `${register[kind]}${10 + i}`)].join(', ');
  const out = operands.length;
  return ptxModule(
    [...names, 'out'],
    `${lines.join('\n')}\n${elementAddress(out, bytes[result])}\n${op} ${list}${rest};\nst.global.${result} [%d${out}], ${register[result]}20;`,
  );
}

describe('instructions of single lanes', () => {
  test.each(cases.map((c) => [`${c.op} ${c.kinds.join(' ')}${c.rest ?? ''}`, c] as const))('%s', (_, c) => {
    const [result, ...operands] = c.kinds;
    const given = operands.map((kind, i) => {
      const values = c.inputs?.[i] ?? defaults[kind];
      // Every operand begins elsewhere in the list and steps on differently.
      return Array.from(
        { length: 32 },
        (_, lane) => values[c.inputs ? lane % values.length : (lane * (2 * i + 1) + i * 3) % values.length]!,
      );
    });
    const buffers = {
      ...Object.fromEntries(operands.map((kind, i) => ['xyz'[i]!, arrayOf(kind, given[i]!)])),
      out: new arrays[result](32),
    };
    const report = runPtx(laneKernel(c), buffers);
    expect(report.findings).toEqual([]);
    const inputs = operands.map((kind, i) => arrayOf(kind, given[i]!));
    const want = new arrays[result](32);
    for (let lane = 0; lane < 32; lane++) {
      const x = c.model(...(inputs.map((a) => a[lane]) as never[]));
      (want as Float64Array)[lane] = x as number;
    }
    expect([...buffers.out]).toEqual([...want]);
  });

  const floatRelations = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'geu', 'num', 'nan'] as const;
  test.each(floatRelations)('setp.%s.f32', (relation) => {
    const x = Float32Array.from({ length: 32 }, (_, i) => floats[i % 16]!);
    const y = Float32Array.from({ length: 32 }, (_, i) => floats[(i * 3 + 1) % 16]!);
    const out = new Int32Array(32);
    const body = `${elementAddress(0, 4)} ${elementAddress(1, 4)} ${elementAddress(2, 4)} ld.global.f32 %f1, [%d0]; ld.global.f32 %f2, [%d1]; setp.${relation}.f32 %p1, %f1, %f2; selp.b32 %r1, 1, 0, %p1; st.global.b32 [%d2], %r1;`;
    runPtx(ptxModule(['x', 'y', 'out'], body), { x, y, out });
    const base = relation.slice(0, 2);
    const signs: Readonly<Record<string, (a: number, b: number) => boolean>> = {
      eq: (a, b) => a === b,
      ne: (a, b) => a !== b,
      lt: (a, b) => a < b,
      le: (a, b) => a <= b,
      gt: (a, b) => a > b,
      ge: (a, b) => a >= b,
    };
    const want = Array.from(x, (a, i) => {
      const b = y[i]!;
      const unordered = Number.isNaN(a) || Number.isNaN(b);
      if (relation === 'num') return unordered ? 0 : 1;
      if (relation === 'nan') return unordered ? 1 : 0;
      return (unordered ? relation.endsWith('u') : signs[base]!(a, b)) ? 1 : 0;
    });
    expect([...out]).toEqual(want);
  });

  test('integer comparisons, their combination with a predicate and both results', () => {
    const x = Int32Array.from({ length: 32 }, (_, i) => words[i % 16]!);
    const out = new Int32Array(32);
    const body = [
      `${elementAddress(0, 4)} ${elementAddress(1, 4)}`,
      'ld.global.b32 %r1, [%d0]; setp.lt.u32 %p1, %r1, 100; setp.gt.s32 %p2, %r1, 5; setp.ge.and.s32 %p3|%p4, %r1, 0, %p1;',
      'selp.b32 %r2, 1, 0, %p1; selp.b32 %r3, 2, 0, %p2; selp.b32 %r4, 4, 0, %p3; selp.b32 %r5, 8, 0, %p4;',
      'or.pred %p5, %p1, %p2; and.pred %p6, %p1, !%p2; xor.pred %p7, %p5, %p6; not.pred %p8, %p7; selp.b32 %r6, 16, 0, %p8;',
      'set.lt.s32.s32 %r8, %r1, 0; and.b32 %r8, %r8, 32; or.b32 %r6, %r6, %r8;',
      'or.b32 %r2, %r2, %r3; or.b32 %r4, %r4, %r5; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r6; st.global.b32 [%d1], %r2;',
    ].join('\n');
    runPtx(ptxModule(['x', 'out'], body), { x, out });
    const bit = (b: boolean, v: number): number => (b ? v : 0);
    expect([...out]).toEqual(
      Array.from(x, (a) => {
        const [p1, p2] = [u(a) < 100, a > 5];
        const exclusive = (p1 || p2) !== (p1 && !p2);
        return (
          bit(p1, 1) |
          bit(p2, 2) |
          bit(a >= 0 && p1, 4) |
          bit(!(a >= 0) && p1, 8) |
          bit(!exclusive, 16) |
          bit(a < 0, 32)
        );
      }),
    );
  });

  test('vectors are packed and unpacked, and predicated instructions leave other lanes alone', () => {
    const out = new Int32Array(128);
    const body = [
      elementAddress(0, 16),
      'mov.u32 %r1, %laneid; cvt.u16.u32 %h1, %r1; mov.b16 %h2, 7; mov.b32 %r2, {%h1, %h2}; mov.b64 %d10, {%r1, %r2}; mov.b64 {%r3, %r4}, %d10;',
      'setp.lt.u32 %p1, %r1, 4; mov.b32 %r5, 1; @%p1 mov.b32 %r5, 9; @!%p1 add.s32 %r5, %r5, %r1;',
      'st.global.v4.b32 [%d0], {%r3, %r4, %r5, %r2};',
    ].join('\n');
    runPtx(ptxModule(['out'], body), { out });
    for (const lane of [0, 3, 4, 31])
      expect([...out.slice(lane * 4, lane * 4 + 4)]).toEqual([
        lane,
        lane | (7 << 16),
        lane < 4 ? 9 : 1 + lane,
        lane | (7 << 16),
      ]);
  });

  test('two f32 in one register are rounded each for itself', () => {
    const out = new Float32Array(64);
    const body = `${elementAddress(0, 8)} mov.u32 %r1, %laneid; cvt.rn.f32.u32 %f1, %r1; mov.f32 %f2, 0f3F000000; mov.b64 %d10, {%f1, %f2}; fma.rn.f32x2 %d11, %d10, %d10, %d10; add.f32x2 %d12, %d11, %d10; mul.f32x2 %d13, %d12, %d10; st.global.b64 [%d0], %d13;`;
    runPtx(ptxModule(['out'], body), { out });
    expect([out[6], out[7], out[62]]).toEqual([(3 * 3 + 3 + 3) * 3, (0.25 + 0.5 + 0.5) * 0.5, (31 * 31 + 62) * 31]);
  });

  test.each([
    ['b32', -2, [-2, 0]],
    ['s32', -2, [-2, -1]],
    ['u16', -2, [0xfffe, 0]],
    ['s8', -2, [-2, -1]],
  ] as const)('a load of %s into a register of 64 bits fills all of it', (type, value, words) => {
    const buffers = { x: new Int32Array(32).fill(value), out: new Int32Array(64) };
    const body = `${elementAddress(1, 8)} ld.global.${type} %d9, [%d0]; st.global.b64 [%d1], %d9;`;
    runPtx(ptxModule(['x', 'out'], body), buffers);
    expect([...buffers.out.slice(0, 2)]).toEqual(words);
  });

  test('every opcode of single lanes is in some test', () => {
    const tested = new Set(['setp', 'selp', 'set', 'ld', 'st']);
    for (const c of cases)
      for (const i of parsePtx(laneKernel(c)).entries.get('k')!.code) tested.add(opcodeOf(i) ?? '');
    // Addresses and rarities, which the tests of memory and warps run.
    const elsewhere = ['cvta', 'isspacep', 'mapa', 'ldu', 'testp'];
    const lane = Object.entries(instructions).flatMap(([name, entry]) => ('lane' in entry ? [name] : []));
    expect(lane.filter((name) => !tested.has(name) && !elsewhere.includes(name))).toEqual([]);
  });
});
