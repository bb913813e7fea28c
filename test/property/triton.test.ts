/** Random kernels as Triton IR: executed by the evaluator, the text gives what the interpreter gives. */

import { expect, test } from '@jest/globals';
import { CompileError } from '../../src/diagnostics/diagnostic.js';
import { isFloat } from '../../src/ir/dtypes.js';
import { printKernel } from '../../src/ir/printer.js';
import { randomKernel } from '../support/random-kernel.js';
import { interpreted, numbersOf, roughNumbers } from '../support/random-run.js';
import { forTrials, type Recipe } from '../support/trials.js';
import { runTtir } from '../support/ttir/run.js';
import { ulps } from '../support/ulps.js';

const show = ({ seed, steps }: Recipe): string => printKernel(randomKernel(seed, steps).kernel, { locs: false });

/** Nothing where Triton cannot have what the kernel uses: 4-bit and scale dtypes, narrow atomics. */
function orRefused<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof CompileError && error.diagnostics.every(({ code }) => code === 'TW2001')) return undefined;
    throw error;
  }
}

test('random kernels in Triton IR give what the interpreter gives', async () => {
  await forTrials({ property: 'random kernels in Triton IR', steps: 8, oneOf: 4, oneOfLong: 40, show }, ([recipe]) => {
    const { kernel, sizes } = randomKernel(recipe!.seed, recipe!.steps);
    const [x, v] = kernel.params;
    const given = {
      [x!.name]: roughNumbers(x!.value.type.dtype, [sizes.m, sizes.n], 1),
      [v!.name]: roughNumbers(v!.value.type.dtype, [sizes.n], 2),
    };
    const expected = interpreted(kernel, given).arrays;
    const actual = orRefused(() => runTtir({ kernel, warnings: [], folder: '.' }, given));
    if (!actual) return;
    for (const [name, got] of Object.entries(actual)) {
      const want = expected.get(name)!;
      if (name !== 't' || !isFloat(want.dtype)) expect([name, ...numbersOf(got)]).toEqual([name, ...numbersOf(want)]);
      // Math functions stay within their bounds.
      else
        numbersOf(want).forEach((n, i) =>
          expect(ulps(Number(numbersOf(got)[i]), Number(n), want.dtype)).toBeLessThanOrEqual(6),
        );
    }
  });
});
