/** Appends Triton IR where the cursor stands; values carry their types, so that ops need none spelled out. */

import type { Loc } from '../../diagnostics/location.js';
import { unknownLoc } from '../../diagnostics/location.js';
import { type MlirOp, type MlirOpParts, type MlirRegion, type MlirValue, mlirOp, mlirString } from '../mlir.js';
import { elementOfType, isFloatElement, shapeOfType, tensorOf } from './types.js';

const floatPredicates = { oeq: 1, ogt: 2, oge: 3, olt: 4, ole: 5, one: 6, ord: 7, une: 13, uno: 14 } as const;
const intPredicates = { eq: 0, ne: 1, slt: 2, sle: 3, sgt: 4, sge: 5, ult: 6, ule: 7, ugt: 8, uge: 9 } as const;
export type FloatPredicate = keyof typeof floatPredicates;
export type IntPredicate = keyof typeof intPredicates;

const floatBits: Readonly<Record<string, (x: number) => string>> = {
  f64: (x) => new BigUint64Array(Float64Array.of(x).buffer)[0]!.toString(16).padStart(16, '0'),
  f32: (x) => new Uint32Array(Float32Array.of(x).buffer)[0]!.toString(16).padStart(8, '0'),
};

/** Special values by their bits. */
const specialBits: Readonly<Record<string, Readonly<Record<'nan' | 'inf' | '-inf', string>>>> = {
  f16: { nan: '7E00', inf: '7C00', '-inf': 'FC00' },
  bf16: { nan: '7FC0', inf: '7F80', '-inf': 'FF80' },
};

/** A number as MLIR reads it: decimal where that is exact, else by its bits. */
function literal(x: number | bigint, element: string): string {
  if (!isFloatElement(element)) {
    if (element === 'i1') return x ? 'true' : 'false';
    return String(BigInt.asIntN(Number(element.slice(1)), BigInt(x)));
  }
  const n = Number(x);
  if (Number.isFinite(n)) {
    const text = n.toExponential();
    return Object.is(n, -0) ? '-0.000000e+00' : text.includes('.') ? text : text.replace('e', '.0e');
  }
  const bits = floatBits[element];
  if (bits) return `0x${bits(n).toUpperCase()}`;
  const name = Number.isNaN(n) ? 'nan' : n > 0 ? 'inf' : '-inf';
  return `0x${specialBits[element]![name]}`;
}

export class TritonEmitter {
  private readonly open: MlirOp[][] = [[]];
  private readonly numbers = new Map<MlirValue, number | bigint>();
  private readonly constants = new Map<string, MlirValue>();
  private readonly entry: MlirOp[] = [];
  loc: Loc = unknownLoc;

  /** The function's body: the constants first. */
  body(): MlirOp[] {
    return [...this.entry, ...this.open[0]!];
  }

  ops(name: string, parts: MlirOpParts): readonly MlirValue[] {
    const op = mlirOp(name, parts, this.loc);
    this.open.at(-1)!.push(op);
    return op.results;
  }

  op(name: string, operands: readonly MlirValue[], type: string, more: MlirOpParts = {}): MlirValue {
    return this.ops(name, { ...more, operands, types: [type] })[0]!;
  }

  region(argTypes: readonly string[], emit: (args: readonly MlirValue[]) => void): MlirRegion {
    const args = argTypes.map((type) => ({ type }));
    const ops: MlirOp[] = [];
    this.open.push(ops);
    try {
      emit(args);
    } finally {
      this.open.pop();
    }
    return { args, ops };
  }

  // ---- constants ------------------------------------------------------------------------------------------------

  /** A number in every element of a type. */
  constant(x: number | bigint, type: string): MlirValue {
    const element = elementOfType(type);
    const text = literal(x, element);
    const value = element === type ? (element === 'i1' ? text : `${text} : ${element}`) : `dense<${text}> : ${type}`;
    const key = `${value}:${type}`;
    let found = this.constants.get(key);
    if (!found) {
      const op = mlirOp('arith.constant', { types: [type], properties: { value } }, this.loc);
      this.entry.push(op);
      found = op.results[0]!;
      this.constants.set(key, found);
      this.numbers.set(found, x);
    }
    return found;
  }

  i32(x: number): MlirValue {
    return this.constant(x, 'i32');
  }

  /** The number that a value is in every element, where it is known. */
  known(value: MlirValue): number | bigint | undefined {
    return this.numbers.get(value);
  }

  like(x: number | bigint, value: MlirValue): MlirValue {
    return this.constant(x, value.type);
  }

  // ---- arithmetic -------------------------------------------------------------------------------------------------

  binary(name: string, a: MlirValue, b: MlirValue): MlirValue {
    return this.op(`arith.${name}`, [a, b], a.type);
  }

  unary(name: string, x: MlirValue): MlirValue {
    return this.op(name, [x], x.type);
  }

  /** The type of another element in the same shape. */
  retyped(x: MlirValue, element: string): string {
    return tensorOf(element, shapeOfType(x.type));
  }

  convert(name: string, x: MlirValue, element: string): MlirValue {
    const type = this.retyped(x, element);
    return x.type === type ? x : this.op(`arith.${name}`, [x], type);
  }

  bitcast(x: MlirValue, element: string): MlirValue {
    const type = this.retyped(x, element);
    return x.type === type ? x : this.op('tt.bitcast', [x], type);
  }

  compareFloat(predicate: FloatPredicate, a: MlirValue, b: MlirValue): MlirValue {
    const properties = { predicate: `${floatPredicates[predicate]} : i64` };
    return this.op('arith.cmpf', [a, b], this.retyped(a, 'i1'), { properties });
  }

  compareInt(predicate: IntPredicate, a: MlirValue, b: MlirValue): MlirValue {
    const properties = { predicate: `${intPredicates[predicate]} : i64` };
    return this.op('arith.cmpi', [a, b], this.retyped(a, 'i1'), { properties });
  }

  select(condition: MlirValue, a: MlirValue, b: MlirValue): MlirValue {
    return this.op('arith.select', [condition, a, b], a.type);
  }

  not(x: MlirValue): MlirValue {
    return this.binary('xori', x, this.like(-1, x));
  }

  /** A function of the target's mathematical library. */
  extern(symbol: string, args: readonly MlirValue[], element = elementOfType(args[0]!.type)): MlirValue {
    const properties = {
      libname: '""',
      libpath: '""',
      pure: 'true',
      symbol: mlirString(symbol),
    };
    return this.op('tt.extern_elementwise', args, this.retyped(args[0]!, element), { properties });
  }

  // ---- integers of the program ------------------------------------------------------------------------------------

  /** Arithmetic on scalars of i32 or i64 that folds what is known. */
  scalar(name: 'addi' | 'subi' | 'muli' | 'divsi' | 'remsi', a: MlirValue, b: MlirValue): MlirValue {
    const [x, y] = [this.known(a), this.known(b)];
    if (name === 'addi' && x === 0) return b;
    if ((name === 'addi' || name === 'subi') && y === 0) return a;
    if (name === 'muli' && (x === 0 || y === 1)) return a;
    if (name === 'muli' && (y === 0 || x === 1)) return b;
    if (name === 'divsi' && y === 1) return a;
    if (x !== undefined && y !== undefined && name !== 'divsi' && name !== 'remsi') {
      const folded = { addi: Number(x) + Number(y), subi: Number(x) - Number(y), muli: Number(x) * Number(y) }[name];
      if (Math.abs(folded) < 2 ** 31) return this.like(folded, a);
    }
    return this.binary(name, a, b);
  }

  widen(x: MlirValue): MlirValue {
    const known = this.known(x);
    if (x.type === 'i64') return x;
    return known === undefined ? this.convert('extsi', x, 'i64') : this.constant(known, this.retyped(x, 'i64'));
  }

  // ---- shapes -----------------------------------------------------------------------------------------------------

  splat(x: MlirValue, shape: readonly number[]): MlirValue {
    if (shape.length === 0) return x;
    const known = this.known(x);
    const type = tensorOf(x.type, shape);
    return known !== undefined ? this.constant(known, type) : this.op('tt.splat', [x], type);
  }

  range(n: number): MlirValue {
    const properties = { start: '0 : i32', end: `${n} : i32` };
    return this.op('tt.make_range', [], tensorOf('i32', [n]), { properties });
  }

  expandDims(x: MlirValue, axis: number): MlirValue {
    const shape = shapeOfType(x.type);
    const type = tensorOf(elementOfType(x.type), [...shape.slice(0, axis), 1, ...shape.slice(axis)]);
    return this.op('tt.expand_dims', [x], type, { properties: { axis: `${axis} : i32` } });
  }

  /** To a shape of the same rank. */
  broadcast(x: MlirValue, shape: readonly number[]): MlirValue {
    const type = tensorOf(elementOfType(x.type), shape);
    if (type === x.type) return x;
    const known = this.known(x);
    return known === undefined ? this.op('tt.broadcast', [x], type) : this.constant(known, type);
  }

  /** A one-dimensional tensor along one axis of a shape, extent 1 on the others. */
  along(x: MlirValue, axis: number, rank: number): MlirValue {
    let result = x;
    for (let i = 0; i < rank; i++) if (i !== axis) result = this.expandDims(result, i);
    return result;
  }

  /** 0, 1, 2, … along an axis, extent 1 on the others. */
  places(axis: number, shape: readonly number[]): MlirValue {
    return this.along(this.range(shape[axis]!), axis, shape.length);
  }

  // ---- control ----------------------------------------------------------------------------------------------------

  yield(values: readonly MlirValue[]): void {
    this.ops('scf.yield', { operands: values });
  }
}
