/** Constants, ids and ops that move elements without changing them. */

import { attr, type ScalarConstant } from '../attributes.js';
import { defineOp, one, type Report, types, variadic } from '../define-op.js';
import { bool, type DType, i32, intRange, isFloat, isWide } from '../dtypes.js';
import { allocate, roundingOf } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, indexType, printType, type TileType, type Type } from '../types.js';
import { raggedBroadcast, raggedReshape, raggedTranspose } from './ragged-rules.js';

/** Row-major strides of a shape, in elements. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides: number[] = new Array(shape.length);
  for (let axis = shape.length - 1, stride = 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis]!;
  }
  return strides;
}

/** Calls `visit(to, from)` for each element of `shape` in row-major order; `strides` walks the source. */
export function forEachElement(
  shape: readonly number[],
  strides: readonly number[],
  visit: (to: number, from: number) => void,
): void {
  const rank = shape.length;
  const at = new Array<number>(rank).fill(0);
  const n = elementCount(shape);
  for (let to = 0, from = 0; to < n; to++) {
    visit(to, from);
    for (let axis = rank - 1; axis >= 0; axis--) {
      from += strides[axis]!;
      if (++at[axis]! < shape[axis]!) break;
      from -= strides[axis]! * shape[axis]!;
      at[axis] = 0;
    }
  }
}

function gatherByStrides(x: TileValue, shape: readonly number[], strides: readonly number[]): TileValue {
  const data = allocate(x.dtype, elementCount(shape));
  const [from, to] = [x.data as Float64Array, data as Float64Array];
  forEachElement(shape, strides, (i, j) => {
    to[i] = from[j]!;
  });
  return { dtype: x.dtype, shape, data };
}

/** Whether a constant is one that `dtype` can hold exactly in kind: no fraction in an integer, in range, 0 or 1 for bool. */
export function isConstantOf(dtype: DType, v: ScalarConstant): boolean {
  if (isFloat(dtype))
    return typeof v === 'number' && Object.is(roundingOf(dtype)?.(v) ?? (dtype.bits === 32 ? Math.fround(v) : v), v);
  if (dtype === bool) return v === 0 || v === 1;
  if (isWide(dtype) !== (typeof v === 'bigint')) return false;
  if (typeof v === 'number' && (!Number.isInteger(v) || Object.is(v, -0))) return false;
  const [low, high] = intRange(dtype);
  return BigInt(v) >= low && BigInt(v) <= high;
}

const tileResult = (type: Type, report: Report): type is TileType => {
  if (type.kind === 'tile') return true;
  report(`the result must be a tile, got ${printType(type)}`);
  return false;
};

export const shapeOps = [
  defineOp({
    name: 'constant',
    summary: 'Give every element of the result one value.',
    semantics: 'The value is one that the dtype can hold; 64-bit integers are written with `n`, bool as 0 or 1.',
    attrs: { value: attr.scalar },
    results: { stated: 1 },
    verify: ({ attrs, results }, report) => {
      const type = results[0]!.type;
      if (tileResult(type, report) && !isConstantOf(type.dtype, attrs.value))
        report(`${attrs.value} is not a value of ${type.dtype.name}`);
    },
    elementwise: true,
    evaluate: (_, { value }, [type]) => {
      const data = allocate(type!.dtype, elementCount(type!.shape));
      (data as Float64Array).fill(value as number);
      return [{ dtype: type!.dtype, shape: type!.shape, data }];
    },
  }),

  defineOp({
    name: 'dim',
    summary: 'Read a run-time extent of the kernel.',
    attrs: { name: attr.text },
    results: { infer: () => [indexType] },
  }),

  defineOp({
    name: 'program_id',
    summary: 'Read the position of this program on a grid axis.',
    attrs: { axis: attr.text },
    results: { infer: () => [indexType] },
  }),

  defineOp({
    name: 'num_programs',
    summary: 'Read the number of programs on a grid axis.',
    attrs: { axis: attr.text },
    results: { infer: () => [indexType] },
  }),

  defineOp({
    name: 'iota',
    summary: 'Count along an axis: each element is its position there, from 0.',
    attrs: { axis: attr.int },
    results: { stated: 1 },
    verify: ({ attrs, results }, report) => {
      const type = results[0]!.type;
      if (!tileResult(type, report)) return;
      if (type.dtype !== i32) report(`'iota' gives i32, got ${printType(type)}`);
      if (attrs.axis < 0 || attrs.axis >= type.shape.length)
        report(`axis ${attrs.axis} is not one of ${printType(type)}`);
    },
    elementwise: true,
    evaluate: (_, { axis }, [type]) => {
      const data = allocate(i32, elementCount(type!.shape));
      const strides = type!.shape.map((__, i) => (i === axis ? 1 : 0));
      forEachElement(type!.shape, strides, (to, position) => {
        data[to] = position;
      });
      return [{ dtype: i32, shape: type!.shape, data }];
    },
  }),

  defineOp({
    name: 'extent_mask',
    summary: 'Tell which elements lie within a valid extent on every axis.',
    semantics:
      'One i32 extent per axis of the result: element `[i, …]` is true where `i < extent` on each axis. An extent may be negative (nothing is valid) or larger than the axis (all is).',
    operands: { extents: variadic(types.index) },
    results: { stated: 1 },
    verify: ({ operands, results }, report) => {
      const type = results[0]!.type;
      const extents = operands.extents ?? [];
      if (tileResult(type, report) && (type.dtype !== bool || type.shape.length !== extents.length))
        report(`'extent_mask' of ${extents.length} extents gives a bool tile of that rank, got ${printType(type)}`);
    },
    elementwise: true,
    evaluate: (extents, _, [type]) => {
      const data = allocate(bool, elementCount(type!.shape));
      const { shape } = type!;
      const limits = extents.map((e) => Number(e.data[0]));
      const at = new Array<number>(shape.length).fill(0);
      for (let i = 0; i < data.length; i++) {
        data[i] = at.every((p, axis) => p < limits[axis]!) ? 1 : 0;
        for (let axis = shape.length - 1; axis >= 0; axis--) {
          if (++at[axis]! < shape[axis]!) break;
          at[axis] = 0;
        }
      }
      return [{ dtype: bool, shape, data }];
    },
  }),

  defineOp({
    name: 'broadcast',
    summary: 'Repeat a tile along new axes and along axes of extent 1.',
    semantics: 'Axes align at the end, as in NumPy.',
    operands: { input: one(types.tile) },
    results: { stated: 1 },
    verify: ({ operands, results }, report) => {
      const [from, to] = [operands.input.type, results[0]!.type];
      if (!tileResult(to, report)) return;
      const lead = to.shape.length - from.shape.length;
      if (from.dtype !== to.dtype || lead < 0 || from.shape.some((n, i) => n !== 1 && n !== to.shape[lead + i]))
        report(`${printType(from)} does not broadcast to ${printType(to)}`);
    },
    ragged: raggedBroadcast,
    evaluate: ([x], _, [type]) => {
      const own = stridesOf(x!.shape);
      const lead = type!.shape.length - x!.shape.length;
      return [
        gatherByStrides(
          x!,
          type!.shape,
          type!.shape.map((_n, i) => (i < lead || x!.shape[i - lead] === 1 ? 0 : own[i - lead]!)),
        ),
      ];
    },
  }),

  defineOp({
    name: 'reshape',
    summary: 'View the same elements, in row-major order, in another shape.',
    semantics: 'A ragged axis may not be merged or split; axes of extent 1 come and go freely.',
    operands: { input: one(types.tile) },
    results: { stated: 1 },
    verify: ({ operands, results }, report) => {
      const [from, to] = [operands.input.type, results[0]!.type];
      if (tileResult(to, report) && (from.dtype !== to.dtype || elementCount(from.shape) !== elementCount(to.shape)))
        report(`'reshape' keeps dtype and number of elements, got ${printType(from)} and ${printType(to)}`);
    },
    ragged: raggedReshape,
    evaluate: ([x], _, [type]) => [{ dtype: x!.dtype, shape: type!.shape, data: x!.data }],
  }),

  defineOp({
    name: 'transpose',
    summary: 'Permute the axes: axis `i` of the result is axis `permutation[i]` of the input.',
    operands: { input: one(types.tile) },
    attrs: { permutation: attr.ints },
    results: {
      infer: ({ input }, { permutation }, report) => {
        const { dtype, shape } = input.type;
        if (permutation.length === shape.length && shape.every((_, axis) => permutation.includes(axis)))
          return [{ kind: 'tile', dtype, shape: permutation.map((axis) => shape[axis]!) }];
        report(`[${permutation.join(', ')}] is not a permutation of the axes of ${printType(input.type)}`);
        return undefined;
      },
    },
    ragged: raggedTranspose,
    evaluate: ([x], { permutation }, [type]) => {
      const own = stridesOf(x!.shape);
      return [
        gatherByStrides(
          x!,
          type!.shape,
          permutation.map((axis) => own[axis]!),
        ),
      ];
    },
  }),

  defineOp({
    name: 'pad',
    summary: 'Make a ragged tile full: elements beyond its valid extent become `fill`.',
    operands: { input: one(types.tile), fill: one(types.scalar) },
    lowered: false,
    results: {
      infer: ({ input, fill }, _, report) => {
        if (input.type.dtype === fill.type.dtype) return [input.type];
        report(`'pad' needs a fill of dtype ${input.type.dtype.name}, got ${fill.type.dtype.name}`);
        return undefined;
      },
    },
    evaluate: ([x, fill]) => {
      if (!x!.valid) return [x!];
      const strides = x!.shape.map(() => 0);
      const data = x!.data.slice() as Float64Array;
      const at = new Array<number>(x!.shape.length).fill(0);
      forEachElement(x!.shape, strides, (to) => {
        if (at.some((p, axis) => p >= x!.valid![axis]!)) data[to] = fill!.data[0] as number;
        for (let axis = at.length - 1; axis >= 0; axis--) {
          if (++at[axis]! < x!.shape[axis]!) break;
          at[axis] = 0;
        }
      });
      return [{ dtype: x!.dtype, shape: x!.shape, data: data as never }];
    },
  }),
] as const;
