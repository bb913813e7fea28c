/** Reads `.kir` text back into a module. The result is checked op by op against the table; `verifyModule` checks the rest. */

import { irCodes } from '../diagnostics/codes/ir.js';
import { type Diagnostic, invariant } from '../diagnostics/diagnostic.js';
import { type FileLoc, fileLoc, type Loc } from '../diagnostics/location.js';
import type { AttrLiteral, AttrSpecs } from './attributes.js';
import { checkOp } from './check-op.js';
import type { OpDefinition } from './define-op.js';
import { tryDType } from './dtypes.js';
import {
  type BackendParams,
  backendNames,
  type CostEstimate,
  type Dim,
  type GridAxis,
  type Kernel,
  type Launch,
  type Module,
  maxNesting,
  type Param,
  type Warpgroups,
} from './kernel.js';
import { LexicalError } from './lexer.js';
import { tryDefinition } from './ops/index.js';
import { argument, type Extent, type SymbolicOperator, symbolic, symbolicOperators } from './symbolic.js';
import { ParseFailure, TokenReader } from './token-reader.js';
import { memorySpaces, printType, refType, type Type, tileType } from './types.js';
import { type GenericOp, type Region, type Value, value } from './value.js';

export interface ParseResult {
  /** Present when the text has no errors. */
  readonly module?: Module;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses `.kir` text.
 *
 * @param file name for locations: ops without `loc(…)` are placed in this file.
 */
export function parseModule(source: string, file: string): ParseResult {
  try {
    const parser = new KernelParser(new TokenReader(source, file));
    const module = parser.module();
    return parser.diagnostics.length ? { diagnostics: parser.diagnostics } : { module, diagnostics: [] };
  } catch (error) {
    if (error instanceof ParseFailure) return { diagnostics: [error.diagnostic] };
    if (error instanceof LexicalError) {
      const loc = fileLoc(file, error.at.line, error.at.col);
      return { diagnostics: [irCodes.syntax({ expected: 'a token', got: error.message }, { loc })] };
    }
    throw error;
  }
}

/** Reads an extent as `printExtent` writes it: what launch plans hold. */
export function parseExtent(text: string): Extent {
  const reader = new TokenReader(text, '');
  const extent = new KernelParser(reader).extent();
  invariant(reader.token.kind === 'end', `'${text}' is no extent`);
  return extent;
}

class KernelParser {
  readonly diagnostics: Diagnostic[] = [];
  private scopes: Map<string, Value>[] = [];
  private depth = 0;

  constructor(private readonly reader: TokenReader) {}

  module(): Module {
    const kernels: Kernel[] = [];
    while (this.reader.token.kind !== 'end') {
      const loc = this.reader.loc;
      const kernel = this.kernel();
      if (kernels.some((k) => k.name === kernel.name)) this.redefined('kernel', `@${kernel.name}`, loc);
      kernels.push(kernel);
    }
    return { kernels };
  }

  private kernel(): Kernel {
    const { reader } = this;
    const at = reader.loc;
    reader.expect('kernel');
    const name = reader.symbol('a kernel name (@name)');
    const loc = this.loc(at);
    reader.expect('{');
    this.scopes = [new Map()];
    const dims: Dim[] = [];
    const params: Param[] = [];
    const launches: Launch[] = [];
    const metadata = new Map<string, string>();
    let cost: CostEstimate | undefined;
    while (!reader.accept('}')) {
      if (reader.is('dim')) this.unique('dim', dims, this.dim());
      else if (reader.is('cost')) {
        if (cost) this.redefined('the', 'cost', reader.loc);
        cost = this.cost();
      } else if (reader.accept('metadata')) {
        const key = this.newKey('metadata', metadata, () => reader.identifier('a name'));
        reader.expect('=');
        metadata.set(key, reader.string('a string'));
      } else if (reader.is('launch')) launches.push(this.launch());
      else this.unique('param', params, this.param());
    }
    return {
      name,
      dims,
      params,
      ...(cost ? { cost } : {}),
      ...(metadata.size > 0 ? { metadata: Object.fromEntries(metadata) } : {}),
      launches,
      loc,
    };
  }

  private unique<T extends { readonly name: string; readonly loc: Loc }>(what: string, list: T[], item: T): void {
    if (list.some((x) => x.name === item.name)) this.redefined(what, item.name, item.loc);
    list.push(item);
  }

  /** Reads a key that `given` must not have yet. */
  private newKey(what: string, given: { has(key: string): boolean }, read: () => string): string {
    const at = this.reader.loc;
    const key = read();
    if (given.has(key)) this.redefined(what, `'${key}'`, at);
    return key;
  }

  private dim(): Dim {
    const { reader } = this;
    const at = reader.loc;
    reader.expect('dim');
    const name = reader.identifier('a dim name');
    const facts = this.calls({ multiple_of: 'multipleOf', min: 'min', max: 'max' }, () => reader.integer('an integer'));
    return { name, ...facts, loc: this.loc(at) };
  }

  /** `key(…)` any number of times, each key once; gives the values by the keys' names in the IR. */
  private calls<K extends string, T>(keys: Readonly<Record<string, K>>, read: () => T): Partial<Record<K, T>> {
    const { reader } = this;
    const given = new Map<string, T>();
    while (Object.hasOwn(keys, reader.token.text)) {
      const key = this.newKey('the fact', given, () => reader.advance().text);
      reader.expect('(');
      given.set(key, read());
      reader.expect(')');
    }
    return Object.fromEntries([...given].map(([key, x]) => [keys[key], x])) as Partial<Record<K, T>>;
  }

  private param(): Param {
    const { reader } = this;
    const at = reader.loc;
    const role = reader.word("'dim', 'in', 'out', 'inout', 'temp', 'scalar', 'cost' or 'launch'");
    if (role !== 'in' && role !== 'out' && role !== 'inout' && role !== 'temp' && role !== 'scalar')
      throw new ParseFailure(
        irCodes.syntax({ expected: "'in', 'out', 'inout', 'temp' or 'scalar'", got: `'${role}'` }, { loc: at }),
      );
    const nameAt = reader.loc;
    const name = reader.valueName();
    let aliasOf: string | undefined;
    if (reader.accept('alias')) {
      reader.expect('(');
      aliasOf = reader.identifier('the aliased input');
      reader.expect(')');
    }
    const zeroed = reader.accept('zeroed');
    reader.expect(':');
    const typeAt = reader.loc;
    const type = this.type();
    const loc = this.loc(at);
    if (role === 'scalar') {
      if (type.kind !== 'tile' || type.shape.length > 0) this.wrongType('a scalar type', type, typeAt);
      return { kind: 'scalar', name, value: this.define(name, type as never, nameAt), loc };
    }
    if (type.kind !== 'ref' || type.space !== 'gmem') this.wrongType('ref<gmem …>', type, typeAt);
    return {
      kind: 'array',
      role,
      name,
      ...(aliasOf === undefined ? {} : { aliasOf }),
      ...(zeroed ? { zeroed } : {}),
      value: this.define(name, type as never, nameAt),
      loc,
    };
  }

  private wrongType(expected: string, got: Type, loc: FileLoc): never {
    throw new ParseFailure(irCodes.syntax({ expected, got: printType(got) }, { loc }));
  }

  private cost(): CostEstimate {
    this.reader.expect('cost');
    const keys = { flops: 'flops', bytes_accessed: 'bytesAccessed', transcendentals: 'transcendentals' } as const;
    return this.calls(keys, () => this.extent());
  }

  private launch(): Launch {
    const { reader } = this;
    const at = reader.loc;
    reader.expect('launch');
    const name = reader.symbol('a launch name (@name)');
    reader.expect('grid');
    reader.expect('(');
    const grid = reader.list(')', () => {
      const axisAt = reader.loc;
      const axis = reader.identifier('a grid axis');
      reader.expect('=');
      return { name: axis, extent: this.extent(), at: axisAt };
    });
    grid.forEach((axis, i) => {
      if (grid.slice(0, i).some((other) => other.name === axis.name)) this.redefined('grid axis', axis.name, axis.at);
    });
    const warpgroups = this.warpgroups();
    const backendParams: BackendParams[] = [];
    while (reader.is('params')) {
      const paramsAt = reader.loc;
      const given = this.backendParams();
      if (backendParams.some((p) => p.backend === given.backend)) this.redefined('backend', given.backend, paramsAt);
      backendParams.push(given);
    }
    const loc = this.loc(at);
    reader.expect('{');
    const body = this.region([]);
    return {
      name,
      grid: grid.map(({ name: axis, extent }): GridAxis => ({ name: axis, extent })),
      ...(warpgroups ? { warpgroups } : {}),
      backendParams,
      body,
      loc,
    };
  }

  private warpgroups(): Warpgroups | undefined {
    const { reader } = this;
    if (!reader.accept('warpgroups')) return undefined;
    reader.expect('(');
    const name = reader.identifier('an axis of warpgroups');
    reader.expect('=');
    const count = reader.integer('a number of warpgroups');
    reader.expect(')');
    return { name, count };
  }

  private backendParams(): BackendParams {
    const { reader } = this;
    reader.expect('params');
    reader.expect('<');
    const backend = backendNames.find((b) => reader.accept(b)) ?? reader.fail(`one of ${backendNames.join(', ')}`);
    reader.expect('>');
    reader.expect('{');
    const options = new Map<string, string | number | boolean>();
    reader.list('}', () => {
      const key = this.newKey('option', options, () => reader.identifier('an option name'));
      reader.expect('=');
      options.set(key, this.option());
    });
    return { backend, options: Object.fromEntries(options) };
  }

  private option(): string | number | boolean {
    const { reader } = this;
    const { token } = reader;
    if (token.kind === 'string' || token.kind === 'number') {
      reader.advance();
      return token.value;
    }
    if (!reader.is('true') && !reader.is('false')) reader.fail('a string, number, true or false');
    return reader.advance().text === 'true';
  }

  /** The ops of a region up to its closing brace; the opening one has been read. */
  private region(args: readonly Value[], names: readonly { name: string; at: FileLoc }[] = []): Region {
    if (++this.depth > maxNesting) this.reader.fail(`regions nested at most ${maxNesting} deep`);
    this.scopes.push(new Map());
    names.forEach(({ name, at }, i) => this.bind(name, args[i]!, at));
    const ops: GenericOp[] = [];
    while (!this.reader.accept('}')) ops.push(this.op());
    this.scopes.pop();
    this.depth--;
    return { args, ops };
  }

  private op(): GenericOp {
    const { reader } = this;
    const at = reader.loc;
    const resultNames: { name: string; at: FileLoc }[] = [];
    if (reader.token.kind === 'value') {
      do resultNames.push({ at: reader.loc, name: reader.valueName() });
      while (reader.accept(','));
      reader.expect('=');
    }
    const nameAt = reader.loc;
    const name = reader.word('an op');
    const definition = tryDefinition(name);
    if (!definition) throw new ParseFailure(irCodes.undefinedName({ what: 'op', name: `'${name}'` }, { loc: nameAt }));
    const operands = this.operands(definition);
    const attrs = reader.accept('{') ? this.attrs(definition) : {};
    const stated: Type[] = [];
    if (reader.accept(':')) {
      do stated.push(this.type());
      while (reader.accept(','));
    }
    const regions: Region[] = [];
    while (reader.is('(')) regions.push(this.nestedRegion());
    const loc = this.loc(at);
    const results = stated.map((type, i) => {
      const hint = resultNames[i]?.name;
      return value(type, hint === undefined || /^\d+$/.test(hint) ? undefined : hint);
    });
    const op: GenericOp = { name, operands, attrs, results, regions, loc };
    if (resultNames.length !== stated.length)
      this.problem(`'${name}' names ${resultNames.length} results but states ${stated.length} types`, at);
    else if (this.diagnostics.length === 0) checkOp(op, (d) => this.diagnostics.push(d), at);
    resultNames.forEach((r, i) => {
      if (results[i]) this.bind(r.name, results[i], r.at);
    });
    return op;
  }

  private operands(definition: OpDefinition): Record<string, Value | readonly Value[] | undefined> {
    const { reader } = this;
    const operands: Record<string, Value | readonly Value[] | undefined> = {};
    const single = Object.entries(definition.operands).filter(([, s]) => s.arity === 'one');
    single.forEach(([group], i) => {
      if (i > 0) reader.expect(',');
      operands[group] = this.use();
    });
    for (let group = reader.token.text; reader.token.kind === 'word'; group = reader.token.text) {
      const spec = Object.hasOwn(definition.operands, group) ? definition.operands[group] : undefined;
      if (!spec || spec.arity === 'one') break;
      if (operands[group]) this.redefined('operand', `'${group}'`, reader.loc);
      reader.advance();
      reader.expect('(');
      const values = reader.list(')', () => this.use());
      if (spec.arity === 'optional' && values.length !== 1) reader.fail(`one value for '${group}'`);
      operands[group] = spec.arity === 'optional' ? values[0] : values;
    }
    return operands;
  }

  private attrs(definition: OpDefinition): Record<string, unknown> {
    const { reader } = this;
    const specs: AttrSpecs = definition.attrs;
    const attrs: Record<string, unknown> = {};
    reader.list('}', () => {
      const at = reader.loc;
      const name = reader.word('an attribute');
      if (Object.hasOwn(attrs, name)) this.redefined('attribute', `'${name}'`, at);
      reader.expect('=');
      const literal = this.literal();
      const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
      if (!spec) return this.problem(`'${definition.name}' has no attribute '${name}'`, at);
      const read: unknown = spec.read(literal);
      if (read === undefined)
        return this.problem(`attribute '${name}' of '${definition.name}' must be ${spec.expects}`, at);
      attrs[name] = read;
    });
    return attrs;
  }

  private literal(): AttrLiteral {
    const { reader } = this;
    const { token } = reader;
    if (reader.accept('[')) {
      if (++this.depth > maxNesting) reader.fail('a shorter list');
      const items = reader.list(']', () => this.literal());
      this.depth--;
      return { kind: 'list', items };
    }
    switch (token.kind) {
      case 'number':
        reader.advance();
        return { kind: 'number', value: token.value };
      case 'bigint':
        reader.advance();
        return { kind: 'bigint', value: token.value };
      case 'string':
        reader.advance();
        return { kind: 'string', value: token.value };
      case 'word':
        reader.advance();
        return { kind: 'word', value: token.text };
      default:
        return reader.fail('a number, string, word or list');
    }
  }

  private nestedRegion(): Region {
    const { reader } = this;
    reader.expect('(');
    const args = reader.list(')', () => {
      const at = reader.loc;
      const name = reader.valueName();
      reader.expect(':');
      return { at, name, value: value(this.type(), /^\d+$/.test(name) ? undefined : name) };
    });
    reader.expect('{');
    return this.region(
      args.map((a) => a.value),
      args,
    );
  }

  private type(): Type {
    const { reader } = this;
    const at = reader.loc;
    const name = reader.word('a type');
    switch (name) {
      case 'ref': {
        reader.expect('<');
        const space = memorySpaces.find((s) => reader.accept(s)) ?? reader.fail(`one of ${memorySpaces.join(', ')}`);
        const dtype = tryDType(reader.token.text) ?? reader.fail('a dtype');
        reader.advance();
        const shape = reader.accept('[') ? reader.list(']', () => this.extent()) : [];
        reader.expect('>');
        return refType(space, dtype, shape);
      }
      case 'barrier': {
        reader.expect('<');
        const arrivals = reader.integer('a number of arrivals');
        reader.expect('>');
        return { kind: 'barrier', arrivals };
      }
      case 'semaphore':
      case 'token':
        return { kind: name };
      default: {
        const dtype = tryDType(name);
        if (!dtype) throw new ParseFailure(irCodes.syntax({ expected: 'a type', got: `'${name}'` }, { loc: at }));
        const shape = reader.accept('[') ? reader.list(']', () => this.tileExtent()) : [];
        return tileType(dtype, shape);
      }
    }
  }

  private tileExtent(): number {
    const { token } = this.reader;
    if (token.kind === 'number' && token.value >= 1 && token.value <= 2 ** 31 - 1)
      return this.reader.integer('an extent');
    return this.reader.fail('a tile extent from 1 to 2^31 - 1');
  }

  extent(): Extent {
    const { reader } = this;
    if (reader.token.kind === 'number') return reader.integer('an integer');
    if (++this.depth > maxNesting) reader.fail('a shallower expression');
    const result = reader.accept('(') ? this.infix() : this.namedExtent();
    this.depth--;
    return result;
  }

  private infix(): Extent {
    const { reader } = this;
    const left = this.extent();
    const sign = reader.token.text;
    const operator = ({ '+': 'add', '-': 'sub', '*': 'mul' } as const)[sign as '+' | '-' | '*'];
    if (!operator) reader.fail("'+', '-' or '*'");
    reader.advance();
    const right = this.extent();
    reader.expect(')');
    return symbolic(operator, left, right);
  }

  private namedExtent(): Extent {
    const { reader } = this;
    const at = reader.loc;
    const name = reader.identifier('an extent');
    if (!reader.accept('(')) return argument(name);
    const operator = symbolicOperators.find((o): o is SymbolicOperator => o === name);
    if (!operator)
      throw new ParseFailure(
        irCodes.syntax({ expected: `one of ${symbolicOperators.join(', ')}`, got: `'${name}'` }, { loc: at }),
      );
    const left = this.extent();
    reader.expect(',');
    const right = this.extent();
    reader.expect(')');
    return symbolic(operator, left, right);
  }

  /** `loc(…)` if there is one, else the place in the `.kir` file. */
  private loc(fallback: FileLoc): Loc {
    const { reader } = this;
    if (!reader.accept('loc')) return fallback;
    reader.expect('(');
    const loc = this.locBody();
    reader.expect(')');
    return loc;
  }

  private locBody(): Loc {
    const { reader } = this;
    if (reader.accept('unknown')) return { kind: 'unknown' };
    if (reader.accept('fused')) {
      reader.expect('<');
      const pass = reader.string('a pass name');
      reader.expect('>');
      reader.expect('[');
      if (++this.depth > maxNesting) reader.fail('a shallower location');
      const from = reader.list(']', () => this.locBody());
      this.depth--;
      return { kind: 'fused', pass, from };
    }
    const chain = [this.filePosition()];
    while (reader.accept('at')) chain.push(this.filePosition());
    return chain.reduceRight<FileLoc | Extract<Loc, { kind: 'call' }> | undefined>(
      (caller, callee) => (caller ? { kind: 'call', callee, caller } : callee),
      undefined,
    )!;
  }

  private filePosition(): FileLoc {
    const { reader } = this;
    const file = reader.string('a file name');
    reader.expect(':');
    const line = reader.integer('a line');
    reader.expect(':');
    return fileLoc(file, line, reader.integer('a column'));
  }

  private use(): Value {
    const at = this.reader.loc;
    const name = this.reader.valueName();
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const found = this.scopes[i]!.get(name);
      if (found) return found;
    }
    throw new ParseFailure(irCodes.undefinedName({ what: 'value', name: `%${name}` }, { loc: at }));
  }

  private define<T extends Type>(name: string, type: T, at: FileLoc): Value<T> {
    const v = value(type, name);
    this.bind(name, v, at);
    return v;
  }

  private bind(name: string, v: Value, at: FileLoc): void {
    if (this.scopes.some((s) => s.has(name))) this.redefined('value', `%${name}`, at);
    this.scopes.at(-1)!.set(name, v);
  }

  private problem(message: string, loc: FileLoc): void {
    this.diagnostics.push(irCodes.invalidOp({ message }, { loc }));
  }

  private redefined(what: string, name: string, loc: Loc): void {
    this.diagnostics.push(irCodes.redefinedName({ what, name }, { loc }));
  }
}
