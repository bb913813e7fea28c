/** Prints Triton IR as Triton itself does: the ops that kernels are made of in their own spelling, the rest in generic form. */

import type { Loc } from '../../diagnostics/location.js';
import { type MlirOp, type MlirRegion, type MlirValue, mlirLoc } from '../mlir.js';
import { shapeOfType } from './types.js';

/** One argument of the function. */
export interface TritonArgument {
  readonly name: string;
  readonly value: MlirValue;
  readonly attributes: Readonly<Record<string, string>>;
  readonly loc: Loc;
}

export interface TritonFunction {
  readonly symbol: string;
  readonly arguments: readonly TritonArgument[];
  readonly body: readonly MlirOp[];
  readonly loc: Loc;
}

const floatPredicates: Readonly<Record<string, string>> = {
  1: 'oeq',
  2: 'ogt',
  3: 'oge',
  4: 'olt',
  5: 'ole',
  6: 'one',
  7: 'ord',
  13: 'une',
  14: 'uno',
};
const intPredicates = ['eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'];

const dictionary = (entries: Readonly<Record<string, string>>): string =>
  Object.entries(entries)
    .map(([key, value]) => `${key} = ${value}`)
    .join(', ');
const braced = (entries: Readonly<Record<string, string>>): string => {
  const text = dictionary(entries);
  return text && ` {${text}}`;
};

type Name = (value: MlirValue) => string;
type Spelling = (op: MlirOp, name: Name) => string;

const operandList = (op: MlirOp, name: Name): string => op.operands.map(name).join(', ');
const resultType = (op: MlirOp): string => op.results[0]!.type;

/** `NAME %a, %b : type` of ops whose operands and result have one type. */
const sameType: Spelling = (op, name) =>
  `${op.name} ${operandList(op, name)}${braced(op.properties)} : ${resultType(op)}`;
/** `NAME %a {…} : from -> to`. */
const shaping: Spelling = (op, name) =>
  `${op.name} ${operandList(op, name)}${braced(op.properties)} : ${op.operands[0]!.type} -> ${resultType(op)}`;
/** `NAME %a : from to to`. */
const conversion: Spelling = (op, name) =>
  `${op.name} ${name(op.operands[0]!)} : ${op.operands[0]!.type} to ${resultType(op)}`;

const axes = ['x', 'y', 'z'];
const axisOf = (op: MlirOp): string => axes[Number.parseInt(op.properties.axis!, 10)]!;

const policy = (op: MlirOp): string =>
  op.properties.cachePolicy
    ? braced({ ...(op.properties.isVolatile ? { isVolatile: 'true' } : {}), cachePolicy: op.properties.cachePolicy })
    : op.properties.isVolatile
      ? braced({ isVolatile: 'true' })
      : '';

const spellings: Readonly<Record<string, Spelling>> = {
  'arith.constant': (op) => `arith.constant ${op.properties.value}`,
  'arith.cmpf': (op, n) =>
    `arith.cmpf ${floatPredicates[Number.parseInt(op.properties.predicate!, 10)]}, ${operandList(op, n)} : ${op.operands[0]!.type}`,
  'arith.cmpi': (op, n) =>
    `arith.cmpi ${intPredicates[Number.parseInt(op.properties.predicate!, 10)]}, ${operandList(op, n)} : ${op.operands[0]!.type}`,
  'arith.select': (op, n) =>
    shapeOfType(op.operands[0]!.type).length === 0
      ? `arith.select ${operandList(op, n)} : ${resultType(op)}`
      : `arith.select ${operandList(op, n)} : ${op.operands[0]!.type}, ${resultType(op)}`,
  'tt.get_program_id': (op) => `tt.get_program_id ${axisOf(op)} : i32`,
  'tt.get_num_programs': (op) => `tt.get_num_programs ${axisOf(op)} : i32`,
  'tt.make_range': (op) => `tt.make_range${braced(op.properties)} : ${resultType(op)}`,
  'tt.splat': shaping,
  'tt.unsplat': (op, n) => `tt.unsplat ${n(op.operands[0]!)} : ${op.operands[0]!.type}`,
  'tt.broadcast': shaping,
  'tt.bitcast': shaping,
  'tt.reshape': shaping,
  'tt.trans': shaping,
  'tt.expand_dims': shaping,
  'tt.join': (op, n) => `tt.join ${operandList(op, n)} : ${op.operands[0]!.type} -> ${resultType(op)}`,
  'tt.split': (op, n) => `tt.split ${n(op.operands[0]!)} : ${op.operands[0]!.type} -> ${resultType(op)}`,
  'tt.addptr': (op, n) => `tt.addptr ${operandList(op, n)} : ${op.operands.map((v) => v.type).join(', ')}`,
  'tt.load': (op, n) => `tt.load ${operandList(op, n)}${policy(op)} : ${op.operands[0]!.type}`,
  'tt.store': (op, n) => `tt.store ${operandList(op, n)}${policy(op)} : ${op.operands[0]!.type}`,
  'tt.dot': (op, n) => {
    const [a, b] = op.operands;
    const { inputPrecision, maxNumImpreciseAcc } = op.properties;
    const precision = inputPrecision === undefined ? '' : `, inputPrecision = ${inputPrecision}`;
    const imprecise = maxNumImpreciseAcc === undefined ? '' : braced({ maxNumImpreciseAcc });
    return `tt.dot ${operandList(op, n)}${precision}${imprecise} : ${a!.type} * ${b!.type} -> ${resultType(op)}`;
  },
  'tt.atomic_rmw': (op, n) =>
    `tt.atomic_rmw ${op.properties.kind}, ${op.properties.sem}, ${op.properties.scope}, ${operandList(op, n)} : (${op.operands.map((v) => v.type).join(', ')}) -> ${resultType(op)}`,
  'tt.atomic_cas': (op, n) =>
    `tt.atomic_cas ${op.properties.sem}, ${op.properties.scope}, ${operandList(op, n)} : (${op.operands.map((v) => v.type).join(', ')}) -> ${resultType(op)}`,
  'tt.fp_to_fp': (op, n) =>
    `tt.fp_to_fp ${n(op.operands[0]!)}${op.properties.rounding ? `, rounding = ${op.properties.rounding}` : ''} : ${op.operands[0]!.type} -> ${resultType(op)}`,
  'tt.extern_elementwise': (op, n) =>
    `tt.extern_elementwise ${operandList(op, n)}${braced(op.properties)} : (${op.operands.map((v) => v.type).join(', ')}) -> ${resultType(op)}`,
  'tt.precise_sqrt': sameType,
  'tt.precise_divf': sameType,
  'tt.mulhiui': sameType,
  'tt.print': (op, n) =>
    `tt.print ${op.properties.prefix} {hex = false, isSigned = ${op.properties.isSigned}}${op.operands.length ? ` : ${operandList(op, n)} : ${op.operands.map((v) => v.type).join(', ')}` : ''}`,
  'tt.assert': (op, n) => `tt.assert ${n(op.operands[0]!)}, ${op.properties.message} : ${op.operands[0]!.type}`,
  'llvm.intr.assume': (op, n) => `llvm.intr.assume ${n(op.operands[0]!)} : i1`,
  'tt.return': () => 'tt.return',
  'tt.reduce.return': (op, n) =>
    `tt.reduce.return ${operandList(op, n)} : ${op.operands.map((v) => v.type).join(', ')}`,
  'tt.scan.return': (op, n) => `tt.scan.return ${operandList(op, n)} : ${op.operands.map((v) => v.type).join(', ')}`,
  'scf.yield': (op, n) =>
    op.operands.length ? `scf.yield ${operandList(op, n)} : ${op.operands.map((v) => v.type).join(', ')}` : 'scf.yield',
  'scf.condition': (op, n) => {
    const [condition, ...rest] = op.operands;
    const carried = rest.length ? ` ${rest.map(n).join(', ')} : ${rest.map((v) => v.type).join(', ')}` : '';
    return `scf.condition(${n(condition!)})${carried}`;
  },
};

const conversions = new Set(
  ['extf', 'truncf', 'extsi', 'extui', 'trunci', 'sitofp', 'uitofp', 'fptosi', 'fptoui'].map((n) => `arith.${n}`),
);

const spellingOf = (op: MlirOp): Spelling | undefined => {
  if (spellings[op.name]) return spellings[op.name];
  if (conversions.has(op.name)) return conversion;
  return op.regions.length === 0 && op.results.length === 1 && /^(arith|math)\./.test(op.name) ? sameType : undefined;
};

class Printer {
  private readonly names = new Map<MlirValue, string>();
  private readonly locs = new Map<Loc, string>();
  private count = 0;
  private readonly lines: string[] = [];

  readonly name: Name = (value) => this.names.get(value)!;

  define(value: MlirValue, name = String(this.count++)): string {
    this.names.set(value, `%${name}`);
    return `%${name}`;
  }

  loc(loc: Loc): string {
    let text = this.locs.get(loc);
    if (text === undefined) {
      text = ` loc(${mlirLoc(loc)})`;
      this.locs.set(loc, text);
    }
    return text;
  }

  line(depth: number, text: string): void {
    this.lines.push('  '.repeat(depth) + text);
  }

  print(op: MlirOp, depth: number): void {
    if (op.name === 'scf.for') return this.for(op, depth);
    if (op.name === 'scf.if') return this.if(op, depth);
    if (op.name === 'scf.while') return this.while(op, depth);
    const spelling = spellingOf(op);
    const text = spelling?.(op, this.name);
    const operands = operandList(op, this.name);
    const results = this.results(op);
    if (text !== undefined) return this.line(depth, `${results}${text}${this.loc(op.loc)}`);
    const properties = dictionary(op.properties);
    const head = `${results}"${op.name}"(${operands})${properties && ` <{${properties}}>`}`;
    const types = `(${op.operands.map((v) => v.type).join(', ')}) -> ${resultTypes(op)}`;
    if (op.regions.length === 0) return this.line(depth, `${head} : ${types}${this.loc(op.loc)}`);
    this.line(depth, `${head} ({`);
    for (const [i, region] of op.regions.entries()) {
      if (i > 0) this.line(depth, '}, {');
      this.generic(region, depth, op.loc);
    }
    this.line(depth, `}) : ${types}${this.loc(op.loc)}`);
  }

  private results(op: MlirOp): string {
    return op.results.length ? `${op.results.map((v) => this.define(v)).join(', ')} = ` : '';
  }

  private generic(region: MlirRegion, depth: number, loc: Loc): void {
    const args = region.args.map((v) => `${this.define(v)}: ${v.type}${this.loc(loc)}`);
    if (args.length) this.line(depth, `^bb0(${args.join(', ')}):`);
    for (const op of region.ops) this.print(op, depth + 1);
  }

  /** `%a, %b = ` as `%4:2 = ` is written: by a name of their own, as the parser takes it. */
  private several(op: MlirOp): string {
    if (op.results.length === 0) return '';
    if (op.results.length === 1) return `${this.define(op.results[0]!)} = `;
    const base = String(this.count++);
    op.results.forEach((v, i) => {
      this.names.set(v, `%${base}#${i}`);
    });
    return `%${base}:${op.results.length} = `;
  }

  private block(ops: readonly MlirOp[], depth: number): void {
    for (const op of ops) this.print(op, depth);
  }

  private for(op: MlirOp, depth: number): void {
    const [from, to, step, ...init] = op.operands;
    const [body] = op.regions;
    const [counter, ...carried] = body!.args;
    const given = init.map(this.name);
    const bounds = [from, to, step].map((v) => this.name(v!));
    const results = this.several(op);
    const iv = this.define(counter!);
    const args = carried.map((v, i) => `${this.define(v)} = ${given[i]}`).join(', ');
    const types = init.length ? ` iter_args(${args}) -> (${init.map((v) => v.type).join(', ')})` : '';
    this.line(
      depth,
      `${results}scf.for ${iv} = ${bounds[0]} to ${bounds[1]} step ${bounds[2]}${types}  : ${from!.type} {`,
    );
    this.block(body!.ops, depth + 1);
    this.line(depth, `}${braced(op.attributes)}${this.loc(op.loc)}`);
  }

  private if(op: MlirOp, depth: number): void {
    const condition = this.name(op.operands[0]!);
    const results = this.several(op);
    const types = op.results.length ? ` -> (${op.results.map((v) => v.type).join(', ')})` : '';
    const [then, otherwise] = op.regions;
    this.line(depth, `${results}scf.if ${condition}${types} {`);
    this.block(then!.ops, depth + 1);
    if (otherwise && otherwise.ops.length > 0) {
      this.line(depth, '} else {');
      this.block(otherwise.ops, depth + 1);
    }
    this.line(depth, `}${this.loc(op.loc)}`);
  }

  private while(op: MlirOp, depth: number): void {
    const init = op.operands.map(this.name);
    const results = this.several(op);
    const [before, after] = op.regions;
    const types = `(${op.operands.map((v) => v.type).join(', ')}) -> (${op.results.map((v) => v.type).join(', ')})`;
    const args = before!.args.map((v, i) => `${this.define(v)} = ${init[i]}`).join(', ');
    this.line(depth, `${results}scf.while (${args}) : ${types} {`);
    this.block(before!.ops, depth + 1);
    this.line(depth, '} do {');
    const inner = after!.args.map((v) => `${this.define(v)}: ${v.type}${this.loc(op.loc)}`).join(', ');
    this.line(depth, `^bb0(${inner}):`);
    this.block(after!.ops, depth + 1);
    this.line(depth, `}${this.loc(op.loc)}`);
  }

  text(): string {
    return `${this.lines.join('\n')}\n`;
  }
}

const resultTypes = (op: MlirOp): string =>
  op.results.length === 1 ? op.results[0]!.type : `(${op.results.map((v) => v.type).join(', ')})`;

/** A module with one function. */
export function printTriton(f: TritonFunction): string {
  const p = new Printer();
  const args = f.arguments.map(
    (a) => `${p.define(a.value, a.name)}: ${a.value.type}${braced(a.attributes)}${p.loc(a.loc)}`,
  );
  p.line(0, 'module {');
  p.line(1, `tt.func public @${f.symbol}(${args.join(', ')}) attributes {noinline = false} {`);
  for (const op of f.body) p.print(op, 2);
  p.line(1, `}${p.loc(f.loc)}`);
  p.line(0, `}${p.loc(f.loc)}`);
  return p.text();
}
