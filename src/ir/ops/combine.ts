/** Scans, and reductions and scans whose operator the kernel gives as a body. */

import { attr } from '../attributes.js';
import { defineOp, one, type Report, types, variadic } from '../define-op.js';
import { allocate, roundingOf } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, printType, sameShape, type TileType, tileType } from '../types.js';
import type { Region, Value } from '../value.js';
import { accumulation, reducedDType } from './contraction.js';
import { terminatorValues, verifyEnd, verifyTypes } from './control.js';
import { raggedCombined, raggedReduceCombined, raggedScan } from './ragged-rules.js';

export const scanKinds = ['sum', 'prod', 'max', 'min'] as const;
export type ScanKind = (typeof scanKinds)[number];

/** A tile along one axis: `outer` × `count` × `inner` elements. */
export function linesAlong(shape: readonly number[], axis: number): { outer: number; count: number; inner: number } {
  return {
    outer: elementCount(shape.slice(0, axis)),
    count: shape[axis]!,
    inner: elementCount(shape.slice(axis + 1)),
  };
}

function hasAxis(name: string, axis: number, type: TileType, report: Report): boolean {
  if (axis >= 0 && axis < type.shape.length) return true;
  report(`'${name}': axis ${axis} is not one of ${printType(type)}`);
  return false;
}

function evaluateScan(kind: ScanKind, axis: number, reverse: boolean, x: TileValue, type: TileType): TileValue {
  const { outer, count, inner } = linesAlong(x.shape, axis);
  const valid = Math.min(count, x.valid?.[axis] ?? count);
  const data = allocate(type.dtype, x.data.length);
  const [from, to] = [x.data as Float64Array, data as Float64Array];
  const { start, step } = accumulation(kind, x.dtype);
  const round = roundingOf(type.dtype) as ((y: unknown) => number) | undefined;
  for (let o = 0; o < outer; o++)
    for (let i = 0; i < inner; i++) {
      let acc = start;
      for (let n = 0; n < valid; n++) {
        const at = (o * count + (reverse ? valid - 1 - n : n)) * inner + i;
        acc = step(acc, from[at]!);
        to[at] = (round ? round(acc) : acc) as number;
      }
    }
  return { dtype: type.dtype, shape: type.shape, data };
}

/** The inputs' common shape, or undefined after a report. */
function combinedShape(
  name: string,
  inputs: readonly Value<TileType>[],
  axis: number,
  report: Report,
): readonly number[] | undefined {
  const [first] = inputs;
  if (!first) {
    report(`'${name}' needs at least one input`);
    return undefined;
  }
  if (!hasAxis(name, axis, first.type, report)) return undefined;
  const { shape } = first.type;
  if (inputs.every((x) => sameShape(x.type.shape, shape))) return shape;
  report(`'${name}' needs inputs of one shape, got ${inputs.map((x) => printType(x.type)).join(' and ')}`);
  return undefined;
}

/** The body takes two scalars for each input, all of the first before all of the second, and yields one for each. */
function verifyBody(name: string, inputs: readonly Value<TileType>[], body: Region, report: Report): void {
  const scalars = inputs.map((x) => tileType(x.type.dtype));
  verifyTypes(`arguments of '${name}'`, [...scalars, ...scalars], body.args, report);
  if (verifyEnd(`the body of '${name}'`, body, 'yield', report))
    verifyTypes(`'yield' of '${name}'`, scalars, terminatorValues(body), report);
}

const bodyText =
  'The body holds elementwise ops on scalars; its arguments are one element of each input, then another of each, and it yields their combination.';

export const combineOps = [
  defineOp({
    name: 'scan',
    summary: 'Running sum, product, maximum or minimum along an axis: each element is combined with all before it.',
    semantics:
      'Dtypes and accumulation are those of `reduce`; what is given is rounded, what is carried on is not. `max` and `min` propagate NaN. `reverse=true` goes from the last element to the first. Elements beyond a valid extent take no part.',
    operands: { input: one(types.numeric) },
    attrs: { kind: attr.word(...scanKinds), axis: attr.int, reverse: attr.optional(attr.flag) },
    results: {
      infer: ({ input }, { kind, axis }, report) =>
        hasAxis('scan', axis, input.type, report)
          ? [tileType(reducedDType(kind, input.type.dtype), input.type.shape)]
          : undefined,
    },
    ragged: raggedScan,
    evaluate: ([x], { kind, axis, reverse }, [type]) => [evaluateScan(kind, axis, reverse ?? false, x!, type!)],
  }),

  defineOp({
    name: 'reduce_with',
    summary: 'Reduce several tiles together along an axis, which goes, by an operator given as a body.',
    semantics: `${bodyText} It must be associative and commutative: the order is free. Elements beyond a valid extent take no part; a reduction of nothing is refused by the interpreter and unspecified elsewhere.`,
    operands: { inputs: variadic(types.tile) },
    attrs: { axis: attr.int },
    regions: ['body'],
    combines: true,
    results: {
      infer: ({ inputs = [] }, { axis }, report) => {
        const shape = combinedShape('reduce_with', inputs, axis, report);
        const kept = shape?.filter((_, i) => i !== axis);
        return kept && inputs.map((x) => tileType(x.type.dtype, kept));
      },
    },
    verify: ({ operands: { inputs = [] }, regions: [body] }, report) =>
      verifyBody('reduce_with', inputs, body!, report),
    ragged: raggedReduceCombined,
  }),

  defineOp({
    name: 'scan_with',
    summary: 'Combine each element of several tiles with all before it along an axis, by an operator given as a body.',
    semantics: `${bodyText} It must be associative; the first arguments are of what comes earlier (later with \`reverse=true\`). Elements beyond a valid extent take no part.`,
    operands: { inputs: variadic(types.tile) },
    attrs: { axis: attr.int, reverse: attr.optional(attr.flag) },
    regions: ['body'],
    combines: true,
    results: {
      infer: ({ inputs = [] }, { axis }, report) =>
        combinedShape('scan_with', inputs, axis, report) && inputs.map((x) => x.type),
    },
    verify: ({ operands: { inputs = [] }, regions: [body] }, report) => verifyBody('scan_with', inputs, body!, report),
    ragged: raggedCombined,
  }),
] as const;
