import { describe, expect, test } from '@jest/globals';
import {
  all,
  array,
  bf16,
  blockProgram,
  cdiv,
  dim,
  dot,
  ds,
  f16,
  f32,
  grid,
  kernel,
  loop,
  supportedBackends,
  zeros,
} from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { matmul } from '../../examples/matmul.kernel.js';
import { lowerForMosaic } from '../../src/api/compile-mosaic.js';
import { type AnyKernel, withDisplayLocations } from '../../src/api/source.js';
import { literal } from '../../src/lowering/mosaic-gpu/text.js';
import { asNvidiaTarget } from '../support/gpu.js';
import { findingOf } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

const target = asNvidiaTarget('sm_90a');
const lower = (k: AnyKernel) => lowerForMosaic(k, target).launches;
const refused = (k: AnyKernel) => () => withDisplayLocations(k.folder, () => lower(k));

const half = matmul.with({ dtype: f16 });

/** A product of blocks, with what the tests change. */
const product = ({ bm = 64, from = 0, scaled = false, steps = 0, start = 0, odd = false } = {}) =>
  kernel('product', {}, () => {
    const [m, n, k] = [dim('m'), dim('n', { multipleOf: 8 }), dim('k', { multipleOf: 64 })];
    const g = grid({ i: cdiv(m, bm), j: cdiv(n, 64) });
    return blockProgram(
      {
        grid: g,
        inputs: { a: array(f16, [m, k]).block([bm, k], [g.i, 0]), b: array(f16, [k, n]).block([k, 64], [0, g.j]) },
        outputs: { c: array(f32, [m, n]).block([bm, 64], [g.i, g.j]) },
        compilerParams: new plgpu.CompilerParams(steps > 0 ? { maxConcurrentSteps: steps } : {}),
      },
      ({ a, b, c }) => {
        const sum = loop({ from, to: cdiv(k, 64), carry: zeros(f32, [bm, 64]).add(start) }, (i, acc) => {
          const depth = ds(odd ? i.mul(999).mul(g.i.mul(999)) : i.mul(64), 64);
          const left = a.at(all, depth).load();
          return acc.add(dot(scaled ? left.mul(2) : left, b.at(depth, all).load()));
        });
        c.store(sum);
      },
    );
  });

describe('what the pipeline pass makes', () => {
  test('a ring of swizzled panels, barriers, products, and a store of panels', () => {
    const [{ text, params, grid: programs, bill }] = lower(half) as [ReturnType<typeof lower>[number]];
    expect(text.match(/mosaic_gpu\.wgmma accumulator/g)).toHaveLength(2);
    expect(text.match(/"mosaic_gpu\.async_load"/g)).toHaveLength(6);
    expect(text.match(/"mosaic_gpu\.async_store"/g)).toHaveLength(2);
    expect(text).toContain('barrier(%v20 : memref<!mosaic_gpu.barrier, #gpu.address_space<workgroup>>) 32768');
    expect(text).toMatch(/wgmma accumulator.* loc\("matmul\.kernel\.ts":\d+:\d+\)$/m);
    expect(params.map((p) => (p.kind === 'pointer' ? p.array : p.kind))).toEqual([
      'a',
      'b',
      'c',
      ...Array(3).fill('extent'),
    ]);
    expect(programs.slice(1)).toEqual([1, 1]);
    expect(bill).toEqual([
      "4 × 128 × 64 of 'a': 65536 bytes",
      "4 × 64 × 64 of 'b': 32768 bytes",
      "4 × 64 × 64 of 'b': 32768 bytes",
      '4 barriers: 32 bytes',
      "128 × 64 of 'c': 16384 bytes",
      "128 × 64 of 'c': 16384 bytes",
    ]);
  });

  test('the depth of the ring is the user’s', () => {
    expect(lower(product({ steps: 3 }))[0]!.bill[0]).toBe("3 × 64 × 64 of 'a': 24576 bytes");
    expect(lower(matmul.with({ dtype: bf16 }))[0]!.text).toContain('memref<4x128x64xbf16');
  });

  test('both back ends take it', () => {
    expect(supportedBackends(half, 'sm_90a')).toEqual(['triton', 'mosaic_gpu']);
    expect(supportedBackends(half, 'gfx942')).toEqual(['triton']);
    expect(supportedBackends(product(), 'sm_90a')).toEqual(['mosaic_gpu']);
  });
});

describe('what it refuses', () => {
  test('strides that are not promised, and how to promise them', async () => {
    const [d] = await diagnosticsOf(refused(half.with({ rows: 1 })));
    expect([d!.code, d!.message]).toEqual([
      'TW2042',
      "rows of 'a' must be multiples of 8 elements of f16 for TMA, which is not promised",
    ]);
    expect(d!.help).toContain("add `multipleOf: 8` to dim 'k'");
    expect(d!.notes[0]!.message).toBe("dim 'k' is declared here");
  });

  test.each<[string, AnyKernel, string]>([
    [
      'more sums than registers',
      half.with({ bm: 256 }),
      'TW2043 at dot: sums of 256 × 128 take 256 registers of each thread of a warpgroup',
    ],
    [
      'fewer rows than wgmma has',
      product({ bm: 32 }),
      "TW2001 at dot: target 'sm_90a' does not support dot of 32 rows with mosaic_gpu: wgmma takes multiples of 64",
    ],
    [
      'products of f32',
      matmul.with({ dtype: f32 }),
      "TW2001 at dot: target 'sm_90a' does not support dot of f32 with mosaic_gpu (wgmma is there for f16 and bf16 so far)",
    ],
    [
      'operands that are computed',
      product({ scaled: true }),
      "TW2001 at dot: target 'sm_90a' does not support operands of dot that are not loaded whole and unchanged, with mosaic_gpu",
    ],
    [
      'blocks at odd places, however far',
      product({ odd: true }),
      "TW2001 at dot: target 'sm_90a' does not support blocks of dot that do not begin at multiples of 64, with mosaic_gpu",
    ],
    [
      'a loop that begins elsewhere',
      product({ from: 1 }),
      "TW2001 at loop: target 'sm_90a' does not support loops over products that do not count from 0 by 1 and start from zeros, with mosaic_gpu",
    ],
    [
      'sums that begin elsewhere',
      product({ start: 1 }),
      "TW2001 at loop: target 'sm_90a' does not support loops over products that do not count from 0 by 1 and start from zeros, with mosaic_gpu",
    ],
  ])('%s', async (_, k, expected) => expect(await findingOf(refused(k))).toBe(expected));

  test('more shared memory than a block has, with the bill', async () => {
    const [d] = await diagnosticsOf(refused(product({ steps: 20 })));
    expect([d!.code, d!.message]).toEqual([
      'TW2020',
      "launch 'product' takes 345088 bytes of shared memory; 'sm_90a' has 232448 bytes",
    ]);
    expect(d!.notes.map((n) => n.message)[0]).toBe("20 × 64 × 64 of 'a': 163840 bytes");
    expect(d!.help).toContain('maxConcurrentSteps');
  });

  test.each<[string, number, string]>([
    [
      'a tile that threads cannot share',
      100,
      'a tile f32[100] with mosaic_gpu: 128 threads share multiples of 128 elements',
    ],
  ])('%s', async (_, block, what) => {
    const k = kernel('k', {}, () => {
      const n = dim('n');
      const g = grid({ i: cdiv(n, block) });
      const v = array(f32, [n]).block([block], [g.i]);
      return blockProgram({ grid: g, inputs: { x: v }, outputs: { z: v } }, ({ x, z }) => z.store(x.load()));
    });
    expect(await findingOf(refused(k))).toBe(`TW2001 at load: target 'sm_90a' does not support ${what}`);
  });
});

test('literals', () => {
  expect([1, 0.1, -0, 1e-8, 3e38].map((x) => literal(x, f32))).toEqual(['1.0', '0.1', '-0.0', '1.0e-8', '3.0e+38']);
  expect([Infinity, -Infinity, NaN].map((x) => literal(x, f16))).toEqual(['0x7C00', '0xFC00', '0x7E00']);
});
