import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fileLoc, fusedLoc, type Loc } from '../../src/diagnostics/location.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { printKernel, printModule } from '../../src/ir/printer.js';
import type { GenericOp, Region } from '../../src/ir/value.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { randomKernel } from '../support/random-kernel.js';

const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const runs = Number(process.env.TILEWRIGHT_RUNS ?? 150);

/** Seed and number of steps of a random kernel: short to print, and shrinks to few steps. */
const recipes = fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 1, max: 14 }));
const kernelOf = ([s, steps]: readonly [number, number]): Kernel => randomKernel(s, steps).kernel;

/** The same kernel with other ops. */
function mapOps(kernel: Kernel, change: (op: GenericOp) => GenericOp): Kernel {
  const rebuild = (region: Region): Region => ({
    args: region.args,
    ops: region.ops
      .map(change)
      .map((op) => (op.regions.length === 0 ? op : { ...op, regions: op.regions.map(rebuild) })),
  });
  return { ...kernel, launches: kernel.launches.map((l) => ({ ...l, body: rebuild(l.body) })) };
}

/** Places of every kind, in turn. */
const places: readonly Loc[] = [
  fileLoc('kernels/a b.kernel.ts', 3, 14),
  { kind: 'call', callee: fileLoc('lib "x".ts', 1, 1), caller: fileLoc('k.ts', 22, 7) },
  fusedLoc('cse', [fileLoc('k.ts', 1, 2), fileLoc('k.ts', 3, 4)]),
  { kind: 'unknown' },
];

describe('text', () => {
  test('with locations of every kind parses back to the same bytes', () => {
    fc.assert(
      fc.property(recipes, (recipe) => {
        let at = 0;
        const placed = mapOps(kernelOf(recipe), (op) => ({ ...op, loc: places[at++ % places.length]! }));
        const text = printKernel({ ...placed, loc: places[1]! });
        const once = parseModule(text, 'k.kir');
        expect(once.diagnostics).toEqual([]);
        // What had no place has one in the file now; from there on nothing changes.
        const again = printModule(once.module!);
        expect(printModule(parseModule(again, 'other.kir').module!)).toBe(again);
        expect(again.replaceAll(/ loc\("k\.kir":\d+:\d+\)/g, '')).toBe(text);
      }),
      { seed, numRuns: Math.ceil(runs / 5) },
    );
  });

  test('that was damaged is refused with a place, or is a kernel that prints and parses; nothing crashes', () => {
    const pieces = [
      '%0',
      '(',
      ')',
      '{',
      '}',
      'f32[4]',
      'i32',
      ':',
      ',',
      '=',
      '"',
      '9e99',
      '-',
      'for',
      'loc(',
      '@k',
      'n',
      '\n',
    ];
    let refused = 0;
    fc.assert(
      fc.property(recipes, fc.nat(), fc.nat(30), fc.constantFrom(...pieces), (recipe, where, drop, piece) => {
        const text = printKernel(kernelOf(recipe), { locs: false });
        const at = where % text.length;
        const damaged = text.slice(0, at) + piece + text.slice(at + drop);
        const { module, diagnostics } = parseModule(damaged, 'damaged.kir');
        if (!module) {
          refused++;
          for (const d of diagnostics) expect(d).toMatchObject({ severity: 'error', loc: { kind: 'file' } });
          expect(diagnostics.length).toBeGreaterThan(0);
          return;
        }
        module.kernels.forEach((k) => verifyKernel(k));
        const printed = printModule(module, { locs: false });
        expect(printModule(parseModule(printed, 'again.kir').module!, { locs: false })).toBe(printed);
      }),
      { seed, numRuns: runs },
    );
    expect(refused).toBeGreaterThan(runs / 2);
  });
});
