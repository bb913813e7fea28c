/** Reads Triton IR as our printer writes it: one op a line, regions between braces. */

export interface Op {
  readonly name: string;
  readonly results: readonly string[];
  /** What stands behind the op's name, without its location. */
  readonly text: string;
  /** Values named in the text, in order. */
  readonly operands: readonly string[];
  /** Types behind the last colon that is outside of braces and parentheses of values. */
  readonly types: readonly string[];
  readonly regions: readonly Block[];
}

export interface Block {
  readonly args: readonly string[];
  readonly ops: readonly Op[];
}

export interface Func {
  readonly name: string;
  readonly args: readonly { readonly name: string; readonly type: string }[];
  readonly body: Block;
}

const valueNames = (text: string): string[] => [...text.matchAll(/%[A-Za-z0-9_]+(?:#\d+)?/g)].map(([v]) => v);

/** Splits at commas outside of brackets. */
export function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  [...text].forEach((c, i) => {
    if ('(<[{'.includes(c)) depth++;
    else if (')]}'.includes(c) || (c === '>' && text[i - 1] !== '-')) depth--;
    else if (c === ',' && depth === 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  });
  const last = text.slice(from).trim();
  return last ? [...parts, last] : parts;
}

const withoutLoc = (line: string): string => {
  const at = line.lastIndexOf(' loc(');
  return at < 0 ? line : line.slice(0, at);
};

class Reader {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  private get line(): string {
    return this.lines[this.at]!.trim();
  }

  func(): Func {
    while (!this.line.startsWith('tt.func')) this.at++;
    const [, name, args] = /@(\w+)\((.*)\) attributes/.exec(this.line)!;
    const parsed = splitTop(args!).map((a) => {
      const [, arg, type] = /^(%\w+): (\S+)/.exec(a)!;
      return { name: arg!, type: type! };
    });
    this.at++;
    return { name: name!, args: parsed, body: { args: [], ops: this.block() } };
  }

  /** Ops up to the brace that closes their region. */
  private block(): Op[] {
    const ops: Op[] = [];
    while (!this.line.startsWith('}')) ops.push(this.op());
    return ops;
  }

  private op(): Op {
    const line = this.line;
    const opens = /(?: \(\{| \{)$/.test(line);
    const body = opens ? line : withoutLoc(line);
    const [, left, right] = /^(?:((?:%\w+(?::\d+)?(?:, )?)+) = )?(.*)$/.exec(body)!;
    const results = (left ?? '').split(', ').flatMap((r) => {
      const [, name, count] = /^(%\w+)(?::(\d+))?$/.exec(r) ?? [];
      if (!name) return [];
      return count ? Array.from({ length: Number(count) }, (_, i) => `${name}#${i}`) : [name];
    });
    const name = /^"?([\w.]+)"?/.exec(right!)![1]!;
    const text = right!.replace(/^"?[\w.]+"?/, '').trim();
    this.at++;
    if (!opens) return { name, results, text, operands: valueNames(text), types: typesOf(text), regions: [] };
    return this.withRegions(name, results, text);
  }

  private withRegions(name: string, results: readonly string[], text: string): Op {
    const regions: Block[] = [];
    for (;;) {
      let args: string[] = [];
      if (this.line.startsWith('^bb0')) {
        args = [...this.line.matchAll(/(%\w+):/g)].map(([, v]) => v!);
        this.at++;
      }
      regions.push({ args, ops: this.block() });
      const close = this.line;
      this.at++;
      if (!/^(\} else \{|\} do \{|\}, \{)$/.test(close)) break;
    }
    const carried =
      /iter_args\((.*?)\) ->/.exec(text)?.[1] ?? (name === 'scf.while' ? /^\((.*?)\) :/.exec(text)![1]! : '');
    const pairs = splitTop(carried).map((p) => p.split(' = ') as [string, string]);
    if (name === 'scf.for') {
      const [, iv, from, to, step] = /^(%\w+) = (\S+) to (\S+) step (\S+)/.exec(text)!;
      const first = { args: [iv!, ...pairs.map(([a]) => a)], ops: regions[0]!.ops };
      return {
        name,
        results,
        text,
        operands: [from!, to!, step!, ...pairs.map(([, v]) => v)],
        types: [],
        regions: [first],
      };
    }
    if (name === 'scf.while') {
      const first = { args: pairs.map(([a]) => a), ops: regions[0]!.ops };
      return { name, results, text, operands: pairs.map(([, v]) => v), types: [], regions: [first, regions[1]!] };
    }
    return { name, results, text, operands: valueNames(text), types: [], regions };
  }
}

/** Types of an op: those of the last ` : `, results behind `->` or `to`. */
function typesOf(text: string): string[] {
  const at = text.lastIndexOf(' : ');
  if (at < 0) return [];
  const tail = text.slice(at + 3);
  return tail.split(/ -> | to | \* /).flatMap((part) => splitTop(part.replace(/^\((.*)\)$/, '$1')));
}

export const parseTtir = (text: string): Func => new Reader(text.split('\n')).func();
