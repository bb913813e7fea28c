/** Mnemonics in the words of gfx9: later generations rename more than they change. */

const words: Readonly<Record<string, string>> = {
  8: 'byte',
  16: 'short',
  32: 'dword',
  64: 'dwordx2',
  96: 'dwordx3',
  128: 'dwordx4',
};

type Rule = readonly [pattern: RegExp, to: string | ((...groups: string[]) => string)];

/** Each applies to what those before it left. */
const rules: readonly Rule[] = [
  [
    /^s_(buffer_)?load_b(\d+)$/,
    (_, buffer = '', bits) => `s_${buffer}load_dword${bits === '32' ? '' : `x${Number(bits) / 32}`}`,
  ],
  [
    /^(buffer|global|scratch|flat)_(load|store)_(d16_)?(hi_)?([bui])(\d+)$/,
    (_, space, kind, d16, high, type, bits) => {
      const sign = kind === 'load' && Number(bits) < 32 && !(d16 && bits === '16') ? (type === 'i' ? 's' : 'u') : '';
      return `${space}_${kind}_${sign}${words[bits!]}${d16 ? `_d16${high ? '_hi' : ''}` : ''}`;
    },
  ],
  [/^(buffer|global|flat)_atomic_(add|sub|and|or|xor|swap|cmpswap)_[ub]32$/, '$1_atomic_$2'],
  [/^(buffer|global|flat)_atomic_(add|sub|and|or|xor|swap|cmpswap)_[ub]64$/, '$1_atomic_$2_x2'],
  [/^(buffer|global|flat)_atomic_(min|max)_([iu])32$/, '$1_atomic_$3$2'],
  [
    /^(buffer|global|flat)_atomic_([su])(min|max)$/,
    (_, space, sign, what) => `${space}_atomic_${sign === 's' ? 'i' : 'u'}${what}`,
  ],
  [/^ds_(load|store)_/, (_, kind) => `ds_${kind === 'load' ? 'read' : 'write'}_`],
  [/^ds_storexchg_/, 'ds_wrxchg_'],
  [/^ds_(read|write)_2addr_stride64_/, 'ds_$12st64_'],
  [/^ds_(read|write)_2addr_/, 'ds_$12_'],
  [/^v_dual_/, 'v_'],
  [/_nc_/, '_'],
  [/_(max3?|min3?|med3|maxmin|minmax)_num_f/, '_$1_f'],
  [/^v_mad_co_/, 'v_mad_'],
  [
    /^v_(add|sub|subrev)_co_ci_u32$/,
    (_, what) => `v_${what === 'add' ? 'addc' : what === 'sub' ? 'subb' : 'subbrev'}_co_u32`,
  ],
  [/^s_(add|sub|addk)_co_ci_/, (_, what) => `s_${what === 'add' ? 'addc' : 'subb'}_`],
  [/^s_(add|sub|addk)_co_/, 's_$1_'],
  [/^s_(and|or)_not1_/, (_, what) => `s_${what}n2_`],
  [/^s_ctz_i32_/, 's_ff1_i32_'],
  [/^s_clz_i32_u32$/, 's_flbit_i32_b32'],
  [/^v_(ctz|clz|cls)_(\w+)$/, (_, what) => ({ ctz: 'v_ffbl_b32', clz: 'v_ffbh_u32', cls: 'v_ffbh_i32' })[what!]!],
  [/^v_cvt_pk_rtz_f16_f32$/, 'v_cvt_pkrtz_f16_f32'],
  [/^v_cvt_(floor|nearest)_i32_f32$/, (_, what) => `v_cvt_${what === 'floor' ? 'flr' : 'rpi'}_i32_f32`],
];

/** The opcode of a mnemonic as the table has it. */
export function opcodeOf(mnemonic: string): { opcode: string; encoding: 'plain' | 'dpp' | 'sdwa' } {
  const encoding = /_(dpp8?|sdwa)$/.exec(mnemonic)?.[1];
  let opcode = mnemonic.replace(/_(dpp8?|sdwa)$/, '').replace(/_(e32|e64)$/, '');
  for (const [pattern, to] of rules) opcode = opcode.replace(pattern, to as string);
  return { opcode, encoding: encoding === undefined ? 'plain' : encoding === 'sdwa' ? 'sdwa' : 'dpp' };
}
