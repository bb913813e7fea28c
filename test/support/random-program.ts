/**
 * Random kernels in which ragged tiles of several origins meet loops, branches, contractions, masks and element-wise
 * addresses. All arithmetic is on i32, which is exact in any order, so every way of running one agrees to the bit.
 */

import type { Kernel } from '../../src/ir/kernel.js';
import { parseModule } from '../../src/ir/parser.js';
import { verifyKernel } from '../../src/ir/verifier.js';
import { picker } from './random-kernel.js';

export interface RandomProgram {
  readonly kernel: Kernel;
  readonly dims: Readonly<Record<'m' | 'n' | 'k', number>>;
}

/** Attempts at one step: most that fail mix tiles of two extents. */
const attempts = 6;

class Writer {
  private readonly lines: string[] = [];
  /** Names of values by their type. */
  private pools = new Map<string, string[]>();
  private next = 0;
  /** Regions around the place that is being written. */
  private level = 0;

  constructor(
    private readonly pick: <T>(list: readonly T[]) => T,
    readonly bm: number,
    readonly bn: number,
    readonly bk: number,
  ) {}

  private head(): string {
    const { bm, bn, bk } = this;
    return `kernel @random {
      dim m dim n dim k
      in %x: ref<gmem i32[m, n]>
      in %a: ref<gmem i32[m, k]>
      in %b: ref<gmem i32[k, n]>
      in %w: ref<gmem i32[n]>
      in %s: ref<gmem i32[${bm}, ${bn}]>
      out %y: ref<gmem i32[m, n]>
      out %h: ref<gmem i32[n]>
      out %q: ref<gmem i32[m]>
      out %z: ref<gmem i32[m, n]>
      launch @random grid(i = cdiv(m, ${bm}), j = cdiv(n, ${bn})) {
        %zero = constant {value = 0} : i32
        %one = constant {value = 1} : i32
        %two = constant {value = 2} : i32
        %odd = constant {value = 31} : i32
        %bm = constant {value = ${bm}} : i32
        %bn = constant {value = ${bn}} : i32
        %bk = constant {value = ${bk}} : i32
        %i = program_id {axis = "i"} : i32
        %j = program_id {axis = "j"} : i32
        %m = dim {name = "m"} : i32
        %n = dim {name = "n"} : i32
        %k = dim {name = "k"} : i32
        %row = mul %i, %bm : i32
        %column = mul %j, %bn : i32
        %rows = sub %m, %row : i32
        %columns = sub %n, %column : i32
        %depths = cdiv %k, %bk : i32
        %last = sub %n, %one : i32
        %lasts = broadcast %last : i32[${bn}]
        %zeros = constant {value = 0} : i32[${bn}]`;
  }

  text(): string {
    return `${this.head()}\n${this.lines.join('\n')}\n}\n}`;
  }

  private get block(): string {
    return `i32[${this.bm}, ${this.bn}]`;
  }

  private fresh(): string {
    return `%v${this.next++}`;
  }

  private keep(type: string, name: string): string {
    const pool = this.pools.get(type);
    if (pool) pool.push(name);
    else this.pools.set(type, [name]);
    return name;
  }

  /** A line that defines a value of a type, which later steps may use. */
  private define(type: string, op: string): string {
    const name = this.fresh();
    this.lines.push(`${name} = ${op} : ${type}`);
    return this.keep(type, name);
  }

  /** A value of a type that exists, preferably a recent one; else a constant. */
  private any(type: string): string {
    const pool = this.pools.get(type) ?? [];
    if (pool.length === 0) return this.define(type, `constant {value = ${this.pick([0, 1, 3])}}`);
    return this.pick([this.pick(pool), pool.at(-1)!]);
  }

  /** Makes one step at the top; takes it back where the kernel is not valid with it. */
  step(): void {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const [length, pools] = [this.lines.length, new Map([...this.pools].map(([t, p]) => [t, [...p]]))];
      this.make();
      const { module } = parseModule(this.text(), 'random.kir');
      if (module && verifyKernel(module.kernels[0]!).length === 0) return;
      this.lines.length = length;
      this.pools = pools;
    }
  }

  private make(): void {
    const plain = [
      'load',
      'load',
      'elementwise',
      'elementwise',
      'select',
      'reduce',
      'dot',
      'pad',
      'gather',
      'write',
    ] as const;
    const nested = ['for', 'for', 'while', 'if', 'if'] as const;
    this[this.pick(this.level < 2 ? [...plain, ...nested] : plain)]();
  }

  private load(): string {
    const { bn, pick } = this;
    switch (pick(['x', 'x', 's', 'w', 'masked'] as const)) {
      case 'x':
        return this.define(this.block, 'load %x index(%row, %column) valid(%rows, %columns)');
      case 's':
        return this.define(this.block, 'load %s index(%zero, %zero)');
      case 'w':
        return this.rows(this.define(`i32[${bn}]`, 'load %w index(%column) valid(%columns)'));
      case 'masked': {
        const other = this.define('i32', 'constant {value = 9}');
        const operands = `index(%row, %column) valid(%rows, %columns) mask(${this.mask()}) other(${other})`;
        return this.define(this.block, `load %x ${operands}`);
      }
    }
  }

  private loadLeft([at, rest]: readonly [string, string]): string {
    return this.define(`i32[${this.bm}, ${this.bk}]`, `load %a index(%row, ${at}) valid(%rows, ${rest})`);
  }

  private loadRight([at, rest]: readonly [string, string]): string {
    return this.define(`i32[${this.bk}, ${this.bn}]`, `load %b index(${at}, %column) valid(${rest}, %columns)`);
  }

  /** Where along k to load, and how much is left there. */
  private depth(): [string, string] {
    const at = this.define('i32', `mul ${this.pick(['%zero', this.counter()])}, %bk`);
    return [at, this.define('i32', `sub %k, ${at}`)];
  }

  private counter(): string {
    return this.pools.get('counter')?.at(-1) ?? '%zero';
  }

  private mask(): string {
    const [left, right] = [this.any(this.block), this.any(this.block)];
    return this.define(`bool[${this.bm}, ${this.bn}]`, `${this.pick(['lt', 'ne', 'ge'])} ${left}, ${right}`);
  }

  private rows(v: string): string {
    return this.define(this.block, `broadcast ${v}`);
  }

  private elementwise(): string {
    const { pick } = this;
    const names = ['add', 'sub', 'mul', 'max', 'min', 'xor', 'div', 'floor_div'];
    return this.define(this.block, `${pick(names)} ${this.any(this.block)}, ${this.any(this.block)}`);
  }

  private select(): string {
    return this.define(this.block, `select ${this.mask()}, ${this.any(this.block)}, ${this.any(this.block)}`);
  }

  private reduce(): string {
    const { bm, bn, pick } = this;
    const axis = pick([0, 1]);
    const kind = pick(['sum', 'max', 'min', 'argmax', 'argmin', 'prod']);
    const type = axis === 0 ? `i32[${bn}]` : `i32[${bm}]`;
    const reduced = this.define(type, `reduce ${this.any(this.block)} {axis = ${axis}, kind = ${kind}}`);
    if (axis === 0) return this.rows(reduced);
    return this.rows(this.define(`i32[${bm}, 1]`, `reshape ${reduced}`));
  }

  /** One block of a matrix product; of both operands, of one, or of none the rows beyond k are not valid. */
  private dot(): string {
    const { bm, bn, bk, pick } = this;
    const at = this.depth();
    const left = pick([true, true, false]) ? this.loadLeft(at) : this.any(`i32[${bm}, ${bk}]`);
    const right = pick([true, true, false]) ? this.loadRight(at) : this.any(`i32[${bk}, ${bn}]`);
    const product = this.define(this.block, `dot ${left}, ${right} {precision = ieee}`);
    return pick([true, false]) ? product : this.define(this.block, `add ${this.any(this.block)}, ${product}`);
  }

  private pad(): string {
    return this.define(this.block, `pad ${this.any(this.block)}, ${this.pick(['%zero', '%two', '%n'])}`);
  }

  /** A ragged tile of places in `w` and `h`: what lies beyond its extent points anywhere. */
  private places(): string {
    const type = `i32[${this.bn}]`;
    const low = this.define(type, `max ${this.any(type)}, %zeros`);
    return this.define(type, `min ${low}, %lasts`);
  }

  private gather(): string {
    return this.rows(this.define(`i32[${this.bn}]`, `gather %w index(${this.places()})`));
  }

  private write(): void {
    const { bm, bn, pick } = this;
    const column = `i32[${bn}]`;
    switch (pick(['y', 'y', 'q', 'masked', 'scatter', 'atomic'] as const)) {
      case 'y':
        this.lines.push(`store %y, ${this.any(this.block)} index(%row, %column) valid(%rows, %columns)`);
        break;
      case 'q':
        this.lines.push(`store %q, ${this.any(`i32[${bm}]`)} index(%row) valid(%rows)`);
        break;
      case 'masked':
        this.lines.push(
          `store %y, ${this.any(this.block)} index(%row, %column) valid(%rows, %columns) mask(${this.mask()})`,
        );
        break;
      case 'scatter':
        this.lines.push(`scatter %h, ${this.any(column)} index(${this.places()})`);
        break;
      case 'atomic':
        this.define(
          column,
          `atomic_rmw %h, ${this.any(column)} index(${this.places()}) {kind = ${pick(['add', 'max', 'exchange'])}, order = relaxed, scope = device}`,
        );
    }
  }

  /** Steps inside of a region; what they define goes out of scope behind it. */
  private inside(names: readonly (readonly [string, string])[], end: () => string): void {
    const outer = this.pools;
    this.pools = new Map([...outer].map(([type, pool]) => [type, [...pool]]));
    for (const [type, name] of names) this.keep(type, name);
    this.level++;
    for (let steps = this.pick([0, 1, 2, 3]); steps > 0; steps--) this.make();
    this.lines.push(end());
    this.level--;
    this.pools = outer;
  }

  private for(): void {
    const { pick } = this;
    const carried = pick([1, 1, 2]);
    const init = Array.from({ length: carried }, () => this.any(this.block));
    const [from, to] = pick([
      ['%zero', '%depths'],
      ['%zero', '%two'],
      ['%one', '%depths'],
      ['%two', '%one'],
    ] as const);
    const results = init.map(() => this.fresh());
    const [counter, ...args] = [this.fresh(), ...init.map(() => this.fresh())];
    const types = init.map(() => this.block).join(', ');
    const declared = args.map((arg) => `${arg}: ${this.block}`).join(', ');
    this.lines.push(`${results.join(', ')} = for ${from}, ${to}, %one init(${init.join(', ')}) : ${types}`);
    this.lines.push(`(${counter}: i32, ${declared}) {`);
    const named = args.map((arg) => [this.block, arg] as const);
    this.inside([['counter', counter!], ...named], () => {
      return `yield values(${args.map((arg) => pick([this.any(this.block), arg])).join(', ')})\n}`;
    });
    for (const r of results) this.keep(this.block, r);
  }

  private while(): void {
    const init = this.any(this.block);
    const [count, result, c, t, d, u] = Array.from({ length: 6 }, () => this.fresh());
    const limit = this.pick(['%two', '%zero', '%depths']);
    this.lines.push(`${count}, ${result} = while init(%zero, ${init}) : i32, ${this.block}`);
    const going = this.fresh();
    this.lines.push(`(${c}: i32, ${t}: ${this.block}) {\n${going} = lt ${c}, ${limit} : bool\ncondition ${going}\n}`);
    this.lines.push(`(${d}: i32, ${u}: ${this.block}) {`);
    this.inside(
      [
        ['counter', d!],
        [this.block, u!],
      ],
      () => {
        const more = this.fresh();
        return `${more} = add ${d}, %one : i32\nyield values(${more}, ${this.any(this.block)})\n}`;
      },
    );
    this.keep(this.block, result!);
  }

  private if(): void {
    const condition = this.fresh();
    const [left, right] = [this.pick(['%i', '%j', '%n', this.counter()]), this.pick(['%zero', '%one', '%two'])];
    this.lines.push(`${condition} = ${this.pick(['eq', 'lt'])} ${left}, ${right} : bool`);
    const result = this.fresh();
    this.lines.push(`${result} = if ${condition} : ${this.block} () {`);
    const end = (): string => `yield values(${this.any(this.block)})\n}`;
    this.inside([], end);
    this.lines.push('() {');
    this.inside([], end);
    this.keep(this.block, result);
  }

  /** Folds every tile at the top into one number and stores that, so that each of them matters as far as it is valid. */
  finish(): void {
    let sum = '%one';
    for (const tile of this.pools.get(this.block) ?? []) {
      const rows = this.define(`i32[${this.bm}]`, `reduce ${tile} {axis = 1, kind = sum}`);
      const all = this.define('i32', `reduce ${rows} {axis = 0, kind = sum}`);
      const scaled = this.define('i32', `mul ${sum}, %odd`);
      sum = this.define('i32', `add ${scaled}, ${all}`);
    }
    const everywhere = this.define(this.block, `broadcast ${sum}`);
    this.lines.push(`store %z, ${everywhere} index(%row, %column) valid(%rows, %columns)`);
  }
}

/** A program of at most `steps` random steps; the same for the same seed. */
export function randomProgram(seed: number, steps: number): RandomProgram {
  const pick = picker(seed);
  const writer = new Writer(pick, pick([1, 2, 4, 4]), pick([1, 3, 4, 4]), pick([1, 2, 3, 3]));
  for (let i = 0; i < steps; i++) writer.step();
  writer.finish();
  const { module } = parseModule(writer.text(), 'random.kir');
  const size = (block: number): number => pick([1, block, block + 1, 2 * block - 1, 2 * block - 1]);
  return { kernel: module!.kernels[0]!, dims: { m: size(writer.bm), n: size(writer.bn), k: pick([0, 1, 2, 4, 5]) } };
}
