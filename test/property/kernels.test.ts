import { expect, test } from '@jest/globals';
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

interface Made {
  readonly kernel: Kernel;
  readonly given: Given;
}

function make({ seed, steps }: Recipe, prefix = ''): Made {
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

/** Valid, and the same when it is printed and read. */
function keepsItsText({ kernel }: Made): void {
  expect(verifyKernel(kernel)).toEqual([]);
  const { module, diagnostics } = parseModule(printKernel(kernel), 'random.kir');
  expect(diagnostics).toEqual([]);
  expect(printKernel(module!.kernels[0]!, { locs: false })).toBe(printKernel(kernel, { locs: false }));
}

/** The same results after each pass and after all of them. */
function survivesPasses({ kernel, given }: Made): void {
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
}

/** What the interpreter gives, to the bit; of math functions within their bounds. */
async function agreesOnCpu(all: readonly Made[]): Promise<void> {
  const kernel = together(all.map((k) => k.kernel));
  const given = Object.assign({}, ...all.map((k) => k.given)) as Given;
  const [actual, expected] = [await onCpu(kernel, given, 2), interpreted(kernel, given)];
  for (const i of all.keys()) {
    const of = ({ arrays }: Outcome, name: string): NdArray => arrays.get(prefixOf(i) + name)!;
    for (const name of ['y', 'r', 'c'])
      expect([name, ...numbersOf(of(actual, name))]).toEqual([name, ...numbersOf(of(expected, name))]);
    expect(farApart(of(actual, 't'), of(expected, 't'))).toEqual([]);
  }
  expect(actual.lines).toEqual(expected.lines);
}

test('random kernels are valid, print, parse back to the same text, and mean the same after each pass and after all', async () => {
  await forTrials({ property: 'text of random kernels, and passes on them', steps: 10, show }, ([recipe]) => {
    const made = make(recipe!);
    keepsItsText(made);
    survivesPasses(made);
  });
});

describeTool('mlir', 'random kernels on the CPU', () => {
  test('agree with the interpreter', async () => {
    const trials = { property: 'random kernels on the CPU', steps: 8, oneOf: 3, batch: 16, lanes: 2, show };
    await forTrials(trials, (recipes) => agreesOnCpu(recipes.map((recipe, i) => make(recipe, prefixOf(i)))));
  });
});
