/** Elementwise ops as ops of arith and math: the same for scalars, and for vectors of any layout. */

import { type DType, f32, isFloat } from '../../ir/dtypes.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';
import { elementType, type Lines, vectorType } from './text.js';

/** Ops by the class of their operands: float, signed, unsigned. */
const binary: Readonly<Record<string, readonly (string | undefined)[]>> = {
  add: ['arith.addf', 'arith.addi', 'arith.addi'],
  sub: ['arith.subf', 'arith.subi', 'arith.subi'],
  mul: ['arith.mulf', 'arith.muli', 'arith.muli'],
  div: ['arith.divf'],
  max: ['arith.maximumf', 'arith.maxsi', 'arith.maxui'],
  min: ['arith.minimumf', 'arith.minsi', 'arith.minui'],
  max_num: ['arith.maxnumf'],
  min_num: ['arith.minnumf'],
  and: [undefined, 'arith.andi', 'arith.andi'],
  or: [undefined, 'arith.ori', 'arith.ori'],
  xor: [undefined, 'arith.xori', 'arith.xori'],
  pow: ['math.powf'],
  atan2: ['math.atan2'],
};

/** Of scalars only, where operands are extents and positions. */
const scalarBinary: Readonly<Record<string, readonly (string | undefined)[]>> = {
  div: ['arith.divf', 'arith.divsi', 'arith.divui'],
  rem: [undefined, 'arith.remsi', 'arith.remui'],
  cdiv: [undefined, 'arith.ceildivsi', 'arith.ceildivui'],
  floor_div: [undefined, 'arith.floordivsi', 'arith.divui'],
};

const unary: Readonly<Record<string, string>> = {
  neg: 'arith.negf',
  abs: 'math.absf',
  floor: 'math.floor',
  ceil: 'math.ceil',
  round: 'math.roundeven',
  ...Object.fromEntries(
    'exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc'
      .split(' ')
      .map((name) => [name, `math.${name}`]),
  ),
};

const predicates: Readonly<Record<string, readonly [float: string, signed: string, unsigned: string]>> = {
  eq: ['oeq', 'eq', 'eq'],
  ne: ['une', 'ne', 'ne'],
  lt: ['olt', 'slt', 'ult'],
  le: ['ole', 'sle', 'ule'],
  gt: ['ogt', 'sgt', 'ugt'],
  ge: ['oge', 'sge', 'uge'],
};

const classOf = (d: DType): 0 | 1 | 2 => (isFloat(d) ? 0 : d.cls === 'int' && d.signed ? 1 : 2);

/** Emits an elementwise op on values of `shape`; gives its result. */
export function emitElementwise(
  out: Lines,
  op: GenericOp,
  operands: readonly string[],
  types: readonly TileType[],
  shape: readonly number[],
): string {
  const result = (op.results[0]!.type as TileType).dtype;
  const first = types[0]!.dtype;
  const type = vectorType(shape, elementType(first));
  const [a, b, c] = operands;
  const binaries = shape.length === 0 ? { ...binary, ...scalarBinary } : binary;
  const two = binaries[op.name]?.[classOf(first)];
  if (two !== undefined) return out.let(`${two} ${a}, ${b} : ${type}`, op.loc);
  const one = isFloat(first) ? unary[op.name] : undefined;
  if (one !== undefined) return out.let(`${one} ${a} : ${type}`, op.loc);
  const predicate = predicates[op.name]?.[classOf(first)];
  if (predicate !== undefined)
    return out.let(`arith.${isFloat(first) ? 'cmpf' : 'cmpi'} ${predicate}, ${a}, ${b} : ${type}`, op.loc);
  switch (op.name) {
    case 'select': {
      const chosen = vectorType(shape, elementType(types[1]!.dtype));
      const condition = vectorType(shape, 'i1');
      return out.let(`arith.select ${a}, ${b}, ${c} : ${shape.length === 0 ? '' : `${condition}, `}${chosen}`, op.loc);
    }
    case 'fma':
      return out.let(`math.fma ${a}, ${b}, ${c} : ${type}`, op.loc);
    case 'mod': {
      if (shape.length > 0 || isFloat(first)) break;
      // The quotient rounds down, so the remainder has the divisor's sign.
      const quotient = out.let(`${scalarBinary.floor_div![classOf(first)]} ${a}, ${b} : ${type}`, op.loc);
      const whole = out.let(`arith.muli ${quotient}, ${b} : ${type}`, op.loc);
      return out.let(`arith.subi ${a}, ${whole} : ${type}`, op.loc);
    }
    case 'cast':
      return emitCast(out, a!, first, result, shape, op);
  }
  return unsupportedOp(`'${op.name}' of ${first.name} with mosaic_gpu`);
}

function emitCast(out: Lines, x: string, from: DType, to: DType, shape: readonly number[], op: GenericOp): string {
  const convert = (name: string, value: string, a: DType, b: DType): string =>
    out.let(
      `arith.${name} ${value} : ${vectorType(shape, elementType(a))} to ${vectorType(shape, elementType(b))}`,
      op.loc,
    );
  if (from === to) return x;
  if (isFloat(from) && isFloat(to)) {
    if (from.bits < 16 || to.bits < 16) return unsupportedOp(`a cast of ${from.name} to ${to.name} with mosaic_gpu`);
    // f16 and bf16: neither holds the other.
    if (from.bits === to.bits) return convert('truncf', convert('extf', x, from, f32), f32, to);
    return convert(from.bits < to.bits ? 'extf' : 'truncf', x, from, to);
  }
  if (isFloat(to)) return convert(classOf(from) === 1 ? 'sitofp' : 'uitofp', x, from, to);
  if (isFloat(from) || to.cls === 'bool') return unsupportedOp(`a cast of ${from.name} to ${to.name} with mosaic_gpu`);
  const width = (d: DType): number => (d.cls === 'bool' ? 1 : d.bits);
  if (width(from) === width(to)) return x;
  if (width(from) > width(to)) return convert('trunci', x, from, to);
  return convert(classOf(from) === 1 ? 'extsi' : 'extui', x, from, to);
}
