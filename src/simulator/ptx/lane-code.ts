/**
 * Writes the JavaScript of a run of instructions that every lane executes for itself: one function, a loop over lanes,
 * registers kept in locals as the integer or the float that the last instruction made.
 */

import { brainValues, floatOf, halfValues } from '../formats.js';
import type { Instruction, Operand, Predicate } from './module.js';
import type { Symbols } from './symbols.js';

interface SlotState {
  integer: boolean;
  float: boolean;
  dirty: boolean;
}
interface PredicateState {
  valid: boolean;
  dirty: boolean;
}

/** Special registers as expressions of the warp W, its block B and lane l. */
const special: Readonly<Record<string, string>> = {
  '%laneid': 'l',
  '%warpid': 'W.index',
  '%nwarpid': 'B.warps.length',
  '%smid': '0',
  '%nsmid': '1',
  '%gridid': '0',
  '%clock': 'W.steps',
  '%clock_hi': '0',
  '%clock64': 'W.steps',
  '%globaltimer': 'W.steps',
  '%globaltimer_lo': 'W.steps',
  '%cluster_ctarank': 'B.rank',
  '%cluster_nctarank': 'B.peers.length',
  '%lanemask_eq': '(1<<l)',
  '%lanemask_lt': '((1<<l)-1)',
  '%lanemask_le': '((2<<l)-1)',
  '%lanemask_gt': '(-2<<l)',
  '%lanemask_ge': '(-1<<l)',
  '%dynamic_smem_size': 'B.dynamicBytes',
  ...Object.fromEntries(
    [0, 1, 2].flatMap((d) => {
      const axis = 'xyz'[d];
      return [
        [`%tid.${axis}`, `W.threads[${d}][l]`],
        [`%ntid.${axis}`, `B.shape[${d}]`],
        [`%ctaid.${axis}`, `B.index[${d}]`],
        [`%nctaid.${axis}`, `B.grid[${d}]`],
        [`%cluster_ctaid.${axis}`, `B.inCluster[${d}]`],
        [`%cluster_nctaid.${axis}`, `B.cluster[${d}]`],
        [`%clusterid.${axis}`, `(B.index[${d}]/B.cluster[${d}]|0)`],
        [`%nclusterid.${axis}`, `(B.grid[${d}]/B.cluster[${d}]|0)`],
      ];
    }),
  ),
};

export const isSpecial = (name: string): boolean => Object.hasOwn(special, name);

const wordOf = (value: bigint, word: number): number => Number(BigInt.asIntN(32, value >> BigInt(32 * word)));
const literal = (x: number): string => (Number.isNaN(x) ? 'NaN' : Object.is(x, -0) ? '(-0)' : `(${x})`);

export class LaneCode {
  private lines: string[] = [];
  private readonly slots = new Map<number, SlotState>();
  private readonly predicates = new Map<number, PredicateState>();
  /** Writes of the current instruction: they come behind all of its reads. */
  private writes: string[] = [];
  private settle: (() => void)[] = [];
  private temporaries = 0;
  guard: string | undefined;
  instructions = 0;
  /** A load behind a store of the same run would see what lanes that come later have not stored yet. */
  stored = false;

  constructor(
    readonly symbols: Symbols,
    readonly checked: boolean,
  ) {}

  /** Adds one instruction by its emitter. */
  add(instruction: Instruction, emit: (code: LaneCode, i: Instruction) => void): void {
    this.instructions++;
    this.writes = [];
    this.settle = [];
    this.guard = instruction.guard ? this.predicate(instruction.guard) : undefined;
    emit(this, instruction);
    this.lines.push(...this.writes);
    for (const f of this.settle) f();
  }

  private slot(slot: number): SlotState {
    const known = this.slots.get(slot);
    if (known) return known;
    const state = { integer: false, float: false, dirty: false };
    this.slots.set(slot, state);
    return state;
  }

  private load(slot: number, form: 'integer' | 'float'): string {
    const state = this.slot(slot);
    const [own, other, array, otherArray] = form === 'integer' ? 'ifRF' : 'fiFR';
    if (!state[form]) {
      if (state[form === 'integer' ? 'float' : 'integer'])
        this.lines.push(`${otherArray}[${slot * 32}+l]=${other}${slot};${own}${slot}=${array}[${slot * 32}+l];`);
      else this.lines.push(`${own}${slot}=${array}[${slot * 32}+l];`);
      state[form] = true;
    }
    return `${own}${slot}`;
  }

  /** A word of an operand as a signed integer. */
  int(operand: Operand, word = 0): string {
    switch (operand.kind) {
      case 'immediate':
        return `(${wordOf(operand.value, word)})`;
      case 'register':
        return word >= operand.words ? '0' : this.load(operand.slot + word, 'integer');
      case 'symbol': {
        const expression = special[operand.name];
        if (expression !== undefined) return word ? '0' : `(${expression})`;
        return word ? String(this.symbols.window(operand.name)) : `(${this.symbols.address(operand)})`;
      }
      case 'sink':
        return '0';
      default:
        return this.symbols.refuse('an operand that is no value');
    }
  }

  unsigned(operand: Operand, word = 0): string {
    return `(${this.int(operand, word)}>>>0)`;
  }

  /** A word as an f32. */
  float(operand: Operand, word = 0): string {
    if (operand.kind === 'immediate') return literal(floatOf(wordOf(operand.value, word)));
    if (operand.kind !== 'register') return this.symbols.refuse('an operand that is no float');
    return this.load(operand.slot + word, 'float');
  }

  /** Two words as an f64. */
  double(operand: Operand): string {
    return `N.doubleOf(${this.int(operand)},${this.int(operand, 1)})`;
  }

  half(operand: Operand): string {
    if (operand.kind === 'immediate') return literal(halfValues[Number(operand.value & 0xffffn)]!);
    return `N.halfValues[${this.int(operand)}&65535]`;
  }

  brain(operand: Operand): string {
    if (operand.kind === 'immediate') return literal(brainValues[Number(operand.value & 0xffffn)]!);
    return `N.brainValues[${this.int(operand)}&65535]`;
  }

  /** Two words as a bigint. */
  wide(operand: Operand, signed: boolean): string {
    return `N.wide${signed ? '' : 'Unsigned'}(${this.int(operand)},${this.int(operand, 1)})`;
  }

  predicate({ index, negated }: Predicate): string {
    const state = this.predicates.get(index) ?? { valid: false, dirty: false };
    this.predicates.set(index, state);
    if (!state.valid) {
      this.lines.push(`b${index}=(P[${index}]>>>l&1)===1;`);
      state.valid = true;
    }
    return `${negated ? '!' : ''}b${index}`;
  }

  truth(operand: Operand): string {
    if (operand.kind === 'immediate') return operand.value === 0n ? 'false' : 'true';
    if (operand.kind !== 'predicate') return this.symbols.refuse('an operand that is no predicate');
    return this.predicate(operand);
  }

  /** A name for the value of an expression, taken before the instruction writes anything. */
  hold(expression: string): string {
    const name = `t${this.temporaries++}`;
    this.writes.push(`const ${name}=${expression};`);
    return name;
  }

  /** A statement of the instruction, under its guard. */
  effect(statement: string): void {
    this.writes.push(this.guard ? `if(${this.guard}){${statement}}` : statement);
  }

  /** A statement in front of the instruction's effects, whether its guard holds or not. */
  declare(statement: string): void {
    this.writes.push(statement);
  }

  private set(slot: number, expression: string, form: 'integer' | 'float'): void {
    const name = `${form === 'integer' ? 'i' : 'f'}${slot}`;
    if (this.guard) {
      this.load(slot, form);
      this.writes.push(`if(${this.guard})${name}=${expression};`);
    } else this.writes.push(`${name}=${expression};`);
    this.settle.push(() => {
      const state = this.slot(slot);
      state.dirty = true;
      state.integer = form === 'integer';
      state.float = form === 'float';
    });
  }

  setInt(to: Operand, expression: string, word = 0): void {
    if (to.kind === 'sink') return;
    if (to.kind !== 'register') this.symbols.refuse('a result that is no register');
    else this.set(to.slot + word, expression, 'integer');
  }

  setFloat(to: Operand, expression: string, word = 0): void {
    if (to.kind === 'sink') return;
    if (to.kind !== 'register') this.symbols.refuse('a result that is no register');
    else this.set(to.slot + word, expression, 'float');
  }

  setWords(to: Operand, low: string, high: string): void {
    const [a, b] = [this.hold(low), this.hold(high)];
    this.setInt(to, a);
    this.setInt(to, b, 1);
  }

  setDouble(to: Operand, expression: string): void {
    const value = this.hold(expression);
    this.setWords(to, `N.lowOf(${value})`, `N.highOf(${value})`);
  }

  setWide(to: Operand, expression: string): void {
    const value = this.hold(expression);
    this.setWords(to, `N.lowWord(${value})`, `N.highWord(${value})`);
  }

  setPredicate(to: Operand, expression: string): void {
    if (to.kind === 'sink') return;
    if (to.kind !== 'predicate') return this.symbols.refuse('a result that is no predicate');
    const { index } = to;
    if (this.guard) {
      this.predicate({ ...to, negated: false });
      this.writes.push(`if(${this.guard})b${index}=${expression};`);
    } else {
      if (!this.predicates.has(index)) this.predicates.set(index, { valid: false, dirty: false });
      this.writes.push(`b${index}=${expression};`);
    }
    this.settle.push(() => {
      const state = this.predicates.get(index)!;
      state.valid = true;
      state.dirty = true;
    });
  }

  /** The function of the whole run: (warp, mask of lanes). */
  finish(): string {
    const locals: string[] = [];
    let [before, end, after] = ['', '', ''];
    for (const [slot, state] of this.slots) {
      locals.push(`i${slot}=0`, `f${slot}=0.5`);
      if (state.dirty) end += state.integer ? `R[${slot * 32}+l]=i${slot};` : `F[${slot * 32}+l]=f${slot};`;
    }
    for (const [index, state] of this.predicates) {
      locals.push(`b${index}=false`);
      if (!state.dirty) continue;
      before += `let q${index}=0;`;
      end += `if(b${index})q${index}|=1<<l;`;
      after += `P[${index}]=P[${index}]&~m|q${index};`;
    }
    return [
      `function(W,m){const R=W.registers,F=W.floats,P=W.predicates,B=W.block,fr=Math.fround;${before}`,
      `for(let l=0;l<32;l++){if(!(m>>>l&1))continue;let ${locals.join(',') || 'none'};`,
      ...this.lines,
      `${end}}${after}}`,
    ].join('\n');
  }
}
