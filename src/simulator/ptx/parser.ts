/** PTX text to a module. There is no grammar of each opcode: the instruction table judges the operands. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { type Loc, unknownLoc } from '../../diagnostics/location.js';
import {
  bitsOfType,
  type Entry,
  type Instruction,
  type Operand,
  type Parameter,
  type PtxModule,
  type Variable,
} from './module.js';
import { readOperands } from './operands.js';

/** Newest PTX that the instruction table was written for. */
const newestVersion = '9.4';

const order = (version: string): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1000 + minor;
};

class Source {
  private readonly starts: number[] = [0];
  constructor(readonly text: string) {
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) this.starts.push(i + 1);
  }
  lineOf(at: number): number {
    let [low, high] = [0, this.starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! <= at) low = middle;
      else high = middle;
    }
    return low + 1;
  }
  complain(what: string, at: number): never {
    throw new CompileError([simulatorCodes.syntax({ what, line: this.lineOf(at) })]);
  }
  /** Behind the bracket that closes the one at `open`. */
  behindBraces(open: number): number {
    let depth = 0;
    for (let i = open; i < this.text.length; i++) {
      if (this.text[i] === '{') depth++;
      else if (this.text[i] === '}' && --depth === 0) return i + 1;
    }
    return this.complain('a block is not closed', open);
  }
}

/** Comments become spaces, so that positions stay. */
const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, (c) => c.replace(/[^\n]/g, ' '));

export function parsePtx(text: string): PtxModule {
  const source = new Source(withoutComments(text));
  const clean = source.text;
  const version = /\.version\s+([\d.]+)/.exec(clean)?.[1] ?? source.complain('it does not begin with `.version`', 0);
  if (order(version) > order(newestVersion))
    throw new CompileError([simulatorCodes.newerVersion({ version, newest: newestVersion })]);
  const target = /\.target\s+(\w+)/.exec(clean)?.[1] ?? '';
  const files = new Map(
    [...clean.matchAll(/^\s*\.file\s+(\d+)\s+"([^"]*)"/gm)].map(([, id, name]) => [Number(id), name!] as const),
  );
  const shared: Variable[] = [];
  const globals: Variable[] = [];
  const bodies: { name: string; parameters: string; open: number; end: number }[] = [];
  let at = 0;
  while (at < clean.length) {
    const rest = /\S/g;
    rest.lastIndex = at;
    const start = rest.exec(clean)?.index;
    if (start === undefined) break;
    const semicolon = clean.indexOf(';', start);
    const brace = clean.indexOf('{', start);
    const head = clean.slice(start, start + 20);
    if (/^\.(version|target|address_size|file|loc)\b/.test(head)) {
      at = clean.indexOf('\n', start);
      if (at < 0) break;
    } else if (head.startsWith('.section')) {
      at = source.behindBraces(brace);
    } else if (brace >= 0 && (semicolon < 0 || brace < semicolon) && !/=\s*$/.test(clean.slice(start, brace))) {
      const declaration = clean.slice(start, brace);
      const end = source.behindBraces(brace);
      const entry = /\.entry\s+([\w$]+)\s*\(([\s\S]*?)\)/.exec(declaration) ?? /\.entry\s+([\w$]+)()/.exec(declaration);
      if (entry) bodies.push({ name: entry[1]!, parameters: entry[2]!, open: brace, end });
      else if (!declaration.includes('.func'))
        source.complain(`cannot read '${declaration.trim().slice(0, 60)}'`, start);
      at = end;
    } else {
      if (semicolon < 0) source.complain(`'${clean.slice(start, start + 40).trim()}' has no end`, start);
      const statement = clean.slice(start, semicolon);
      const space = /\.(shared|global|const)\b/.exec(statement)?.[1];
      if (space && !statement.includes('.func')) {
        const declared = readVariable(statement.replace(`.${space}`, ''), (w) => source.complain(w, start));
        (space === 'shared' ? shared : globals).push(declared);
      }
      at = semicolon + 1;
    }
  }
  const entries = bodies.map((b): [string, Entry] => [b.name, readEntry(source, b, shared, files)]);
  return { version, target, entries: new Map(entries), globals };
}

function readVariable(text: string, complain: (what: string) => never): Variable {
  const [head = '', initial] = text.split('=');
  const plain = head.replace(
    /\.(extern|visible|weak|common|ptr|attribute\([^)]*\))(\s+\.(global|shared|const|local|align\s+\d+)\b)*/g,
    (m) => (m.includes('.ptr') ? '' : m.replace(/\.(extern|visible|weak|common)/, '')),
  );
  const m = /(?:\.align\s+(\d+)\s+)?(?:\.v(\d)\s+)?\.(\w+)\s+([\w$.]+)\s*((?:\[\s*\d*\s*\]\s*)*)/.exec(plain);
  if (!m) return complain(`cannot read the variable '${text.trim().slice(0, 60)}'`);
  const [, alignment, vector, type, name, dims] = m;
  const size = bitsOfType(type!) / 8;
  if (size === 0) return complain(`'${name}' has the unknown type '${type}'`);
  const counts = [...dims!.matchAll(/\[\s*(\d*)\s*\]/g)].map((d) => (d[1] === '' ? 0 : Number(d[1])));
  const bytes = counts.reduce((n, d) => n * d, 1) * size * Number(vector ?? 1);
  const data = initial === undefined ? undefined : initialBytes(initial, size, bytes);
  return { name: name!, alignment: Number(alignment ?? size), bytes, extern: head.includes('.extern'), initial: data };
}

function initialBytes(text: string, size: number, bytes: number): Uint8Array {
  const data = new Uint8Array(Math.max(bytes, size));
  [...text.matchAll(/0[fFdD]([0-9a-fA-F]+)|-?(?:0[xX][0-9a-fA-F]+|\d+)/g)].forEach((m, i) => {
    let rest = BigInt.asUintN(
      64,
      m[1] ? BigInt(`0x${m[1]}`) : m[0].startsWith('-') ? -BigInt(m[0].slice(1)) : BigInt(m[0]),
    );
    for (let b = 0; b < size && i * size + b < data.length; b++, rest >>= 8n) data[i * size + b] = Number(rest & 255n);
  });
  return data;
}

function readParameters(text: string, complain: (what: string) => never): { list: Parameter[]; bytes: number } {
  const list: Parameter[] = [];
  let end = 0;
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const { name, alignment, bytes } = readVariable(part.replace('.param', ''), complain);
    const natural = part.includes('[') ? alignment : bytes;
    const offset = Math.ceil(end / natural) * natural;
    list.push({ name, offset, bytes });
    end = offset + bytes;
  }
  return { list, bytes: end };
}

interface Scope {
  readonly registers: Map<string, Operand>;
  readonly labels: Map<string, number>;
}

function readEntry(
  source: Source,
  body: { name: string; parameters: string; open: number; end: number },
  moduleShared: readonly Variable[],
  files: ReadonlyMap<number, string>,
): Entry {
  const { text } = source;
  const complainHere = (what: string): never => source.complain(what, body.open);
  const parameters = readParameters(body.parameters, complainHere);
  const shared = [...moduleShared];
  const local: Variable[] = [];
  const scopes: Scope[] = [{ registers: new Map(), labels: new Map() }];
  const code: { instruction: Instruction; scopes: readonly Scope[] }[] = [];
  let [words, predicates] = [0, 0];
  let loc: Loc = unknownLoc;

  const declare = (type: string, name: string): void => {
    const { registers } = scopes.at(-1)!;
    if (type === 'pred') {
      registers.set(name, { kind: 'predicate', index: predicates++, negated: false });
      return;
    }
    const count = Math.max(32, bitsOfType(type)) / 32;
    registers.set(name, { kind: 'register', name, slot: words, words: count });
    words += count;
  };
  const find = (name: string): Operand | undefined =>
    scopes.findLast((s) => s.registers.has(name))?.registers.get(name);

  function directive(statement: string, at: number): void {
    const complain = (what: string): never => source.complain(what, at);
    const registers = /^\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+([\s\S]*)$/.exec(statement);
    if (registers) {
      for (const item of registers[2]!.split(',')) {
        const [, name, count] = /^\s*([%\w$]+)\s*(?:<(\d+)>)?\s*$/.exec(item) ?? complain(`cannot read '${statement}'`);
        if (count === undefined) declare(registers[1]!, name!);
        else for (let i = 0; i < Number(count); i++) declare(registers[1]!, `${name}${i}`);
      }
      return;
    }
    const variable = /^\.(shared|local)\b([\s\S]*)$/.exec(statement);
    if (variable) (variable[1] === 'shared' ? shared : local).push(readVariable(variable[2]!, complain));
  }

  const blank = /[\s;]*/y;
  let at = body.open + 1;
  while (at < body.end - 1) {
    blank.lastIndex = at;
    const start = at + blank.exec(text)![0].length;
    if (start >= body.end - 1) break;
    at = start;
    const here = text[at];
    if (here === '{') {
      scopes.push({ registers: new Map(), labels: new Map() });
      at++;
      continue;
    }
    if (here === '}') {
      scopes.pop();
      at++;
      continue;
    }
    const place = /^\.(?:loc\s+(\d+)\s+(\d+)\s+(\d+)|file|pragma)[^\n]*/.exec(text.slice(at, at + 400));
    if (place) {
      const file = files.get(Number(place[1]));
      // Line 0 marks code that belongs to no line.
      if (place[2] !== undefined)
        loc =
          file === undefined || place[2] === '0'
            ? unknownLoc
            : { kind: 'file', file, line: Number(place[2]), col: Math.max(1, Number(place[3])) };
      at += place[0].length;
      continue;
    }
    const label = /^([\w$%]+)\s*:(?!:)/.exec(text.slice(at, at + 200));
    if (label) {
      scopes.at(-1)!.labels.set(label[1]!, code.length);
      at += label[0].length;
      continue;
    }
    const semicolon = text.indexOf(';', at);
    if (semicolon < 0 || semicolon >= body.end) source.complain('an instruction has no end', at);
    const statement = text.slice(at, semicolon).trim();
    if (statement.startsWith('.')) directive(statement, at);
    else code.push({ instruction: readInstruction(statement, at), scopes: [...scopes] });
    at = semicolon + 1;
  }

  function readInstruction(statement: string, from: number): Instruction {
    const complain = (what: string): never => source.complain(what, from);
    const m = /^(?:@\s*(!?)([%\w$]+)\s+)?([a-z][\w.:]*)\s*([\s\S]*)$/.exec(statement);
    if (!m) return complain(`cannot read '${statement.slice(0, 80)}'`);
    const [, not, guardName, opcode, rest] = m;
    const guard = guardName === undefined ? undefined : find(guardName);
    if (guardName !== undefined && guard?.kind !== 'predicate') return complain(`'${guardName}' is no predicate`);
    return {
      parts: opcode!.split('.'),
      operands: readOperands(rest!, find, complain),
      guard: guard?.kind === 'predicate' ? { ...guard, negated: not === '!' } : undefined,
      text: statement.replace(/\s+/g, ' '),
      line: source.lineOf(from),
      loc,
      target: undefined,
    };
  }

  const targets = code.map(({ instruction, scopes: chain }): Instruction => {
    if (instruction.parts[0] !== 'bra') return instruction;
    const name = instruction.operands.at(-1);
    const label = name?.kind === 'symbol' ? name.name : '';
    const target = chain.findLast((s) => s.labels.has(label))?.labels.get(label);
    if (target === undefined)
      throw new CompileError([simulatorCodes.syntax({ what: `there is no label '${label}'`, line: instruction.line })]);
    return { ...instruction, target };
  });
  return {
    name: body.name,
    parameters: parameters.list,
    parameterBytes: parameters.bytes,
    shared,
    local,
    words,
    predicates,
    code: targets,
    line: source.lineOf(body.open),
  };
}
