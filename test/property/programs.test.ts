import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bindArguments } from '../../src/api/bind.js';
import { toRegisters } from '../../src/api/nd-array.js';
import { i32 } from '../../src/ir/dtypes.js';
import { interpretKernel } from '../../src/ir/interpreter/index.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes } from '../../src/ir/passes/index.js';
import { printKernel } from '../../src/ir/printer.js';
import { illegalInLowered } from '../../src/ir/stage.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { nd } from '../../src/testing/index.js';
import { type RandomProgram, randomProgram } from '../support/random-program.js';

const seed = Number(process.env.TILEWRIGHT_SEED ?? 20261201);
const runs = Number(process.env.TILEWRIGHT_RUNS ?? 150);

/** What the outputs hold when a kernel has run. */
function interpreted(kernel: Kernel, { dims: { m, n, k } }: RandomProgram): Record<string, number[]> {
  const [bm, bn] = kernel.params[4]!.value.type.shape as readonly number[];
  const random = (shape: readonly number[], by: number) => nd.random(i32, shape, { seed: by, scale: 9 });
  const bound = bindArguments(kernel, {
    x: random([m, n], 1),
    a: random([m, k], 2),
    b: random([k, n], 3),
    w: random([n], 4),
    s: random([bm!, bn!], 5),
  });
  interpretKernel(kernel, bound);
  return Object.fromEntries(
    ['y', 'h', 'q', 'z'].map((name) => [name, Array.from(toRegisters(bound.arrays.get(name)!), Number)]),
  );
}

const recipes = fc.tuple(fc.integer({ min: 0, max: 2 ** 31 - 1 }), fc.integer({ min: 1, max: 12 }));

test('programs with ragged tiles of several origins mean the same after each pass and after all of them', () => {
  fc.assert(
    fc.property(recipes, ([s, steps]) => {
      const program = randomProgram(s, steps);
      const { kernel } = program;
      expect(verifyKernel(kernel)).toEqual([]);
      const expected = interpreted(kernel, program);
      for (const pass of passes)
        expect({ pass: pass.name, ...interpreted(runPasses(kernel, [pass]), program) }).toEqual({
          pass: pass.name,
          ...expected,
        });
      const lowered = runPasses(kernel, loweringPipeline);
      expect(illegalInLowered(lowered)).toEqual([]);
      expect(interpreted(lowered, program)).toEqual(expected);
      // A second time there is nothing left to do but what folding has opened up; the meaning stays.
      expect(interpreted(runPasses(lowered, loweringPipeline), program)).toEqual(expected);
      expect(printKernel(lowered)).not.toMatch(/ = pad /);
    }),
    { seed, numRuns: Math.ceil(runs / 3) },
  );
});
