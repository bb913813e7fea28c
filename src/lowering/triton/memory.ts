/** Addresses, loads, stores and atomics of Triton IR. */

import { type DType, isFloat } from '../../ir/dtypes.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import { type AtomicKind, blockAxes } from '../../ir/ops/memory.js';
import { symbolic } from '../../ir/symbolic.js';
import type { RefType } from '../../ir/types.js';
import type { Value } from '../../ir/value.js';
import type { MlirOpParts, MlirValue } from '../mlir.js';
import { unsupportedOp } from '../rule-table.js';
import type { ProgramLowering } from './program.js';
import {
  elementOf,
  elementOfType,
  isPadded,
  memoryElementOf,
  paddedShape,
  shapeOfType,
  tensorOf,
  tileTypeOf,
} from './types.js';

/** Elements of one array that 32 bits can tell apart. */
const narrowElements = 2 ** 31 - 1;

/** Distance of neighbours along each axis of an array; `wide` where an offset may need 64 bits. */
function stridesOf(l: ProgramLowering, ref: Value): { strides: MlirValue[]; wide: boolean } {
  const { shape } = ref.type as RefType;
  const total = shape.reduce<number>((n, extent) => n * l.most(extent), 1);
  const wide = shape.length > 1 && total > narrowElements;
  const strides: MlirValue[] = [];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const inner = axis === shape.length - 1 ? 1 : shape.slice(axis + 1).reduce((a, b) => symbolic('mul', a, b));
    // Of rank 3 and more a stride itself may need 64 bits.
    const product =
      typeof inner !== 'number' && wide && shape.length - axis > 2
        ? shape
            .slice(axis + 1)
            .reduce<MlirValue>((a, b) => l.e.scalar('muli', a, l.e.widen(l.extent(b))), l.e.constant(1, 'i64'))
        : l.extent(inner);
    strides[axis] = product;
  }
  return { strides, wide };
}

function scaled(l: ProgramLowering, index: MlirValue, stride: MlirValue, wide: boolean): MlirValue {
  const { e } = l;
  if (e.known(stride) === 1) return index;
  return wide ? e.scalar('muli', e.widen(index), e.widen(stride)) : e.scalar('muli', index, stride);
}

function sum(l: ProgramLowering, parts: readonly MlirValue[]): MlirValue | undefined {
  const { e } = l;
  const nonzero = parts.filter((p) => e.known(p) === undefined || Number(e.known(p)) !== 0);
  if (nonzero.length === 0) return undefined;
  const wide = nonzero.some((p) => elementOfType(p.type) === 'i64');
  return nonzero.map((p) => (wide ? e.widen(p) : p)).reduce((a, b) => e.scalar('addi', a, b));
}

const moved = (l: ProgramLowering, pointer: MlirValue, offset: MlirValue | undefined): MlirValue =>
  offset === undefined ? pointer : l.e.op('tt.addptr', [pointer, offset], pointer.type);

/** A block that is a line of an array of rank 1 all of whose places, also those past its end, fit 32 bits. */
interface Line {
  /** Place of each element in the array. */
  readonly places: MlirValue;
  /** How many elements the array has. */
  readonly extent: MlirValue;
}

/** Arrays that are walked alike share the places, and a mask compares them with the array's own extent. */
function lineOf(
  l: ProgramLowering,
  ref: Value,
  index: readonly Value[],
  valid: readonly Value[],
  n: number,
): Line | undefined {
  const { shape } = ref.type as RefType;
  const [extent] = shape;
  if (shape.length !== 1 || valid.length !== 1 || l.most(extent!) + n > narrowElements) return undefined;
  const rest = l.makerOf(valid[0]!);
  // What lies from the first element on is the extent less that element.
  if (!isOp(rest, 'sub') || rest.operands.right !== index[0]) return undefined;
  l.lines.set(valid[0]!, Math.max(n, l.lines.get(valid[0]!) ?? 0));
  return lineAt(l, rest, n);
}

/** Places of a line in its array, for an extent that is what is left of the array. */
const lineAt = (l: ProgramLowering, { operands: { left, right } }: OpOf<'sub'>, n: number): Line => ({
  places: l.e.binary('addi', l.e.splat(l.get(right), [n]), l.e.places(0, [n])),
  extent: l.get(left),
});

/** The mask of an extent that a line before it has too: the places and the comparison are the line's. */
export function sharedMask(l: ProgramLowering, rest: Value, n: number): MlirValue | undefined {
  const maker = l.makerOf(rest);
  return (l.lines.get(rest) ?? 0) >= n && isOp(maker, 'sub') ? lineMask(l, lineAt(l, maker, n)) : undefined;
}

const linePointers = (l: ProgramLowering, ref: Value, { places }: Line): MlirValue => {
  const pointer = l.pointer(ref);
  return moved(l, l.e.op('tt.splat', [pointer], tensorOf(pointer.type, shapeOfType(places.type))), places);
};

const lineMask = (l: ProgramLowering, { places, extent }: Line): MlirValue =>
  l.e.compareInt('slt', places, l.e.splat(extent, shapeOfType(places.type)));

/** Pointers to the elements of a block: its first element by scalars, then axis by axis, the contiguous one last. */
function blockPointers(
  l: ProgramLowering,
  ref: Value,
  index: readonly Value[],
  axes: readonly number[] | undefined,
  shape: readonly number[],
): MlirValue {
  const { e } = l;
  const { strides, wide } = stridesOf(l, ref);
  const firsts = index.map((i, axis) => scaled(l, l.get(i), strides[axis]!, wide));
  const first = sum(l, firsts);
  const along = blockAxes(strides.length, axes);
  const base = moved(l, l.pointer(ref), first);
  if (shape.length === 0) return base;
  let pointers: MlirValue | undefined;
  along.forEach((axis, t) => {
    const extent = shape[t]!;
    const stride = strides[axis]!;
    const far = wide && e.known(stride) !== 1;
    const places = e.places(t, shape);
    const steps = shapeOfType(places.type);
    const offset =
      e.known(stride) === 1
        ? places
        : e.binary(
            'muli',
            far ? e.convert('extsi', places, 'i64') : places,
            e.splat(far ? e.widen(stride) : stride, steps),
          );
    if (!pointers) {
      const spread = e.op('tt.splat', [base], tensorOf(base.type, steps));
      pointers = extent === 1 ? spread : moved(l, spread, offset);
      return;
    }
    const joint = shapeOfType(pointers.type).map((n, i) => (i === t ? extent : n));
    const all = e.broadcast(pointers, joint);
    pointers = extent === 1 ? all : moved(l, all, e.broadcast(offset, joint));
  });
  return pointers!;
}

/** Conjunction of conditions that are there. */
export function both(l: ProgramLowering, a: MlirValue | undefined, b: MlirValue | undefined): MlirValue | undefined {
  return a && b ? l.e.binary('andi', a, b) : (a ?? b);
}

/** Which elements lie before an extent on each axis, and within the tile where it is padded; undefined: all of them. */
export function extentMask(
  l: ProgramLowering,
  tile: readonly number[],
  extents: readonly (MlirValue | undefined)[],
): MlirValue | undefined {
  const { e } = l;
  const shape = paddedShape(tile);
  return tile
    .map((n, axis) => {
      const given = extents[axis];
      const known = given && e.known(given);
      const needed = given && !(known !== undefined && Number(known) >= n) ? given : undefined;
      if (!needed && shape[axis] === n) return undefined;
      const limit = !needed ? e.i32(n) : shape[axis] === n ? needed : e.binary('minsi', needed, e.i32(n));
      const places = e.places(axis, shape);
      const holds = e.compareInt('slt', places, e.splat(limit, shapeOfType(places.type)));
      return e.broadcast(holds, shape);
    })
    .reduce<MlirValue | undefined>((a, b) => both(l, a, b), undefined);
}

const policyOf = (attrs: {
  readonly cache?: string | undefined;
  readonly eviction?: string | undefined;
  readonly volatile?: boolean | undefined;
}): Record<string, string> => ({
  ...(attrs.volatile ? { isVolatile: 'true' } : {}),
  ...(attrs.cache || attrs.eviction
    ? {
        cachePolicy: `#tt.cache_policy<cache_modifier = ${attrs.cache ?? 'none'}, eviction_policy = ${
          // A modifier with another policy than the normal one is code that ptxas refuses.
          attrs.cache || !attrs.eviction || attrs.eviction === 'normal' ? 'evict_normal' : attrs.eviction
        }>`,
      }
    : {}),
});

/** Reads through pointers; a bool is a byte in memory. */
function read(
  l: ProgramLowering,
  dtype: DType,
  pointers: MlirValue,
  mask: MlirValue | undefined,
  other: MlirValue | undefined,
  properties: Record<string, string>,
): MlirValue {
  const { e } = l;
  const type = tensorOf(memoryElementOf(dtype), shapeOfType(pointers.type));
  const missing = other && dtype.cls === 'bool' ? e.convert('extui', other, 'i8') : other;
  const operands = [pointers, ...(mask ? [mask, ...(missing ? [missing] : [])] : [])];
  const raw = e.op('tt.load', operands, type, { properties } as MlirOpParts);
  return dtype.cls === 'bool' ? e.compareInt('ne', raw, e.like(0, raw)) : raw;
}

function write(
  l: ProgramLowering,
  dtype: DType,
  pointers: MlirValue,
  value: MlirValue,
  mask: MlirValue | undefined,
  properties: Record<string, string>,
): void {
  const { e } = l;
  const raw = dtype.cls === 'bool' ? e.convert('extui', value, 'i8') : value;
  e.ops('tt.store', { operands: [pointers, raw, ...(mask ? [mask] : [])], properties });
}

const maskOf = (l: ProgramLowering, mask: Value | undefined): MlirValue | undefined => mask && l.get(mask);

/** Pointers to the elements of a block, and which of them lie within. */
function placed(
  l: ProgramLowering,
  ref: Value,
  index: readonly Value[],
  valid: readonly Value[],
  axes: readonly number[] | undefined,
  shape: readonly number[],
): { readonly pointers: MlirValue; readonly within: MlirValue | undefined } {
  const line = shape.length === 1 && !isPadded(shape) ? lineOf(l, ref, index, valid, shape[0]!) : undefined;
  if (line) return { pointers: linePointers(l, ref, line), within: lineMask(l, line) };
  const extents = valid.map((v) => l.get(v));
  return {
    pointers: blockPointers(l, ref, index, axes, paddedShape(shape)),
    within: extentMask(l, shape, extents),
  };
}

export function lowerLoad(l: ProgramLowering, op: OpOf<'load'>): void {
  const { e } = l;
  const { ref, index = [], valid = [], mask, other } = op.operands;
  const { dtype, shape } = tileTypeOf(op.results[0]!);
  const padded = paddedShape(shape);
  const { pointers, within } = placed(l, ref, index, valid, op.attrs.axes, shape);
  const guard = both(l, within, maskOf(l, mask));
  const number = l.folded.others.get(op);
  const type = tensorOf(elementOf(dtype), padded);
  const missing = number !== undefined ? e.constant(number, type) : other ? e.splat(l.get(other), padded) : undefined;
  l.set(op.results[0]!, read(l, dtype, pointers, guard, missing, policyOf(op.attrs)));
}

export function lowerStore(l: ProgramLowering, op: OpOf<'store'>): void {
  const { ref, value, index = [], valid = [], mask } = op.operands;
  const { dtype, shape } = tileTypeOf(value);
  const { pointers, within } = placed(l, ref, index, valid, op.attrs.axes, shape);
  write(l, dtype, pointers, l.get(value), both(l, within, maskOf(l, mask)), policyOf(op.attrs));
}

// ---- element by element -------------------------------------------------------------------------------------------

/** An index tile as signed integers of 32 or 64 bits. */
function indexOf(l: ProgramLowering, index: Value, wide: boolean): MlirValue {
  const { e } = l;
  const dtype = l.dtypeOf(index);
  const x = l.get(index);
  if (dtype.bits === 64) return wide ? x : e.convert('trunci', x, 'i32');
  const name = dtype.signed ? 'extsi' : 'extui';
  if (wide || (dtype.bits === 32 && !dtype.signed)) return e.convert(name, x, 'i64');
  return e.convert(name, x, 'i32');
}

function elementPointers(l: ProgramLowering, ref: Value, index: readonly Value[]): MlirValue {
  const { e } = l;
  const { strides, wide } = stridesOf(l, ref);
  const shape = paddedShape(tileTypeOf(index[0]!).shape);
  const parts = index.map((i, axis) => {
    const stride = strides[axis]!;
    if (e.known(stride) === 1) return indexOf(l, i, false);
    const x = indexOf(l, i, wide);
    const factor = elementOfType(x.type) === 'i64' ? e.widen(stride) : stride;
    return e.binary('muli', x, e.splat(factor, shape));
  });
  const far = parts.some((p) => elementOfType(p.type) === 'i64');
  const offset = parts.map((p) => (far ? e.convert('extsi', p, 'i64') : p)).reduce((a, b) => e.binary('addi', a, b));
  const base = l.pointer(ref);
  const pointers = shape.length === 0 ? base : e.op('tt.splat', [base], tensorOf(base.type, shape));
  return e.op('tt.addptr', [pointers, offset], pointers.type);
}

/** The op's own mask, and what padding asks for. */
const guardOf = (l: ProgramLowering, shape: readonly number[], mask: Value | undefined): MlirValue | undefined =>
  both(l, isPadded(shape) ? extentMask(l, shape, []) : undefined, maskOf(l, mask));

export function lowerGather(l: ProgramLowering, op: OpOf<'gather'>): void {
  const { ref, index = [], mask, other } = op.operands;
  const { dtype, shape } = tileTypeOf(op.results[0]!);
  const missing = other && l.e.splat(l.get(other), paddedShape(shape));
  const pointers = elementPointers(l, ref, index);
  l.set(op.results[0]!, read(l, dtype, pointers, guardOf(l, shape, mask), missing, policyOf(op.attrs)));
}

export function lowerScatter(l: ProgramLowering, op: OpOf<'scatter'>): void {
  const { ref, value, index = [], mask } = op.operands;
  const { dtype, shape } = tileTypeOf(value);
  write(l, dtype, elementPointers(l, ref, index), l.get(value), guardOf(l, shape, mask), policyOf(op.attrs));
}

const scopes = { block: 'cta', device: 'gpu', system: 'sys' } as const;

export function lowerAtomic(l: ProgramLowering, op: OpOf<'atomic_rmw'>): void {
  const { e } = l;
  const { ref, value, index = [], mask } = op.operands;
  const { dtype, shape } = tileTypeOf(value);
  const padded = paddedShape(shape);
  if (dtype.bits < 16) unsupportedOp(`atomics on ${dtype.name} in Triton`);
  const pointers = elementPointers(l, ref, index);
  const guard = guardOf(l, shape, mask) ?? e.constant(1, tensorOf('i1', padded));
  const { kind, order, scope } = op.attrs;
  const rmw = (name: string, p: MlirValue, x: MlirValue, m: MlirValue): MlirValue =>
    e.op('tt.atomic_rmw', [p, x, m], x.type, { properties: { kind: name, sem: order, scope: scopes[scope] } });
  const x = l.get(value);
  if (!isFloat(dtype) || (kind !== 'max' && kind !== 'min')) {
    l.set(op.results[0]!, rmw(nameOf(kind, dtype), pointers, x, guard));
    return;
  }
  if (dtype.bits !== 32 && dtype.bits !== 64) unsupportedOp(`atomic ${kind} on ${dtype.name} in Triton`);
  // The bits of floats, as integers: positive ones are ordered as signed numbers, negative ones the other way round.
  const int = `i${dtype.bits}`;
  const nan = e.compareFloat('uno', x, x);
  const bits = e.bitcast(e.select(nan, e.like(Number.NaN, x), x), int);
  const places = e.op('tt.bitcast', [pointers], tensorOf(`!tt.ptr<${int}>`, padded));
  const positive = e.compareInt('sge', bits, e.like(0, bits));
  const upper = kind === 'max';
  const onPositive = rmw(upper ? 'max' : 'min', places, bits, e.binary('andi', guard, positive));
  const onNegative = rmw(upper ? 'umin' : 'umax', places, bits, e.binary('andi', guard, e.not(positive)));
  l.set(op.results[0]!, e.bitcast(e.select(positive, onPositive, onNegative), elementOf(dtype)));
}

function nameOf(kind: AtomicKind, dtype: DType): string {
  switch (kind) {
    case 'add':
      return isFloat(dtype) ? 'fadd' : 'add';
    case 'max':
      return dtype.signed ? 'max' : 'umax';
    case 'min':
      return dtype.signed ? 'min' : 'umin';
    case 'exchange':
      return 'exch';
    default:
      return kind;
  }
}

export function lowerCas(l: ProgramLowering, op: OpOf<'atomic_cas'>): void {
  const { e } = l;
  const { ref, compare, value, index = [], mask } = op.operands;
  const { dtype, shape } = tileTypeOf(value);
  if (dtype.bits < 16) unsupportedOp(`compare and swap on ${dtype.name} in Triton`);
  const int = `i${dtype.bits}`;
  const padded = paddedShape(shape);
  const pointerOf = (p: MlirValue): MlirValue =>
    isFloat(dtype) ? e.op('tt.bitcast', [p], tensorOf(`!tt.ptr<${int}>`, shapeOfType(p.type))) : p;
  const [expected, wanted] = [compare, value].map((v) => (isFloat(dtype) ? e.bitcast(l.get(v), int) : l.get(v)));
  const properties = { sem: op.attrs.order, scope: scopes[op.attrs.scope] };
  const swap = (places: MlirValue, held: MlirValue): MlirValue =>
    e.op('tt.atomic_cas', [places, expected!, held], expected!.type, { properties });
  const guard = guardOf(l, shape, mask);
  const pointers = elementPointers(l, ref, index);
  const old = guard ? guarded() : swap(pointerOf(pointers), wanted!);
  l.set(op.results[0]!, isFloat(dtype) ? e.bitcast(old, elementOf(dtype)) : old);

  /**
   * The instruction has no mask. Where the mask is off, the array's first element is replaced by what it is compared with,
   * which changes nothing; where it is off everywhere there may be no first element, and nothing is done.
   */
  function guarded(): MlirValue {
    const { loc } = e;
    const some = padded.length === 0 ? guard! : anyOf(l, guard!);
    const first = l.pointer(ref);
    const spare = padded.length === 0 ? first : e.op('tt.splat', [first], tensorOf(first.type, padded));
    const then = e.region([], () => {
      const places = pointerOf(e.select(guard!, pointers, spare));
      e.yield([swap(places, e.select(guard!, wanted!, expected!))]);
    });
    const otherwise = e.region([], () => e.yield([e.like(0, expected!)]));
    e.loc = loc;
    return e.ops('scf.if', { operands: [some], types: [expected!.type], regions: [then, otherwise] })[0]!;
  }
}

/** Whether a condition holds anywhere in a tile. */
function anyOf(l: ProgramLowering, condition: MlirValue): MlirValue {
  const { e } = l;
  let x = e.convert('extui', condition, 'i32');
  while (shapeOfType(x.type).length > 0) {
    const type = tensorOf('i32', shapeOfType(x.type).slice(1));
    const region = e.region(['i32', 'i32'], ([a, b]) => {
      e.ops('tt.reduce.return', { operands: [e.binary('ori', a!, b!)] });
    });
    x = e.op('tt.reduce', [x], type, { properties: { axis: '0 : i32' }, regions: [region] });
  }
  return e.compareInt('ne', x, e.like(0, x));
}
