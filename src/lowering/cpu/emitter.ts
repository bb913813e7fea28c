/** Appends MLIR ops where the cursor stands; knows the few dialects that the CPU back end writes. */

import type { Loc } from '../../diagnostics/location.js';
import { unknownLoc } from '../../diagnostics/location.js';
import { type MlirOp, type MlirOpParts, type MlirRegion, type MlirValue, mlirOp, mlirString } from '../mlir.js';
import type { VectorUnit } from './vector-unit.js';

/** Element types of registers: f16, bf16 and fp8 values are held as f32, bool as i1. */
export type Elem = 'i1' | 'i8' | 'i16' | 'i32' | 'i64' | 'f32' | 'f64';

/** `width` elements side by side: a scalar for 1, else a vector. */
export interface Lanes {
  readonly value: MlirValue;
  readonly elem: Elem;
  readonly width: number;
}

export const lanesType = (elem: string, width: number): string => (width === 1 ? elem : `vector<${width}x${elem}>`);
export const pointer = '!llvm.ptr';

const intBits = (elem: Elem): number => Number(elem.slice(1));
export const isFloatElem = (elem: Elem): boolean => elem[0] === 'f';

/** Comparison predicates by the number that the generic form writes. */
export const floatPredicates = {
  oeq: 1,
  ogt: 2,
  oge: 3,
  olt: 4,
  ole: 5,
  one: 6,
  ord: 7,
  ueq: 8,
  une: 13,
  uno: 14,
} as const;
export const intPredicates = { eq: 0, ne: 1, slt: 2, sle: 3, sgt: 4, sge: 5, ult: 6, ule: 7, ugt: 8, uge: 9 } as const;

/** A float attribute in a form that keeps every bit. */
export function floatLiteral(x: number, elem: 'f32' | 'f64'): string {
  if (elem === 'f32') {
    const bits = new Uint32Array(Float32Array.of(x).buffer)[0]!;
    return `0x${bits.toString(16).toUpperCase().padStart(8, '0')}`;
  }
  const bits = new BigUint64Array(Float64Array.of(x).buffer)[0]!;
  return `0x${bits.toString(16).toUpperCase().padStart(16, '0')}`;
}

/** Stands in a list of static indices for one that is an operand. */
const dynamicPosition = '-9223372036854775808';
const noSignedWrap = { overflowFlags: '#arith.overflow<nsw>' };

/** What an op on indices gives where operands are known: a constant, or one of the operands. */
const foldIndex: Readonly<
  Record<string, (a: bigint | undefined, b: bigint | undefined) => bigint | 'left' | 'right' | undefined>
> = {
  addi: (a, b) => (a === 0n ? 'right' : b === 0n ? 'left' : a !== undefined && b !== undefined ? a + b : undefined),
  subi: (a, b) => (b === 0n ? 'left' : a !== undefined && b !== undefined ? a - b : undefined),
  muli: (a, b) => {
    if (a === 0n || b === 0n) return 0n;
    return a === 1n ? 'right' : b === 1n ? 'left' : a !== undefined && b !== undefined ? a * b : undefined;
  },
  divsi: (a, b) => (b === 1n ? 'left' : a !== undefined && b ? a / b : undefined),
  remsi: (a, b) => (b === 1n ? 0n : a !== undefined && b ? a % b : undefined),
};

export class Emitter {
  /** Op lists from the function's body to the innermost open region. */
  private readonly open: MlirOp[][] = [[]];
  private readonly constants = new Map<string, MlirValue>();
  private readonly integers = new Map<MlirValue, bigint>();
  private readonly entry: MlirOp[] = [];
  loc: Loc = unknownLoc;

  constructor(
    /** What the code is for. */
    readonly unit: VectorUnit,
    /** What the functions of the module need beside them: texts and declarations, by symbol. */
    readonly symbols: Map<string, MlirOp> = new Map(),
    /** Whether registers of narrow floats may hold what has not been rounded to their dtype. */
    readonly widens = false,
  ) {}

  /** The function's body: the constants first. */
  body(): MlirOp[] {
    return [...this.entry, ...this.open[0]!];
  }

  get depth(): number {
    return this.open.length - 1;
  }

  /** Identity of the region that is open at a depth: what was emitted there is visible while it stays open. */
  regionAt(depth: number): readonly MlirOp[] {
    return this.open[depth]!;
  }

  ops(name: string, parts: MlirOpParts): readonly MlirValue[] {
    const op = mlirOp(name, parts, this.loc);
    this.open.at(-1)!.push(op);
    return op.results;
  }

  op(name: string, parts: MlirOpParts): MlirValue {
    return this.ops(name, parts)[0]!;
  }

  /** Emits into the region `depth` levels from the function's body, before whatever is still open inside it. */
  at<T>(depth: number, emit: () => T): T {
    const inner = this.open.splice(depth + 1);
    try {
      return emit();
    } finally {
      this.open.push(...inner);
    }
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

  // ---- constants --------------------------------------------------------------------------------------------------

  private constant(type: string, literal: string): MlirValue {
    const key = `${literal} : ${type}`;
    let found = this.constants.get(key);
    if (!found) {
      // MLIR writes a scalar bool without its type.
      const text = type.startsWith('vector') ? `dense<${literal}> : ${type}` : type === 'i1' ? literal : key;
      const op = mlirOp('arith.constant', { types: [type], properties: { value: text } });
      this.entry.push(op);
      found = op.results[0]!;
      this.constants.set(key, found);
    }
    return found;
  }

  int(x: number | bigint, elem: Elem, width = 1): Lanes {
    const wrapped = BigInt.asIntN(intBits(elem), BigInt(x));
    const literal = elem === 'i1' ? String(wrapped !== 0n) : String(wrapped);
    const value = this.constant(lanesType(elem, width), literal);
    this.integers.set(value, wrapped);
    return { value, elem, width };
  }

  /** The integer that a value is in every lane, if it was made by `int`. */
  knownInt(value: MlirValue): bigint | undefined {
    return this.integers.get(value);
  }

  float(x: number, elem: 'f32' | 'f64', width = 1): Lanes {
    return { value: this.constant(lanesType(elem, width), floatLiteral(x, elem)), elem, width };
  }

  number(x: number | bigint, elem: Elem, width = 1): Lanes {
    return elem === 'f32' || elem === 'f64' ? this.float(Number(x), elem, width) : this.int(x, elem, width);
  }

  i64(x: number): MlirValue {
    return this.int(x, 'i64').value;
  }

  /** 0, 1, … width - 1. */
  steps(elem: 'i32' | 'i64', width: number): Lanes {
    if (width === 1) return this.int(0, elem);
    const literal = `[${Array.from({ length: width }, (_, i) => i).join(', ')}]`;
    return { value: this.constant(lanesType(elem, width), literal), elem, width };
  }

  // ---- arithmetic -------------------------------------------------------------------------------------------------

  private lanes(
    name: string,
    elem: Elem,
    width: number,
    operands: readonly Lanes[],
    properties: Record<string, string> = {},
  ): Lanes {
    const value = this.op(name, {
      operands: operands.map((x) => x.value),
      types: [lanesType(elem, width)],
      properties,
    });
    return { value, elem, width };
  }

  /** An arith op on operands of one type: `binary('addf', a, b)`. */
  binary(name: string, a: Lanes, b: Lanes, properties?: Record<string, string>): Lanes {
    return this.lanes(`arith.${name}`, a.elem, a.width, [a, b], properties);
  }

  unary(name: string, x: Lanes): Lanes {
    return this.lanes(name, x.elem, x.width, [x]);
  }

  /** The upper half of what `mulsi_extended` or `mului_extended` gives. */
  mulExtended(name: string, a: Lanes, b: Lanes): Lanes {
    const types = [a.value.type, a.value.type];
    const [, value] = this.ops(`arith.${name}`, { operands: [a.value, b.value], types });
    return { ...a, value: value! };
  }

  fma(a: Lanes, b: Lanes, c: Lanes): Lanes {
    return this.lanes('math.fma', a.elem, a.width, [a, b, c]);
  }

  compareFloat(predicate: keyof typeof floatPredicates, a: Lanes, b: Lanes): Lanes {
    return this.lanes('arith.cmpf', 'i1', a.width, [a, b], { predicate: `${floatPredicates[predicate]} : i64` });
  }

  compareInt(predicate: keyof typeof intPredicates, a: Lanes, b: Lanes): Lanes {
    return this.lanes('arith.cmpi', 'i1', a.width, [a, b], { predicate: `${intPredicates[predicate]} : i64` });
  }

  select(condition: Lanes, a: Lanes, b: Lanes): Lanes {
    return this.lanes('arith.select', a.elem, a.width, [condition, a, b]);
  }

  /** A conversion op: `convert('arith.sitofp', x, 'f32')`. */
  convert(name: string, x: Lanes, elem: Elem): Lanes {
    return x.elem === elem && name !== 'arith.bitcast' ? x : this.lanes(name, elem, x.width, [x]);
  }

  bitcast(x: Lanes, elem: Elem): Lanes {
    return this.lanes('arith.bitcast', elem, x.width, [x]);
  }

  /** The lane that an index names. */
  extractAt(x: Lanes, lane: MlirValue): Lanes {
    const index = this.op('arith.index_cast', { operands: [lane], types: ['index'] });
    const properties = { static_position: `array<i64: ${dynamicPosition}>` };
    const value = this.op('vector.extract', { operands: [x.value, index], types: [x.elem], properties });
    return { value, elem: x.elem, width: 1 };
  }

  /** The vector with the lane that an index names replaced. */
  insertAt(x: Lanes, into: MlirValue, lane: MlirValue): MlirValue {
    const index = this.op('arith.index_cast', { operands: [lane], types: ['index'] });
    const properties = { static_position: `array<i64: ${dynamicPosition}>` };
    return this.op('vector.insert', { operands: [x.value, into, index], types: [into.type], properties });
  }

  splat(x: Lanes, width: number): Lanes {
    return width === 1 ? x : this.lanes('vector.broadcast', x.elem, width, [x]);
  }

  extract(x: Lanes, lane: number): Lanes {
    if (x.width === 1) return x;
    return this.lanes('vector.extract', x.elem, 1, [x], { static_position: `array<i64: ${lane}>` });
  }

  shuffle(a: Lanes, b: Lanes, mask: readonly number[]): Lanes {
    return this.lanes('vector.shuffle', a.elem, mask.length, [a, b], { mask: `array<i64: ${mask.join(', ')}>` });
  }

  /** `width` neighbouring lanes. */
  slice(x: Lanes, start: number, width: number): Lanes {
    if (width === x.width) return x;
    return this.shuffle(
      x,
      x,
      Array.from({ length: width }, (_, lane) => start + lane),
    );
  }

  /** Vectors of one width, a power of two of them, side by side. */
  concatenate(parts: readonly Lanes[]): Lanes {
    const [first] = parts;
    if (parts.length === 1) return first!;
    const half = parts.length / 2;
    const [a, b] = [this.concatenate(parts.slice(0, half)), this.concatenate(parts.slice(half))];
    return this.shuffle(
      a,
      b,
      Array.from({ length: 2 * a.width }, (_, lane) => lane),
    );
  }

  /** Calls an intrinsic of LLVM that has no op of its own; the result is of the form of `like`. */
  intrinsic(name: string, operands: readonly Lanes[], like: Lanes): Lanes {
    return this.lanes('llvm.call_intrinsic', like.elem, like.width, operands, {
      intrin: mlirString(name),
      op_bundle_sizes: 'array<i32>',
      operandSegmentSizes: `array<i32: ${operands.length}, 0>`,
    });
  }

  /** All lanes combined to one; `reassociate` lets float sums go in any order. */
  reduction(kind: string, x: Lanes): Lanes {
    if (x.width === 1) return x;
    const fastmath = isFloatElem(x.elem) ? { fastmath: '#arith.fastmath<reassoc>' } : {};
    return this.lanes('vector.reduction', x.elem, 1, [x], { kind: `#vector.kind<${kind}>`, ...fastmath });
  }

  // ---- 64-bit index arithmetic --------------------------------------------------------------------------------------

  /** An op on indices, or the constant or operand that it amounts to. */
  private index(name: string, a: MlirValue, b: MlirValue, properties: Record<string, string> = {}): MlirValue {
    const [x, y] = [this.knownInt(a), this.knownInt(b)];
    const folded = foldIndex[name]!(x, y);
    if (folded === 'left') return a;
    if (folded === 'right') return b;
    if (folded !== undefined) return this.int(folded, 'i64').value;
    return this.op(`arith.${name}`, { operands: [a, b], types: ['i64'], properties });
  }

  addIndex(a: MlirValue, b: MlirValue): MlirValue {
    return this.index('addi', a, b, noSignedWrap);
  }

  subIndex(a: MlirValue, b: MlirValue): MlirValue {
    return this.index('subi', a, b, noSignedWrap);
  }

  mulIndex(a: MlirValue, b: MlirValue): MlirValue {
    return this.index('muli', a, b, noSignedWrap);
  }

  /** Quotient of indices that are not negative. */
  divIndex(a: MlirValue, b: MlirValue): MlirValue {
    return this.index('divsi', a, b);
  }

  remIndex(a: MlirValue, b: MlirValue): MlirValue {
    return this.index('remsi', a, b);
  }

  toIndex(x: Lanes, signed = true): MlirValue {
    const known = this.knownInt(x.value);
    if (known !== undefined) return this.int(signed ? known : BigInt.asUintN(intBits(x.elem), known), 'i64').value;
    return this.convert(signed ? 'arith.extsi' : 'arith.extui', x, 'i64').value;
  }

  // ---- memory -----------------------------------------------------------------------------------------------------

  /** Address of element `index` of an array of `memory` elements. */
  address(base: MlirValue, index: MlirValue, memory: string): MlirValue {
    const vector = /^vector<(\d+)x/.exec(index.type);
    return this.op('llvm.getelementptr', {
      operands: [base, index],
      types: [vector ? `vector<${vector[1]}x${pointer}>` : pointer],
      properties: { elem_type: memory, rawConstantIndices: 'array<i32: -2147483648>', noWrapFlags: '3 : i32' },
    });
  }

  loadMemory(address: MlirValue, memory: string, width: number, alignment: number): MlirValue {
    return this.op('llvm.load', {
      operands: [address],
      types: [lanesType(memory, width)],
      properties: { alignment: `${alignment} : i64`, ordering: '0 : i64' },
    });
  }

  storeMemory(value: MlirValue, address: MlirValue, alignment: number): void {
    this.ops('llvm.store', {
      operands: [value, address],
      properties: { alignment: `${alignment} : i64`, ordering: '0 : i64' },
    });
  }

  // ---- control ----------------------------------------------------------------------------------------------------

  private yield(values: readonly MlirValue[]): void {
    this.ops('scf.yield', { operands: values });
  }

  /** `for (i = from; i < to; i += step)` with carried values. */
  for(
    from: MlirValue,
    to: MlirValue,
    step: MlirValue,
    init: readonly MlirValue[],
    body: (i: MlirValue, carried: readonly MlirValue[]) => readonly MlirValue[],
  ): readonly MlirValue[] {
    const types = init.map((v) => v.type);
    const region = this.region([from.type, ...types], ([i, ...carried]) => this.yield(body(i!, carried)));
    return this.ops('scf.for', { operands: [from, to, step, ...init], types, regions: [region] });
  }

  /** Counts from 0 to a known bound; one trip is emitted in place. */
  count(
    n: number,
    step: number,
    init: readonly MlirValue[],
    body: (i: MlirValue, carried: readonly MlirValue[]) => readonly MlirValue[],
  ): readonly MlirValue[] {
    if (n === step) return body(this.i64(0), init);
    return this.for(this.i64(0), this.i64(n), this.i64(step), init, body);
  }

  if(
    condition: MlirValue,
    types: readonly string[],
    then: () => readonly MlirValue[],
    otherwise?: () => readonly MlirValue[],
  ): readonly MlirValue[] {
    const arm = (emit: () => readonly MlirValue[]): MlirRegion => this.region([], () => this.yield(emit()));
    const regions = [arm(then), otherwise ? arm(otherwise) : { args: [], ops: [] }];
    return this.ops('scf.if', { operands: [condition], types, regions });
  }

  /** `while`: `condition` says whether `body` runs on the carried values. */
  while(
    init: readonly MlirValue[],
    condition: (carried: readonly MlirValue[]) => MlirValue,
    body: (carried: readonly MlirValue[]) => readonly MlirValue[],
  ): readonly MlirValue[] {
    const types = init.map((v) => v.type);
    const before = this.region(types, (args) => {
      const holds = condition(args);
      this.ops('scf.condition', { operands: [holds, ...args] });
    });
    const after = this.region(types, (args) => this.yield(body(args)));
    return this.ops('scf.while', { operands: init, types, regions: [before, after] });
  }

  /** Repeats `step` until it is done; gives the values it ended with. */
  until(
    init: readonly MlirValue[],
    step: (carried: readonly MlirValue[]) => { done: MlirValue; next: readonly MlirValue[] },
  ): readonly MlirValue[] {
    const types = init.map((v) => v.type);
    const before = this.region(types, (args) => {
      const { done, next } = step(args);
      const again = this.op('arith.xori', { operands: [done, this.int(1, 'i1').value], types: ['i1'] });
      this.ops('scf.condition', { operands: [again, ...next] });
    });
    const after = this.region(types, (args) => this.yield(args));
    return this.ops('scf.while', { operands: init, types, regions: [before, after] });
  }
}
