/** Ops that make and rearrange tiles, in Triton IR. */

import { i32 } from '../../ir/dtypes.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { MlirValue } from '../mlir.js';
import { cast } from './arithmetic.js';
import { extentMask, sharedMask } from './memory.js';
import type { ProgramLowering } from './program.js';
import { elementOfType, isPadded, paddedShape, shapeOfType, tensorOf, tileTypeOf, typeOfTile } from './types.js';

export function lowerConstant(l: ProgramLowering, op: OpOf<'constant'>): void {
  const [result] = op.results;
  l.set(result!, l.e.constant(op.attrs.value as number | bigint, typeOfTile(tileTypeOf(result!))));
}

export function lowerIota(l: ProgramLowering, op: OpOf<'iota'>): void {
  const { e } = l;
  const [result] = op.results;
  const { shape, dtype } = tileTypeOf(result!);
  const padded = paddedShape(shape);
  const places = e.broadcast(e.places(op.attrs.axis, padded), padded);
  l.set(result!, cast(l, places, i32, dtype));
}

export function lowerExtentMask(l: ProgramLowering, op: OpOf<'extent_mask'>): void {
  if (l.folded.masks.has(op)) return;
  const [result] = op.results;
  const { shape } = tileTypeOf(result!);
  const given = op.operands.extents ?? [];
  const shared = shape.length === 1 && !isPadded(shape) ? sharedMask(l, given[0]!, shape[0]!) : undefined;
  if (shared) return l.set(result!, shared);
  const extents = given.map((v) => l.get(v));
  const mask = extentMask(l, shape, extents);
  l.set(result!, mask ?? l.e.constant(1, tensorOf('i1', paddedShape(shape))));
}

/** To a longer or equal shape, aligned at the end. */
export function lowerBroadcast(l: ProgramLowering, op: OpOf<'broadcast'>): void {
  const { e } = l;
  const x = l.get(op.operands.input);
  const shape = paddedShape(tileTypeOf(op.results[0]!).shape);
  if (shapeOfType(x.type).length === 0) return l.set(op.results[0]!, e.splat(x, shape));
  let expanded = x;
  while (shapeOfType(expanded.type).length < shape.length) expanded = e.expandDims(expanded, 0);
  l.set(op.results[0]!, e.broadcast(expanded, shape));
}

const withoutOnes = (shape: readonly number[]): number[] => shape.filter((n) => n !== 1);

export function lowerReshape(l: ProgramLowering, op: OpOf<'reshape'>): void {
  const [from, to] = [tileTypeOf(op.operands.input).shape, tileTypeOf(op.results[0]!).shape];
  const same = withoutOnes(from).join() === withoutOnes(to).join();
  const x = l.get(op.operands.input);
  const moves = !same && (isPadded(from) || isPadded(to));
  l.set(op.results[0]!, moves ? asBytes(l, x, (y) => regrouped(l, y, from, to)) : reshaped(l, x, paddedShape(to)));
}

/** Between shapes whose padding lies elsewhere: each place of the result is found in the line of all elements. */
function regrouped(l: ProgramLowering, x: MlirValue, from: readonly number[], to: readonly number[]): MlirValue {
  const { e } = l;
  const [held, made] = [paddedShape(from), paddedShape(to)];
  const line = reshaped(l, x, [held.reduce((a, b) => a * b, 1)]);
  const places = e.range(made.reduce((a, b) => a * b, 1));
  const element = renumbered(l, places, made, to);
  // Padding of the result has no place to come from: the last one will do.
  const last = e.like(from.reduce((a, b) => a * b, 1) - 1, element);
  const index = renumbered(l, e.binary('minsi', element, last), from, held);
  return reshaped(l, pick(l, line, index, 0), made);
}

/** Row-major numbers in one shape as those of the same places in another. */
function renumbered(l: ProgramLowering, x: MlirValue, from: readonly number[], to: readonly number[]): MlirValue {
  const { e } = l;
  let rest = x;
  let stride = 1;
  let result: MlirValue | undefined;
  for (let axis = from.length - 1; axis >= 0; axis--) {
    const size = e.like(from[axis]!, x);
    const place = axis === 0 ? rest : e.binary('remsi', rest, size);
    const step = stride === 1 ? place : e.binary('muli', place, e.like(stride, x));
    result = result ? e.binary('addi', result, step) : step;
    if (axis > 0) rest = e.binary('divsi', rest, size);
    stride *= to[axis]!;
  }
  return result!;
}

function reshaped(l: ProgramLowering, x: MlirValue, to: readonly number[]): MlirValue {
  const { e } = l;
  const from = shapeOfType(x.type);
  if (from.join() === to.join()) return x;
  if (from.length === 0) return e.splat(x, to);
  const element = elementOfType(x.type);
  if (to.length === 0) {
    const line = from.length === 1 ? x : e.op('tt.reshape', [x], tensorOf(element, [1]));
    return e.op('tt.unsplat', [line], element);
  }
  const added = to.findIndex((n, axis) => n === 1 && from[axis] !== 1);
  if (to.length === from.length + 1 && [...from.slice(0, added), 1, ...from.slice(added)].join() === to.join())
    return e.expandDims(x, added);
  return e.op('tt.reshape', [x], tensorOf(element, to));
}

function permuted(l: ProgramLowering, x: MlirValue, order: readonly number[]): MlirValue {
  const shape = shapeOfType(x.type);
  const type = tensorOf(
    elementOfType(x.type),
    order.map((axis) => shape[axis]!),
  );
  return l.e.op('tt.trans', [x], type, { properties: { order: `array<i32: ${order.join(', ')}>` } });
}

export function lowerTranspose(l: ProgramLowering, op: OpOf<'transpose'>): void {
  l.set(op.results[0]!, permuted(l, l.get(op.operands.input), op.attrs.permutation));
}

export function lowerJoin(l: ProgramLowering, op: OpOf<'join'>): void {
  const { left, right } = op.operands;
  l.set(op.results[0]!, join(l, l.get(left), l.get(right)));
}

function join(l: ProgramLowering, a: MlirValue, b: MlirValue): MlirValue {
  const shape = shapeOfType(a.type);
  if (shape.length === 0) {
    const lines = [a, b].map((x) => l.e.splat(x, [1]));
    return reshaped(l, join(l, lines[0]!, lines[1]!), [2]);
  }
  return l.e.op('tt.join', [a, b], tensorOf(elementOfType(a.type), [...shape, 2]));
}

export function lowerSplit(l: ProgramLowering, op: OpOf<'split'>): void {
  const x = l.get(op.operands.input);
  const shape = shapeOfType(x.type).slice(0, -1);
  if (shape.length === 0) {
    const parts = halves(l, reshaped(l, x, [1, 2]), [1]);
    parts.forEach((p, i) => {
      l.set(op.results[i]!, reshaped(l, p, []));
    });
    return;
  }
  halves(l, x, shape).forEach((p, i) => {
    l.set(op.results[i]!, p);
  });
}

function halves(l: ProgramLowering, x: MlirValue, shape: readonly number[]): readonly MlirValue[] {
  const type = tensorOf(elementOfType(x.type), shape);
  return l.e.ops('tt.split', { operands: [x], types: [type, type] });
}

// ---- rearranging by positions --------------------------------------------------------------------------------------

/** Elements of `x` along an axis at the places that `index` holds; the other extents are those of `x`. */
function pick(l: ProgramLowering, x: MlirValue, index: MlirValue, axis: number): MlirValue {
  const type = tensorOf(elementOfType(x.type), shapeOfType(index.type));
  return l.e.op('tt.gather', [x, index], type, { properties: { axis: `${axis} : i32` } });
}

/** Bools are moved as bytes. */
function asBytes(l: ProgramLowering, x: MlirValue, move: (y: MlirValue) => MlirValue): MlirValue {
  const { e } = l;
  if (elementOfType(x.type) !== 'i1') return move(x);
  const moved = move(e.convert('extui', x, 'i8'));
  return e.compareInt('ne', moved, e.like(0, moved));
}

/** Counts along an axis, in every element of a shape. */
const counts = (l: ProgramLowering, axis: number, shape: readonly number[]): MlirValue =>
  l.e.broadcast(l.e.places(axis, shape), shape);

export function lowerFlip(l: ProgramLowering, op: OpOf<'flip'>): void {
  const { e } = l;
  const { axis } = op.attrs;
  const n = tileTypeOf(op.results[0]!).shape[axis]!;
  l.set(
    op.results[0]!,
    asBytes(l, l.get(op.operands.input), (x) => {
      const places = counts(l, axis, shapeOfType(x.type));
      const from = e.binary('subi', e.like(n - 1, places), places);
      // Padding has no place to come from: the first one will do.
      return pick(l, x, e.binary('maxsi', from, e.like(0, from)), axis);
    }),
  );
}

export function lowerTakeAlong(l: ProgramLowering, op: OpOf<'take_along'>): void {
  const { e } = l;
  const { input, index } = op.operands;
  const { axis } = op.attrs;
  const n = tileTypeOf(input).shape[axis]!;
  const { signed, bits } = tileTypeOf(index).dtype;
  const given = l.get(index);
  // A narrow index may not hold the last place.
  const wide = bits < 32 ? e.convert(signed ? 'extsi' : 'extui', given, 'i32') : given;
  const last = e.like(n - 1, wide);
  const places = signed
    ? e.binary('minsi', e.binary('maxsi', wide, e.like(0, wide)), last)
    : e.binary('minui', wide, last);
  l.set(
    op.results[0]!,
    asBytes(l, l.get(input), (x) => pick(l, x, places, axis)),
  );
}

/** Where a part begins: moved so that it lies within. */
function startOf(l: ProgramLowering, start: MlirValue, part: number, whole: number): MlirValue {
  const { e } = l;
  const most = whole - part;
  const known = e.known(start);
  if (known !== undefined) return e.i32(Math.min(Math.max(Number(known), 0), most));
  return most === 0 ? e.i32(0) : e.binary('minsi', e.binary('maxsi', start, e.i32(0)), e.i32(most));
}

/** Part of a tile, axis by axis. */
export function lowerSlice(l: ProgramLowering, op: OpOf<'slice'>): void {
  const { e } = l;
  const from = tileTypeOf(op.operands.input).shape;
  const to = tileTypeOf(op.results[0]!).shape;
  const index = op.operands.index ?? [];
  const result = asBytes(l, l.get(op.operands.input), (x) =>
    to.reduce((part, n, axis) => {
      if (n === from[axis]) return part;
      const start = startOf(l, l.get(index[axis]!), n, from[axis]!);
      const shape = shapeOfType(part.type).with(axis, paddedShape([n])[0]!);
      const places = e.binary('addi', counts(l, axis, shape), e.splat(start, shape));
      return pick(l, part, e.binary('minsi', places, e.like(from[axis]! - 1, places)), axis);
    }, x),
  );
  l.set(op.results[0]!, result);
}

/** Where an element lies in the part, the part's; elsewhere the tile's. */
export function lowerInsert(l: ProgramLowering, op: OpOf<'insert'>): void {
  const { e } = l;
  const { input, value, index = [] } = op.operands;
  const whole = tileTypeOf(input).shape;
  const inner = tileTypeOf(value).shape;
  if (whole.length === 0) return l.set(op.results[0]!, l.get(value));
  const shape = paddedShape(whole);
  const starts = inner.map((n, axis) => startOf(l, l.get(index[axis]!), n, whole[axis]!));
  const spread = asBytes(l, l.get(value), (x) =>
    inner.reduce((part, n, axis) => {
      const target = shapeOfType(part.type).with(axis, shape[axis]!);
      const places = e.binary('subi', counts(l, axis, target), e.splat(starts[axis]!, target));
      const held = e.binary('minsi', e.binary('maxsi', places, e.like(0, places)), e.like(n - 1, places));
      return pick(l, part, held, axis);
    }, x),
  );
  const inside = inner
    .map((n, axis) => {
      const places = e.binary('subi', counts(l, axis, shape), e.splat(starts[axis]!, shape));
      return e.compareInt('ult', places, e.like(n, places));
    })
    .reduce((a, b) => e.binary('andi', a, b));
  l.set(op.results[0]!, e.select(inside, spread, l.get(input)));
}

/** One tile after the other: each is spread over the whole, and each place takes the one it belongs to. */
export function lowerConcatenate(l: ProgramLowering, op: OpOf<'concatenate'>): void {
  const { e } = l;
  const { axis } = op.attrs;
  const shape = paddedShape(tileTypeOf(op.results[0]!).shape);
  const inputs = op.operands.inputs ?? [];
  let start = 0;
  let result: MlirValue | undefined;
  for (const input of inputs) {
    const n = tileTypeOf(input).shape[axis]!;
    const places = e.binary('subi', counts(l, axis, shape), e.constant(start, tensorOf('i32', shape)));
    const held = e.binary('minsi', e.binary('maxsi', places, e.like(0, places)), e.like(n - 1, places));
    const spread = asBytes(l, l.get(input), (x) => pick(l, x, held, axis));
    result = result ? e.select(e.compareInt('sge', places, e.like(0, places)), spread, result) : spread;
    start += n;
  }
  l.set(op.results[0]!, result!);
}
