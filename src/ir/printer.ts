/** Kernel IR as text. Names are given at print, attributes are sorted; the same module always prints the same bytes. */

import { type Loc, printLoc } from '../diagnostics/location.js';
import type { AttrSpec } from './attributes.js';
import { printIdentifier } from './identifier.js';
import type { BackendParams, CostEstimate, Dim, Kernel, Launch, Module, Param } from './kernel.js';
import { definitionOf } from './ops/index.js';
import { printExtent } from './symbolic.js';
import { printType } from './types.js';
import type { GenericOp, Region, Value } from './value.js';

export interface PrintOptions {
  /** Write `loc(…)` behind every op (the default). */
  readonly locs?: boolean;
}

export function printModule(module: Module, options: PrintOptions = {}): string {
  return module.kernels.map((k) => printKernel(k, options)).join('\n');
}

export function printKernel(kernel: Kernel, options: PrintOptions = {}): string {
  return new KernelPrinter(options.locs ?? true).kernel(kernel);
}

/** A backend parameter or an attribute that has no spec of its own. */
const printOption = (v: string | number | boolean): string => (typeof v === 'string' ? JSON.stringify(v) : String(v));

class KernelPrinter {
  private readonly lines: string[] = [];
  private readonly names = new Map<Value, string>();
  private readonly taken = new Set<string>();
  private next = 0;

  constructor(private readonly locs: boolean) {}

  kernel(kernel: Kernel): string {
    this.line(0, `kernel @${printIdentifier(kernel.name)}${this.loc(kernel.loc)} {`);
    for (const dim of kernel.dims) this.line(1, this.dim(dim));
    for (const param of kernel.params) this.line(1, this.param(param));
    if (kernel.cost) this.line(1, printCost(kernel.cost));
    for (const [key, text] of Object.entries(kernel.metadata ?? {}).sort())
      this.line(1, `metadata ${printIdentifier(key)} = ${JSON.stringify(text)}`);
    for (const launch of kernel.launches) this.launch(launch);
    this.line(0, '}');
    return `${this.lines.join('\n')}\n`;
  }

  private dim({ name, multipleOf, min, max, loc }: Dim): string {
    const facts = { multiple_of: multipleOf, min, max };
    const given = Object.entries(facts).filter(([, v]) => v !== undefined);
    return `dim ${printIdentifier(name)}${given.map(([k, v]) => ` ${k}(${v})`).join('')}${this.loc(loc)}`;
  }

  private param(param: Param): string {
    const name = this.define(param.value, param.name);
    const type = printType(param.value.type);
    if (param.kind === 'scalar') return `scalar ${name}: ${type}${this.loc(param.loc)}`;
    const alias = param.aliasOf === undefined ? '' : ` alias(${printIdentifier(param.aliasOf)})`;
    return `${param.role} ${name}${alias}${param.zeroed ? ' zeroed' : ''}: ${type}${this.loc(param.loc)}`;
  }

  private launch({ name, grid, warpgroups, backendParams, body, loc }: Launch): void {
    const axes = grid.map((axis) => `${printIdentifier(axis.name)} = ${printExtent(axis.extent)}`).join(', ');
    const params = backendParams.map(printBackendParams).join('');
    const groups = warpgroups ? ` warpgroups(${printIdentifier(warpgroups.name)} = ${warpgroups.count})` : '';
    this.line(1, `launch @${printIdentifier(name)} grid(${axes})${groups}${params}${this.loc(loc)} {`);
    for (const op of body.ops) this.op(op, 2);
    this.line(1, '}');
  }

  private op(op: GenericOp, depth: number): void {
    const definition = definitionOf(op);
    const operands: string[] = [];
    const groups: string[] = [];
    for (const [group, { arity }] of Object.entries(definition.operands)) {
      const given = op.operands[group];
      const values = Array.isArray(given) ? (given as readonly Value[]) : given ? [given as Value] : [];
      if (arity === 'one') operands.push(...values.map((v) => this.use(v)));
      else if (values.length > 0) groups.push(` ${group}(${values.map((v) => this.use(v)).join(', ')})`);
    }
    const attrs = Object.entries(definition.attrs as Record<string, AttrSpec<never, boolean>>)
      .filter(([name]) => op.attrs[name] !== undefined)
      .map(([name, spec]) => `${name} = ${spec.print(op.attrs[name] as never)}`)
      .sort();
    const results = op.results.map((r) => this.define(r, r.hint)).join(', ');
    const types = op.results.map((r) => printType(r.type)).join(', ');
    const head =
      `${results && `${results} = `}${op.name}${operands.length ? ` ${operands.join(', ')}` : ''}${groups.join('')}` +
      `${attrs.length ? ` {${attrs.join(', ')}}` : ''}${types && ` : ${types}`}`;
    if (op.regions.length === 0) return this.line(depth, head + this.loc(op.loc));
    op.regions.forEach((region, i) => {
      this.line(depth, `${i === 0 ? head : '}'} (${this.regionArgs(region)}) {`);
      for (const inner of region.ops) this.op(inner, depth + 1);
    });
    this.line(depth, `}${this.loc(op.loc)}`);
  }

  private regionArgs(region: Region): string {
    return region.args.map((arg) => `${this.define(arg, arg.hint)}: ${printType(arg.type)}`).join(', ');
  }

  private define(value: Value, hint: string | undefined): string {
    let name = hint;
    for (let n = 1; name !== undefined && this.taken.has(name); n++) name = `${hint}_${n}`;
    while (name === undefined || (hint === undefined && this.taken.has(name))) name = String(this.next++);
    this.taken.add(name);
    // A number needs no quotes; it names the same value with them.
    const printed = `%${/^\d+$/.test(name) ? name : printIdentifier(name)}`;
    this.names.set(value, printed);
    return printed;
  }

  /** A value that nothing in scope defines still prints, so that the verifier can show a broken module. */
  private use(value: Value): string {
    return this.names.get(value) ?? '%undefined';
  }

  private loc(loc: Loc): string {
    return this.locs && loc.kind !== 'unknown' ? ` loc(${printLoc(loc)})` : '';
  }

  private line(depth: number, text: string): void {
    this.lines.push('  '.repeat(depth) + text);
  }
}

function printBackendParams({ backend, options }: BackendParams): string {
  const entries = Object.entries(options)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([k, v]) => `${printIdentifier(k)} = ${printOption(v)}`);
  return ` params<${backend}>{${entries.join(', ')}}`;
}

function printCost({ flops, bytesAccessed, transcendentals }: CostEstimate): string {
  const parts = { flops, bytes_accessed: bytesAccessed, transcendentals };
  const given = Object.entries(parts).filter(([, v]) => v !== undefined);
  return `cost${given.map(([k, v]) => ` ${k}(${printExtent(v!)})`).join('')}`;
}
