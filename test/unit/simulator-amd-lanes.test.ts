import { describe, expect, test } from '@jest/globals';
import { bf16, f8e4m3fn, f8e4m3fnuz, f8e5m2, f8e5m2fnuz, f16 } from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { fma as exactFma } from '../../src/ir/numerics/special.js';
import { compare } from '../../src/simulator/amd/instructions/compare.js';
import { conversions } from '../../src/simulator/amd/instructions/convert.js';
import { float } from '../../src/simulator/amd/instructions/float.js';
import { halves } from '../../src/simulator/amd/instructions/half.js';
import { integer } from '../../src/simulator/amd/instructions/integer.js';
import { amdModule, besidesHazards, runAmd } from '../support/amd.js';

type Kind = 'f16' | 'f32' | 'f64' | 'i16' | 'u16' | 'i32' | 'u32' | 'i64' | 'u64';
type Value = number | bigint;

const { fround, imul } = Math;
const bytes = new DataView(new ArrayBuffer(8));
const { decode, encode } = codecOf(f16);
const toBits: Readonly<Record<Kind, (x: Value) => bigint>> = {
  f16: (x) => BigInt(encode(Number(x), false)),
  f32: (x) => {
    bytes.setFloat32(0, Number(x));
    return BigInt(bytes.getUint32(0));
  },
  f64: (x) => {
    bytes.setFloat64(0, Number(x));
    return bytes.getBigUint64(0);
  },
  i16: (x) => BigInt.asUintN(16, BigInt(x)),
  u16: (x) => BigInt.asUintN(16, BigInt(x)),
  i32: (x) => BigInt.asUintN(32, BigInt(x)),
  u32: (x) => BigInt.asUintN(32, BigInt(x)),
  i64: (x) => BigInt.asUintN(64, BigInt(x)),
  u64: (x) => BigInt.asUintN(64, BigInt(x)),
};
const ofBits: Readonly<Record<Kind, (x: bigint) => Value>> = {
  f16: (x) => decode[Number(x & 0xffffn)]!,
  f32: (x) => {
    bytes.setUint32(0, Number(x & 0xffffffffn));
    return bytes.getFloat32(0);
  },
  f64: (x) => {
    bytes.setBigUint64(0, x);
    return bytes.getFloat64(0);
  },
  i16: (x) => Number(BigInt.asIntN(16, x)),
  u16: (x) => Number(BigInt.asUintN(16, x)),
  i32: (x) => Number(BigInt.asIntN(32, x)),
  u32: (x) => Number(BigInt.asUintN(32, x)),
  i64: (x) => BigInt.asIntN(64, x),
  u64: (x) => BigInt.asUintN(64, x),
};
const inf = Number.POSITIVE_INFINITY;
const reals = [0, -0, 1, -1, 1.5, -2.25, 1e-3, 3.125, 65504, -1e-5, 0.3, inf, -inf, Number.NaN, 7.5, -0.5];
const wide = [
  0n,
  1n,
  -1n,
  5n,
  63n,
  64n,
  0x7fff_ffffn,
  -0x8000_0000n,
  0x1_2345_6789n,
  -(1n << 63n),
  31n,
  255n,
  65535n,
  0xffff_0001n,
  -7n,
  12n,
];
const inputs: Readonly<Record<Kind, readonly Value[]>> = {
  f16: reals,
  f32: [...reals, 1e10, -1e20, 1e-40, 16777217].slice(-16).map((x) => fround(x)),
  f64: [...reals, 1e300, -1e-310, 2 ** 53].slice(-16),
  i16: [0, 1, -1, 2, 7, -5, 15, 16, 255, 32767, -32768, 1234, -999, 3, 100, -100],
  u16: [0, 1, 65535, 2, 7, 9, 15, 16, 255, 32767, 32768, 1234, 999, 3, 100, 60000],
  i32: [0, 1, -1, 2, 7, -5, 31, 32, 255, 65535, -65536, 0x7fffffff, -0x80000000, 123456789, -987654321, 17],
  u32: [0, 1, 2 ** 32 - 1, 2, 7, 9, 31, 32, 255, 65535, 65536, 0x7fffffff, 0x80000000, 123456789, 987654321, 17],
  i64: wide,
  u64: wide,
};

interface Case {
  readonly op: string;
  /** Of the result and of the operands. */
  readonly kinds: readonly [Kind, ...Kind[]];
  readonly model: (...x: never[]) => Value;
  /** What stands behind the operands. */
  readonly more?: string;
  readonly target?: string;
  /** Between the result and the operands. */
  readonly between?: string;
  readonly before?: string;
  /** Instead of the instruction. */
  readonly text?: string;
}
const words = (kind: Kind): number => (kind.endsWith('64') ? 2 : 1);
const register = (first: number, kind: Kind): string => (words(kind) === 2 ? `v[${first}:${first + 1}]` : `v${first}`);

/** Runs one instruction in 64 lanes: every pair of the first two operands. */
function run({
  op,
  kinds: [result, ...operands],
  more = '',
  target = 'gfx942',
  between = '',
  before = '',
  text,
}: Case): Value[] {
  const arrays = [0, 1, 2].map((n) => new BigUint64Array(64).map((_, l) => argument(operands[n], n, l)));
  const out = new BigUint64Array(64);
  const sources = operands.map((kind, n) => register(2 + 2 * n, kind)).join(', ');
  const body = `
    s_load_dwordx8 s[4:11], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    v_lshlrev_b32_e32 v0, 3, v0
    global_load_dwordx2 v[2:3], v0, s[4:5]
    global_load_dwordx2 v[4:5], v0, s[6:7]
    global_load_dwordx2 v[6:7], v0, s[8:9]
    v_mov_b32_e32 v8, 0
    v_mov_b32_e32 v9, 0
    s_waitcnt vmcnt(0)
    ${before}
    ${text ?? `${op} ${register(8, result)}, ${between}${sources}${more}`}
    global_store_dwordx2 v0, v[8:9], s[10:11]`;
  const report = besidesHazards(
    runAmd(amdModule(4, body, { target }), { a: arrays[0]!, b: arrays[1]!, c: arrays[2]!, out }),
  );
  expect(report.findings).toEqual([]);
  return [...out].map((x) => ofBits[result](x));
}
/** The operand `n` of a lane: the second goes through its values as the first stays. */
function argument(kind: Kind | undefined, n: number, lane: number): bigint {
  if (!kind) return 0n;
  const list = inputs[kind];
  const at = n === 0 ? lane % 16 : n === 1 ? (lane * 5 + (lane >> 4) * 3) % 16 : (lane * 11 + 2) % 16;
  return toBits[kind](list[at]!);
}
function expected({ kinds: [result, ...operands], model }: Case): Value[] {
  return Array.from({ length: 64 }, (_, l) => {
    const given = operands.map((kind, n) => ofBits[kind](argument(kind, n, l)));
    const value = (model as unknown as (...x: Value[]) => Value)(...given);
    return ofBits[result](toBits[result](value));
  });
}

const maxNum = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b));
const minNum = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b));
const even = (x: number): number => {
  if (!Number.isFinite(x) || Math.abs(x) > 2 ** 52) return x;
  const low = Math.floor(x);
  const r = x - low > 0.5 || (x - low === 0.5 && low % 2 !== 0) ? low + 1 : low;
  return r === 0 && (x < 0 || Object.is(x, -0)) ? -0 : r;
};
const clampTo = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.max(low, Math.min(high, Math.trunc(x)));
const middle = (a: number, b: number, c: number): number => maxNum(minNum(a, b), minNum(maxNum(a, b), c));

/** Operations that floats of all sizes have, in doubles. */
const unary: Readonly<Record<string, (a: number) => number>> = {
  rcp: (a) => 1 / a,
  rsq: (a) => 1 / Math.sqrt(a),
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  rndne: even,
};
const binary: Readonly<Record<string, (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  mul: (a, b) => a * b,
  max: maxNum,
  min: minNum,
  maximum: Math.max,
  minimum: Math.min,
};
const cases: Case[] = [];
const add = (op: string, kinds: Case['kinds'], model: Case['model'], rest: Partial<Case> = {}): void => {
  cases.push({ op, kinds, model, ...rest });
};
for (const kind of ['f16', 'f32', 'f64'] as const) {
  for (const [name, f] of Object.entries(unary)) add(`v_${name}_${kind}_e32`, [kind, kind], f);
  for (const [name, f] of Object.entries(binary)) add(`v_${name}_${kind}`, [kind, kind, kind], f);
  const fma =
    kind === 'f64' ? exactFma(53) : kind === 'f32' ? exactFma(24) : (a: number, b: number, c: number) => a * b + c;
  add(`v_fma_${kind}`, [kind, kind, kind, kind], fma);
  add(`v_fmac_${kind}_e32`, [kind, kind, kind], (a: number, b: number) => fma(a, b, 0));
  if (kind !== 'f64') {
    add(`v_sub_${kind}_e32`, [kind, kind, kind], (a: number, b: number) => a - b);
    add(`v_subrev_${kind}_e32`, [kind, kind, kind], (a: number, b: number) => b - a);
    add(`v_max3_${kind}`, [kind, kind, kind, kind], (a: number, b: number, c: number) => maxNum(maxNum(a, b), c));
    add(`v_min3_${kind}`, [kind, kind, kind, kind], (a: number, b: number, c: number) => minNum(minNum(a, b), c));
    add(`v_med3_${kind}`, [kind, kind, kind, kind], middle);
    add(`v_maximum3_${kind}`, [kind, kind, kind, kind], (a: number, b: number, c: number) => Math.max(a, b, c));
    add(`v_minimum3_${kind}`, [kind, kind, kind, kind], (a: number, b: number, c: number) => Math.min(a, b, c));
    add(`v_exp_${kind}_e32`, [kind, kind], (a: number) => 2 ** a);
    add(`v_log_${kind}_e32`, [kind, kind], (a: number) => Math.log2(a));
  }
  add(`v_fract_${kind}_e32`, [kind, kind], (a: number) => {
    const rest = a - Math.floor(a);
    return kind === 'f32' && fround(rest) === 1 ? 1 - 2 ** -24 : Math.min(rest, 1 - 2 ** -53);
  });
  add(`v_ldexp_${kind}`, [kind, kind, kind === 'f16' ? 'i16' : 'i32'], (a: number, b: number) =>
    a === 0 || !Number.isFinite(a)
      ? a
      : b > 3000
        ? a * inf
        : b < -3000
          ? a * 0
          : a * 2 ** Math.floor(b / 2) * 2 ** Math.ceil(b / 2),
  );
}
add('v_mul_legacy_f32', ['f32', 'f32', 'f32'], (a: number, b: number) => (a === 0 || b === 0 ? 0 : a * b));
add('v_maxmin_f32', ['f32', 'f32', 'f32', 'f32'], (a: number, b: number, c: number) => maxNum(minNum(a, b), c));
add('v_minmax_f32', ['f32', 'f32', 'f32', 'f32'], (a: number, b: number, c: number) => minNum(maxNum(a, b), c));
add('v_rcp_iflag_f32_e32', ['f32', 'f32'], (a: number) => 1 / a);
add('v_sin_f32_e32', ['f32', 'f32'], (a: number) => Math.sin(a * 2 * Math.PI));
add('v_cos_f32_e32', ['f32', 'f32'], (a: number) => Math.cos(a * 2 * Math.PI));
const frexp = (x: number): readonly [number, number] => {
  if (x === 0 || !Number.isFinite(x)) return [x, 0];
  let [m, e] = [x, 0];
  for (; Math.abs(m) >= 1; e++) m /= 2;
  for (; Math.abs(m) < 0.5; e--) m *= 2;
  return [m, e];
};
for (const kind of ['f32', 'f64'] as const) {
  add(`v_frexp_mant_${kind}_e32`, [kind, kind], (a: number) => frexp(a)[0]);
  add(`v_frexp_exp_i32_${kind}_e32`, ['i32', kind], (a: number) => frexp(a)[1]);
}
add('v_fmaak_f32', ['f32', 'f32', 'f32'], (a: number, b: number) => exactFma(24)(a, b, 2), { more: ', 0x40000000' });
add('v_fmamk_f32', ['f32', 'f32', 'f32'], (a: number, b: number) => exactFma(24)(a, b, 2), { more: ', 0x40000000' });
add(
  'v_mul_f32_e64',
  ['f32', 'f32', 'f32'],
  (a: number, b: number) => Math.min(1, Math.max(0, fround(fround(a * b) * 4))) || 0,
  {
    more: ' clamp mul:4',
  },
);

const i32 = (...x: Value[]): number =>
  Number(
    BigInt.asIntN(
      32,
      x.reduce<bigint>((s, v) => s + BigInt(v), 0n),
    ),
  );
const field = (a: number, p: number, n: number): bigint =>
  (BigInt.asUintN(32, BigInt(a)) >> BigInt(p & 31)) & ((1n << BigInt(n & 31)) - 1n);
type Words = Readonly<Record<string, (a: number, b: number, c: number) => Value>>;
const integers: Readonly<Record<'i32' | 'u32', Words>> = {
  i32: {
    v_mov_b32_e32: (a) => a,
    v_not_b32_e32: (a) => ~a,
    v_and_b32_e32: (a, b) => a & b,
    v_or_b32_e32: (a, b) => a | b,
    v_xor_b32_e32: (a, b) => a ^ b,
    v_xnor_b32_e32: (a, b) => ~(a ^ b),
    v_or3_b32: (a, b, c) => a | b | c,
    v_xor3_b32: (a, b, c) => a ^ b ^ c,
    v_and_or_b32: (a, b, c) => (a & b) | c,
    v_bfi_b32: (a, b, c) => (a & b) | (~a & c),
    v_bfe_i32: (a, b, c) => ((c & 31) === 0 ? 0 : BigInt.asIntN(c & 31, BigInt(a) >> BigInt(b & 31))),
    v_bfm_b32: (a, b) => ((1n << BigInt(a & 31)) - 1n) << BigInt(b & 31),
    v_lshlrev_b32_e32: (a, b) => b << (a & 31),
    v_ashrrev_i32_e32: (a, b) => b >> (a & 31),
    v_lshl_add_u32: (a, b, c) => i32(a << (b & 31), c),
    v_lshl_or_b32: (a, b, c) => (a << (b & 31)) | c,
    v_add_lshl_u32: (a, b, c) => i32(a, b) << (c & 31),
    v_xad_u32: (a, b, c) => i32(a ^ b, c),
    v_add3_u32: (a, b, c) => i32(a, b, c),
    v_add_u32_e32: (a, b) => i32(a, b),
    v_sub_u32_e32: (a, b) => i32(a, -b),
    v_subrev_u32_e32: (a, b) => i32(b, -a),
    v_add_i32: (a, b) => i32(a, b),
    v_sub_i32: (a, b) => i32(a, -b),
    v_mul_lo_u32: (a, b) => imul(a, b),
    v_mul_hi_i32: (a, b) => (BigInt(a) * BigInt(b)) >> 32n,
    v_mul_i32_i24: (a, b) => BigInt.asIntN(24, BigInt(a)) * BigInt.asIntN(24, BigInt(b)),
    v_mul_hi_i32_i24: (a, b) => (BigInt.asIntN(24, BigInt(a)) * BigInt.asIntN(24, BigInt(b))) >> 32n,
    v_mad_i32_i24: (a, b, c) => BigInt.asIntN(24, BigInt(a)) * BigInt.asIntN(24, BigInt(b)) + BigInt(c),
    v_mad_i32_i16: (a, b, c) => BigInt.asIntN(16, BigInt(a)) * BigInt.asIntN(16, BigInt(b)) + BigInt(c),
    v_max_i32_e32: (a, b) => Math.max(a, b),
    v_min_i32_e32: (a, b) => Math.min(a, b),
    v_max3_i32: (a, b, c) => Math.max(a, b, c),
    v_min3_i32: (a, b, c) => Math.min(a, b, c),
    v_med3_i32: middle,
    v_bfrev_b32_e32: (a) =>
      Number.parseInt([...BigInt.asUintN(32, BigInt(a)).toString(2).padStart(32, '0')].reverse().join(''), 2),
    v_bcnt_u32_b32: (a, b) => i32([...BigInt.asUintN(32, BigInt(a)).toString(2)].filter((d) => d === '1').length, b),
    v_ffbh_u32_e32: (a) => (a === 0 ? -1 : Math.clz32(a)),
    v_ffbh_i32_e32: (a) => (a === 0 || a === -1 ? -1 : Math.clz32(a < 0 ? ~a : a)),
    v_ffbl_b32_e32: (a) => (a === 0 ? -1 : 31 - Math.clz32(a & -a)),
    v_alignbit_b32: (a, b, c) =>
      ((BigInt.asUintN(32, BigInt(a)) << 32n) | BigInt.asUintN(32, BigInt(b))) >> BigInt(c & 31),
    v_alignbyte_b32: (a, b, c) =>
      ((BigInt.asUintN(32, BigInt(a)) << 32n) | BigInt.asUintN(32, BigInt(b))) >> BigInt(8 * (c & 3)),
    v_accvgpr_mov_b32: (a) => a,
    v_accvgpr_read_b32: (a) => a,
    v_accvgpr_write_b32: (a) => a,
    v_accvgpr_read: (a) => a,
    v_accvgpr_write: (a) => a,
    v_cvt_pk_i16_i32: (a, b) => (clampTo(a, -32768, 32767) & 0xffff) | (clampTo(b, -32768, 32767) << 16),
  },
  u32: {
    v_bfe_u32: field,
    v_lshrrev_b32_e32: (a, b) => b >>> (a & 31),
    v_mul_hi_u32: (a, b) => (BigInt(a) * BigInt(b)) >> 32n,
    v_mul_u32_u24_e32: (a, b) => BigInt(a & 0xffffff) * BigInt(b & 0xffffff),
    v_mul_hi_u32_u24: (a, b) => (BigInt(a & 0xffffff) * BigInt(b & 0xffffff)) >> 32n,
    v_mad_u32_u24: (a, b, c) => BigInt(a & 0xffffff) * BigInt(b & 0xffffff) + BigInt(c),
    v_mad_u32_u16: (a, b, c) => BigInt(a & 0xffff) * BigInt(b & 0xffff) + BigInt(c),
    v_max_u32_e32: (a, b) => Math.max(a, b),
    v_min_u32_e32: (a, b) => Math.min(a, b),
    v_max3_u32: (a, b, c) => Math.max(a, b, c),
    v_min3_u32: (a, b, c) => Math.min(a, b, c),
    v_med3_u32: middle,
    v_sad_u32: (a, b, c) => Math.abs(a - b) + c,
    v_cvt_pk_u16_u32: (a, b) => Math.min(a, 65535) + Math.min(b, 65535) * 65536,
  },
};
for (const [kind, table] of Object.entries(integers) as ['i32' | 'u32', Words][])
  for (const [op, model] of Object.entries(table))
    add(
      op,
      [kind, ...Array.from({ length: model.length === 0 ? 3 : model.length }, () => kind)] as Case['kinds'],
      model as Case['model'],
    );
add('v_add_u32_e64', ['u32', 'u32', 'u32'], (a: number, b: number) => Math.min(a + b, 2 ** 32 - 1), { more: ' clamp' });
add('v_sub_i32', ['i32', 'i32', 'i32'], (a: number, b: number) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, a - b)), {
  more: ' clamp',
});
// The bits of the table are those of a, b, c from the highest to the lowest.
for (const [bits, kind] of [
  [16, 'u16'],
  [32, 'u32'],
] as const)
  add(
    `v_bitop3_b${bits}`,
    [kind, kind, kind, kind],
    (a: number, b: number, c: number) => BigInt.asUintN(bits, BigInt((a & ~b) ^ c)),
    {
      more: ' bitop3:0x9a',
      target: 'gfx950',
    },
  );
add(
  'v_perm_b32',
  ['u32', 'u32', 'u32'],
  (a: number, b: number) =>
    BigInt(b & 0xff) |
    (BigInt((a >>> 8) & 0xff) << 8n) |
    (BigInt((a >>> 24) & 0xff) << 24n) |
    (a & 0x80000000 ? 0xff0000n : 0n),
  {
    more: ', s3',
    before: 's_mov_b32 s3, 0x070b0500',
  },
);
add('v_mov_b64_e32', ['i64', 'i64'], (a: bigint) => a);
add('v_lshlrev_b64', ['u64', 'i32', 'u64'], (a: number, b: bigint) => b << BigInt(a & 63));
add('v_lshrrev_b64', ['u64', 'i32', 'u64'], (a: number, b: bigint) => b >> BigInt(a & 63));
add('v_ashrrev_i64', ['i64', 'i32', 'i64'], (a: number, b: bigint) => b >> BigInt(a & 63));
add('v_lshl_add_u64', ['u64', 'u64', 'i32', 'u64'], (a: bigint, b: number, c: bigint) => (a << BigInt(b & 7)) + c);
add('v_mad_u64_u32', ['u64', 'u32', 'u32', 'u64'], (a: number, b: number, c: bigint) => BigInt(a) * BigInt(b) + c, {
  between: 's[12:13], ',
});
add('v_mad_i64_i32', ['i64', 'i32', 'i32', 'i64'], (a: number, b: number, c: bigint) => BigInt(a) * BigInt(b) + c, {
  between: 's[12:13], ',
});
const carryIn = 's_mov_b64 vcc, -1';
add('v_add_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => a + b, { between: 'vcc, ' });
add('v_sub_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => a - b, { between: 'vcc, ' });
add('v_subrev_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => b - a, { between: 'vcc, ' });
add('v_addc_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => a + b + 1, {
  between: 'vcc, ',
  more: ', vcc',
  before: carryIn,
});
add('v_subb_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => a - b - 1, {
  between: 'vcc, ',
  more: ', vcc',
  before: carryIn,
});
add('v_subbrev_co_u32_e32', ['u32', 'u32', 'u32'], (a: number, b: number) => b - a - 1, {
  between: 'vcc, ',
  more: ', vcc',
  before: carryIn,
});
add('v_cndmask_b32_e32', ['i32', 'i32', 'i32'], (_: number, b: number) => b, { more: ', vcc', before: carryIn });
add('v_cndmask_b16', ['i16', 'i16', 'i16'], (_: number, b: number) => b, { more: ', vcc', before: carryIn });

const shorts: Readonly<Record<'i16' | 'u16', Words>> = {
  u16: {
    v_mov_b16: (a) => a,
    v_not_b16: (a) => BigInt.asUintN(16, BigInt(~a)),
    v_and_b16: (a, b) => a & b,
    v_or_b16: (a, b) => a | b,
    v_xor_b16: (a, b) => a ^ b,
    v_add_u16: (a, b) => a + b,
    v_sub_u16: (a, b) => a - b,
    v_subrev_u16: (a, b) => b - a,
    v_mul_lo_u16: (a, b) => imul(a, b),
    v_mad_u16: (a, b, c) => imul(a, b) + c,
    v_lshlrev_b16: (a, b) => b << (a & 15),
    v_lshrrev_b16: (a, b) => b >> (a & 15),
    v_max_u16: (a, b) => Math.max(a, b),
    v_min_u16: (a, b) => Math.min(a, b),
  },
  i16: {
    v_add_i16: (a, b) => a + b,
    v_sub_i16: (a, b) => a - b,
    v_mad_i16: (a, b, c) => imul(a, b) + c,
    v_ashrrev_i16: (a, b) => b >> (a & 15),
    v_max_i16: (a, b) => Math.max(a, b),
    v_min_i16: (a, b) => Math.min(a, b),
  },
};
for (const [kind, table] of Object.entries(shorts) as ['i16' | 'u16', Words][])
  for (const [op, model] of Object.entries(table)) {
    add(op, [kind, ...Array.from({ length: model.length }, () => kind)] as Case['kinds'], model as Case['model']);
  }
/** Two at once: both halves of the operands are the same. */
const paired =
  (model: (...x: number[]) => number, count: number, kind: 'f16' | 'i16' | 'u16') =>
  (...x: number[]): bigint => {
    const part = (shift: number): bigint =>
      toBits[kind](model(...x.slice(0, count).map((v) => Number(ofBits[kind](BigInt(v) >> BigInt(shift))))));
    return part(0) | (part(16) << 16n);
  };
const pairs: Readonly<Record<'f16' | 'i16' | 'u16', Readonly<Record<string, (...x: number[]) => number>>>> = {
  f16: {
    add: (a = 0, b = 0) => a + b,
    mul: (a = 0, b = 0) => a * b,
    max: (a = 0, b = 0) => maxNum(a, b),
    min: (a = 0, b = 0) => minNum(a, b),
    maximum: (a = 0, b = 0) => Math.max(a, b),
    minimum: (a = 0, b = 0) => Math.min(a, b),
    fma: (a = 0, b = 0, c = 0) => a * b + c,
    maximum3: (a = 0, b = 0, c = 0) => Math.max(a, b, c),
    minimum3: (a = 0, b = 0, c = 0) => Math.min(a, b, c),
  },
  i16: {
    add: (a = 0, b = 0) => a + b,
    sub: (a = 0, b = 0) => a - b,
    max: (a = 0, b = 0) => Math.max(a, b),
    min: (a = 0, b = 0) => Math.min(a, b),
    mad: (a = 0, b = 0, c = 0) => imul(a, b) + c,
    ashrrev: (a = 0, b = 0) => b >> (a & 15),
  },
  u16: {
    add: (a = 0, b = 0) => a + b,
    sub: (a = 0, b = 0) => a - b,
    mul_lo: (a = 0, b = 0) => imul(a, b),
    max: (a = 0, b = 0) => Math.max(a, b),
    min: (a = 0, b = 0) => Math.min(a, b),
    mad: (a = 0, b = 0, c = 0) => imul(a, b) + c,
  },
};
for (const [kind, table] of Object.entries(pairs) as [
  'f16' | 'i16' | 'u16',
  Readonly<Record<string, (...x: number[]) => number>>,
][])
  for (const [name, model] of Object.entries(table)) {
    const count = /fma|mad|3$/.test(name) ? 3 : 2;
    add(
      `v_pk_${name}_${kind}`,
      ['u32', ...Array.from({ length: count }, () => 'u32' as const)],
      paired(model, count, kind) as Case['model'],
    );
  }
add('v_pk_lshlrev_b16', ['u32', 'u32', 'u32'], paired((a = 0, b = 0) => b << (a & 15), 2, 'u16') as Case['model']);
add('v_pk_lshrrev_b16', ['u32', 'u32', 'u32'], paired((a = 0, b = 0) => b >> (a & 15), 2, 'u16') as Case['model']);
add('v_pack_b32_f16', ['u32', 'u16', 'u16'], (a: number, b: number) => a + b * 65536);
add(
  'v_pk_mov_b32',
  ['u64', 'u64', 'u64'],
  (a: bigint, b: bigint) => (BigInt.asUintN(64, a) >> 32n) | ((BigInt.asUintN(64, b) & 0xffffffffn) << 32n),
  { more: ' op_sel:[1,0]' },
);
/** Both words of a pair of f32. */
const twoFloats =
  (f: (...x: number[]) => number, count: number) =>
  (...x: bigint[]): bigint => {
    const part = (shift: bigint): bigint =>
      toBits.f32(f(...x.slice(0, count).map((v) => Number(ofBits.f32(BigInt.asUintN(64, v) >> shift)))));
    return part(0n) | (part(32n) << 32n);
  };
add('v_pk_add_f32', ['u64', 'u64', 'u64'], twoFloats((a = 0, b = 0) => a + b, 2) as Case['model']);
add('v_pk_mul_f32', ['u64', 'u64', 'u64'], twoFloats((a = 0, b = 0) => a * b, 2) as Case['model']);
add(
  'v_pk_fma_f32',
  ['u64', 'u64', 'u64', 'u64'],
  twoFloats((a = 0, b = 0, c = 0) => exactFma(24)(a, b, c), 3) as Case['model'],
);
const mix = (a: number, b: number, c: number): number => exactFma(24)(a, b, c);
add('v_fma_mix_f32', ['f32', 'f16', 'f32', 'f16'], mix, { more: ' op_sel_hi:[1,0,1]' });
add('v_fma_mixlo_f16', ['f16', 'f16', 'f32', 'f16'], mix, { more: ' op_sel_hi:[1,0,1]' });
add(
  'v_fma_mixhi_f16',
  ['u32', 'f16', 'f32', 'f16'],
  (a: number, b: number, c: number) => toBits.f16(mix(a, b, c)) << 16n,
  { more: ' op_sel_hi:[1,0,1]' },
);
add('v_dot2_f32_f16', ['f32', 'u32', 'u32', 'f32'], (a: number, b: number, c: number) => {
  const h = (x: number, s: number): number => decode[(x >>> s) & 0xffff]!;
  return h(a, 0) * h(b, 0) + h(a, 16) * h(b, 16) + c;
});

const toward = (x: number): bigint => {
  const code = encode(x, false);
  return BigInt(Math.abs(decode[code]!) > Math.abs(x) ? code - 1 : code);
};
const brain = codecOf(bf16);
add('v_cvt_f32_i32_e32', ['f32', 'i32'], (a: number) => a);
add('v_cvt_f32_u32_e32', ['f32', 'u32'], (a: number) => a);
for (const b of [0, 1, 2, 3]) add(`v_cvt_f32_ubyte${b}_e32`, ['f32', 'u32'], (a: number) => (a >>> (8 * b)) & 255);
add('v_cvt_f32_f16_e32', ['f32', 'f16'], (a: number) => a);
add('v_cvt_f32_bf16_e32', ['f32', 'u16'], (a: number) => brain.decode[a]!, { target: 'gfx950' });
add('v_cvt_i32_f32_e32', ['i32', 'f32'], (a: number) => clampTo(a, -(2 ** 31), 2 ** 31 - 1));
add('v_cvt_u32_f32_e32', ['u32', 'f32'], (a: number) => clampTo(a, 0, 2 ** 32 - 1));
add('v_cvt_rpi_i32_f32_e32', ['i32', 'f32'], (a: number) => clampTo(Math.floor(a + 0.5), -(2 ** 31), 2 ** 31 - 1));
add('v_cvt_flr_i32_f32_e32', ['i32', 'f32'], (a: number) => clampTo(Math.floor(a), -(2 ** 31), 2 ** 31 - 1));
add('v_cvt_f16_f32_e32', ['f16', 'f32'], (a: number) => a);
add('v_cvt_pk_f16_f32', ['u32', 'f32', 'f32'], (a: number, b: number) => toBits.f16(a) | (toBits.f16(b) << 16n), {
  target: 'gfx950',
});
add(
  'v_cvt_pk_bf16_f32',
  ['u32', 'f32', 'f32'],
  (a: number, b: number) => BigInt(brain.encode(a, false)) | (BigInt(brain.encode(b, false)) << 16n),
  { target: 'gfx950' },
);
add('v_cvt_pkrtz_f16_f32', ['u32', 'f32', 'f32'], (a: number, b: number) => toward(a) | (toward(b) << 16n));
add('v_cvt_f16_i16_e32', ['f16', 'i16'], (a: number) => a);
add('v_cvt_f16_u16_e32', ['f16', 'u16'], (a: number) => a);
add('v_cvt_i16_f16_e32', ['i16', 'f16'], (a: number) => clampTo(a, -32768, 32767));
add('v_cvt_u16_f16_e32', ['u16', 'f16'], (a: number) => clampTo(a, 0, 65535));
add('v_cvt_i32_i16_e32', ['i32', 'i16'], (a: number) => a, { target: 'gfx942' });
add('v_cvt_u32_u16_e32', ['u32', 'u16'], (a: number) => a);
add('v_cvt_f64_i32_e32', ['f64', 'i32'], (a: number) => a);
add('v_cvt_f64_u32_e32', ['f64', 'u32'], (a: number) => a);
add('v_cvt_f64_f32_e32', ['f64', 'f32'], (a: number) => a);
add('v_cvt_f32_f64_e32', ['f32', 'f64'], (a: number) => a);
add('v_cvt_i32_f64_e32', ['i32', 'f64'], (a: number) => clampTo(a, -(2 ** 31), 2 ** 31 - 1));
add('v_cvt_u32_f64_e32', ['u32', 'f64'], (a: number) => clampTo(a, 0, 2 ** 32 - 1));
const eights = { gfx942: { fp8: f8e4m3fnuz, bf8: f8e5m2fnuz }, gfx950: { fp8: f8e4m3fn, bf8: f8e5m2 } } as const;
for (const [target, kinds] of Object.entries(eights))
  for (const [name, dtype] of Object.entries(kinds)) {
    const codec = codecOf(dtype);
    const value = (a: number, b: number): number => codec.decode[(a >>> (8 * b)) & 255]!;
    add(`v_cvt_f32_${name}_sdwa`, ['f32', 'u32'], (a: number) => value(a, 2), { target, more: ' src0_sel:BYTE_2' });
    add(
      `v_cvt_pk_f32_${name}_e32`,
      ['u64', 'u32'],
      (a: number) => toBits.f32(value(a, 0)) | (toBits.f32(value(a, 1)) << 32n),
      { target },
    );
    add(
      `v_cvt_pk_${name}_f32`,
      ['u32', 'f32', 'f32'],
      (a: number, b: number) => (BigInt(codec.encode(a, true)) | (BigInt(codec.encode(b, true)) << 8n)) << 16n,
      {
        target,
        more: ' op_sel:[0,0,1]',
      },
    );
  }

/** Bits of a NaN do not matter. */
const same = (a: Value, b: Value): boolean => Object.is(a, b) || (a === b && a !== 0);

describe('instructions of single lanes, against a scalar model', () => {
  test.each(cases.map((c) => [`${c.op}${c.more ?? ''}${c.target ? ` on ${c.target}` : ''}`, c] as const))(
    '%s',
    (_, c) => {
      const [got, want] = [run(c), expected(c)];
      const wrong = got.flatMap((x, l) => {
        const given = c.kinds.slice(1).map((kind, n) => ofBits[kind as Kind](argument(kind as Kind, n, l)));
        return same(x, want[l]!) ? [] : [`(${given.join(', ')}): ${x}, expected ${want[l]}`];
      });
      expect(wrong).toEqual([]);
    },
  );

  const opcode = (op: string): string => op.replace(/_(e32|e64|sdwa)$/, '');
  test('every instruction of the tables has a case', () => {
    const tested = new Set(cases.map((c) => opcode(c.op)));
    // What the division test below and the tests of lanes do.
    const elsewhere = /^v_(div_(scale|fmas|fixup)_f(32|64)|mbcnt_(lo|hi)_u32_b32|swap_b32)$/;
    const missing = Object.keys({ ...float, ...halves, ...integer, ...conversions }).filter(
      (name) => !tested.has(name) && !elsewhere.test(name),
    );
    expect(missing).toEqual([]);
  });
});

describe('comparisons', () => {
  const tests: Readonly<Record<string, (a: Value, b: Value) => boolean>> = {
    eq: (a, b) => a === b,
    ne: (a, b) => a !== b,
    lt: (a, b) => a < b,
    le: (a, b) => a <= b,
    gt: (a, b) => a > b,
    ge: (a, b) => a >= b,
    lg: (a, b) => a < b || a > b,
    o: (a, b) => !Number.isNaN(a) && !Number.isNaN(b),
    u: (a, b) => Number.isNaN(a) || Number.isNaN(b),
    neq: (a, b) => a !== b,
    nlt: (a, b) => !(a < b),
    nle: (a, b) => !(a <= b),
    ngt: (a, b) => !(a > b),
    nge: (a, b) => !(a >= b),
    nlg: (a, b) => !(a < b || a > b),
  };
  const names = Object.keys(compare).filter((name) => name.startsWith('v_cmp_') && !name.includes('class'));
  test('of every kind', () => {
    const wrong = names.flatMap((op) => {
      const [, name, kind] = /^v_cmp_(\w+?)_([fiu]\d+)$/.exec(op)!;
      const k = kind as Kind;
      const text = `${op}_e64 s[12:13], ${register(2, k)}, ${register(4, k)}\nv_cndmask_b32_e64 v8, 0, 1, s[12:13]`;
      const got = run({ op, kinds: ['u32', k, k], model: () => 0, text });
      const want = Array.from({ length: 64 }, (_, l) =>
        tests[name!]!(ofBits[k](argument(k, 0, l)), ofBits[k](argument(k, 1, l))) ? 1 : 0,
      );
      return got.every((x, l) => x === want[l]) ? [] : [op];
    });
    expect(wrong).toEqual([]);
    expect(names.length).toBe(14 * 3 + 6 * 6);
  });

  test('the lanes that they leave are those in EXEC', () => {
    const got = run({
      op: '',
      kinds: ['u32', 'i32', 'i32'],
      model: () => 0,
      text: 'v_cmpx_gt_i32_e32 v2, v4\nv_mov_b32_e32 v8, 7\ns_mov_b64 exec, -1',
    });
    const at = (n: number, l: number): Value => ofBits.i32(argument('i32', n, l));
    expect(got).toEqual(Array.from({ length: 64 }, (_, l) => (at(0, l) > at(1, l) ? 7 : 0)));
  });

  test('classes of floats', () => {
    const classOf = (x: number): number => {
      if (Number.isNaN(x)) return 1;
      const size = Math.abs(x) === inf ? 0 : Math.abs(x) >= 2 ** -126 ? 1 : x !== 0 ? 2 : 3;
      return x < 0 || Object.is(x, -0) ? 2 + size : 9 - size;
    };
    for (const mask of [0x3, 0x204, 0x60, 0x90, 0x108]) {
      const text = `v_mov_b32_e32 v3, ${mask}\nv_cmp_class_f32_e64 s[12:13], v2, v3\nv_cndmask_b32_e64 v8, 0, 1, s[12:13]`;
      const got = run({ op: '', kinds: ['u32', 'f32'], model: () => 0, text });
      expect(got).toEqual(
        Array.from({ length: 64 }, (_, l) => (mask >> classOf(Number(ofBits.f32(argument('f32', 0, l))))) & 1),
      );
    }
  });
});

describe('divisions as LLVM writes them', () => {
  /** The sequence for f32: scale, refine, undo, put special values right. */
  const single = `
    v_div_scale_f32 v10, s[12:13], v4, v4, v2
    v_div_scale_f32 v11, vcc, v2, v4, v2
    v_rcp_f32_e32 v12, v10
    v_fma_f32 v13, -v10, v12, 1.0
    v_fmac_f32_e32 v12, v13, v12
    v_mul_f32_e32 v13, v11, v12
    v_fma_f32 v14, -v10, v13, v11
    v_fmac_f32_e32 v13, v14, v12
    v_fma_f32 v10, -v10, v13, v11
    v_div_fmas_f32 v10, v10, v12, v13
    v_div_fixup_f32 v8, v10, v4, v2`;
  const double = `
    v_div_scale_f64 v[10:11], s[12:13], v[4:5], v[4:5], v[2:3]
    v_rcp_f64_e32 v[12:13], v[10:11]
    v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
    v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
    v_fma_f64 v[14:15], -v[10:11], v[12:13], 1.0
    v_fma_f64 v[12:13], v[12:13], v[14:15], v[12:13]
    v_div_scale_f64 v[14:15], vcc, v[2:3], v[4:5], v[2:3]
    v_mul_f64 v[16:17], v[14:15], v[12:13]
    v_fma_f64 v[10:11], -v[10:11], v[16:17], v[14:15]
    v_div_fmas_f64 v[10:11], v[10:11], v[12:13], v[16:17]
    v_div_fixup_f64 v[8:9], v[10:11], v[4:5], v[2:3]`;
  let state = 1;
  const bits = (): number => {
    state = (imul(state, 1664525) + 1013904223) | 0;
    return state >>> 0;
  };

  test.each([
    ['f32', single],
    ['f64', double],
  ] as const)('%s give what IEEE division gives, for patterns of all kinds', (kind, text) => {
    const lanes = 64;
    const blocks = 40;
    const random = (): bigint => (kind === 'f32' ? BigInt(bits()) : (BigInt(bits()) << 32n) | BigInt(bits()));
    const [a, b, c, out] = [0, 1, 2, 3].map(() => new BigUint64Array(lanes * blocks)) as [
      BigUint64Array,
      BigUint64Array,
      BigUint64Array,
      BigUint64Array,
    ];
    for (let i = 0; i < a.length; i++) {
      a[i] = random();
      b[i] = i % 3 === 0 ? a[i]! ^ (random() >> (kind === 'f32' ? 12n : 16n)) : random();
    }
    const body = `
      s_load_dwordx8 s[4:11], s[0:1], 0x0
      s_waitcnt lgkmcnt(0)
      s_lshl_b32 s3, s2, 6
      v_add_lshl_u32 v0, v0, s3, 3
      global_load_dwordx2 v[2:3], v0, s[4:5]
      global_load_dwordx2 v[4:5], v0, s[6:7]
      v_mov_b32_e32 v9, 0
      s_waitcnt vmcnt(0)
      ${text}
      global_store_dwordx2 v0, v[8:9], s[10:11]`;
    expect(besidesHazards(runAmd(amdModule(4, body), { a, b, c, out }, { grid: blocks })).findings).toEqual([]);
    const wrong = [...out].flatMap((got, i) => {
      const [n, d] = [Number(ofBits[kind](a[i]!)), Number(ofBits[kind](b[i]!))];
      const want = ofBits[kind](toBits[kind](n / d));
      return same(ofBits[kind](got), want) ? [] : [`${n} / ${d}: ${ofBits[kind](got)}, expected ${want}`];
    });
    expect(wrong).toEqual([]);
  });
});
