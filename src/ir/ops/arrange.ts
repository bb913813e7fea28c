/** Ops that put tiles together, take them apart and pick from them. */

import { attr } from '../attributes.js';
import { defineOp, one, type Report, types, variadic } from '../define-op.js';
import { allocate } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, printType, sameType, type TileType, tileType } from '../types.js';
import type { Value } from '../value.js';
import { linesAlong } from './combine.js';
import {
  raggedConcatenate,
  raggedFlip,
  raggedInsert,
  raggedJoin,
  raggedSlice,
  raggedSplit,
  raggedTakeAlong,
} from './ragged-rules.js';
import { forEachElement, stridesOf } from './shape.js';

const list = (tiles: readonly Value<TileType>[]): string => tiles.map((t) => printType(t.type)).join(' and ');

function hasAxis(name: string, axis: number, type: TileType, report: Report): boolean {
  if (axis >= 0 && axis < type.shape.length) return true;
  report(`'${name}': axis ${axis} is not one of ${printType(type)}`);
  return false;
}

const equalBut = (axis: number, a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((n, i) => i === axis || n === b[i]);

/** Whether a smaller tile of one dtype fits into a larger one, given an index for each axis. */
function fitsInto(name: string, part: TileType, whole: TileType, index: readonly Value[], report: Report): void {
  if (index.length !== whole.shape.length)
    report(`'${name}' needs ${whole.shape.length} indices for ${printType(whole)}, got ${index.length}`);
  const fits = part.shape.length === whole.shape.length && part.shape.every((n, i) => n <= whole.shape[i]!);
  if (!fits || part.dtype !== whole.dtype) report(`'${name}': ${printType(part)} does not lie in ${printType(whole)}`);
}

/** Where a part begins: moved so that it lies within the whole. */
function startsOf(part: readonly number[], whole: readonly number[], index: readonly TileValue[]): number[] {
  return whole.map((n, axis) => Math.min(Math.max(Number(index[axis]!.data[0]), 0), n - part[axis]!));
}

const offsetOf = (starts: readonly number[], strides: readonly number[]): number =>
  starts.reduce((sum, s, axis) => sum + s * strides[axis]!, 0);

const numbers = (x: TileValue): Float64Array => x.data as Float64Array;

export const arrangeOps = [
  defineOp({
    name: 'join',
    summary: 'Put two tiles side by side along a new last axis of extent 2.',
    operands: { left: one(types.tile), right: one(types.tile) },
    results: {
      infer: ({ left, right }, _, report) => {
        if (sameType(left.type, right.type)) return [tileType(left.type.dtype, [...left.type.shape, 2])];
        report(`'join' needs tiles of one type, got ${list([left, right])}`);
        return undefined;
      },
    },
    ragged: raggedJoin,
    evaluate: ([a, b], _, [type]) => {
      const data = allocate(type!.dtype, elementCount(type!.shape));
      for (const [at, x] of [a!, b!].entries())
        for (let i = 0; i < x.data.length; i++) (data as Float64Array)[2 * i + at] = numbers(x)[i]!;
      return [{ dtype: type!.dtype, shape: type!.shape, data }];
    },
  }),

  defineOp({
    name: 'split',
    summary: 'Take apart a tile whose last axis has extent 2: what lies at 0, and what lies at 1.',
    operands: { input: one(types.tile) },
    results: {
      infer: ({ input: { type } }, _, report) => {
        if (type.shape.at(-1) === 2) return [0, 1].map(() => tileType(type.dtype, type.shape.slice(0, -1)));
        report(`'split' needs a tile whose last axis has extent 2, got ${printType(type)}`);
        return undefined;
      },
    },
    ragged: raggedSplit,
    evaluate: ([x], _, result) =>
      result.map(({ dtype, shape }, at) => {
        const data = allocate(dtype, elementCount(shape));
        for (let i = 0; i < data.length; i++) (data as Float64Array)[i] = numbers(x!)[2 * i + at]!;
        return { dtype, shape, data };
      }),
  }),

  defineOp({
    name: 'concatenate',
    summary: 'Put tiles one after the other along an axis.',
    semantics: 'None may be ragged along that axis.',
    operands: { inputs: variadic(types.tile) },
    attrs: { axis: attr.int },
    results: {
      infer: ({ inputs = [] }, { axis }, report) => {
        const [first] = inputs;
        if (!first) report("'concatenate' needs at least one tile");
        if (!first || !hasAxis('concatenate', axis, first.type, report)) return undefined;
        const { dtype, shape } = first.type;
        if (inputs.every((x) => x.type.dtype === dtype && equalBut(axis, x.type.shape, shape))) {
          const extent = inputs.reduce((sum, x) => sum + x.type.shape[axis]!, 0);
          return [tileType(dtype, shape.with(axis, extent))];
        }
        report(`'concatenate' needs tiles of one dtype that differ along axis ${axis} only, got ${list(inputs)}`);
        return undefined;
      },
    },
    ragged: raggedConcatenate,
    evaluate: (inputs, { axis }, [type]) => {
      const data = allocate(type!.dtype, elementCount(type!.shape)) as Float64Array;
      const { outer } = linesAlong(type!.shape, axis);
      for (let o = 0, at = 0; o < outer; o++)
        for (const x of inputs) {
          const n = x.data.length / outer;
          data.set(numbers(x).subarray(o * n, (o + 1) * n), at);
          at += n;
        }
      return [{ dtype: type!.dtype, shape: type!.shape, data }];
    },
  }),

  defineOp({
    name: 'slice',
    summary: 'Take a part of a tile: the type says how much, `index` where it begins on each axis.',
    semantics:
      'A part that would reach outside of the tile is moved so that it lies within. Along a ragged axis only the whole can be taken.',
    operands: { input: one(types.tile), index: variadic(types.index) },
    results: { stated: 1 },
    verify: ({ operands: { input, index = [] }, results }, report) => {
      const { type } = results[0]!;
      if (type.kind === 'tile') fitsInto('slice', type, input.type, index, report);
      else report(`'slice' gives a tile, got ${printType(type)}`);
    },
    ragged: raggedSlice,
    evaluate: ([x, ...index], _, [type]) => {
      const { dtype, shape } = type!;
      const data = allocate(dtype, elementCount(shape)) as Float64Array;
      const strides = stridesOf(x!.shape);
      const base = offsetOf(startsOf(shape, x!.shape, index), strides);
      forEachElement(shape, strides, (to, from) => {
        data[to] = numbers(x!)[base + from]!;
      });
      return [{ dtype, shape, data }];
    },
  }),

  defineOp({
    name: 'insert',
    summary: 'Replace a part of a tile by another tile, from `index` on.',
    semantics: 'A part that would reach outside of the tile is moved so that it lies within.',
    operands: { input: one(types.tile), value: one(types.tile), index: variadic(types.index) },
    results: { infer: ({ input }) => [input.type] },
    verify: ({ operands: { input, value, index = [] } }, report) =>
      fitsInto('insert', value.type, input.type, index, report),
    ragged: raggedInsert,
    evaluate: ([x, part, ...index]) => {
      const { dtype, shape } = x!;
      const data = x!.data.slice() as Float64Array;
      const strides = stridesOf(shape);
      const base = offsetOf(startsOf(part!.shape, shape, index), strides);
      forEachElement(part!.shape, strides, (from, to) => {
        data[base + to] = numbers(part!)[from]!;
      });
      return [{ dtype, shape, data }];
    },
  }),

  defineOp({
    name: 'flip',
    summary: 'Reverse a tile along an axis.',
    semantics: 'The axis may not be ragged.',
    operands: { input: one(types.tile) },
    attrs: { axis: attr.int },
    results: {
      infer: ({ input }, { axis }, report) => (hasAxis('flip', axis, input.type, report) ? [input.type] : undefined),
    },
    ragged: raggedFlip,
    evaluate: ([x], { axis }) => {
      const { dtype, shape } = x!;
      const data = allocate(dtype, x!.data.length) as Float64Array;
      const { outer, count, inner } = linesAlong(shape, axis);
      for (let o = 0; o < outer; o++)
        for (let n = 0; n < count; n++)
          for (let i = 0; i < inner; i++)
            data[(o * count + n) * inner + i] = numbers(x!)[(o * count + count - 1 - n) * inner + i]!;
      return [{ dtype, shape, data }];
    },
  }),

  defineOp({
    name: 'take_along',
    summary: 'Pick from a tile along an axis: element `[…, i, …]` is the input’s at `[…, index[…, i, …], …]`.',
    semantics:
      'An index outside of the axis is moved to its nearer end. The input may not be ragged along the axis; the index may.',
    operands: { input: one(types.tile), index: one(types.int) },
    attrs: { axis: attr.int },
    results: {
      infer: ({ input, index }, { axis }, report) => {
        if (!hasAxis('take_along', axis, input.type, report)) return undefined;
        if (equalBut(axis, index.type.shape, input.type.shape)) return [tileType(input.type.dtype, index.type.shape)];
        report(`'take_along' needs tiles that differ along axis ${axis} only, got ${list([input, index])}`);
        return undefined;
      },
    },
    ragged: raggedTakeAlong,
    evaluate: ([x, index], { axis }, [type]) => {
      const data = allocate(type!.dtype, elementCount(type!.shape)) as Float64Array;
      const { outer, count, inner } = linesAlong(type!.shape, axis);
      const n = x!.shape[axis]!;
      for (let o = 0; o < outer; o++)
        for (let k = 0; k < count; k++)
          for (let i = 0; i < inner; i++) {
            const to = (o * count + k) * inner + i;
            const position = Math.min(Math.max(Number(index!.data[to]), 0), n - 1);
            data[to] = numbers(x!)[(o * n + position) * inner + i]!;
          }
      return [{ dtype: type!.dtype, shape: type!.shape, data }];
    },
  }),
] as const;
