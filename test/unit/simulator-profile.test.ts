import { describe, expect, test } from '@jest/globals';
import { formatProfile, type Profile } from '../../src/simulator/index.js';
import { ptxModule, runPtx, type Shape } from '../support/ptx.js';

const shared = '.shared .align 16 .b8 s[8192];';

const profileOf = (body: string, shape: Shape = {}, words = 4096): Profile => {
  const buffers = { x: new Float32Array(words) };
  const { profile } = runPtx(ptxModule(['x'], `${shared}\n${body}`), buffers, shape, { checks: false, profile: true });
  return profile!;
};

/** `%d9`: the address of element `tid * stride` of x. */
const strided = (stride: number): string =>
  `mov.u32 %r1, %tid.x; mul.lo.s32 %r1, %r1, ${stride * 4}; cvt.u64.u32 %d8, %r1; add.u64 %d9, %d0, %d8;`;
/** `%r2`: the shared offset of word `tid * stride`. */
const sharedAt = (stride: number, size = 4): string =>
  `mov.u32 %r1, %tid.x; mul.lo.s32 %r1, %r1, ${stride * size}; mov.u32 %r2, s; add.s32 %r2, %r2, %r1;`;

describe('a profile of PTX', () => {
  test('counts opcodes, and lanes that take part', () => {
    const p = profileOf('mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 8; @!%p1 bra END; add.s32 %r2, %r1, %r1; END:', {
      grid: 3,
      block: 64,
    });
    expect(p.mix).toMatchObject({ mov: 6, setp: 6, bra: 6, add: 3, ret: 6, ld: 6 });
    expect(p.instructions).toBe(33);
    expect(p.laneInstructions).toBe(30 * 32 + 3 * 8);
  });

  test.each([
    [1, 4, 4],
    [2, 8, 4],
    [8, 32, 4],
  ])('global loads at a stride of %i words take %i sectors, %i at least', (stride, transactions, least) => {
    const { memory } = profileOf(`${strided(stride)} ld.global.f32 %f1, [%d9];`);
    expect(memory.global).toEqual({ requests: 1, readBytes: 128, writtenBytes: 0, transactions, least });
  });

  test('lanes that load one word share its sector', () => {
    const { memory } = profileOf('ld.global.f32 %f1, [%d0];');
    expect(memory.global).toMatchObject({ transactions: 1, least: 1 });
  });

  test.each([
    [1, 1, 1],
    [2, 2, 1],
    [32, 32, 1],
    [33, 1, 1],
    [0, 1, 1],
  ])('shared stores at a stride of %i words take %i wavefronts, %i at least', (stride, transactions, least) => {
    const { memory } = profileOf(`${sharedAt(stride)} st.shared.f32 [%r2], 0f00000000;`);
    expect(memory.shared).toEqual({ requests: 1, readBytes: 0, writtenBytes: 128, transactions, least });
  });

  test('16 bytes of each lane are four wavefronts without a conflict', () => {
    const { memory } = profileOf(`${sharedAt(1, 16)} st.shared.v4.b32 [%r2], {%r1, %r1, %r1, %r1};`);
    expect(memory.shared).toMatchObject({ writtenBytes: 512, transactions: 4, least: 4 });
  });

  test('several accesses of one run of code are kept apart by instruction', () => {
    const { memory } = profileOf(`${strided(1)} ld.global.f32 %f1, [%d9]; ld.global.f32 %f2, [%d9+128];`);
    expect(memory.global).toMatchObject({ requests: 2, transactions: 8, least: 8 });
  });

  test('multiplications of lanes', () => {
    const p = profileOf('fma.rn.f32 %f1, %f2, %f3, %f4; mul.f32 %f1, %f1, %f1; mul.lo.s32 %r1, %r1, %r1;');
    expect([p.matrixProducts, p.scalarProducts]).toEqual([0, 64]);
  });

  test('reads as text', () => {
    const text = formatProfile(profileOf(`${strided(8)} ld.global.f32 %f1, [%d9];`));
    expect(text).toContain('global         1  128 B      0 B    32 sectors      4         12.5 %');
    expect(text).toContain('(no line)');
  });
});
