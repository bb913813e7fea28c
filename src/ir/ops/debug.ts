/** What a kernel says of itself while it runs: prints, checks and promises. */

import { attr } from '../attributes.js';
import { defineOp, one, optional, type Report, types, variadic } from '../define-op.js';
import { bool } from '../dtypes.js';
import { printType, sameShape, sameType, type TileType, tileType } from '../types.js';
import type { Value } from '../value.js';

/** The text between the places of values in a format: one piece more than there are values. */
export const formatPieces = (format: string): string[] => format.split('{}');

function verifyMask(name: string, mask: Value<TileType> | undefined, shape: readonly number[], report: Report): void {
  if (mask && !sameType(mask.type, tileType(bool, shape)))
    report(`'${name}' needs a mask of shape [${shape.join(', ')}], got ${printType(mask.type)}`);
}

export const debugOps = [
  defineOp({
    name: 'debug_print',
    summary: 'Write a line for each element of the values, `{}` in the format replaced by theirs in turn.',
    semantics:
      'A line begins with the program and, of tiles, the place of the element: `(i=0)[2, 3] text`. Floats have 9 significant digits, f64 17. Elements beyond a valid extent, or masked off, write nothing. Lines of different programs come in any order.',
    operands: { values: variadic(types.tile), mask: optional(types.bool) },
    attrs: { format: attr.text },
    results: { infer: () => [] },
    verify: ({ operands: { values = [], mask }, attrs }, report) => {
      const places = formatPieces(attrs.format).length - 1;
      if (places !== values.length) report(`'debug_print' has ${places} places for ${values.length} values`);
      const shape = values[0]?.type.shape ?? [];
      if (!values.every((v) => sameShape(v.type.shape, shape)))
        report(`'debug_print' needs values of one shape, got ${values.map((v) => printType(v.type)).join(' and ')}`);
      verifyMask('debug_print', mask, shape, report);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'assert',
    summary: 'End the run with a message unless the condition holds for every element.',
    semantics: 'Elements beyond a valid extent, or masked off, are not asked.',
    operands: { condition: one(types.bool), mask: optional(types.bool) },
    attrs: { message: attr.text },
    results: { infer: () => [] },
    verify: ({ operands: { condition, mask } }, report) => verifyMask('assert', mask, condition.type.shape, report),
    effects: ['external'],
  }),

  defineOp({
    name: 'assume',
    summary: 'Promise that a condition holds.',
    semantics:
      'Bounds of i32 scalars are taken from it. The interpreter reports a broken promise; elsewhere anything may come of one.',
    operands: { condition: one(types.condition) },
    results: { infer: () => [] },
    effects: ['external'],
  }),

  defineOp({
    name: 'multiple_of',
    summary: 'Give the operand, with the promise that it is a multiple of a number.',
    semantics: 'The interpreter reports a broken promise; elsewhere anything may come of one.',
    operands: { input: one(types.index) },
    attrs: { multiple: attr.int },
    results: {
      infer: ({ input }, { multiple }, report) => {
        if (multiple >= 1) return [input.type];
        report(`'multiple_of' needs a number from 1 up, got ${multiple}`);
        return undefined;
      },
    },
    evaluate: ([x]) => [x!],
  }),
] as const;
