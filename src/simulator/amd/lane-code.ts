/**
 * Writes the JavaScript of a run of instructions that every lane executes for itself: one function, a loop over the lanes
 * that EXEC has on. Registers that were read or written are kept in constants; masks in booleans.
 */

import { floatOf, halfValues } from '../formats.js';
import type { AmdTarget, Constant, Instruction, Operand, ScalarRegister, VectorRegister } from './module.js';
import { registers } from './module.js';
import { toHalf as halfBits } from './numbers.js';
import { bitsOfConstant } from './operand-bits.js';
import { unsupported } from './unsupported.js';

const literal = (x: number): string => (Number.isNaN(x) ? 'NaN' : Object.is(x, -0) ? '(-0)' : `(${x})`);
const vcc: ScalarRegister = { kind: 'scalar', index: registers.vcc, count: 2, negate: false, absolute: false };

interface MaskState {
  /** The boolean of the current lane. */
  value: string;
}

export class LaneCode {
  /** In front of the loops, and in front of the inner one. */
  private readonly outside = new Map<string, string>();
  private readonly around = new Map<string, string>();
  private lines: string[] = [];
  private readonly bits = new Map<number, string>();
  private readonly floats = new Map<number, string>();
  private readonly masks = new Map<number, MaskState>();
  private temporaries = 0;
  private deferred: (() => void)[] = [];
  private current!: Instruction;
  private sources: readonly Operand[] = [];
  instructions = 0;

  constructor(readonly target: AmdTarget) {}

  /** Adds one instruction, or the two of a pair: everything is read before anything is written. */
  add(instruction: Instruction, results: number, emit: (code: LaneCode, i: Instruction) => void): void {
    this.instructions++;
    this.current = instruction;
    this.sources = instruction.operands.slice(results);
    emit(this, instruction);
  }

  /** Does the writes of what was added. */
  commit(): void {
    for (const write of this.deferred) write();
    this.deferred = [];
  }

  /** Whether the run has made masks in these scalar registers, which only the end of the run stores. */
  hasMask(index: number, count: number): boolean {
    for (const at of this.masks.keys()) if (at < index + count && index < at + this.maskWords) return true;
    return false;
  }
  /** Whether exactly this register is a mask of the run. */
  isMask(o: ScalarRegister): boolean {
    return this.masks.has(o.index) && o.count === this.maskWords;
  }
  get maskWords(): number {
    return this.target.lanes / 32;
  }
  get wroteMasks(): readonly number[] {
    return [...this.masks.keys()];
  }

  refuse(why: string): never {
    return unsupported(this.current, why);
  }
  modifier(name: string): Instruction['modifiers'][string] | undefined {
    return this.current.modifiers[name];
  }
  number(name: string): number {
    const value = this.modifier(name);
    return typeof value === 'number' ? value : 0;
  }
  /** Element of a modifier that lists one for each source. */
  choice(name: string, source: number, otherwise: number): number {
    const list = this.modifier(name);
    return Array.isArray(list) ? (list[source] ?? otherwise) : otherwise;
  }

  hold(expression: string): string {
    const name = `t${this.temporaries++}`;
    this.lines.push(`const ${name}=${expression};`);
    return name;
  }

  private source(n: number): Operand {
    return this.sources[n] ?? this.refuse(`operand ${n + 1} is missing`);
  }
  has(n: number): boolean {
    return n < this.sources.length;
  }

  private scalar(index: number, form: 'S' | 'SF'): string {
    const name = `${form === 'S' ? 's' : 'g'}${index}`;
    this.outside.set(name, `const ${name}=${form}[${index}];`);
    return name;
  }
  private vector(index: number, form: 'bits' | 'floats'): string {
    const known = this[form].get(index);
    if (known !== undefined) return known;
    const name = this.hold(`${form === 'bits' ? 'V' : 'F'}[${index * 64}+l]`);
    this[form].set(index, name);
    return name;
  }

  private rawBits(o: Operand, word: number, words: number): string {
    switch (o.kind) {
      case 'constant':
        return `(${bitsOfConstant(o, word, words)})`;
      case 'scalar':
        return this.scalar(o.index + word, 'S');
      case 'vector':
        return this.vector(o.index + word, 'bits');
      default:
        return this.refuse('an operand that is no value');
    }
  }

  /** A word of a source as a signed integer, of `words` in all; a part of it where the form says so. Signs of floats flip bits. */
  int(n: number, word = 0, words = 1): string {
    const o = this.source(n);
    let e = this.rawBits(o, word, words);
    if (o.kind === 'vector' && o.half) e = o.half === 'high' ? `(${e}>>>16)` : `(${e}&65535)`;
    const select = this.modifier(`src${n}_sel`);
    if (typeof select === 'string' && select !== 'DWORD') {
      const bits = select.startsWith('WORD') ? 16 : 8;
      e = `(${e}>>>${bits * Number(select.at(-1))}&${2 ** bits - 1})`;
      const signed = this.modifier('sext');
      if (signed) this.refuse('sext');
    }
    if (o.kind === 'vector' || o.kind === 'scalar') {
      if (word === words - 1 && o.absolute) e = `(${e}&0x7fffffff)`;
      if (word === words - 1 && o.negate) e = `(${e}^0x80000000)`;
    }
    return e;
  }

  private signed(o: Operand, e: string): string {
    if (o.kind !== 'vector' && o.kind !== 'scalar' && o.kind !== 'constant') return e;
    const size = o.absolute ? `Math.abs(${e})` : e;
    return o.negate ? `(-${size})` : size;
  }

  /** A source as an f32; of packed ones, a word of it. */
  float(n: number, word = 0): string {
    const o = this.source(n);
    const select = this.modifier(`src${n}_sel`);
    if (select !== undefined && select !== 'DWORD') this.refuse('a part of a float');
    if (o.kind === 'constant') return this.signed(o, literal(floatOf(bitsOfConstant(o, 0, 1))));
    if (o.kind === 'scalar') return this.signed(o, this.scalar(o.index + word, 'SF'));
    if (o.kind === 'vector') return this.signed(o, this.vector(o.index + word, 'floats'));
    return this.refuse('an operand that is no float');
  }

  /** A source as an f64: of a literal, the upper half. */
  double(n: number): string {
    const o = this.source(n);
    if (o.kind !== 'constant') {
      const plain = { ...o, negate: false, absolute: false } as Operand;
      return this.signed(o, `N.doubleOf(${this.rawBits(plain, 0, 2)},${this.rawBits(plain, 1, 2)})`);
    }
    if (o.float !== undefined) return this.signed(o, literal(o.float));
    const inline = o.value >= -16n && o.value <= 64n;
    const wide = o.value >= 2n ** 32n;
    const [low, high] =
      inline || wide ? [bitsOfConstant(o, 0, 2), bitsOfConstant(o, 1, 2)] : [0, bitsOfConstant(o, 0, 1)];
    return this.signed(o, `N.doubleOf(${low},${high})`);
  }

  /** The 16 bits of a source, chosen by `op_sel`, by the name of a half, or by SDWA. */
  short(n: number): string {
    const o = this.source(n);
    if (o.kind === 'constant') return `(${this.shortOf(o)})`;
    const plain = { ...o, negate: false, absolute: false } as VectorRegister;
    if (o.kind === 'vector' && o.half) {
      const e = this.rawBits(plain, 0, 1);
      return o.half === 'high' ? `(${e}>>>16)` : `(${e}&65535)`;
    }
    const select = this.modifier(`src${n}_sel`);
    const high = select === 'WORD_1' || this.choice('op_sel', n, 0) === 1;
    if (typeof select === 'string' && select.startsWith('BYTE'))
      return `(${this.rawBits(plain, 0, 1)}>>>${8 * Number(select.at(-1))}&255)`;
    const e = this.rawBits(plain, 0, 1);
    return high ? `(${e}>>>16)` : `(${e}&65535)`;
  }
  private shortOf(o: Constant): number {
    return o.float === undefined ? Number(BigInt.asUintN(16, o.value)) : halfBits(o.float);
  }

  /** A source as an f16. */
  half(n: number): string {
    const o = this.source(n);
    if (o.kind === 'constant') return this.signed(o, literal(halfValues[this.shortOf(o)]!));
    return this.signed(o, `N.halfValues[${this.short(n)}]`);
  }

  /** One half of a packed source: `op_sel` chooses for the low result, `op_sel_hi` for the high one. */
  packed(n: number, part: 0 | 1): string {
    const o = this.source(n);
    const chosen = part === 0 ? this.choice('op_sel', n, 0) : this.choice('op_sel_hi', n, 1);
    if (o.kind === 'constant') {
      // Inline constants stand in the lower half; a literal has both.
      const bits = o.float === undefined ? bitsOfConstant(o, 0, 1) : halfBits(o.float);
      return String(chosen ? bits >>> 16 : bits & 0xffff);
    }
    const e = this.rawBits({ ...o, negate: false, absolute: false } as Operand, 0, 1);
    return chosen ? `(${e}>>>16)` : `(${e}&65535)`;
  }
  packedHalf(n: number, part: 0 | 1): string {
    const e = `N.halfValues[${this.packed(n, part)}]`;
    return this.choice(part === 0 ? 'neg_lo' : 'neg_hi', n, 0) ? `(-${e})` : e;
  }
  /** One of two f32 of a source. */
  packedFloat(n: number, part: 0 | 1): string {
    const chosen = part === 0 ? this.choice('op_sel', n, 0) : this.choice('op_sel_hi', n, 1);
    const e = this.float(n, chosen);
    return this.choice(part === 0 ? 'neg_lo' : 'neg_hi', n, 0) ? `(-${e})` : e;
  }
  /** An f32, or one half of a register as an f16: the sources of mixed fma. */
  mixed(n: number): string {
    const o = this.source(n);
    if (this.choice('op_sel_hi', n, 0) === 0) return this.float(n);
    if (o.kind === 'constant') return this.signed(o, literal(o.float ?? Number(o.value)));
    const e = this.rawBits({ ...o, negate: false, absolute: false } as Operand, 0, 1);
    return this.signed(o, `N.halfValues[${this.choice('op_sel', n, 0) ? `${e}>>>16` : `${e}&65535`}]`);
  }
  wide(n: number, signed: boolean): string {
    return `N.wide${signed ? '' : 'Unsigned'}(${this.int(n, 0, 2)},${this.int(n, 1, 2)})`;
  }

  /** Whether a mask has the lane. */
  truth(n: number): string {
    return this.maskOf(this.has(n) ? this.source(n) : vcc);
  }
  private maskOf(o: Operand): string {
    if (o.kind === 'constant') return o.value === 0n ? 'false' : 'true';
    if (o.kind !== 'scalar') return this.refuse('an operand that is no mask');
    const known = this.masks.get(o.index);
    if (known) return known.value;
    this.around.set(`k${o.index}`, `const k${o.index}=S[${o.index}+h];`);
    return this.hold(`(k${o.index}>>>b&1)===1`);
  }
  get conditionCode(): string {
    return this.maskOf(vcc);
  }

  private write(form: 'bits' | 'floats', index: number, expression: string): void {
    const value = this.hold(expression);
    this.deferred.push(() => {
      this.lines.push(`${form === 'bits' ? 'V' : 'F'}[${index * 64}+l]=${value};`);
      this[form].set(index, value);
      this[form === 'bits' ? 'floats' : 'bits'].delete(index);
    });
  }
  private result(n = 0): VectorRegister {
    const o = this.current.operands[n];
    return o?.kind === 'vector' ? o : this.refuse('a result that is no vector register');
  }

  /** Writes a word of the result; SDWA may say which part of the register. */
  setInt(expression: string, word = 0): void {
    const d = this.result();
    if (d.half) return this.setShort(expression);
    const select = this.modifier('dst_sel');
    if (typeof select !== 'string' || select === 'DWORD') return this.write('bits', d.index + word, expression);
    const bits = select.startsWith('WORD') ? 16 : 8;
    const at = bits * Number(select.at(-1));
    const mask = (2 ** bits - 1) << at;
    const unused = this.modifier('dst_unused') ?? 'UNUSED_PAD';
    if (unused !== 'UNUSED_PAD' && unused !== 'UNUSED_PRESERVE') this.refuse(`dst_unused ${unused}`);
    const rest = unused === 'UNUSED_PRESERVE' ? `${this.vector(d.index, 'bits')}&${~mask}|` : '';
    this.write('bits', d.index, `${rest}(${expression})<<${at}&${mask}`);
  }
  /** Writes 16 bits: gfx9 clears the upper half, later devices keep it. */
  setShort(expression: string, part?: 'low' | 'high'): void {
    const d = this.result();
    if (this.modifier('dst_sel') !== undefined) return this.setInt(`(${expression})&65535`);
    const opSel = this.modifier('op_sel');
    const chosen = Array.isArray(opSel) && opSel[this.sources.length] === 1;
    const place = part ?? d.half ?? (chosen ? 'high' : 'low');
    if (this.target.generation === 9 && place === 'low' && part === undefined)
      return this.write('bits', d.index, `(${expression})&65535`);
    const old = this.vector(d.index, 'bits');
    const merged = place === 'high' ? `${old}&65535|(${expression})<<16` : `${old}&-65536|(${expression})&65535`;
    this.write('bits', d.index, merged);
  }
  /** Writes an f32 behind the modifiers of results. */
  setFloat(expression: string, word = 0): void {
    let e = expression;
    if (this.modifier('mul') !== undefined) e = `Math.fround(${e}*${this.number('mul')})`;
    if (this.modifier('div') !== undefined) e = `Math.fround(${e}/${this.number('div')})`;
    if (this.modifier('clamp')) e = `N.saturate(${e})`;
    if (this.modifier('dst_sel') !== undefined && this.modifier('dst_sel') !== 'DWORD')
      this.refuse('a part of a float');
    this.write('floats', this.result().index + word, e);
  }
  /** Writes an f16 given as a number. */
  setHalf(expression: string): void {
    const e = this.modifier('clamp') ? `N.saturate(${expression})` : expression;
    this.setShort(`N.toHalf(${e})`);
  }
  setDouble(expression: string): void {
    const value = this.hold(this.modifier('clamp') ? `N.saturate(${expression})` : expression);
    const { index } = this.result();
    this.write('bits', index, `N.lowOf(${value})`);
    this.write('bits', index + 1, `N.highOf(${value})`);
  }
  setWords(low: string, high: string): void {
    const { index } = this.result();
    this.write('bits', index, low);
    this.write('bits', index + 1, high);
  }
  setWide(expression: string): void {
    const value = this.hold(expression);
    this.setWords(`N.lowWord(${value})`, `N.highWord(${value})`);
  }
  /** The old value of the result. */
  old(word = 0): string {
    return this.vector(this.result().index + word, 'bits');
  }
  oldFloat(): string {
    return this.vector(this.result().index, 'floats');
  }
  oldHalf(): string {
    const d = this.result();
    return `N.halfValues[${d.half === 'high' ? `${this.old()}>>>16` : `${this.old()}&65535`}]`;
  }
  oldDouble(): string {
    return `N.doubleOf(${this.old()},${this.old(1)})`;
  }

  /** Writes the lane's bit of a mask: the operand `n` of the instruction, or the register given. */
  setMask(target: number | ScalarRegister, expression: string): void {
    const o = typeof target === 'number' ? this.current.operands[target] : target;
    if (o?.kind === 'none') return;
    if (o?.kind !== 'scalar') return this.refuse('a result that is no mask');
    const value = this.hold(expression);
    this.deferred.push(() => {
      this.lines.push(`if(${value})m${o.index}|=1<<b;else m${o.index}&=~(1<<b);`);
      this.masks.set(o.index, { value });
    });
  }

  /** The function of the whole run. */
  finish(): string {
    const masks = [...this.masks.keys()];
    return [
      `function(W){const V=W.vector,F=W.floats,S=W.scalar,SF=W.scalarFloats;${[...this.outside.values()].join('')}`,
      `for(let h=0;h<${this.maskWords};h++){const e=S[${registers.exec}+h];`,
      `${[...this.around.values()].join('')}${masks.map((i) => `let m${i}=0;`).join('')}`,
      `if(e!==0)for(let b=0;b<32;b++){if(!(e>>>b&1))continue;const l=h*32+b;`,
      ...this.lines,
      `}${masks.map((i) => `S[${i}+h]=m${i};`).join('')}}}`,
    ].join('\n');
  }
}
