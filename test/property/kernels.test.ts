import { describe, expect, test } from '@jest/globals';
import type { NdArray } from '../../src/api/nd-array.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes } from '../../src/ir/passes/index.js';
import { printKernel } from '../../src/ir/printer.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { randomKernel } from '../support/random-kernel.js';
import {
  type Given,
  interpreted,
  numbersOf,
  type Outcome,
  onCpu,
  roughNumbers,
  together,
} from '../support/random-run.js';
import { describeTool } from '../support/tools.js';
import { forTrials, type Recipe } from '../support/trials.js';
import { ulps } from '../support/ulps.js';

const outputs = ['y', 'r', 't', 'c'];
const prefixOf = (i: number): string => `k${i}_`;

function made({ seed, steps }: Recipe, prefix = ''): { readonly kernel: Kernel; readonly given: Given } {
  const { kernel, sizes } = randomKernel(seed, steps, prefix);
  const [x, v] = kernel.params;
  const given = {
    [x!.name]: roughNumbers(x!.value.type.dtype, [sizes.m, sizes.n], 1),
    [v!.name]: roughNumbers(v!.value.type.dtype, [sizes.n], 2),
  };
  return { kernel, given };
}

const show = ({ seed, steps }: Recipe): string => printKernel(randomKernel(seed, steps).kernel, { locs: false });

const exactly = ({ arrays, lines }: Outcome): Record<string, unknown> => ({
  lines,
  ...Object.fromEntries(outputs.map((name) => [name, numbersOf(arrays.get(name)!)])),
});

/** Where two arrays differ by more than math functions may: 4 units, of f64 2 more by the interpreter's own rounding. */
function farApart(actual: NdArray, expected: NdArray): string[] {
  const { dtype } = expected;
  const [a, b] = [numbersOf(actual), numbersOf(expected)];
  return b.flatMap((x, i) =>
    ulps(Number(a[i]), Number(x), dtype) > (dtype.bits === 64 ? 6 : 4) ? [`[${i}] ${a[i]}, not ${x}`] : [],
  );
}

describe('random kernels', () => {
  test('are valid, print, parse back to the same text, and stay what they are', async () => {
    await forTrials({ property: 'text of random kernels', steps: 14, show }, ([recipe]) => {
      const { kernel } = made(recipe!);
      expect(verifyKernel(kernel)).toEqual([]);
      const text = printKernel(kernel);
      const { module, diagnostics } = parseModule(text, 'random.kir');
      expect(diagnostics).toEqual([]);
      expect(printKernel(module!.kernels[0]!, { locs: false })).toBe(printKernel(kernel, { locs: false }));
    });
  });

  test('give the same results after each pass and after all of them', async () => {
    await forTrials({ property: 'passes on random kernels', steps: 14, show }, ([recipe]) => {
      const { kernel, given } = made(recipe!);
      const text = printKernel(kernel, { locs: false });
      const expected = exactly(interpreted(kernel, given));
      for (const pass of passes) {
        const changed = runPasses(kernel, [pass]);
        if (printKernel(changed, { locs: false }) === text) continue;
        expect({ pass: pass.name, ...exactly(interpreted(changed, given)) }).toEqual({ pass: pass.name, ...expected });
      }
      const lowered = runPasses(kernel, loweringPipeline);
      expect(exactly(interpreted(lowered, given))).toEqual(expected);
      expect(printKernel(lowered)).not.toMatch(/ = pad /);
    });
  });
});

describeTool('mlir', 'random kernels on the CPU', () => {
  test('agree with the interpreter: to the bit, and of math functions within their bounds', async () => {
    const trials = { property: 'random kernels on the CPU', steps: 14, oneOf: 3, batch: 10, show };
    await forTrials(trials, async (recipes) => {
      const all = recipes.map((recipe, i) => made(recipe, prefixOf(i)));
      const kernel = together(all.map((k) => k.kernel));
      const given = Object.assign({}, ...all.map((k) => k.given)) as Given;
      const [actual, expected] = [await onCpu(kernel, given, 2), interpreted(kernel, given)];
      for (const i of recipes.keys()) {
        const of = ({ arrays }: Outcome, name: string): NdArray => arrays.get(prefixOf(i) + name)!;
        for (const name of ['y', 'r', 'c'])
          expect([name, ...numbersOf(of(actual, name))]).toEqual([name, ...numbersOf(of(expected, name))]);
        expect(farApart(of(actual, 't'), of(expected, 't'))).toEqual([]);
      }
      expect(actual.lines).toEqual(expected.lines);
    });
  });
});
