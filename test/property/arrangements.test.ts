import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { run } from 'tilewright';
import { bindArguments } from '../../src/api/bind.js';
import { toRegisters } from '../../src/api/nd-array.js';
import { interpretKernel } from '../../src/ir/interpreter/index.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes, passRegistry } from '../../src/ir/passes/index.js';
import { illegalInLowered } from '../../src/ir/stage.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { nd } from '../../src/testing/index.js';
import { randomArrangement } from '../support/random-arrangement.js';
import { describeTool } from '../support/tools.js';

const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const runs = Number(process.env.TILEWRIGHT_RUNS ?? 150);

type Given = ReturnType<typeof randomArrangement>['given'];

/** What the outputs hold when a kernel has run. */
function interpreted(kernel: Kernel, given: Given): Record<string, number[]> {
  const bound = bindArguments(kernel, given);
  interpretKernel(kernel, bound);
  return Object.fromEntries(['y', 'z'].map((name) => [name, Array.from(toRegisters(bound.arrays.get(name)!), Number)]));
}

const recipes = fc.tuple(fc.integer({ min: 0, max: 2 ** 30 }), fc.integer({ min: 1, max: 6 }));

test('what arranges tiles means the same after each pass, after all of them, and out of simpler ops', () => {
  const expand = passRegistry.get('expand')!;
  fc.assert(
    fc.property(recipes, ([s, steps]) => {
      const { kernel, given } = randomArrangement(s, steps);
      const traced = kernel.trace().kernel;
      expect(verifyKernel(traced)).toEqual([]);
      const expected = interpreted(traced, given);
      for (const pass of passes)
        expect({ pass: pass.name, ...interpreted(runPasses(traced, [pass]), given) }).toEqual({
          pass: pass.name,
          ...expected,
        });
      const lowered = runPasses(traced, loweringPipeline);
      expect(illegalInLowered(lowered)).toEqual([]);
      expect(interpreted(lowered, given)).toEqual(expected);
      expect(interpreted(runPasses(lowered, [...expand, ...loweringPipeline]), given)).toEqual(expected);
    }),
    { seed, numRuns: Math.ceil(runs / 5) },
  );
});

describeTool('mlir', 'what arranges tiles', () => {
  test('means the same on the CPU', async () => {
    await fc.assert(
      fc.asyncProperty(recipes, async ([s, steps]) => {
        const { kernel, given } = randomArrangement(s, steps);
        const outputs = await run(kernel, given as never);
        const found = Object.fromEntries(Object.entries(outputs).map(([name, a]) => [name, [...nd.toNumbers(a)]]));
        expect(found).toEqual(interpreted(kernel.trace().kernel, given));
      }),
      { seed, numRuns: Math.ceil(runs / 15) },
    );
  });
});
