/** Explicit programs: traced, verified, printed and read back, interpreted in several schedules, and refused with a reason. */

import { describe, expect, test } from '@jest/globals';
import { array, dim, ds, f16, f32, interpret, kernel, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { tmaCopy } from '../../examples/mosaic/tma-copy.kernel.js';
import { warpSpecialisedMatmul } from '../../examples/mosaic/warp-specialised-matmul.kernel.js';
import { wgmmaMatmul } from '../../examples/mosaic/wgmma-matmul.kernel.js';
import { lowerForMosaic } from '../../src/api/compile-mosaic.js';
import { fromNumbers, makeNdArray, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { type AnyKernel, withDisplayLocations } from '../../src/api/source.js';
import { parseModule } from '../../src/ir/parser.js';
import { printModule } from '../../src/ir/printer.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { asNvidiaTarget } from '../support/gpu.js';
import { findingOf } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

/** Small integers, so that every sum is exact. */
function halves(rows: number, columns: number, salt: number): NdArray {
  const numbers = Array.from({ length: rows * columns }, (_, i) => ((i * 7 + salt * 3 + (i >> 3)) % 9) - 4);
  return fromNumbers(f16, [rows, columns], numbers);
}

function product(a: NdArray, b: NdArray): number[] {
  const [m, k, n] = [a.shape[0]!, a.shape[1]!, b.shape[1]!];
  const [x, y] = [toRegisters(a), toRegisters(b)] as [Float32Array, Float32Array];
  const c = new Array<number>(m * n).fill(0);
  for (let i = 0; i < m; i++)
    for (let l = 0; l < k; l++) for (let j = 0; j < n; j++) c[i * n + j]! += x[i * k + l]! * y[l * n + j]!;
  return c.map(Math.fround);
}

const seeds = [undefined, 1, 2, 3];
const inOrder = (seed: number | undefined) => (seed === undefined ? {} : { seed });

describe('the interpreter', () => {
  test.each(seeds)('a copy by way of shared memory, clipped at the edges (seed %s)', async (seed) => {
    const x = halves(70, 136, 1);
    const { y } = await interpret(tmaCopy, { x: x as never }, { ...inOrder(seed), sanitize: true });
    expect(y.data).toEqual(x.data);
  });

  test.each(seeds)('a product by one warpgroup, and by two that a third feeds (seed %s)', async (seed) => {
    const [a, b] = [halves(100, 200, 1), halves(200, 136, 2)];
    const expected = fromNumbers(f16, [100, 136], product(a, b));
    const small = { bm: 64, bn: 64, bk: 64, slots: 2 };
    for (const k of [wgmmaMatmul.with(small), warpSpecialisedMatmul.with(small)]) {
      const { c } = (await interpret(k as never, { a, b } as never, inOrder(seed))) as Record<string, NdArray>;
      expect(c!.data).toEqual(expected.data);
    }
  });

  test('sums of nothing are zeros', async () => {
    const { c } = await interpret(wgmmaMatmul, { a: makeNdArray(f16, [3, 0]), b: makeNdArray(f16, [0, 8]) });
    expect([...c.data]).toEqual(Array(24).fill(0));
  });
});

test.each<AnyKernel>([tmaCopy, wgmmaMatmul, warpSpecialisedMatmul])('the text of $name is read back', (k) => {
  const { kernel: traced } = k.trace();
  expect(verifyKernel(traced)).toEqual([]);
  const text = printModule({ kernels: [traced] });
  expect(printModule(parseModule(text, 'k.kir').module!)).toBe(text);
});

/** A program of two warpgroups that copies one block, with what a test does in it. */
type Scene = Readonly<Record<'x' | 'y' | 'block' | 'full', never>>;
const scene = (body: (handles: Scene, wg: { eq: (n: number) => never }) => void, arrivals = 1) =>
  kernel('scene', {}, () => {
    const mesh = plgpu.mesh({ threads: { wg: 2 } });
    return plgpu.warpgroupProgram(
      {
        mesh,
        inputs: { x: array(f16, [64, 64]) },
        outputs: { y: array(f16, [64, 64]) },
        scratch: { block: plgpu.smem(f16, [64, 64]), full: plgpu.barrier({ arrivals }) },
      },
      (handles) => {
        body(handles as never, mesh.wg as never);
        when(mesh.wg.eq(0), () => {
          plgpu.copySmemToGmem(handles.block, handles.y);
          plgpu.waitSmemToGmem(0);
        });
      },
    );
  });
const load = ({ x, block, full }: Scene): void => plgpu.copyGmemToSmem(x, block, full);
const wait = ({ full }: Scene): void => (full as plgpu.Barrier).wait();
const arrive = ({ full }: Scene): void => (full as plgpu.Barrier).arrive();
const x = makeNdArray(f16, [64, 64]);

describe('mistakes that a run finds', () => {
  test.each<[string, AnyKernel, string]>([
    [
      'a wait that nothing ends',
      scene((s, wg) => when(wg.eq(0), () => wait(s))),
      "TW5110 at wait: deadlock: warpgroup wg=0 of program () waits at 'barrier_wait'",
    ],
    [
      'fewer arrivals than are counted',
      scene((s, wg) => {
        when(wg.eq(0), () => load(s));
        wait(s);
      }, 2),
      "TW5110 at wait: deadlock: warpgroup wg=0 of program () waits at 'barrier_wait'; warpgroup wg=1 of program () waits at 'barrier_wait'",
    ],
    [
      'more of them',
      scene((s) => {
        load(s);
        wait(s);
      }),
      "TW5009 at copyGmemToSmem: warpgroup wg=1 of program () arrives on barrier 'full', which has all 1 arrivals of its phase",
    ],
    [
      'a phase that is missed',
      scene((s, wg) => {
        when(wg.eq(0), () => {
          arrive(s);
          arrive(s);
          plgpu.syncWarpgroups();
        });
        when(wg.eq(1), () => {
          plgpu.syncWarpgroups();
          wait(s);
        });
      }),
      "TW5008 at wait: warpgroup wg=1 of program () waits for phase 1 of barrier 'full', which has completed 2",
    ],
    [
      'a copy that nothing waits for',
      scene((s, wg) => when(wg.eq(1), () => load(s))),
      'TW5010 at copyGmemToSmem: warpgroup wg=1 of program () ends with 1 copies to shared memory that nothing has waited for',
    ],
  ])('%s', async (_, k, expected) => {
    expect(await findingOf(() => interpret(k as never, { x } as never))).toBe(expected);
  });

  test('a block holds no number before its copy has landed', async () => {
    const early = scene((s, wg) =>
      when(wg.eq(0), () => {
        load(s);
        plgpu.copySmemToGmem(s.block, s.y);
        plgpu.waitSmemToGmem(0);
        wait(s);
        plgpu.copyGmemToSmem(s.y, s.block, s.full);
        wait(s);
      }),
    );
    const { y } = (await interpret(early as never, { x } as never)) as Record<string, NdArray>;
    expect(toRegisters(y!)[0]).toBeNaN();
  });
});

describe('what the op table refuses, at the line', () => {
  const refuse = (body: (handles: Scene) => void) => () => scene((s) => body(s)).trace();
  const inScope =
    (acc: readonly [number, number], a: readonly number[], b: readonly number[], swizzle: 32 | 64 | 128 = 128) =>
    () =>
      plgpu.runScoped(
        {
          acc: plgpu.accumulator(f32, acc),
          a: plgpu.smem(f16, a, { transforms: [plgpu.swizzle(swizzle)] }),
          b: plgpu.smem(f16, b),
        },
        (s) => plgpu.wgmma(s.acc as never, s.a as never, s.b as never),
      );
  test.each<[string, () => unknown, string]>([
    [
      'columns of wgmma',
      refuse(inScope([64, 12], [64, 64], [64, 12])),
      'TW1013 at accumulator: sums are a matrix of f32 whose rows are a multiple of 64 and columns of 8, got ref<acc f32[64, 12]>',
    ],
    [
      'depths that differ',
      refuse(inScope([64, 16], [64, 64], [32, 16])),
      "TW1013 at wgmma: 'wgmma' sums over 64 elements of ref<smem f16[64, 64]> but 32 of ref<smem f16[32, 16]>",
    ],
    [
      'a swizzle that is too wide',
      refuse(inScope([64, 16], [64, 32], [32, 16])),
      'TW1013 at smem: a swizzle of 128 bytes does not fit rows of 64 bytes (ref<smem f16[64, 32]>)',
    ],
    [
      'a box that is too wide',
      refuse((s) =>
        plgpu.runScoped({ wide: plgpu.smem(f16, [64, 512]) }, ({ wide }) =>
          plgpu.copyGmemToSmem(
            (s.x as { at: (...i: unknown[]) => never }).at(ds(0, 64), ds(0, 512)),
            wide as never,
            s.full,
          ),
        ),
      ),
      "TW1013 at copyGmemToSmem: 'async_load' of a box [64, 512]: axis 1 has 512 elements, TMA takes 1 to 256",
    ],
    [
      'a box that is misaligned',
      refuse((s) =>
        plgpu.runScoped({ odd: plgpu.smem(f16, [64, 9]) }, ({ odd }) =>
          plgpu.copyGmemToSmem(
            (s.x as { at: (...i: unknown[]) => never }).at(ds(0, 64), ds(0, 9)),
            odd as never,
            s.full,
          ),
        ),
      ),
      "TW1013 at copyGmemToSmem: 'async_load' of a box [64, 9] of f16: rows of 18 bytes, TMA takes multiples of 16",
    ],
    [
      'registers',
      refuse(() => plgpu.setMaxRegisters(41, 'increase')),
      "TW1013 at setMaxRegisters: 'set_max_registers' takes multiples of 8 from 24 to 256, got 41",
    ],
  ])('%s', async (_, work, expected) => expect(await findingOf(work)).toBe(expected));
});

describe('what Mosaic GPU refuses of them, before any tool', () => {
  const lower = (k: AnyKernel, target = 'sm_90a') =>
    withDisplayLocations(k.folder, () => lowerForMosaic(k, asNvidiaTarget(target)));
  const of = (scratch: Record<string, never>, n = dim('n', { multipleOf: 8 })) =>
    kernel('k', {}, () =>
      plgpu.warpgroupProgram(
        { mesh: plgpu.mesh(), inputs: { x: array(f16, [64, n]) }, outputs: { y: array(f16, [64, n]) }, scratch },
        (handles) => {
          plgpu.copySmemToGmem(
            (handles as unknown as { readonly block: never }).block,
            handles.y.at(ds(0, 64), ds(0, 64)),
          );
        },
      ),
    ) as AnyKernel;
  const block = plgpu.smem(f16, [64, 64], { transforms: [plgpu.swizzle(128)] }) as never;
  const big = plgpu.smem(f16, [30, 64, 64], { transforms: [plgpu.swizzle(128)] }) as never;

  test('shared memory over the limit, with the bill', async () => {
    const [diagnostic] = await diagnosticsOf(() => lower(of({ block, big })));
    expect(diagnostic!.code).toBe('TW2020');
    expect(diagnostic!.notes.map((n) => n.message)).toEqual([
      "64 × 64 of 'block': 8192 bytes",
      "30 × 64 × 64 of 'big': 245760 bytes",
    ]);
  });

  test('rows that TMA cannot take, and how to promise them', async () => {
    const [diagnostic] = await diagnosticsOf(() => lower(of({ block }, dim('n'))));
    expect(diagnostic!.code).toBe('TW2042');
    expect(diagnostic!.help).toMatch(/^add `multipleOf: 8` to dim 'n'/);
  });

  test('a swizzle that is not there yet', async () => {
    const narrow = plgpu.smem(f16, [64, 64], { transforms: [plgpu.swizzle(64)] }) as never;
    expect(await findingOf(() => lower(of({ block: narrow })))).toMatch(
      /^TW2001 at smem: .*a swizzle of 64 bytes, with mosaic_gpu \(16 and 128 so far\)/,
    );
  });
});
