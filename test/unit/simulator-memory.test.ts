import { describe, expect, test } from '@jest/globals';
import { codesOf, elementAddress, ptxModule, runPtx } from '../support/ptx.js';

/** Runs a body in 32 lanes that leaves its result in %r2. */
function lanes(body: string, edit: (text: string) => string = (t) => t): number[] {
  const out = new Int32Array(32);
  const text = ptxModule(['out'], `mov.u32 %r1, %laneid; ${body} ${elementAddress(0, 4)} st.global.b32 [%d0], %r2;`);
  expect(codesOf(runPtx(edit(text), { out }))).toEqual([]);
  return [...out];
}
const each = (f: (lane: number) => number): number[] => Array.from({ length: 32 }, (_, i) => f(i));

describe('memories', () => {
  test('each thread has local memory of its own, also by generic addresses', () => {
    const body = `
      .local .align 8 .b8 depot[16];
      mov.u64 %d5, depot; cvta.local.u64 %d6, %d5;
      st.local.b32 [%d5+4], %r1; add.s32 %r3, %r1, 1000; st.b32 [%d6+8], %r3; ld.b32 %r4, [%d6+4]; ld.local.b32 %r5, [%d5+8]; add.s32 %r2, %r4, %r5;`;
    expect(lanes(body)).toEqual(each((i) => 2 * i + 1000));
  });

  test('generic addresses of shared memory, and which memory an address is of', () => {
    const body = `
      .shared .align 4 .b8 s[128];
      mov.u64 %d5, s; cvta.shared.u64 %d6, %d5; mul.wide.u32 %d7, %r1, 4; add.s64 %d8, %d6, %d7; st.b32 [%d8], %r1;
      cvta.to.shared.u64 %d9, %d8; ld.shared.b32 %r3, [%d9];
      isspacep.shared %p1, %d8; isspacep.global %p2, %d0; isspacep.global %p3, %d8;
      selp.b32 %r4, 100, 0, %p1; selp.b32 %r5, 200, 0, %p2; selp.b32 %r6, 400, 0, %p3; add.s32 %r2, %r3, %r4; add.s32 %r2, %r2, %r5; add.s32 %r2, %r2, %r6;`;
    expect(lanes(body)).toEqual(each((i) => i + 300));
  });

  test('variables of the module have their initial values', () => {
    const table = '.global .align 4 .b32 table[4] = {10, 20, -30, 0x28};\n.const .align 4 .f32 half = 0f3F000000;\n';
    const body = `
      and.b32 %r3, %r1, 3; mul.wide.u32 %d5, %r3, 4; mov.u64 %d6, table; add.s64 %d6, %d6, %d5; ld.global.b32 %r2, [%d6];
      ld.const.f32 %f1, [half]; cvt.rpi.s32.f32 %r4, %f1; add.s32 %r2, %r2, %r4;`;
    expect(lanes(body, (t) => t.replace('.visible', `${table}.visible`))).toEqual(
      each((i) => [10, 20, -30, 40][i & 3]! + 1),
    );
  });

  test('bytes and halves are extended by the sign of their type', () => {
    const x = Uint8Array.from({ length: 64 }, (_, i) => 250 + i);
    const out = new Int32Array(128);
    const body = `
      ${elementAddress(0, 2)} ${elementAddress(1, 16)}
      ld.global.s8 %r1, [%d0]; ld.global.u8 %r2, [%d0]; ld.global.s16 %r3, [%d0]; ld.global.u16 %r4, [%d0]; st.global.v4.b32 [%d1], {%r1, %r2, %r3, %r4};`;
    runPtx(ptxModule(['x', 'out'], body), { x, out });
    const view = new DataView(x.buffer);
    for (const lane of [0, 2, 3, 31])
      expect([...out.slice(4 * lane, 4 * lane + 4)]).toEqual([
        view.getInt8(2 * lane),
        view.getUint8(2 * lane),
        view.getInt16(2 * lane, true),
        view.getUint16(2 * lane, true),
      ]);
  });

  test('a register that is wider than the type of a load is filled with the sign, or with 0', () => {
    const body = `
      .shared .align 4 .b8 s[128]; mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.s32 %r3, %r3, %r4; not.b32 %r5, %r1; st.shared.b32 [%r3], %r5;
      mov.b64 %d5, -1; ld.shared.b32 %d5, [%r3]; mov.b64 {%r6, %r7}, %d5; ld.shared.s32 %d6, [%r3]; mov.b64 {%r8, %r9}, %d6; ld.shared.u8 %d7, [%r3]; mov.b64 {%r10, %r11}, %d7;
      sub.s32 %r2, %r6, %r5; add.s32 %r2, %r2, %r7; mad.lo.s32 %r2, %r9, -100, %r2; add.s32 %r2, %r2, %r10; add.s32 %r2, %r2, %r11;`;
    expect(lanes(body)).toEqual(each((i) => 100 + 255 - i));
  });

  test('a load behind a store of another lane sees it', () => {
    const body = `
      .shared .align 4 .b8 s[128];
      mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.s32 %r5, %r3, %r4; st.shared.b32 [%r5], %r1; xor.b32 %r6, %r4, 124; add.s32 %r6, %r6, %r3; ld.shared.b32 %r2, [%r6];`;
    expect(lanes(body)).toEqual(each((i) => 31 - i));
  });

  test('a predicate keeps lanes from an access, and their registers as they were', () => {
    const body =
      'mov.b32 %r2, -7; setp.lt.s32 %p1, %r1, 3; mov.b64 %d5, 0; selp.b64 %d6, %d0, %d5, %p1; @%p1 ld.global.b32 %r2, [%d6];';
    expect(lanes(body)).toEqual(each((i) => (i < 3 ? 0 : -7)));
  });

  test('classes of floats', () => {
    const body = `
      mov.f32 %f1, 0f7F800000; mov.f32 %f2, 0f7FC00000; mov.f32 %f3, 0f3F800000;
      testp.infinite.f32 %p1, %f1; testp.notanumber.f32 %p2, %f2; testp.finite.f32 %p3, %f3; testp.number.f32 %p4, %f2;
      selp.b32 %r2, 1, 0, %p1; selp.b32 %r3, 2, 0, %p2; selp.b32 %r4, 4, 0, %p3; selp.b32 %r5, 8, 0, %p4; or.b32 %r2, %r2, %r3; or.b32 %r4, %r4, %r5; or.b32 %r2, %r2, %r4;`;
    expect(lanes(body)).toEqual(each(() => 7));
  });

  test('blocks that have not begun are taken, each once, in every way that is left', () => {
    const out = new Int32Array(8);
    const body = `
      .shared .align 16 .b8 s[32];
      mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, s; mov.b32 %r9, 0; mov.b32 %r10, 1; setp.eq.s32 %p1, %r1, 0; @!%p1 bra END;
      mbarrier.init.shared::cta.b64 [%r3+16], 1;
      LOOP: mul.wide.u32 %d5, %r2, 4; add.s64 %d5, %d0, %d5; red.global.add.u32 [%d5], %r10;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+16], 16; clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r3], [%r3+16];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3+16], %r9; @!%p2 bra WAIT; xor.b32 %r9, %r9, 1;
      ld.shared.b128 %q0, [%r3]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q0; @!%p3 bra END;
      clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r2, %q0; bra LOOP;
      END:`;
    expect(codesOf(runPtx(ptxModule(['out'], body), { out }, { grid: 8 }))).toEqual([]);
    expect([...out]).toEqual(Array(8).fill(1));
  });
});
