import { describe, expect, test } from '@jest/globals';
import { catalogue } from '../../src/diagnostics/catalogue.js';
import type { Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { simulateCode } from '../../src/simulator/index.js';
import { arg, codesOf, elementAddress, launchOf, ptxModule, runPtx, runSchedules, type Shape } from '../support/ptx.js';
import { diagnosticsOf } from '../support/thrown.js';

const out = (n = 64): Int32Array => new Int32Array(n);
const shared = '.shared .align 16 .b8 s[1024];';

/** The one diagnostic that a body ends with. */
const thrown = async (
  body: string,
  shape: Shape = {},
  module = ptxModule(['out'], `${shared}\n${body}`),
  buffers = { out: out() },
): Promise<Diagnostic> => {
  const [first] = await diagnosticsOf(async () => runPtx(module, buffers, shape));
  return first!;
};
const found = (body: string, shape: Shape = {}): string[] =>
  codesOf(runPtx(ptxModule(['out'], `${shared}\n${body}`), { out: out() }, shape));

describe('what is refused', () => {
  test('text that is no PTX', async () => {
    const of = (text: string) => diagnosticsOf(async () => simulateCode(text, launchOf({}), {}));
    expect((await of('module {}'))[0]!.code).toBe('TW6001');
    expect((await of('.version 8.8\n.target sm_80\n.visible .entry k() {\nbra NOWHERE;\n}'))[0]!.message).toBe(
      "line 4 of the PTX: there is no label 'NOWHERE'",
    );
    expect((await of('.version 8.8\n.target sm_80\n.visible .entry k() {\nret;'))[0]!.message).toBe(
      'line 3 of the PTX: a block is not closed',
    );
  });

  test('a newer version', async () => {
    const [d] = await diagnosticsOf(async () => simulateCode('.version 99.1\n.target sm_80', launchOf({}), {}));
    expect([d!.code, d!.message]).toEqual([
      'TW6003',
      expect.stringMatching(/^the PTX is of version 99\.1; the simulator reads up to \d/),
    ]);
  });

  test('an unknown instruction, modifier or form is told with both lines', async () => {
    const text =
      '.version 8.8\n.target sm_80\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n.loc 1 12 7\nfrobnicate.b32 %r1, %r2;\nret;\n}\n.file 1 "mine.kernel.ts"\n';
    const [d] = await diagnosticsOf(async () => simulateCode(text, launchOf({}), {}));
    expect([d!.code, d!.message]).toEqual([
      'TW6002',
      "line 7 of the PTX: the simulator does not have this instruction: 'frobnicate.b32 %r1, %r2'",
    ]);
    expect(d!.loc).toEqual({ kind: 'file', file: 'mine.kernel.ts', line: 12, col: 7 });
    expect((await thrown('add.sideways.s32 %r1, %r2, %r3;')).message).toContain("the modifier 'sideways'");
    expect((await thrown('mov.b32 %r2, 0; add.s32 %r1, %r2;')).message).toContain('3 operands expected, 2 given');
  });

  test('parameters, buffers and entries that do not fit', async () => {
    const module = ptxModule(['out'], '', '.param .u32 n');
    const run = async (launch: object) =>
      (await diagnosticsOf(async () => simulateCode(module, { ...launchOf({}), ...launch }, { out: out() })))[0]!;
    expect((await run({ arguments: [arg.buffer('out')] })).message).toBe("'k' takes 2 parameters, the launch gives 1");
    expect((await run({ arguments: [arg.buffer('out'), arg.buffer('out')] })).message).toBe(
      "parameter 1 of 'k': expected 4 bytes, got 8 bytes",
    );
    expect((await run({ arguments: [arg.buffer('in'), arg.i32(1)] })).message).toBe(
      "parameter 0 of 'k': expected 8 bytes, got a buffer 'in' that does not exist",
    );
    expect((await run({ entry: 'f' })).message).toBe("the device code has no entry 'f', only 'k'");
    expect((await run({ block: [2048, 1, 1] })).code).toBe('TW6008');
    expect((await run({ grid: [3, 1, 1], cluster: [2, 1, 1] })).message).toBe(
      'a grid of 3 x 1 x 1 in clusters of 2 x 1 x 1',
    );
    expect((await run({ sharedBytes: 1 << 20 })).message).toContain('bytes of shared memory; at most');
  });

  test('a loop without an end', async () => {
    const [d] = await diagnosticsOf(async () =>
      runPtx(ptxModule(['out'], 'L: bra L;'), { out: out() }, {}, { maxSteps: 1000 }),
    );
    expect([d!.code, d!.message]).toEqual(['TW6007', 'stopped after 1000 instructions']);
  });

  test('accesses out of bounds and misaligned, with thread and buffer', async () => {
    const far = await thrown(`${elementAddress(0, 16)} mov.b32 %r1, 0; st.global.b32 [%d0], %r1;`);
    expect([far.code, far.message]).toEqual([
      'TW6010',
      "out of bounds: global write of 4 bytes at offset 256 of 'out' (256 bytes)",
    ]);
    expect(far.notes.map((n) => n.message)).toEqual([
      'in block (0, 0, 0), warp 0, thread (16, 0, 0)',
      'line 9 of the PTX: st.global.b32 [%d0], %r1',
    ]);
    expect((await thrown('ld.global.b32 %r1, [%d0+2];')).message).toContain('misaligned global read of 4 bytes');
    expect((await thrown('mov.b64 %d5, 0; ld.global.b32 %r1, [%d5];')).message).toContain('a null pointer');
    expect((await thrown('ld.shared.b32 %r1, [s+1024];')).message).toBe(
      'shared read of 4 bytes at offset 1024 of 1024',
    );
    expect((await thrown('ld.shared.v2.b32 {%r1, %r2}, [s+4];')).message).toBe(
      'misaligned shared read of 8 bytes at offset 4',
    );
  });

  test('barriers and lanes that are not used by the rules', async () => {
    expect((await thrown('mbarrier.arrive.shared::cta.b64 _, [s];')).message).toBe(
      'there is no initialised mbarrier at shared offset 0',
    );
    expect(
      (
        await thrown(
          'mov.u32 %r1, %laneid; setp.eq.s32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [s], 1; mbarrier.arrive.shared::cta.b64 _, [s]; mbarrier.arrive.expect_tx.shared::cta.b64 _, [s], 4; mbarrier.arrive.shared::cta.b64 _, [s];',
        )
      ).code,
    ).toBe('TW6011');
    expect(
      (
        await thrown(
          'mov.u32 %r1, %laneid; setp.lt.s32 %p1, %r1, 8; @!%p1 bra E; bra F; E: shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; F:',
        )
      ).message,
    ).toMatch(/a shuffle reads lane \d+, which does not take part/);
    expect((await thrown('trap;')).message).toBe('the kernel executed a trap');
  });

  test('a deadlock', async () => {
    const d = await thrown(
      'mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0; @%p1 mbarrier.init.shared::cta.b64 [s], 1; bar.sync 0; W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [s], 0; @!%p2 bra W;',
      { block: 64 },
    );
    expect([d.code, d.message]).toEqual([
      'TW6012',
      expect.stringMatching(/^deadlock: warp 0 waits at line \d+ of the PTX; warp 1 waits at line \d+ of the PTX$/),
    ]);
  });
});

describe('what the checks find', () => {
  const each = 'mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.s32 %r4, %r3, %r2;';

  test('a read of shared memory that nobody wrote', () => {
    expect(found(`${each} ld.shared.b32 %r5, [%r4];`)).toEqual(['TW6021']);
    expect(found(`${each} st.shared.b16 [%r4], %h1; ld.shared.b32 %r5, [%r4];`)).toContain('TW6021');
  });

  test('a barrier that is missing between a write and a read of another warp', () => {
    const body = (barrier: string): string =>
      `${each} st.shared.b32 [%r4], %r1; ${barrier} xor.b32 %r2, %r2, 128; add.s32 %r4, %r3, %r2; ld.shared.b32 %r5, [%r4];`;
    expect(found(body(''), { block: 64 })).toContain('TW6020');
    expect(found(body('bar.sync 0;'), { block: 64 })).toEqual([]);
    expect(found(body('bar.sync 1, 64;'), { block: 64 })).toEqual([]);
  });

  test('a barrier that is missing between a read and the next write', () => {
    const body = (barrier: string): string =>
      `${each} st.shared.b32 [%r4], %r1; bar.sync 0; xor.b32 %r2, %r2, 128; add.s32 %r6, %r3, %r2; ld.shared.b32 %r5, [%r6]; ${barrier} st.shared.b32 [%r4], %r5;`;
    expect(found(body(''), { block: 64 })).toContain('TW6020');
    expect(found(body('bar.sync 0;'), { block: 64 })).toEqual([]);
  });

  test('bytes of one word that belong to different warps are no race', () => {
    expect(
      found(
        'mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; shl.b32 %r3, %r3, 2; add.s32 %r3, %r3, %r2; mov.u32 %r4, s; add.s32 %r4, %r4, %r3; st.shared.b8 [%r4], %r1;',
        { block: 64 },
      ),
    ).toEqual([]);
  });

  test('warps that store one value at one place are none, warps that store different values are', () => {
    const store = (value: string) =>
      found(`mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mov.u32 %r4, s; st.shared.b32 [%r4], ${value};`, { block: 64 });
    expect(store('77')).toEqual([]);
    expect(store('%r2')).toEqual(['TW6020']);
  });

  test('blocks that write the same place of global memory', () => {
    const report = runPtx(
      ptxModule(['out'], `${elementAddress(0, 4)} mov.u32 %r1, %ctaid.x; st.global.b32 [%d0], %r1;`),
      { out: out() },
      { grid: 2 },
    );
    expect(report.findings.map((f) => [f.code, f.message])).toEqual([
      [
        'TW6020',
        "offset 0 of 'out' (256 bytes) is written while nothing orders it behind the write of warp 0 of another block",
      ],
    ]);
    expect(
      codesOf(
        runPtx(ptxModule(['out'], 'mov.b32 %r1, 1; red.global.add.u32 [%d0], %r1;'), { out: out() }, { grid: 2 }),
      ),
    ).toEqual([]);
  });

  test('warps of a block that pass a value through global memory', () => {
    const body = (barrier: string): string =>
      `${elementAddress(0, 4)} st.global.b32 [%d0], %r63; ${barrier} ld.param.u64 %d1, [out]; xor.b32 %r1, %r63, 32; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.b32 %r2, [%d1];`;
    expect(found(body(''), { block: 64 })).toContain('TW6020');
    expect(found(body('bar.sync 0;'), { block: 64 })).toEqual([]);
  });

  const store = (fence: string, wait: string): string =>
    `${each} st.shared.b32 [%r4], %r1; ${fence} bar.sync 0; setp.eq.s32 %p1, %r1, 0; @%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r3], 128; @%p1 cp.async.bulk.commit_group; ${wait}`;
  test('a fence that is missing before an asynchronous read', () => {
    expect(found(store('', '@%p1 cp.async.bulk.wait_group 0;'))).toContain('TW6022');
    expect(found(store('fence.proxy.async.shared::cta;', '@%p1 cp.async.bulk.wait_group 0;'))).toEqual([]);
  });
  test('a store that is unfinished when the kernel ends', () => {
    expect(found(store('fence.proxy.async.shared::cta;', ''))).toEqual(['TW6024']);
  });

  test('a read of a copy in flight', () => {
    const body = (wait: string): string =>
      `${each} cvt.u64.u32 %d5, %r2; add.s64 %d5, %d0, %d5; cp.async.ca.shared.global [%r4], [%d5], 4; ${wait} ld.shared.b32 %r5, [%r4];`;
    expect(found(body(''))).toContain('TW6023');
    expect(found(body('cp.async.wait_all;'))).toEqual([]);
  });

  test('a result that depends on the order of warps', () => {
    const report = runSchedules(
      ptxModule(['out'], 'mov.u32 %r1, %tid.x; st.global.b32 [%d0], %r1;'),
      { out: out() },
      { block: 64 },
    );
    expect(codesOf(report)).toEqual(expect.arrayContaining(['TW6020', 'TW6025']));
  });

  test('checks can be left out', () => {
    const report = runPtx(
      ptxModule(['out'], `${shared} ld.shared.b32 %r5, [s];`),
      { out: out() },
      {},
      { checks: false },
    );
    expect(report.findings).toEqual([]);
  });
});

test('the catalogue has the codes of the simulator', () => {
  expect([...catalogue.keys()].filter((c) => c.startsWith('TW6')).length).toBeGreaterThanOrEqual(17);
});
