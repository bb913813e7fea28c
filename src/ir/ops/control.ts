/** Structured control flow: regions of one block with carried values. */

import { attr } from '../attributes.js';
import { defineOp, one, type Report, types, variadic } from '../define-op.js';
import { indexType, printType, sameType, type Type } from '../types.js';
import type { Region, Value } from '../value.js';

export function verifyTypes(what: string, expected: readonly Type[], got: readonly Value[], report: Report): void {
  if (expected.length !== got.length) return report(`${what}: expected ${expected.length} values, got ${got.length}`);
  expected.forEach((type, i) => {
    const value = got[i]!;
    if (!sameType(type, value.type)) {
      const name = value.hint ? `'${value.hint}'` : `value ${i}`;
      report(`${what}: ${name} must be ${printType(type)}, got ${printType(value.type)}`);
    }
  });
}

/** The values that a region's terminator hands over. */
export function terminatorValues(region: Region): readonly Value[] {
  const { values = [] } = (region.ops.at(-1)?.operands ?? {}) as { values?: readonly Value[] };
  return values;
}

export function verifyEnd(what: string, region: Region, terminator: 'yield' | 'condition', report: Report): boolean {
  if (region.ops.at(-1)?.name === terminator) return true;
  report(`${what} must end with '${terminator}'`);
  return false;
}

const typesOf = (values: readonly Value[]): Type[] => values.map((v) => v.type);

export const controlOps = [
  defineOp({
    name: 'for',
    summary: 'Repeat the body for `from, from + step, …` below `to`, carrying values from one trip to the next.',
    semantics:
      '`step` is positive. Body arguments: the counter, then the carried values; its `yield` gives the next ones. No trip: the initial values are the results.',
    operands: { from: one(types.index), to: one(types.index), step: one(types.index), init: variadic(types.tile) },
    attrs: { unroll: attr.optional(attr.int) },
    regions: ['body'],
    results: { infer: ({ init = [] }) => typesOf(init) },
    verify: ({ operands: { init = [] }, regions: [body] }, report) => {
      verifyTypes("arguments of 'for'", [indexType, ...typesOf(init)], body!.args, report);
      if (verifyEnd("the body of 'for'", body!, 'yield', report))
        verifyTypes("'yield' of 'for'", typesOf(init), terminatorValues(body!), report);
    },
    effects: ['control'],
  }),

  defineOp({
    name: 'while',
    summary: 'Repeat the body while the condition region says so, carrying values.',
    semantics: 'The condition is evaluated before each trip on the carried values.',
    operands: { init: variadic(types.tile) },
    regions: ['condition', 'body'],
    results: { infer: ({ init = [] }) => typesOf(init) },
    verify: ({ operands: { init = [] }, regions: [condition, body] }, report) => {
      verifyTypes("arguments of the condition of 'while'", typesOf(init), condition!.args, report);
      verifyTypes("arguments of the body of 'while'", typesOf(init), body!.args, report);
      verifyEnd("the condition of 'while'", condition!, 'condition', report);
      if (verifyEnd("the body of 'while'", body!, 'yield', report))
        verifyTypes("'yield' of 'while'", typesOf(init), terminatorValues(body!), report);
    },
    effects: ['control'],
  }),

  defineOp({
    name: 'if',
    summary: 'Run one of two regions; its `yield` gives the results.',
    operands: { condition: one(types.condition) },
    regions: ['then', 'else'],
    results: { stated: 'any' },
    verify: ({ regions, results }, report) => {
      for (const [i, name] of ['then', 'else'].entries()) {
        const region = regions[i]!;
        verifyTypes(`arguments of '${name}'`, [], region.args, report);
        if (verifyEnd(`the '${name}' region of 'if'`, region, 'yield', report))
          verifyTypes(`'yield' of '${name}'`, typesOf(results), terminatorValues(region), report);
      }
    },
    effects: ['control'],
  }),

  defineOp({
    name: 'yield',
    summary: 'End a region and hand values to the op around it.',
    operands: { values: variadic(types.tile) },
    results: { infer: () => [] },
    effects: ['control'],
    terminator: true,
  }),

  defineOp({
    name: 'condition',
    summary: 'End the condition region of a `while`: go on if it holds.',
    operands: { condition: one(types.condition) },
    results: { infer: () => [] },
    effects: ['control'],
    terminator: true,
  }),
] as const;
