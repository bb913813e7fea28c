/** What every op of the table must have, told by the registries themselves. Golden coverage is in `golden.test.ts`. */

import { describe, expect, test } from '@jest/globals';
import { opNames, opTable, tryDefinition } from '../../src/ir/ops/index.js';
import { cpuRules } from '../../src/lowering/cpu/rules.js';
import { tritonRules } from '../../src/lowering/triton/rules.js';

/** Pure, but not a function of values alone: the interpreter reads them off the program. */
const ofTheProgram = new Set(['dim', 'program_id', 'num_programs']);

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
