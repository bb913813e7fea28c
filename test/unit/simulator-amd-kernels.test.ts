import { describe, expect, test } from '@jest/globals';
import { f16 } from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { type AmdKernelShape, amdModule, besidesHazards, runAmd, runAmdSchedules } from '../support/amd.js';

const lanes = (n: number, f: (lane: number) => number): number[] => Array.from({ length: n }, (_, l) => f(l));

/** Runs a body that leaves a word of each lane in v8; v1 is the lane, s[4:5] the buffer `x` of words 3 l + 1. */
function words(body: string, { target = 'gfx942', lds = 0, scratch = 0 }: AmdKernelShape = {}): number[] {
  const n = target.startsWith('gfx9') ? 64 : 32;
  const x = Int32Array.from({ length: n }, (_, l) => 3 * l + 1);
  const out = new Int32Array(n);
  const [load, store, wait] = target.startsWith('gfx9')
    ? ['s_load_dwordx4', 'global_store_dword', 's_waitcnt lgkmcnt(0)']
    : target.startsWith('gfx12')
      ? ['s_load_b128', 'global_store_b32', 's_wait_kmcnt 0x0']
      : ['s_load_b128', 'global_store_b32', 's_waitcnt lgkmcnt(0)'];
  const text = `
    ${load} s[4:7], s[0:1], 0x0
    v_and_b32_e32 v1, 0x3ff, v0
    v_lshlrev_b32_e32 v0, 2, v1
    v_mad_u32_u24 v2, v1, 3, 1
    v_mov_b32_e32 v8, -1
    ${wait}
    ${body}
    ${store} v0, v8, s[6:7]`;
  const report = besidesHazards(
    runAmdSchedules(amdModule(2, text, { target, lds, scratch }), { x, out }, { threads: n }),
  );
  expect(report.findings).toEqual([]);
  return [...out];
}
const value = (lane: number): number => 3 * lane + 1;

describe('lanes of a wave', () => {
  test.each<[string, (lane: number) => number]>([
    ['quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf', (l) => value(l ^ 1)],
    ['row_shr:1 row_mask:0xf bank_mask:0xf', (l) => (l % 16 === 0 ? -1 : value(l - 1))],
    ['row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1', (l) => (l % 16 < 2 ? 0 : value(l - 2))],
    ['row_shl:3 row_mask:0xf bank_mask:0xf bound_ctrl:1', (l) => (l % 16 > 12 ? 0 : value(l + 3))],
    ['row_ror:4 row_mask:0xf bank_mask:0xf', (l) => value((l & ~15) + ((l - 4) & 15))],
    ['row_mirror row_mask:0xf bank_mask:0xf', (l) => value(l ^ 15)],
    ['row_half_mirror row_mask:0xf bank_mask:0xf', (l) => value(l ^ 7)],
    ['row_newbcast:5 row_mask:0xf bank_mask:0xf', (l) => value((l & ~15) + 5)],
    ['row_bcast:15 row_mask:0xa bank_mask:0xf', (l) => ((l >> 4) & 1 ? value((l & ~15) - 1) : -1)],
    ['row_bcast:31 row_mask:0xc bank_mask:0xf', (l) => (l >= 32 ? value(31) : -1)],
    ['quad_perm:[0,0,0,0] row_mask:0x5 bank_mask:0x3', (l) => ((l >> 4) & 1 || l & 8 ? -1 : value(l & ~3))],
    ['wave_shr:1 row_mask:0xf bank_mask:0xf', (l) => (l === 0 ? -1 : value(l - 1))],
    ['wave_rol:1 row_mask:0xf bank_mask:0xf', (l) => value((l + 1) & 63)],
  ])('DPP %s', (control, model) => {
    expect(words(`v_mov_b32_dpp v8, v2 ${control}`)).toEqual(lanes(64, model));
  });
  test.each<[string, (lane: number) => number]>([
    ['row_share:3 row_mask:0xf bank_mask:0xf', (l) => value((l & ~15) + 3)],
    ['row_xmask:6 row_mask:0xf bank_mask:0xf', (l) => value(l ^ 6)],
  ])('DPP of waves of 32: %s', (control, model) => {
    expect(words(`v_mov_b32_dpp v8, v2 ${control}`, { target: 'gfx1100' })).toEqual(lanes(32, model));
  });
  test('DPP reads nothing from lanes that are off', () => {
    const body = `s_mov_b64 exec, 0xff
      v_mov_b32_dpp v8, v2 row_ror:4 row_mask:0xf bank_mask:0xf
      s_mov_b64 exec, -1`;
    expect(words(body)).toEqual(lanes(64, (l) => (l >= 4 && l < 8 ? value(l - 4) : -1)));
  });
  test('DPP8', () => {
    const body = 'v_mov_b32_dpp v8, v2 dpp8:[7,6,5,4,3,2,1,0]';
    expect(words(body, { target: 'gfx1201' })).toEqual(lanes(32, (l) => value(l ^ 7)));
  });

  test.each<[string, string, (lane: number) => number]>([
    ['readlane', 'v_readlane_b32 s3, v2, 17\nv_mov_b32_e32 v8, s3', () => value(17)],
    [
      'readfirstlane',
      's_mov_b64 exec, 0xf00000000\nv_readfirstlane_b32 s3, v2\ns_mov_b64 exec, -1\nv_mov_b32_e32 v8, s3',
      () => value(32),
    ],
    [
      'writelane',
      's_movk_i32 s3, 99\nv_mov_b32_e32 v8, v2\nv_writelane_b32 v8, s3, 40',
      (l) => (l === 40 ? 99 : value(l)),
    ],
    [
      'mbcnt',
      's_mov_b32 s3, 0x55555555\nv_mbcnt_lo_u32_b32 v8, s3, 0\nv_mbcnt_hi_u32_b32 v8, s3, v8',
      (l) => Math.ceil(l / 2),
    ],
    ['swap', 'v_mov_b32_e32 v3, v1\nv_swap_b32 v3, v2\nv_lshl_add_u32 v8, v3, 8, v2', (l) => value(l) * 256 + l],
    [
      'bpermute',
      'v_xor_b32_e32 v3, 63, v1\nv_lshlrev_b32_e32 v3, 2, v3\nds_bpermute_b32 v8, v3, v2\ns_waitcnt lgkmcnt(0)',
      (l) => value(l ^ 63),
    ],
    [
      'permute',
      'v_add_u32_e32 v3, 1, v1\nv_lshlrev_b32_e32 v3, 2, v3\nds_permute_b32 v8, v3, v2\ns_waitcnt lgkmcnt(0)',
      (l) => value((l - 1) & 63),
    ],
    ['swizzle, swapped', 'ds_swizzle_b32 v8, v2 offset:swizzle(SWAP,4)\ns_waitcnt lgkmcnt(0)', (l) => value(l ^ 4)],
    [
      'swizzle, quads',
      'ds_swizzle_b32 v8, v2 offset:swizzle(QUAD_PERM,3,2,1,0)\ns_waitcnt lgkmcnt(0)',
      (l) => value(l ^ 3),
    ],
    [
      'swizzle, broadcast',
      'ds_swizzle_b32 v8, v2 offset:swizzle(BROADCAST,8,5)\ns_waitcnt lgkmcnt(0)',
      (l) => value((l & ~7) + 5),
    ],
    [
      'swizzle, reversed',
      'ds_swizzle_b32 v8, v2 offset:swizzle(REVERSE,16)\ns_waitcnt lgkmcnt(0)',
      (l) => value(l ^ 15),
    ],
    ['swizzle by masks', 'ds_swizzle_b32 v8, v2 offset:0x041f\ns_waitcnt lgkmcnt(0)', (l) => value(l ^ 1)],
  ])('%s', (_, body, model) => {
    expect(words(body)).toEqual(lanes(64, model));
  });
  test('swaps of rows and halves', () => {
    const body = (n: number): string =>
      `v_mov_b32_e32 v3, v2\nv_add_u32_e32 v4, 0x1000, v2\nv_permlane${n}_swap_b32_e32 v3, v4\nv_lshl_or_b32 v8, v4, 16, v3`;
    for (const n of [16, 32])
      expect(words(body(n), { target: 'gfx950' })).toEqual(
        lanes(64, (l) => ((l & n ? value(l) + 4096 : value(l + n)) << 16) | (l & n ? value(l - n) + 4096 : value(l))),
      );
  });
  test('permlanex16 reads the other row', () => {
    const body = 's_mov_b32 s3, 0x76543210\ns_mov_b32 s8, 0xfedcba98\nv_permlanex16_b32 v8, v2, s3, s8';
    expect(words(body, { target: 'gfx1100' })).toEqual(lanes(32, (l) => value(l ^ 16)));
  });
  test('pairs read before either writes', () => {
    const body =
      'v_mov_b32_e32 v3, v1\nv_dual_mov_b32 v2, v3 :: v_dual_add_nc_u32 v3, 5, v2\nv_lshl_add_u32 v8, v3, 8, v2';
    expect(words(body, { target: 'gfx1100' })).toEqual(lanes(32, (l) => (value(l) + 5) * 256 + l));
  });
  test('halves of registers, which the other half survives', () => {
    const body = 'v_mov_b32_e32 v8, 0\nv_mov_b16_e32 v8.h, v2.l\nv_add_nc_u16 v8.l, v2.l, v8.h';
    expect(words(body, { target: 'gfx1100' })).toEqual(lanes(32, (l) => (value(l) << 16) | (2 * value(l))));
  });
  test('SDWA takes and writes parts of registers', () => {
    const body =
      'v_lshlrev_b32_e32 v3, 8, v2\nv_mov_b32_e32 v8, -1\nv_add_u32_sdwa v8, v3, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:DWORD';
    expect(words(body)).toEqual(lanes(64, (l) => (((value(l) & 255) + l) << 16) | 0xffff));
  });
});

describe('the scalar unit', () => {
  const scalar = (body: string, target = 'gfx942'): number => words(`${body}\nv_mov_b32_e32 v8, s8`, { target })[0]!;
  test.each<[string, number]>([
    ['s_mov_b32 s8, 7\ns_addk_i32 s8, -9', -2],
    ['s_mov_b32 s8, 7\ns_mulk_i32 s8, -3', -21],
    ['s_movk_i32 s8, 0x8000', -32768],
    ['s_mov_b32 s9, -1\ns_add_u32 s9, s9, 2\ns_addc_u32 s8, 5, 0', 6],
    ['s_mov_b32 s9, 1\ns_sub_u32 s9, s9, 2\ns_subb_u32 s8, 5, 0', 4],
    ['s_mov_b32 s9, 0x7fffffff\ns_add_i32 s9, s9, 1\ns_cselect_b32 s8, 11, 22', 11],
    ['s_cmp_lt_i32 -1, 1\ns_cselect_b32 s8, 1, 2', 1],
    ['s_cmp_lt_u32 -1, 1\ns_cselect_b32 s8, 1, 2', 2],
    ['s_mov_b32 s9, 5\ns_cmpk_ge_i32 s9, 0x5\ns_cselect_b32 s8, 1, 2', 1],
    ['s_mov_b64 s[10:11], 5\ns_cmp_eq_u64 s[10:11], 5\ns_cselect_b32 s8, 1, 2', 1],
    ['s_mov_b32 s9, 0x12345678\ns_bfe_u32 s8, s9, 0x80008', 0x56],
    ['s_mov_b32 s9, 0x1234f678\ns_bfe_i32 s8, s9, 0x80008', -10],
    ['s_mov_b32 s9, 12\ns_bitcmp1_b32 s9, 3\ns_cselect_b32 s8, 1, 2', 1],
    ['s_mov_b64 s[10:11], 0x100000000\ns_lshr_b64 s[8:9], s[10:11], 31', 2],
    ['s_mov_b64 s[10:11], -8\ns_ashr_i64 s[8:9], s[10:11], 2', -2],
    ['s_mov_b64 s[8:9], 3\ns_lshl_b64 s[8:9], s[8:9], 33\ns_lshl2_add_u32 s8, s9, 4', 28],
    ['s_mov_b32 s9, -5\ns_abs_i32 s8, s9', 5],
    ['s_mov_b32 s9, 40\ns_ff1_i32_b32 s8, s9', 3],
    ['s_mov_b64 s[10:11], 0x700000000\ns_bcnt1_i32_b64 s8, s[10:11]', 3],
    ['s_mov_b32 s9, 0x00ff1234\ns_pack_lh_b32_b16 s8, s9, s9', 0x00ff1234],
    ['s_mov_b32 s9, -7\ns_mul_hi_i32 s8, s9, 3', -1],
    [
      's_mov_b64 s[10:11], exec\ns_mov_b64 s[12:13], 0xf0\ns_and_saveexec_b64 s[14:15], s[12:13]\ns_mov_b32 s8, exec_lo\ns_mov_b64 exec, s[14:15]',
      0xf0,
    ],
    ['s_mov_b32 s8, 3\nLOOP:\ns_add_i32 s8, s8, 10\ns_cmp_lt_i32 s8, 50\ns_cbranch_scc1 LOOP', 53],
  ])('%s', (body, expected) => {
    expect(scalar(body)).toBe(expected);
  });
  test.each<[string, number]>([
    ['s_mov_b64 s[10:11], 0x100000001\ns_mul_u64 s[8:9], s[10:11], 6\ns_add_co_i32 s8, s8, s9', 12],
    ['s_mul_f32 s8, 0x40400000, 0.5\ns_cvt_i32_f32 s8, s8', 1],
    ['s_mov_b64 s[10:11], -1\ns_add_nc_u64 s[8:9], s[10:11], 3\ns_add_co_i32 s8, s8, s9', 2],
  ])('gfx12: %s', (body, expected) => {
    expect(scalar(body, 'gfx1201')).toBe(expected);
  });
});

describe('memory', () => {
  const descriptor = (bytes: number): string =>
    `s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_mov_b32 s10, ${bytes}\ns_mov_b32 s11, 0x27000`;
  test('buffer loads outside of the range of their descriptor give 0, and stores there do nothing', () => {
    const body = `${descriptor(128)}
      buffer_load_dword v8, v0, s[8:11], 0 offen
      s_waitcnt vmcnt(0)
      v_mov_b32_e32 v3, 0
      buffer_store_dword v3, v0, s[8:11], 0 offen offset:128
      s_waitcnt vmcnt(0)`;
    expect(words(body)).toEqual(lanes(64, (l) => (l < 32 ? value(l) : 0)));
  });
  test('offsets of all kinds', () => {
    const body = `${descriptor(256)}
      s_mov_b32 s12, 8
      buffer_load_dword v8, v0, s[8:11], s12 offen offset:4
      s_waitcnt vmcnt(0)`;
    expect(words(body)).toEqual(lanes(64, (l) => (l < 61 ? value(l + 3) : 0)));
  });
  test('bytes and halves, into the halves of registers', () => {
    const body = `global_load_ubyte v3, v0, s[4:5]
      global_load_short_d16_hi v8, v0, s[4:5]
      s_waitcnt vmcnt(0)
      v_bfi_b32 v8, 0xffff0000, v8, v3`;
    expect(words(body).map((x) => x | 0)).toEqual(lanes(64, (l) => (value(l) << 16) | (value(l) & 255)));
  });
  test.each<[string, string, (old: number, l: number) => number]>([
    ['add', 'global_atomic_add v8, v0, v1, s[4:5] sc0', (old) => old],
    ['umax', 'global_atomic_umax v8, v0, v1, s[4:5] sc0', (old) => old],
    ['swap', 'global_atomic_swap v8, v0, v1, s[4:5] sc0', (old) => old],
    [
      'cmpswap',
      'v_mov_b32_e32 v4, v1\nv_mov_b32_e32 v5, v2\nglobal_atomic_cmpswap v8, v0, v[4:5], s[4:5] sc0',
      (old) => old,
    ],
  ])('atomic %s gives the old value', (_, text, model) => {
    expect(words(`${text}\ns_waitcnt vmcnt(0)`)).toEqual(lanes(64, (l) => model(value(l), l)));
  });
  test('atomics change memory once for each lane', () => {
    const cells = new Int32Array(4);
    const floats = new Float32Array(2);
    const wide = new BigInt64Array(1);
    const body = `
      s_load_dwordx4 s[4:7], s[0:1], 0x0
      s_load_dwordx2 s[8:9], s[0:1], 0x10
      v_mov_b32_e32 v2, 0
      v_mov_b32_e32 v3, 1.0
      v_mov_b32_e32 v4, 3
      v_mov_b32_e32 v5, 1
      s_waitcnt lgkmcnt(0)
      global_atomic_add v2, v0, s[4:5]
      global_atomic_smax v2, v0, s[4:5] offset:4
      global_atomic_or v2, v0, s[4:5] offset:8
      global_atomic_sub v2, v4, s[4:5] offset:12
      global_atomic_add_f32 v2, v3, s[6:7]
      global_atomic_add_x2 v2, v[4:5], s[8:9]`;
    expect(besidesHazards(runAmdSchedules(amdModule(3, body), { cells, floats, wide })).findings).toEqual([]);
    expect([...cells]).toEqual([2016, 63, 63, -192]);
    expect(floats[0]).toBe(64);
    expect(wide[0]).toBe(64n * 0x1_0000_0003n);
  });
  test('the local data share: pairs, strides, atomics and a barrier between waves', () => {
    const n = 128;
    const [x, out] = [Int32Array.from({ length: n }, (_, i) => i * i), new Int32Array(n)];
    const body = `
      s_load_dwordx4 s[4:7], s[0:1], 0x0
      v_lshlrev_b32_e32 v1, 2, v0
      v_mov_b32_e32 v2, 0
      v_mov_b32_e32 v5, 0
      s_waitcnt lgkmcnt(0)
      global_load_dword v3, v1, s[4:5]
      ds_write_b32 v5, v2 offset:1024
      s_waitcnt vmcnt(0)
      ds_write2_b32 v1, v3, v2 offset1:128
      s_waitcnt lgkmcnt(0)
      s_barrier
      v_xor_b32_e32 v4, 0x1fc, v1
      ds_read2st64_b32 v[6:7], v4 offset1:2
      v_mov_b32_e32 v8, 1
      ds_add_u32 v5, v8 offset:1024
      s_waitcnt lgkmcnt(0)
      s_barrier
      ds_read_b32 v9, v5 offset:1024
      s_waitcnt lgkmcnt(0)
      v_add3_u32 v6, v6, v7, v9
      global_store_dword v1, v6, s[6:7]`;
    const report = besidesHazards(runAmdSchedules(amdModule(2, body, { lds: 1028 }), { x, out }, { threads: n }));
    expect(report.findings).toEqual([]);
    expect([...out]).toEqual(lanes(n, (i) => (i ^ 127) ** 2 + n));
  });
  test('memory of single lanes', () => {
    const body = `scratch_store_dwordx2 off, v[1:2], off offset:8
      v_mov_b32_e32 v3, 8
      scratch_load_dword v8, v3, off offset:4
      s_waitcnt vmcnt(0)`;
    expect(words(body, { scratch: 16 })).toEqual(lanes(64, value));
  });
  test('loads of later generations, with counters of their own', () => {
    for (const [target, wait] of [
      ['gfx1100', 's_waitcnt vmcnt(0)'],
      ['gfx1201', 's_wait_loadcnt 0x0'],
    ])
      expect(words(`global_load_b32 v8, v0, s[4:5]\n${wait}`, { target: target! })).toEqual(lanes(32, value));
  });
  test('the transposed load of gfx950', () => {
    const body = `v_lshlrev_b32_e32 v3, 3, v1
      v_lshlrev_b32_e32 v4, 2, v1
      v_add_u32_e32 v5, 1, v4
      v_add_u32_e32 v6, 2, v4
      v_add_u32_e32 v7, 3, v4
      v_lshl_or_b32 v4, v5, 16, v4
      v_lshl_or_b32 v5, v7, 16, v6
      ds_write_b64 v3, v[4:5]
      s_waitcnt lgkmcnt(0)
      ds_read_b64_tr_b16 v[8:9], v3
      s_waitcnt lgkmcnt(0)`;
    // Rows of 16 elements over 4 lanes: lane i gets column i of rows 0 and 1 in its first word.
    expect(words(body, { target: 'gfx950', lds: 512 })).toEqual(
      lanes(64, (l) => (((l & 48) * 4 + 16 + (l & 15)) << 16) | ((l & 48) * 4 + (l & 15))),
    );
  });
});

describe('matrix instructions', () => {
  const { encode } = codecOf(f16);
  const small = (i: number): number => ((i * 7 + 3) % 11) - 5;
  /** One tile: A[M,K] and B[N,K] row by row, C[M,N]; `place` says which row a register of a lane holds. */
  interface Tile {
    readonly op: string;
    readonly target: string;
    readonly size: number;
    readonly depth: number;
    readonly lanes: 32 | 64;
    readonly bytes: number;
    readonly integer?: boolean;
    /** Elements of k that a lane holds. */
    readonly first: (lane: number) => number;
    readonly perLane: number;
    readonly row: (register: number, lane: number) => number;
    readonly more?: string;
  }
  const cdna =
    (size: number) =>
    (r: number, l: number): number =>
      size === 32 ? 8 * Math.floor(r / 4) + 4 * Math.floor(l / 32) + (r % 4) : 4 * Math.floor(l / 16) + r;
  const mfma = (op: string, size: number, depth: number, bytes: number, rest: Partial<Tile> = {}): Tile => {
    const perLane = (size * depth) / 64;
    return {
      op,
      target: 'gfx942',
      size,
      depth,
      lanes: 64,
      bytes,
      perLane,
      first: (l) => perLane * Math.floor(l / size),
      row: cdna(size),
      ...rest,
    };
  };
  test.each<[string, Tile]>(
    [
      mfma('v_mfma_f32_32x32x8_f16', 32, 8, 2),
      mfma('v_mfma_f32_16x16x16_f16', 16, 16, 2),
      mfma('v_mfma_f32_16x16x4_f32', 16, 4, 4),
      mfma('v_mfma_f32_32x32x2_f32', 32, 2, 4),
      mfma('v_mfma_i32_32x32x16_i8', 32, 16, 1, { integer: true }),
      mfma('v_mfma_i32_16x16x32_i8', 16, 32, 1, { integer: true }),
      mfma('v_mfma_f32_16x16x32_f16', 16, 32, 2, { target: 'gfx950' }),
      {
        op: 'v_wmma_f32_16x16x16_f16',
        target: 'gfx1100',
        size: 16,
        depth: 16,
        lanes: 32,
        bytes: 2,
        perLane: 16,
        first: () => 0,
        row: (r, l) => 2 * r + (l >> 4),
      } as Tile,
      {
        op: 'v_wmma_i32_16x16x16_iu8',
        target: 'gfx1100',
        size: 16,
        depth: 16,
        lanes: 32,
        bytes: 1,
        integer: true,
        perLane: 16,
        first: () => 0,
        row: (r, l) => 2 * r + (l >> 4),
        more: ' neg_lo:[1,1,0]',
      } as Tile,
      {
        op: 'v_wmma_f32_16x16x16_f16',
        target: 'gfx1201',
        size: 16,
        depth: 16,
        lanes: 32,
        bytes: 2,
        perLane: 8,
        first: (l) => 8 * (l >> 4),
        row: (r, l) => 8 * (l >> 4) + r,
      } as Tile,
    ].map((t) => [`${t.op} on ${t.target}`, t]),
  )('%s', (_, tile) => {
    const { op, target, size, depth, bytes, perLane, first, row, integer = false, more = '' } = tile;
    const element = (seed: number, r: number, k: number): number => small(seed + r * 5 + k * 3);
    const registers = (perLane * bytes) / 4;
    const results = (size * size) / tile.lanes;
    const pack = (seed: number): Int32Array => {
      const view = new DataView(new ArrayBuffer(tile.lanes * registers * 4));
      for (let l = 0; l < tile.lanes; l++)
        for (let j = 0; j < perLane; j++) {
          const x = element(seed, l % size, first(l) + j);
          const at = l * registers * 4 + j * bytes;
          if (bytes === 4) view.setFloat32(at, x, true);
          else if (bytes === 2) view.setUint16(at, encode(x, false), true);
          else view.setInt8(at, x);
        }
      return new Int32Array(view.buffer);
    };
    const out = integer ? new Int32Array(tile.lanes * results) : new Float32Array(tile.lanes * results);
    const old = target.startsWith('gfx9');
    const range = (from: number, n: number): string => (n === 1 ? `v${from}` : `v[${from}:${from + n - 1}]`);
    const lines = (from: number, n: number, pointer: string, shift: string): string =>
      Array.from(
        { length: n },
        (_, j) => `${old ? 'global_load_dword' : 'global_load_b32'} v${from + j}, ${shift}, ${pointer} offset:${4 * j}`,
      ).join('\n');
    const wait = {
      gfx942: 's_waitcnt vmcnt(0)',
      gfx950: 's_waitcnt vmcnt(0)',
      gfx1100: 's_waitcnt vmcnt(0)',
      gfx1201: 's_wait_loadcnt 0x0',
    }[target]!;
    const body = `
      ${old ? 's_load_dwordx4' : 's_load_b128'} s[4:7], s[0:1], 0x0
      ${old ? 's_load_dwordx2' : 's_load_b64'} s[8:9], s[0:1], 0x10
      v_mul_u32_u24_e32 v1, ${registers * 4}, v0
      v_mul_u32_u24_e32 v2, ${results * 4}, v0
      ${target === 'gfx1201' ? 's_wait_kmcnt 0x0' : 's_waitcnt lgkmcnt(0)'}
      ${lines(10, registers, 's[4:5]', 'v1')}
      ${lines(20, registers, 's[6:7]', 'v1')}
      ${wait}
      ${op} ${range(32, results)}, ${range(10, registers)}, ${range(20, registers)}, 2${integer ? '' : '.0'}${more}
      ${op} ${range(32, results)}, ${range(10, registers)}, ${range(20, registers)}, ${range(32, results)}${more}
      ${Array.from({ length: results }, (_, r) => `${old ? 'global_store_dword' : 'global_store_b32'} v2, v${32 + r}, s[8:9] offset:${4 * r}`).join('\n')}`;
    const report = besidesHazards(
      runAmd(amdModule(3, body, { target }), { a: pack(1), b: pack(4), out }, { threads: tile.lanes }),
    );
    expect(report.findings).toEqual([]);
    const want = Array.from(out, (_, at) => {
      const [l, r] = [Math.floor(at / results), at % results];
      let sum = 0;
      for (let k = 0; k < depth; k++) sum += element(1, row(r, l), k) * element(4, l % size, k);
      return 2 + 2 * sum;
    });
    expect([...out]).toEqual(want);
    expect(report.products).toBe(2 * size * size * depth);
  });
});
