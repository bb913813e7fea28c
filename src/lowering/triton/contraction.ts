/** Reductions, scans and matrix products in Triton IR. What pads a tile must not count: it is replaced by the identity. */

import { type DType, isFloat } from '../../ir/dtypes.js';
import { type ReduceKind, reduceIdentity } from '../../ir/ops/contraction.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { MlirValue } from '../mlir.js';
import { cast, narrow, widen } from './arithmetic.js';
import { extentMask } from './memory.js';
import type { ProgramLowering } from './program.js';
import { elementOf, elementOfType, isPadded, paddedShape, shapeOfType, tensorOf, tileTypeOf } from './types.js';

type Combine = (l: ProgramLowering, a: MlirValue, b: MlirValue) => MlirValue;

function combiner(kind: ReduceKind, dtype: DType): Combine {
  const float = isFloat(dtype);
  const bySign =
    (f: string, s: string, u: string): Combine =>
    ({ e }, a, b) =>
      e.binary(float ? f : dtype.signed ? s : u, a, b);
  switch (kind) {
    case 'sum':
      return bySign('addf', 'addi', 'addi');
    case 'prod':
      return bySign('mulf', 'muli', 'muli');
    case 'max':
    case 'argmax':
      return bySign('maximumf', 'maxsi', 'maxui');
    case 'min':
    case 'argmin':
      return bySign('minimumf', 'minsi', 'minui');
    case 'max_num':
      return bySign('maxnumf', 'maxsi', 'maxui');
    case 'min_num':
      return bySign('minnumf', 'minsi', 'minui');
    case 'any':
      return ({ e }, a, b) => e.binary('ori', a, b);
    case 'all':
      return ({ e }, a, b) => e.binary('andi', a, b);
  }
}

/** A tile whose padding along an axis has been replaced. */
function neutral(
  l: ProgramLowering,
  x: MlirValue,
  shape: readonly number[],
  axis: number,
  by: number | bigint,
): MlirValue {
  const { e } = l;
  const only = shape.map((n, i) => (i === axis ? n : 2 ** Math.ceil(Math.log2(n))));
  const mask = extentMask(l, only, []);
  return mask ? e.select(mask, x, e.like(by, x)) : x;
}

/** `tt.reduce` or `tt.scan` of several tiles together. */
function combineAlong(
  l: ProgramLowering,
  name: 'tt.reduce' | 'tt.scan',
  inputs: readonly MlirValue[],
  axis: number,
  combine: (a: readonly MlirValue[], b: readonly MlirValue[]) => readonly MlirValue[],
  reverse = false,
): readonly MlirValue[] {
  const { e } = l;
  const { loc } = e;
  const elements = inputs.map((x) => elementOfType(x.type));
  const region = e.region([...elements, ...elements], (args) => {
    const n = inputs.length;
    e.ops(`${name}.return`, { operands: combine(args.slice(0, n), args.slice(n)) });
  });
  e.loc = loc;
  const kept = (x: MlirValue): string => {
    if (name === 'tt.scan') return x.type;
    return tensorOf(
      elementOfType(x.type),
      shapeOfType(x.type).filter((_, i) => i !== axis),
    );
  };
  const properties = { axis: `${axis} : i32`, ...(name === 'tt.scan' ? { reverse: String(reverse) } : {}) };
  return e.ops(name, { operands: inputs, types: inputs.map(kept), properties, regions: [region] });
}

/** Input of a reduction or scan in the dtype that it accumulates in. */
function accumulated(l: ProgramLowering, x: MlirValue, from: DType, kind: ReduceKind, result: DType): MlirValue {
  if (kind === 'any' || kind === 'all') return l.e.convert('extui', x, 'i32');
  if (isFloat(from)) return kind === 'sum' || kind === 'prod' || from.bits === 8 ? widen(l, x, from) : x;
  return kind === 'sum' || kind === 'prod' ? cast(l, x, from, result) : x;
}

function settled(l: ProgramLowering, x: MlirValue, kind: ReduceKind, result: DType): MlirValue {
  if (kind === 'any' || kind === 'all') return l.e.compareInt('ne', x, l.e.like(0, x));
  return isFloat(result) && elementOfType(x.type) !== elementOf(result) ? narrow(l, x, result) : x;
}

export function lowerReduce(l: ProgramLowering, op: OpOf<'reduce'>): void {
  const { input } = op.operands;
  const { kind, axis } = op.attrs;
  const { dtype, shape } = tileTypeOf(input);
  const result = tileTypeOf(op.results[0]!).dtype;
  if (kind === 'argmax' || kind === 'argmin') return lowerArg(l, op, kind);
  const x = accumulated(l, l.get(input), dtype, kind, result);
  const filled = neutral(l, x, shape, axis, reduceIdentity(kind, dtype)!);
  const combine = combiner(kind, dtype);
  const [reduced] = combineAlong(l, 'tt.reduce', [filled], axis, ([a], [b]) => [combine(l, a!, b!)]);
  l.set(op.results[0]!, settled(l, reduced!, kind, result));
}

/** Value and position are reduced together: the better value wins, of equal ones the first, and the first NaN over all. */
function lowerArg(l: ProgramLowering, op: OpOf<'reduce'>, kind: 'argmax' | 'argmin'): void {
  const { e } = l;
  const { input } = op.operands;
  const { axis } = op.attrs;
  const { dtype, shape } = tileTypeOf(input);
  const x = isFloat(dtype) && dtype.bits === 8 ? widen(l, l.get(input), dtype) : l.get(input);
  const worst = reduceIdentity(kind === 'argmax' ? 'max' : 'min', dtype)!;
  const filled = neutral(l, x, shape, axis, worst);
  const places = e.broadcast(e.places(axis, paddedShape(shape)), paddedShape(shape));
  const better = (a: MlirValue, b: MlirValue): MlirValue => {
    if (isFloat(dtype)) return e.compareFloat(kind === 'argmax' ? 'ogt' : 'olt', a, b);
    const [greater, less] = dtype.signed ? (['sgt', 'slt'] as const) : (['ugt', 'ult'] as const);
    return e.compareInt(kind === 'argmax' ? greater : less, a, b);
  };
  const [, position] = combineAlong(l, 'tt.reduce', [filled, places], axis, ([a, i], [b, j]) => {
    const first = e.compareInt('slt', i!, j!);
    const equal = isFloat(dtype) ? e.compareFloat('oeq', a!, b!) : e.compareInt('eq', a!, b!);
    let wins = e.binary('ori', better(a!, b!), e.binary('andi', equal, first));
    if (isFloat(dtype)) {
      const [nanA, nanB] = [e.compareFloat('uno', a!, a!), e.compareFloat('uno', b!, b!)];
      const byNaN = e.binary('andi', nanA, e.binary('ori', first, e.not(nanB)));
      wins = e.binary('ori', byNaN, e.binary('andi', wins, e.not(nanB)));
    }
    return [e.select(wins, a!, b!), e.select(wins, i!, j!)];
  });
  l.set(op.results[0]!, position!);
}

export function lowerScan(l: ProgramLowering, op: OpOf<'scan'>): void {
  const { input } = op.operands;
  const { kind, axis, reverse = false } = op.attrs;
  const { dtype, shape } = tileTypeOf(input);
  const result = tileTypeOf(op.results[0]!).dtype;
  const x = accumulated(l, l.get(input), dtype, kind, result);
  // Only what comes before counts: padding does when the scan starts from the end.
  const filled = reverse ? neutral(l, x, shape, axis, reduceIdentity(kind, dtype)!) : x;
  const combine = combiner(kind, dtype);
  const [scanned] = combineAlong(l, 'tt.scan', [filled], axis, ([a], [b]) => [combine(l, a!, b!)], reverse);
  l.set(op.results[0]!, settled(l, scanned!, kind, result));
}

/** By an operator of the kernel's own. Where padding would take part, each element says whether it is one. */
export function lowerCombined(l: ProgramLowering, op: OpOf<'reduce_with'> | OpOf<'scan_with'>): void {
  const { e } = l;
  const { inputs = [] } = op.operands;
  const { axis } = op.attrs;
  const reverse = 'reverse' in op.attrs && op.attrs.reverse === true;
  const { shape } = tileTypeOf(inputs[0]!);
  const name = op.name === 'reduce_with' ? 'tt.reduce' : 'tt.scan';
  const padded = isPadded([shape[axis]!]) && (name === 'tt.reduce' || reverse);
  const tiles = inputs.map((v) => l.get(v));
  const apply = (a: readonly MlirValue[], b: readonly MlirValue[]): readonly MlirValue[] => {
    let results: readonly MlirValue[] = [];
    l.inside(op.regions[0]!, [...a, ...b], (values) => {
      results = values;
    });
    return results;
  };
  if (!padded) {
    const results = combineAlong(l, name, tiles, axis, apply, reverse);
    op.results.forEach((r, i) => {
      l.set(r, results[i]!);
    });
    return;
  }
  const all = paddedShape(shape);
  const counts = e.convert(
    'extui',
    e.compareInt('slt', e.broadcast(e.places(axis, all), all), e.constant(shape[axis]!, tensorOf('i32', all))),
    'i32',
  );
  const results = combineAlong(
    l,
    name,
    [...tiles, counts],
    axis,
    (a, b) => {
      const [x, y] = [a.slice(0, -1), b.slice(0, -1)];
      const [hasX, hasY] = [a.at(-1)!, b.at(-1)!].map((v) => e.compareInt('ne', v, e.like(0, v)));
      const joined = apply(x, y).map((v, i) => e.select(hasX!, e.select(hasY!, v, x[i]!), y[i]!));
      return [...joined, e.binary('ori', a.at(-1)!, b.at(-1)!)];
    },
    reverse,
  );
  op.results.forEach((r, i) => {
    l.set(r, results[i]!);
  });
}

/** What Python's front end sets for fp8: the tensor core's own accumulation all the way. */
const allImprecise = '1073741824 : i32';

export function lowerDot(l: ProgramLowering, op: OpOf<'dot'>): void {
  const { e } = l;
  const { a, b, acc } = op.operands;
  const [left, right] = [tileTypeOf(a), tileTypeOf(b)];
  const result = tileTypeOf(op.results[0]!);
  const rank = result.shape.length;
  const type = tensorOf(elementOf(result.dtype), paddedShape(result.shape));
  const start = acc ? l.get(acc) : e.constant(0, type);
  if (!isFloat(left.dtype) && left.dtype.bits > 8) {
    const wide = [a, b].map((v) => cast(l, l.get(v), left.dtype, result.dtype));
    return l.set(op.results[0]!, outerProducts(l, wide[0]!, wide[1]!, start, left.shape.at(-1)!));
  }
  const x = oneBatch(l, neutral(l, l.get(a), left.shape, rank - 1, 0));
  const y = oneBatch(l, neutral(l, l.get(b), right.shape, rank - 2, 0));
  const sums = oneBatch(l, start);
  const fp8 = isFloat(left.dtype) && left.dtype.bits === 8;
  const precision = elementOf(left.dtype) === 'f32' ? op.attrs.precision : undefined;
  const properties = {
    ...(precision === undefined || precision === 'ieee' ? {} : { inputPrecision: precision }),
    // The accumulation of fp8 in f32 is what the language promises; hardware that keeps less is given its own steps.
    ...(fp8
      ? { maxNumImpreciseAcc: l.target.vendor === 'nvidia' && l.target.capability === 90 ? '32 : i32' : allImprecise }
      : {}),
  };
  const made = e.op('tt.dot', [x, y, sums], sums.type, { properties });
  l.set(op.results[0]!, made.type === type ? made : e.op('tt.reshape', [made], type));
}

/** All batch axes as one, which is as many as Triton takes. */
function oneBatch(l: ProgramLowering, x: MlirValue): MlirValue {
  const shape = shapeOfType(x.type);
  if (shape.length <= 3) return x;
  const batch = shape.slice(0, -2).reduce((a, b) => a * b, 1);
  return l.e.op('tt.reshape', [x], tensorOf(elementOfType(x.type), [batch, ...shape.slice(-2)]));
}

/** A product of what no matrix instruction takes: column times row, one place of the contracted axis after the other. */
function outerProducts(l: ProgramLowering, a: MlirValue, b: MlirValue, acc: MlirValue, depth: number): MlirValue {
  const { e } = l;
  const rank = shapeOfType(a.type).length;
  /** The elements at one place of an axis; that axis keeps extent 1. */
  const at = (x: MlirValue, axis: number, place: MlirValue): MlirValue => {
    const shape = shapeOfType(x.type);
    const places = e.places(axis, shape);
    const here = e.compareInt('eq', places, e.splat(place, shapeOfType(places.type)));
    const only = e.select(e.broadcast(here, shape), x, e.like(0, x));
    const [found] = combineAlong(l, 'tt.reduce', [only], axis, ([p], [q]) => [e.binary('addi', p!, q!)]);
    return e.expandDims(found!, axis);
  };
  const { loc } = e;
  const shape = shapeOfType(acc.type);
  const body = e.region(['i32', acc.type], ([place, sum]) => {
    const column = e.broadcast(at(a, rank - 1, place!), shape);
    const row = e.broadcast(at(b, rank - 2, place!), shape);
    e.yield([e.binary('addi', sum!, e.binary('muli', column, row))]);
  });
  e.loc = loc;
  return e.ops('scf.for', {
    operands: [e.i32(0), e.i32(depth), e.i32(1), acc],
    types: [acc.type],
    regions: [body],
  })[0]!;
}
