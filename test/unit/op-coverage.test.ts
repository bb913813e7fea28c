/**
 * What every op of the table must have, told by the registries themselves. Golden round trips and invalid uses are in
 * `golden.test.ts`, random kernels in `generators.test.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { opNames, opTable, tryDefinition } from '../../src/ir/ops/index.js';
import { warpgroupOpNames } from '../../src/ir/ops/warpgroup.js';
import { parseModule } from '../../src/ir/parser.js';
import { walk } from '../../src/ir/walk.js';
import { cpuRules } from '../../src/lowering/cpu/rules.js';
import { tritonRules } from '../../src/lowering/triton/rules.js';
import { casesOf } from '../support/golden-run.js';

/** Pure, but not a function of values alone: the interpreter reads them off the program. */
const ofTheProgram = new Set(['dim', 'program_id', 'num_programs', 'warpgroup_id']);

const read = (...path: string[]): string => readFileSync(join(import.meta.dirname, '..', ...path), 'utf8');

/** Ops that the tables of edges have rows for: a key, or a string by itself. */
const tables = ['edges', 'edges-math', 'narrow'].map((name) => read('acceptance', `${name}.test.ts`)).join('\n');
const inTables = opNames.filter((name) => new RegExp(`'${name}'|^ +${name}: `, 'm').test(tables));

/** Ops of golden kernels that are run on numbers, by every pass and on the CPU (`golden-cpu.test.ts`). */
const inKernels = new Set<string>();
for (const file of readdirSync(join(import.meta.dirname, '../golden/interpret')))
  for (const { text } of casesOf(read('golden/interpret', file)))
    for (const { launches } of parseModule(text, file).module!.kernels)
      for (const { body } of launches) walk(body, (op) => inKernels.add(op.name));

describe.each(opNames)('%s', (name) => {
  const definition = tryDefinition(name)!;

  test('has one meaning, which the interpreter and the folder share, where it has no effect', () => {
    const pure = definition.effects.length === 0 && definition.regions.length === 0 && !ofTheProgram.has(name);
    expect(definition.evaluate !== undefined).toBe(pure);
  });

  test('has a rule on the CPU and for Triton', () => {
    expect(typeof cpuRules[name]).toBe('function');
    expect(typeof tritonRules[name]).toBe('function');
  });

  test('has cases at its edges: in a table that interpreter, folder and CPU share, or as a golden kernel that all run', () => {
    // Explicit programs run in the interpreter only: `explicit-programs.test.ts` has theirs.
    if (!warpgroupOpNames.has(name)) expect([...inTables, ...inKernels]).toContain(name);
  });

  test('is described in one line', () => {
    expect(definition.summary).toMatch(/^[A-Z][^\n]*[.]$/);
  });
});

test('back ends know no op that the table lacks', () => {
  const known = [...opNames].sort();
  expect(Object.keys(cpuRules).sort()).toEqual(known);
  expect(Object.keys(tritonRules).sort()).toEqual(known);
  expect(opTable.length).toBe(known.length);
});
