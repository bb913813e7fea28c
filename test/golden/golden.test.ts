/**
 * Golden files: `.kir` text with directives.
 *
 *   // RUN: roundtrip        prints as it is written
 *   // RUN: pipeline=a,b     what the passes make of it, with `// CHECK: text` (in order) and `// CHECK-NOT: text`
 *   // RUN: interpret        on given numbers: the kernel as it is, after each pass, and after all (`golden-run.ts`)
 *   // RUN: error            each `// ERROR: text` is reported on the line below it, and nothing else is
 *   // RUN: error lowered    the same, for kernels that are valid but not legal in `lowered.kir`
 *
 * `// -----` splits a file into cases. BLESS=1 rewrites round trips as they print.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { CompileError, Diagnostic } from '../../src/diagnostics/diagnostic.js';
import { primaryLoc } from '../../src/diagnostics/location.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { opNames } from '../../src/ir/ops/index.js';
import { parseModule } from '../../src/ir/parser.js';
import { parsePipeline, runPasses } from '../../src/ir/pass.js';
import { loweringPipeline, passes, passRegistry } from '../../src/ir/passes/index.js';
import { printModule } from '../../src/ir/printer.js';
import { illegalInLowered } from '../../src/ir/stage.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { casesOf, expectedOutputs, interpretGolden } from '../support/golden-run.js';

const folder = import.meta.dirname;
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((f) => f.endsWith('.kir'))
  .sort();

const directives = (text: string, name: string): string[] =>
  [...text.matchAll(new RegExp(`^\\s*// ${name}: ?(.*)$`, 'gm'))].map((m) => m[1]!);

function checkInOrder(output: string, text: string): void {
  let from = 0;
  for (const [, kind, wanted] of text.matchAll(/^\s*\/\/ (CHECK|CHECK-NOT): ?(.*)$/gm)) {
    if (kind === 'CHECK-NOT') expect(output).not.toContain(wanted);
    else {
      const at = output.indexOf(wanted!, from);
      if (at < 0) throw new Error(`expected ${JSON.stringify(wanted)} behind what was checked before, in:\n${output}`);
      from = at + wanted!.length;
    }
  }
}

function diagnosticsIn(text: string, check: (kernel: Kernel) => Diagnostic[]): readonly Diagnostic[] {
  const { module, diagnostics } = parseModule(text, 'case.kir');
  if (!module) return diagnostics;
  try {
    return module.kernels.flatMap(check);
  } catch (error) {
    return (error as CompileError).diagnostics;
  }
}

function checkErrors(text: string, check: (kernel: Kernel) => Diagnostic[]): void {
  const lines = text.split('\n');
  const expected = lines.flatMap((line, i) => {
    const wanted = /^\s*\/\/ ERROR: (.*)$/.exec(line)?.[1];
    return wanted === undefined ? [] : [{ line: i + 2, message: wanted }];
  });
  const got = diagnosticsIn(text, check).map((d) => ({ line: primaryLoc(d.loc)?.line, message: d.message }));
  expect(got.map(({ line, message }) => `${line}: ${message}`)).toEqual(
    expected.map(({ line, message }) => `${line}: ${message}`),
  );
}

describe.each(files)('%s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const [run = ''] = directives(text, 'RUN');
  const cases = casesOf(text.slice(text.indexOf('\n') + 1));
  test.each(cases.map((c) => [c.start + 2, c.text] as const))(`${run} (line %i)`, (_, body) => {
    if (run === 'error') return checkErrors(body, verifyKernel);
    if (run === 'error lowered') return checkErrors(body, illegalInLowered);
    const { module, diagnostics } = parseModule(body, 'case.kir');
    expect(diagnostics).toEqual([]);
    if (run === 'roundtrip') {
      const printed = printModule(module!, { locs: false });
      if (process.env.BLESS === '1' && cases.length === 1)
        writeFileSync(join(folder, file), `// RUN: roundtrip\n${printed}`);
      else expect(printed).toBe(body);
      expect(module!.kernels.flatMap(verifyKernel)).toEqual([]);
      return;
    }
    if (run === 'interpret') {
      const [kernel] = module!.kernels;
      const expected = expectedOutputs(body);
      expect(Object.keys(expected)).not.toEqual([]);
      expect(interpretGolden(runPasses(kernel!, []), body)).toEqual(expected);
      for (const pass of passes)
        expect([pass.name, interpretGolden(runPasses(kernel!, [pass]), body)]).toEqual([pass.name, expected]);
      const lowered = runPasses(kernel!, loweringPipeline);
      expect(illegalInLowered(lowered)).toEqual([]);
      expect(interpretGolden(lowered, body)).toEqual(expected);
      return;
    }
    const pipeline = parsePipeline(run.replace(/^pipeline=/, ''), passRegistry);
    checkInOrder(printModule({ kernels: module!.kernels.map((k) => runPasses(k, pipeline)) }, { locs: false }), body);
  });
});

const textOf = (kind: string): string =>
  files
    .map((f) => readFileSync(join(folder, f), 'utf8'))
    .filter((t) => t.startsWith(`// RUN: ${kind}`))
    .join('\n');

test('every op of the table has a golden round trip and an invalid use', () => {
  const used = (text: string, op: string): boolean => new RegExp(`(= |^\\s*)${op}( |$|\\()`, 'm').test(text);
  expect(opNames.filter((op) => !used(textOf('roundtrip'), op))).toEqual([]);
  const [invalid, always] = [textOf('error'), ['condition']];
  expect(opNames.filter((op) => !used(invalid, op) && !always.includes(op))).toEqual([]);
});

test('every pass has a golden case', () => {
  const text = textOf('pipeline');
  expect(passes.filter((p) => !text.includes(`pipeline=${p.name}`)).map((p) => p.name)).toEqual([]);
});
