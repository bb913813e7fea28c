import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bindArguments } from '../../src/api/bind.js';
import { type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { runSource } from '../../src/api/run.js';
import { interpretKernel } from '../../src/ir/interpreter/index.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes } from '../../src/ir/passes/index.js';
import { printKernel } from '../../src/ir/printer.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { nd } from '../../src/testing/index.js';
import { randomKernel } from '../support/random-kernel.js';
import { describeTool } from '../support/tools.js';

const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const runs = Number(process.env.TILEWRIGHT_RUNS ?? 150);

const inputsFor = (kernel: Kernel, sizes: { m: number; n: number }): Record<string, NdArray> => {
  const [x, v] = kernel.params;
  return {
    x: nd.random(x!.value.type.dtype, [sizes.m, sizes.n], { seed: 1, scale: 20 }),
    v: nd.random(v!.value.type.dtype, [sizes.n], { seed: 2, scale: 20 }),
  };
};

function interpreted(kernel: Kernel, inputs: Record<string, NdArray>): Record<string, unknown[]> {
  const bound = bindArguments(kernel, inputs);
  interpretKernel(kernel, bound);
  return Object.fromEntries(['y', 'r'].map((name) => [name, elements(bound.arrays.get(name)!)]));
}

const elements = (a: NdArray): unknown[] => Array.from(toRegisters(a) as Float64Array);

const sizesOf = fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 1, max: 14 }));

describe('random kernels', () => {
  test('are valid, print, parse back to the same text, and stay what they are', () => {
    fc.assert(
      fc.property(sizesOf, ([s, steps]) => {
        const { kernel } = randomKernel(s, steps);
        expect(verifyKernel(kernel)).toEqual([]);
        const text = printKernel(kernel);
        const { module, diagnostics } = parseModule(text, 'random.kir');
        expect(diagnostics).toEqual([]);
        expect(printKernel(module!.kernels[0]!, { locs: false })).toBe(printKernel(kernel, { locs: false }));
      }),
      { seed, numRuns: runs },
    );
  });

  test('give the same results after each pass and after all of them', () => {
    fc.assert(
      fc.property(sizesOf, ([s, steps]) => {
        const { kernel, sizes } = randomKernel(s, steps);
        const inputs = inputsFor(kernel, sizes);
        const expected = interpreted(kernel, inputs);
        for (const pass of passes) {
          expect({ pass: pass.name, ...interpreted(runPasses(kernel, [pass]), inputs) }).toEqual({
            pass: pass.name,
            ...expected,
          });
        }
        const lowered = runPasses(kernel, loweringPipeline);
        expect(interpreted(lowered, inputs)).toEqual(expected);
        expect(printKernel(lowered)).not.toMatch(/ = pad /);
      }),
      { seed, numRuns: runs },
    );
  });
});

describeTool('mlir', 'random kernels on the CPU', () => {
  test('agree with the interpreter to the bit', async () => {
    await fc.assert(
      fc.asyncProperty(sizesOf, async ([s, steps]) => {
        const { kernel, sizes } = randomKernel(s, steps);
        const inputs = inputsFor(kernel, sizes);
        const expected = interpreted(kernel, inputs);
        const { outputs } = await runSource({ kernel, warnings: [], folder: '.' }, inputs, {
          cache: false,
          lineInfo: false,
          threads: 2,
        });
        expect({ y: elements(outputs.y!), r: elements(outputs.r!) }).toEqual(expected);
      }),
      { seed, numRuns: Math.ceil(runs / 6), endOnFailure: true },
    );
  }, 300_000);
});
