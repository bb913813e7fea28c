import { describe, expect, test } from '@jest/globals';
import { f16 } from '../../src/ir/dtypes.js';
import { codecOf } from '../../src/ir/numerics/formats.js';
import { simulateSchedules } from '../../src/simulator/index.js';
import { arg, codesOf, elementAddress, launchOf, ptxModule, runPtx, runSchedules } from '../support/ptx.js';

const { decode, encode } = codecOf(f16);
const halves = (n: number, f: (i: number) => number): Uint16Array =>
  Uint16Array.from({ length: n }, (_, i) => encode(f(i), false));
const small = (i: number): number => ((i * 7 + 3) % 11) - 5;

/** c[M,N] = a[M,K] b[N,K]^T in doubles. */
function product(a: ArrayLike<number>, b: ArrayLike<number>, M: number, N: number, K: number): number[] {
  return Array.from({ length: M * N }, (_, i) => {
    let sum = 0;
    for (let k = 0; k < K; k++) sum += a[Math.floor(i / N) * K + k]! * b[(i % N) * K + k]!;
    return sum;
  });
}

describe('kernels by hand, in every schedule', () => {
  test('vector add with a guard, over blocks', () => {
    const n = 150;
    const x = Float32Array.from({ length: n }, (_, i) => i / 8);
    const y = Float32Array.from({ length: n }, (_, i) => 100 - i);
    const z = new Float32Array(n);
    const body = `
      ld.param.u32 %r1, [n];
      mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.s32 %r5, %r2, %r3, %r4;
      setp.ge.s32 %p1, %r5, %r1; @%p1 bra DONE;
      mul.wide.s32 %d5, %r5, 4; add.s64 %d0, %d0, %d5; add.s64 %d1, %d1, %d5; add.s64 %d2, %d2, %d5;
      ld.global.f32 %f1, [%d0]; ld.global.f32 %f2, [%d1]; add.f32 %f3, %f1, %f2; st.global.f32 [%d2], %f3;
      DONE:`;
    const report = runSchedules(
      ptxModule(['x', 'y', 'z'], body, '.param .u32 n'),
      { x, y, z },
      { grid: 3, block: 64, more: [arg.i32(n)] },
    );
    expect(report.findings).toEqual([]);
    expect([...z]).toEqual(Array.from(x, (v, i) => v + y[i]!));
  });

  test('a sum over a block: shuffles, shared memory, a barrier', () => {
    const x = Int32Array.from({ length: 128 }, (_, i) => i * i);
    const out = new Int32Array(1);
    const steps = [16, 8, 4, 2, 1]
      .map((d) => `shfl.sync.bfly.b32 %r2, %r1, ${d}, 31, -1; add.s32 %r1, %r1, %r2;`)
      .join('\n');
    const body = `
      .shared .align 4 .b8 part[16];
      ${elementAddress(0, 4)} ld.global.b32 %r1, [%d0];
      ${steps}
      mov.u32 %r3, %tid.x; and.b32 %r4, %r3, 31; shr.u32 %r5, %r3, 5; shl.b32 %r5, %r5, 2; mov.u32 %r6, part; add.s32 %r5, %r5, %r6;
      setp.eq.s32 %p1, %r4, 0; @%p1 st.shared.b32 [%r5], %r1;
      bar.sync 0;
      setp.ne.s32 %p2, %r3, 0; @%p2 bra END;
      ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [part]; add.s32 %r10, %r10, %r11; add.s32 %r12, %r12, %r13; add.s32 %r10, %r10, %r12;
      st.global.b32 [%d1], %r10;
      END:`;
    const report = runSchedules(ptxModule(['x', 'out'], body), { x, out }, { block: 128 });
    expect(report.findings).toEqual([]);
    expect(out[0]).toBe(x.reduce((a, b) => a + b, 0));
  });

  test('a transpose through dynamic shared memory', () => {
    const x = Int32Array.from({ length: 256 }, (_, i) => i);
    const out = new Int32Array(256);
    const body = `
      ${elementAddress(0, 4)} ld.global.b32 %r1, [%d0];
      mov.u32 %r2, %tid.x; and.b32 %r3, %r2, 15; shr.u32 %r4, %r2, 4; mov.u32 %r5, tile;
      mad.lo.s32 %r6, %r3, 17, %r4; shl.b32 %r6, %r6, 2; add.s32 %r6, %r6, %r5; st.shared.b32 [%r6], %r1;
      bar.sync 0;
      mad.lo.s32 %r7, %r4, 17, %r3; shl.b32 %r7, %r7, 2; add.s32 %r7, %r7, %r5; ld.shared.b32 %r8, [%r7];
      ${elementAddress(1, 4)} st.global.b32 [%d1], %r8;`;
    const text = ptxModule(['x', 'out'], body).replace('.visible', '.extern .shared .align 16 .b8 tile[];\n.visible');
    const report = runSchedules(text, { x, out }, { block: 256, sharedBytes: 16 * 17 * 4 });
    expect(report.findings).toEqual([]);
    expect([...out]).toEqual(Array.from(x, (_, i) => (i % 16) * 16 + Math.floor(i / 16)));
  });

  test('lanes that go different ways meet again', () => {
    const out = new Int32Array(32);
    const body = `
      mov.u32 %r1, %laneid; mov.b32 %r2, 0; mov.b32 %r3, 0;
      LOOP: setp.ge.s32 %p1, %r3, %r1; @%p1 bra OUT;
      and.b32 %r4, %r3, 1; setp.eq.s32 %p2, %r4, 0; @%p2 bra EVEN; add.s32 %r2, %r2, 100; bra NEXT;
      EVEN: add.s32 %r2, %r2, 1;
      NEXT: add.s32 %r3, %r3, 1; bra LOOP;
      OUT: shfl.sync.idx.b32 %r5, %r2, 31, 31, -1; sub.s32 %r2, %r5, %r2;
      ${elementAddress(0, 4)} st.global.b32 [%d0], %r2;`;
    const report = runSchedules(ptxModule(['out'], body), { out });
    expect(report.findings).toEqual([]);
    const value = (lane: number): number => Math.ceil(lane / 2) + 100 * Math.floor(lane / 2);
    expect([...out]).toEqual(Array.from(out, (_, lane) => value(31) - value(lane)));
  });

  test('an mma tile of f16 with its documented fragments', () => {
    const [a, b] = [halves(16 * 16, small), halves(8 * 16, (i) => small(i + 4) / 2)];
    const c = new Float32Array(128);
    const body = `
      mov.u32 %r1, %laneid; shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3;
      shl.b32 %r4, %r2, 5; shl.b32 %r5, %r3, 2; add.s32 %r4, %r4, %r5; cvt.u64.u32 %d10, %r4; add.s64 %d11, %d0, %d10; add.s64 %d12, %d1, %d10;
      ld.global.b32 %r10, [%d11]; ld.global.b32 %r11, [%d11+256]; ld.global.b32 %r12, [%d11+16]; ld.global.b32 %r13, [%d11+272];
      ld.global.b32 %r14, [%d12]; ld.global.b32 %r15, [%d12+16];
      mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;
      mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};
      shl.b32 %r6, %r2, 5; shl.b32 %r7, %r3, 3; add.s32 %r6, %r6, %r7; cvt.u64.u32 %d13, %r6; add.s64 %d14, %d2, %d13;
      st.global.v2.f32 [%d14], {%f1, %f2}; st.global.v2.f32 [%d14+256], {%f3, %f4};`;
    const report = runSchedules(ptxModule(['a', 'b', 'c'], body), { a, b, c });
    expect(report.findings).toEqual([]);
    expect([...c]).toEqual(
      product(
        [...a].map((x) => decode[x]!),
        [...b].map((x) => decode[x]!),
        16,
        8,
        16,
      ),
    );
  });

  test('ldmatrix gives the fragments of mma, transposed and not; stmatrix takes them back', () => {
    const x = Uint16Array.from({ length: 64 }, (_, i) => i * 3);
    const [plain, transposed, back] = [new Int32Array(32), new Int32Array(32), new Uint16Array(64)];
    const body = `
      .shared .align 16 .b8 s[256];
      ${elementAddress(0, 4)} ld.global.b32 %r1, [%d0]; mov.u32 %r2, s; shl.b32 %r3, %r63, 2; add.s32 %r3, %r3, %r2; st.shared.b32 [%r3], %r1; bar.warp.sync -1;
      and.b32 %r4, %r63, 7; shl.b32 %r4, %r4, 4; add.s32 %r4, %r4, %r2;
      ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4]; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r6}, [%r4];
      stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r4+128], {%r5}; bar.warp.sync -1; ld.shared.b32 %r7, [%r3+128];
      ${elementAddress(1, 4)} st.global.b32 [%d1], %r5; ${elementAddress(2, 4)} st.global.b32 [%d2], %r6; ${elementAddress(3, 4)} st.global.b32 [%d3], %r7;`;
    const report = runSchedules(ptxModule(['x', 'plain', 'transposed', 'back'], body), { x, plain, transposed, back });
    expect(report.findings).toEqual([]);
    const at = (r: number, c: number): number => x[r * 8 + c]!;
    for (let lane = 0; lane < 32; lane++) {
      const [r, c] = [lane >> 2, (lane & 3) * 2];
      expect(plain[lane]).toBe(at(r, c) | (at(r, c + 1) << 16));
      expect(transposed[lane]).toBe(at(c, r) | (at(c + 1, r) << 16));
    }
    expect([...back]).toEqual(Array.from(back, (_, i) => at(i % 8, i >> 3)));
  });

  /** Three stages of cp.async: element i of every tile is added up. */
  const ring = (wait: number, tiles = 7): string =>
    ptxModule(
      ['x', 'out'],
      `
      .shared .align 16 .b8 s[384];
      mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.s32 %r4, %r3, %r2; mul.wide.u32 %d10, %r1, 4; add.s64 %d10, %d0, %d10;
      cp.async.ca.shared.global [%r4], [%d10], 4; cp.async.commit_group;
      cp.async.ca.shared.global [%r4+128], [%d10+128], 4; cp.async.commit_group;
      mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0; mov.b32 %r8, 256; add.s64 %d10, %d10, 256;
      LOOP: cp.async.wait_group ${wait}; bar.sync 0;
      xor.b32 %r9, %r2, 124; add.s32 %r9, %r9, %r3; add.s32 %r9, %r9, %r7; ld.shared.b32 %r10, [%r9]; add.s32 %r6, %r6, %r10;
      add.s32 %r11, %r4, %r8; setp.lt.s32 %p1, %r5, ${tiles - 2}; @%p1 cp.async.ca.shared.global [%r11], [%d10], 4; cp.async.commit_group;
      add.s64 %d10, %d10, 128; add.s32 %r7, %r7, 128; setp.eq.s32 %p2, %r7, 384; selp.b32 %r7, 0, %r7, %p2; add.s32 %r8, %r8, 128; setp.eq.s32 %p3, %r8, 384; selp.b32 %r8, 0, %r8, %p3;
      add.s32 %r5, %r5, 1; setp.lt.s32 %p4, %r5, ${tiles}; @%p4 bra LOOP;
      cp.async.wait_all; ${elementAddress(1, 4)} st.global.b32 [%d1], %r6;`,
    );

  test('a ring of cp.async', () => {
    const x = Int32Array.from({ length: 32 * 7 }, (_, i) => i * i);
    const out = new Int32Array(32);
    const report = runSchedules(ring(1), { x, out });
    expect(report.findings).toEqual([]);
    const sum = (i: number): number => [0, 1, 2, 3, 4, 5, 6].reduce((s, t) => s + x[t * 32 + (i ^ 31)]!, 0);
    expect([...out]).toEqual(Array.from(out, (_, i) => sum(i)));
  });

  test('a wait that leaves one copy too many is found', () => {
    const x = Int32Array.from({ length: 32 * 7 }, (_, i) => i * i);
    const codes = codesOf(runSchedules(ring(2), { x, out: new Int32Array(32) }));
    expect(codes).toContain('TW6023');
    expect(codes).toContain('TW6025');
  });

  /** C[64, 64] of one warpgroup: two tiles by TMA with a swizzle of 128 bytes, wgmma in steps of 16, K = 64. */
  const hopper = (edit: (text: string) => string = (t) => t): string =>
    edit(
      ptxModule(
        ['c'],
        `
      mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mov.u32 %r3, bar;
      setp.eq.s32 %p1, %r1, 0;
      @%p1 mbarrier.init.shared::cta.b64 [%r3], 1; fence.proxy.async.shared::cta; bar.sync 0;
      @!%p1 bra WAIT;
      mov.b64 %d5, ma; cvta.param.u64 %d5, %d5; mov.b64 %d6, mb; cvta.param.u64 %d6, %d6; mov.b32 %r4, 0; add.s32 %r5, %r2, 8192;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16384;
      cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%d5, {%r4, %r4}], [%r3];
      cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r5], [%d6, {%r4, %r4}], [%r3];
      WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0; @!%p2 bra WAIT;
      shr.u32 %r6, %r2, 4; cvt.u64.u32 %d7, %r6; mov.b64 %d8, 0x4000004000010000; or.b64 %d9, %d7, %d8; add.s64 %d10, %d9, 512;
      wgmma.fence.sync.aligned;
      ${[0, 1, 2, 3]
        .map(
          (k) =>
            `add.s64 %d11, %d9, ${2 * k}; add.s64 %d12, %d10, ${2 * k}; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {${Array.from({ length: 32 }, (_, i) => `%f${i}`).join(', ')}}, %d11, %d12, ${k === 0 ? 0 : 1}, 1, 1, 0, 0;`,
        )
        .join('\n')}
      wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
      shr.u32 %r10, %r1, 5; shl.b32 %r10, %r10, 4; and.b32 %r11, %r1, 31; shr.u32 %r12, %r11, 2; add.s32 %r10, %r10, %r12; and.b32 %r13, %r1, 3;
      shl.b32 %r14, %r10, 8; shl.b32 %r15, %r13, 3; add.s32 %r14, %r14, %r15; cvt.u64.u32 %d13, %r14; add.s64 %d13, %d0, %d13;
      ${Array.from({ length: 8 }, (_, i) => `st.global.v2.f32 [%d13+${32 * i}], {%f${4 * i}, %f${4 * i + 1}}; st.global.v2.f32 [%d13+${2048 + 32 * i}], {%f${4 * i + 2}, %f${4 * i + 3}};`).join('\n')}`,
        '.param .align 64 .b8 ma[128], .param .align 64 .b8 mb[128]',
        'sm_90a',
      ).replace('.visible', '.shared .align 8 .b8 bar[8];\n.extern .shared .align 1024 .b8 tile[];\n.visible'),
    );
  const [M, N, K] = [60, 64, 56];
  const map = (name: string, rows: number) =>
    ({
      kind: 'tensorMap',
      name,
      elementBytes: 2,
      sizes: [K, rows],
      strides: [K * 2],
      box: [64, 64],
      swizzle: 3,
    }) as const;
  function runHopper(text: string) {
    const [a, b] = [halves(M * K, small), halves(N * K, (i) => small(i * 3 + 1))];
    const buffers = { c: new Float32Array(64 * 64), a, b };
    const launch = {
      ...launchOf({}, { block: 128, sharedBytes: 16384 }),
      arguments: [arg.buffer('c'), map('a', M), map('b', N)],
    };
    const report = simulateSchedules(text, launch, buffers);
    return { report, c: buffers.c, a: [...a].map((x) => decode[x]!), b: [...b].map((x) => decode[x]!) };
  }

  test('a tile by TMA, an mbarrier and wgmma, ragged in M and K', () => {
    const { report, c, a, b } = runHopper(hopper());
    expect(report.findings).toEqual([]);
    expect([...c.slice(0, M * N)]).toEqual(product(a, b, M, N, K));
    expect(c.slice(M * N).every((x) => x === 0)).toBe(true);
  });

  test('registers of a wgmma that is not waited for are not to be used', () => {
    const text = hopper((t) => t.replace('wgmma.wait_group.sync.aligned 0;', ''));
    expect(codesOf(runHopper(text).report)).toContain('TW6023');
  });

  test('too few announced bytes end a phase too early', () => {
    const { report } = runHopper(hopper((t) => t.replace('16384', '8192')));
    expect(codesOf(report)).toContain('TW6025');
  });

  test('too many announced bytes are a deadlock that says who waits where', () => {
    expect(() => runHopper(hopper((t) => t.replace('16384', '16400')))).toThrow(
      /TW6012.*deadlock: warp 0 .*at line \d+ of the PTX/s,
    );
  });

  test('a cluster: values in another block’s shared memory', () => {
    const out = new Int32Array(64);
    const body = `
      .shared .align 4 .b8 s[128];
      mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mad.lo.s32 %r3, %r2, 100, %r1; shl.b32 %r4, %r1, 2; mov.u32 %r5, s; add.s32 %r5, %r5, %r4;
      xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r5, %r6; st.shared::cluster.b32 [%r7], %r3;
      barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
      ld.shared.b32 %r8, [%r5]; mov.u32 %r9, %ctaid.x; mad.lo.s32 %r9, %r9, 32, %r1; mul.wide.u32 %d5, %r9, 4; add.s64 %d5, %d0, %d5; st.global.b32 [%d5], %r8;`;
    const report = runSchedules(ptxModule(['out'], body, '', 'sm_90a'), { out }, { grid: 2, cluster: 2 });
    expect(report.findings).toEqual([]);
    expect([out[0], out[31], out[32], out[63]]).toEqual([100, 131, 0, 31]);
  });

  test('tensor memory gives back what was stored, and a bulk copy writes it out', () => {
    const out = new Int32Array(128 * 4);
    const body = `
      .shared .align 16 .b8 s[2064];
      mov.u32 %r1, %tid.x; mov.u32 %r2, s; shr.u32 %r3, %r1, 5; setp.eq.s32 %p1, %r3, 0; setp.eq.s32 %p2, %r1, 0;
      @%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2+2048], 32; bar.sync 0; ld.shared.b32 %r4, [%r2+2048];
      mad.lo.s32 %r10, %r1, 10, 1; add.s32 %r11, %r10, 1; add.s32 %r12, %r10, 2; add.s32 %r13, %r10, 3;
      tcgen05.st.sync.aligned.32x32b.x4.b32 [%r4+8], {%r10, %r11, %r12, %r13}; tcgen05.wait::st.sync.aligned;
      tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r20, %r21, %r22, %r23}, [%r4+8]; tcgen05.wait::ld.sync.aligned;
      shl.b32 %r5, %r1, 4; add.s32 %r5, %r5, %r2; st.shared.v4.b32 [%r5], {%r23, %r22, %r21, %r20}; fence.proxy.async.shared::cta; bar.sync 0;
      @%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 32;
      @%p2 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r2], 2048; @%p2 cp.async.bulk.commit_group; @%p2 cp.async.bulk.wait_group 0;`;
    const report = runSchedules(ptxModule(['out'], body), { out }, { block: 128 });
    expect(report.findings).toEqual([]);
    expect([...out.slice(0, 8), ...out.slice(508)]).toEqual([4, 3, 2, 1, 14, 13, 12, 11, 1274, 1273, 1272, 1271]);
  });
});

describe('instructions of warps', () => {
  const lane = (body: string): number[] => {
    const out = new Int32Array(32);
    const report = runPtx(
      ptxModule(['out'], `mov.u32 %r1, %laneid; ${body} ${elementAddress(0, 4)} st.global.b32 [%d0], %r2;`),
      { out },
    );
    expect(report.findings).toEqual([]);
    return [...out];
  };
  const lanes = Array.from({ length: 32 }, (_, i) => i);

  test.each<[string, (i: number) => number]>([
    ['shfl.sync.up.b32 %r2, %r1, 3, 0, -1;', (i) => (i < 3 ? i : i - 3)],
    ['shfl.sync.down.b32 %r2, %r1, 3, 31, -1;', (i) => (i + 3 > 31 ? i : i + 3)],
    ['shfl.sync.idx.b32 %r2, %r1, 5, 0x1807, -1;', (i) => (i & ~7) | 5],
    ['shfl.sync.bfly.b32 %r2|%p1, %r1, 8, 31, -1;', (i) => i ^ 8],
    ['redux.sync.add.s32 %r2, %r1, -1;', () => 496],
    ['redux.sync.max.u32 %r2, %r1, -1;', () => 31],
    ['setp.lt.s32 %p1, %r1, 5; vote.sync.ballot.b32 %r2, %p1, -1;', () => 31],
    ['setp.lt.s32 %p1, %r1, 5; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r2, 1, 0, %p2;', () => 1],
    ['setp.lt.s32 %p1, %r1, 5; vote.sync.all.pred %p2, !%p1, -1; selp.b32 %r2, 1, 0, %p2;', () => 0],
    ['and.b32 %r3, %r1, 1; match.any.sync.b32 %r2, %r3, -1;', (i) => (i & 1 ? 0xaaaaaaaa | 0 : 0x55555555)],
    ['elect.sync %r3|%p1, -1; selp.b32 %r2, 1, 0, %p1;', (i) => (i === 0 ? 1 : 0)],
    ['activemask.b32 %r2;', () => -1],
  ])('%s', (body, model) => {
    expect(lane(body)).toEqual(lanes.map(model));
  });

  const atomic = (
    op: string,
    type: string,
    initial: number | bigint,
    array: Int32Array | Float32Array | BigInt64Array,
  ) => {
    const [reg, out] = type.endsWith('64')
      ? ['%d', new BigInt64Array(32)]
      : type === 'f32'
        ? ['%f', new Float32Array(32)]
        : ['%r', new Int32Array(32)];
    (array as Int32Array)[0] = initial as number;
    const made =
      type === 'f32'
        ? 'mov.u32 %r1, %laneid; cvt.rn.f32.u32 %f9, %r1;'
        : type.endsWith('64')
          ? 'mov.u32 %r1, %laneid; cvt.u64.u32 %d9, %r1;'
          : 'mov.u32 %r9, %laneid;';
    const width = type.endsWith('64') ? 8 : 4;
    runPtx(
      ptxModule(
        ['cell', 'out'],
        `${made} atom.global.${op}.${type} ${reg}10, [%d0], ${reg}9; ${elementAddress(1, width)} st.global.b${width * 8} [%d1], ${reg}10;`,
      ),
      { cell: array, out },
    );
    return [array[0], out[1]];
  };
  test.each<[string, string, number | bigint, (number | bigint)[]]>([
    ['add', 'u32', 5, [501, 5]],
    ['min', 's32', 7, [0, 0]],
    ['max', 'u32', -1, [-1, -1]],
    ['and', 'b32', 255, [0, 0]],
    ['or', 'b32', 64, [95, 64]],
    ['xor', 'b32', 1, [1, 1]],
    ['exch', 'b32', 9, [31, 0]],
    ['inc', 'u32', 0, [31, 0]],
    ['add', 'f32', 0.5, [496.5, 0.5]],
    ['add', 'u64', 5n, [501n, 5n]],
    ['max', 's64', 3n, [31n, 3n]],
  ])('atom.%s.%s', (op, type, initial, [cell, second]) => {
    const array = type === 'f32' ? new Float32Array(1) : type.endsWith('64') ? new BigInt64Array(1) : new Int32Array(1);
    const [after, old] = atomic(op, type, initial, array);
    expect([after, old]).toEqual([cell, second]);
  });

  test('red and compare-and-swap', () => {
    const cell = Int32Array.of(3, 0);
    runPtx(
      ptxModule(
        ['cell'],
        'mov.u32 %r1, %laneid; atom.global.cas.b32 %r2, [%d0], 3, 77; red.global.add.u32 [%d0+4], %r1;',
      ),
      { cell },
    );
    expect([...cell]).toEqual([77, 496]);
  });
});
