import { describe, expect, test } from '@jest/globals';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { compileKernel } from '../../src/simulator/amd/program.js';
import { loadAmd, type SimulationReport } from '../../src/simulator/index.js';
import {
  type AmdKernelShape,
  type AmdShape,
  amdModule,
  besidesHazards,
  runAmd,
  runAmdSchedules,
} from '../support/amd.js';
import { diagnosticsOf } from '../support/thrown.js';

const prologue = 's_load_dwordx4 s[4:7], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 2, v0\ns_waitcnt lgkmcnt(0)';
const buffers = () => ({ x: Int32Array.from({ length: 64 }, (_, i) => i), out: new Int32Array(64) });
const kernel = (body: string, shape: AmdKernelShape = {}): string => amdModule(2, `${prologue}\n${body}`, shape);
const thrown = async (body: string, shape: AmdKernelShape = {}, launch: AmdShape = {}): Promise<Diagnostic> =>
  (await diagnosticsOf(() => runAmd(kernel(body, shape), buffers(), launch)))[0]!;
const found = (body: string, shape: AmdKernelShape = {}, launch: AmdShape = {}): SimulationReport =>
  besidesHazards(runAmdSchedules(kernel(body, shape), buffers(), launch));
const codes = ({ findings }: SimulationReport): string[] => [...new Set(findings.map((f) => f.code))];

describe('what is refused', () => {
  test.each([
    ['v_frobnicate_b32 v2, v1', "the simulator does not have this instruction: 'v_frobnicate_b32 v2, v1'"],
    ['v_add_f32_e64 v2, v1, v1 frob:1', "the modifier 'frob'"],
    ['v_add_u32_e32 v2, v1, v1 mul:2', "the modifier 'mul'"],
    ['global_load_dword v2, v1, s[4:5] tfe', "the modifier 'tfe'"],
    ['buffer_load_dword v2, v1, s[4:7], 0 idxen', "the modifier 'idxen'"],
    ['v_add_f32_e32 v2, v1', '3 operands expected, 2 given'],
    ['v_add_f32_e32 v2, v1, v[2:3]', "operand 3 is not of the form 'v1'"],
    ['v_mov_b32_dpp v2, v1 row_mask:0xf bank_mask:0xf', 'DPP needs one pattern'],
    ['v_mfma_f32_32x32x8_f16 v[16:31], v[2:3], v[4:5], v[16:31] cbsz:1', "the modifier 'cbsz'"],
    ['global_load_dwordx2 v2, v1, s[4:5]', 'the data are 2 registers'],
    ['s_cbranch_scc1 NOWHERE', "there is no label 'NOWHERE'"],
    ['v_add_u32_sdwa v2, sext(v1), v1 dst_sel:DWORD src0_sel:BYTE_0 src1_sel:DWORD', "the modifier 'sext'"],
  ])('%s', async (text, why) => {
    const d = await thrown(text);
    expect(d.code).toBe('TW6002');
    expect(d.message).toMatch(/^line \d+ of the assembly: /);
    expect(d.message).toContain(why);
  });

  test('targets, arguments and launches that are not modelled', async () => {
    expect((await diagnosticsOf(() => loadAmd(amdModule(0, 's_nop 0').replace('gfx942', 'gfx803'))))[0]!.code).toBe(
      'TW6001',
    );
    expect((await diagnosticsOf(() => loadAmd('\t.text\n')))[0]!.message).toContain('it names no target');
    expect((await diagnosticsOf(() => runAmd(kernel(''), { x: new Int32Array(1) })))[0]!.code).toBe('TW6004');
    expect((await thrown('', {}, { threads: 2048 })).code).toBe('TW6008');
    expect((await thrown('', { lds: 70_000 })).code).toBe('TW6008');
  });

  test('kernels that do not end', async () => {
    const endless = (): SimulationReport => runAmd(kernel('HERE:\ns_branch HERE'), buffers(), {}, { maxSteps: 1000 });
    expect((await diagnosticsOf(endless))[0]!.code).toBe('TW6007');
  });
});

describe('accesses', () => {
  test.each([
    ['global_load_dword v2, v1, s[4:5] offset:4', /global read of 4 bytes at offset 256 of 'x' \(256 bytes\)/],
    [
      'global_store_dword v1, v0, s[4:5] offset:-4',
      /global write of 4 bytes at address 0x7f[0-9a-f]{8}, which no buffer has/,
    ],
    ['v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0\nglobal_load_dword v2, v[2:3], off', /a null pointer/],
    // The descriptor allows it: the buffer is shorter.
    [
      's_mov_b32 s6, 0x7ffffffe\ns_mov_b32 s7, 0x27000\nbuffer_load_dword v2, v1, s[4:7], 0 offen offset:4',
      /offset 256 of 'x'/,
    ],
    ['ds_read_b32 v2, v1 offset:4', /LDS read of 4 bytes at offset 256 of 256/],
    ['v_add_u32_e32 v1, 1, v1\nds_write_b32 v1, v0', /misaligned LDS write of 4 bytes at offset 1$/],
    ['scratch_load_dword v2, off, off offset:16', /scratch access of 4 bytes at offset 16 of 16/],
  ])('%s', async (body, message) => {
    const d = await thrown(body, { lds: 256, scratch: 16 });
    expect(d.code).toBe('TW6010');
    expect(d.message).toMatch(message);
    expect(d.notes.map((n) => n.message).join('\n')).toMatch(
      /in workgroup \(0, 0, 0\), wave 0, lane \d+\nline \d+ of the assembly: /,
    );
  });
});

describe('checks', () => {
  test('loads that are not waited for, of each counter', () => {
    const use = 'v_add_u32_e32 v3, v2, v2\nglobal_store_dword v1, v3, s[6:7]';
    const report = found(`global_load_dword v2, v1, s[4:5]\n${use}`);
    expect(codes(report)).toContain('TW6023');
    expect(report.findings[0]!.message).toBe('v2 is used while a load into it is in flight: a wait is missing');
    expect(report.findings[0]!.notes[1]!.message).toMatch(/: v_add_u32_e32 v3, v2, v2$/);
    expect(codes(found(`global_load_dword v2, v1, s[4:5]\ns_waitcnt lgkmcnt(0)\n${use}`))).toContain('TW6023');
    expect(
      codes(found(`global_load_dword v2, v1, s[4:5]\nglobal_load_dword v4, v1, s[4:5]\ns_waitcnt vmcnt(1)\n${use}`)),
    ).toEqual([]);
    expect(
      codes(found(`global_load_dword v4, v1, s[4:5]\nglobal_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(1)\n${use}`)),
    ).toContain('TW6023');
    expect(
      codes(found('s_load_dword s8, s[4:5], 0x0\nv_mov_b32_e32 v3, s8\nglobal_store_dword v1, v3, s[6:7]')),
    ).toContain('TW6023');
    expect(codes(found('ds_write_b32 v1, v0\nds_read_b32 v2, v1\nv_mov_b32_e32 v3, v2', { lds: 256 }))).toContain(
      'TW6023',
    );
  });
  test('the line of the kernel is told, where the code has one', () => {
    const [d] = found('.loc 1 5 3\nv_mov_b32_e32 v3, v7').findings;
    expect(d!.loc).toEqual({ kind: 'file', file: 'by-hand.ts', line: 5, col: 3 });
  });
  test('registers that are written while a load into them is in flight', () => {
    expect(codes(found('global_load_dword v2, v1, s[4:5]\nv_mov_b32_e32 v2, 0'))).toContain('TW6023');
    // Loads of one kind come back in order.
    expect(codes(found('global_load_dword v2, v1, s[4:5]\nglobal_load_dword v2, v1, s[6:7]'))).toEqual([]);
  });
  test('registers that nothing has written', () => {
    const report = found('v_mov_b32_e32 v3, v7\nv_mov_b32_e32 v4, s20');
    expect(report.findings.map((f) => f.message)).toEqual([
      'v7 is read before anything wrote it',
      's20 is read before anything wrote it',
    ]);
    // What one path writes may have been written.
    expect(codes(found('s_cbranch_scc0 OVER\nv_mov_b32_e32 v7, 0\nOVER:\nv_mov_b32_e32 v3, v7'))).toEqual([]);
  });
  test.each([
    ['v_cmp_gt_i32_e32 vcc, 3, v0', 'v_cndmask_b32_e32 v3, v0, v1, vcc', 2],
    ['v_readfirstlane_b32 s8, v0\nv_readfirstlane_b32 s9, v0', 'global_load_dword v3, v1, s[8:9]', 5],
    ['v_mov_b32_e32 v3, v0', 'v_mov_b32_dpp v4, v3 row_mirror row_mask:0xf bank_mask:0xf', 2],
    ['v_rcp_f32_e32 v3, v1', 'v_add_f32_e32 v4, v3, v3', 1],
    ['v_mov_b32_e32 v3, v0', 'v_readlane_b32 s8, v3, 5', 1],
    [
      'v_mov_b32_e32 v8, 0\nv_mov_b32_e32 v9, 0\nv_mfma_f32_16x16x16_f16 v[4:7], v[8:9], v[8:9], 0',
      'v_mov_b32_e32 v3, v4',
      6,
    ],
  ])('%s needs its distance to %s', (first, second, states) => {
    const hazards = (pause: string): number => {
      const text = kernel(`${first}\n${pause}\ns_cbranch_scc0 END\n${second}\nEND:`);
      // The load may not be allowed: what matters is found before.
      const { module } = loadAmd(text);
      const { steps } = compileKernel([...module.kernels.values()][0]!, module.target);
      return steps.filter((s) => s.hazards).length;
    };
    // The branch between the two is one state.
    expect(hazards(states > 1 ? `s_nop ${states - 2}` : '')).toBe(0);
    if (states > 1) expect(hazards(states > 2 ? `s_nop ${states - 3}` : '')).toBe(1);
  });
  test('an instruction that comes too early is reported when it runs', () => {
    const report = runAmd(kernel('v_rcp_f32_e32 v3, v1\nv_add_f32_e32 v4, v3, v3'), buffers());
    expect(report.findings.map((f) => [f.code, f.message])).toEqual([
      ['TW6026', 'the result of a transcendental instruction is read by another kind after 0 wait states; it takes 1'],
    ]);
  });
  test('the local data share: races, and reads of what nothing wrote', () => {
    const shared = { lds: 512 };
    const body = (barrier: string): string =>
      `ds_write_b32 v1, v0\ns_waitcnt lgkmcnt(0)\n${barrier}\nv_xor_b32_e32 v2, 0x1fc, v1\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)`;
    expect(codes(found(body('s_barrier'), shared, { threads: 128 }))).toEqual([]);
    const report = found(body('s_nop 0'), shared, { threads: 128 });
    expect(codes(report)).toContain('TW6020');
    expect(report.findings.map((f) => f.message).join()).toContain('behind the write of wave');
    expect(codes(found('ds_read_b32 v3, v1\ns_waitcnt lgkmcnt(0)', shared))).toEqual(['TW6021']);
    // A store that is still in flight at the barrier is not there behind it.
    const late = body('s_barrier').replace('s_waitcnt lgkmcnt(0)\n', '');
    expect(codes(found(late, shared, { threads: 128 }))).toContain('TW6020');
  });
  test('global memory: races between waves and workgroups', () => {
    const body = 'v_mov_b32_e32 v2, 0\nglobal_store_dword v2, v0, s[6:7]';
    expect(codes(found(body, {}, { threads: 128 }))).toContain('TW6020');
    expect(codes(found(`${body.replace('v0, s', 'v2, s')}`, {}, { grid: 1, threads: 64 }))).toEqual([]);
  });
  test('waves that wait for one that does not come', async () => {
    const body = (signal: string): string =>
      `v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 WAIT\n${signal}\nWAIT:\ns_barrier_wait -1`;
    const run = (signal: string) => () =>
      runAmd(amdModule(2, body(signal), { target: 'gfx1201' }), buffers(), { threads: 64 });
    const [d] = await diagnosticsOf(run('s_barrier_signal -1'));
    expect(d!.code).toBe('TW6012');
    expect(d!.message).toContain('wave 0 waits at the barrier at line');
  });
  test('waves that have ended are not waited for', () => {
    expect(
      codes(
        found(
          'v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 END\ns_barrier\nEND:\ns_nop 0',
          {},
          { threads: 128 },
        ),
      ),
    ).toEqual([]);
  });
});
