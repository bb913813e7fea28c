/** What the instruction table says of an opcode. */

import type { LaneCode } from './lane-code.js';
import type { AmdTarget, Instruction, Modifiers, Operand } from './module.js';
import { vectorRegisters } from './module.js';
import { unsupported } from './unsupported.js';
import type { MemoryKind, Wave } from './wave.js';

export type WaveFunction = (wave: Wave) => void;

/** What a wave function is made with. */
export interface Scope {
  readonly instruction: Instruction;
  readonly target: AmdTarget;
}

type Width = 1 | 2 | 3 | 4 | 5 | 6 | 8 | 16 | 32;
/**
 * An operand and its number of registers. `V`: a vector register that is written; `X`: one that is read and written;
 * `r`: one that is read, `l` and `h`: of which a half is read; `v`: any source of the vector unit; `S`, `B`, `s`: the same of the scalar unit; `M`, `m`: a mask
 * of lanes. `?`: it may be absent.
 */
export type Form =
  | `${'V' | 'X' | 'r' | 'l' | 'h' | 'v' | 'S' | 'B' | 's'}${Width}`
  | 'M'
  | 'm'
  | 'm?'
  | 'label'
  | 'name';

/** Added to the number of a register of which only a half is meant. */
const halfBits = { low: 1 << 10, high: 1 << 11 } as const;
export const wholeOf = (register: number): number => register & 1023;
/** The two halves of a register, or the one that is meant, as places in a table of halves. */
export function halvesOf(register: number): readonly number[] {
  const first = wholeOf(register) * 2;
  if (register & halfBits.low) return [first];
  return register & halfBits.high ? [first + 1] : [first, first + 1];
}
export const halfOf = (register: number, half: 'low' | 'high' | undefined): number =>
  half === undefined ? register : register | halfBits[half];

/** Registers that an instruction reads and writes: vector registers by their index, scalar ones behind them. */
export interface RegisterUse {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

interface EntryBase {
  /** One line: what it does. */
  readonly doc: string;
  /** Not told: operands of any kind and number, which `uses` judges. */
  readonly operands?: readonly Form[];
  /** Modifiers that it takes; everything else is refused. `any`: what it says does not matter here. */
  readonly modifiers?: readonly string[] | 'any';
  /** Registers beyond what the operands say, or where no operands are told. */
  readonly uses?: (i: Instruction, target: AmdTarget) => RegisterUse;
}

export type InstructionEntry = EntryBase &
  (
    | { readonly lane: (code: LaneCode, i: Instruction) => void }
    | {
        readonly wave: (scope: Scope) => WaveFunction;
        /** What counts it, where it is a memory operation. */
        readonly kind?: MemoryKind;
      }
    /** Goes to its label where the test holds. */
    | { readonly branch: (target: AmdTarget) => (wave: Wave) => boolean }
  );
export type InstructionTable = Readonly<Record<string, InstructionEntry>>;

/** What every lane instruction takes in the encodings that have it. */
const encodingModifiers: Readonly<Record<Instruction['encoding'], readonly string[]>> = {
  plain: [],
  dpp: [
    'quad_perm',
    'row_shl',
    'row_shr',
    'row_ror',
    'row_mirror',
    'row_half_mirror',
    'row_newbcast',
    'row_share',
    'row_xmask',
    'row_bcast',
    'wave_shl',
    'wave_shr',
    'wave_rol',
    'wave_ror',
    'row_mask',
    'bank_mask',
    'bound_ctrl',
    'fi',
    'dpp8',
  ],
  sdwa: ['src0_sel', 'src1_sel', 'dst_sel', 'dst_unused'],
};

const isResult = (form: Form): boolean => 'VXSBM'.includes(form[0]!);
export const resultsOf = (entry: InstructionEntry): number => entry.operands?.filter(isResult).length ?? 0;

function accepts(form: Form, o: Operand, target: AmdTarget): boolean {
  if (form === 'label' || form === 'name') return o.kind === 'symbol';
  if (form[0] === 'M' || form[0] === 'm')
    return (
      (o.kind === 'scalar' && o.count === target.lanes / 32) ||
      (form === 'M' ? o.kind === 'none' : o.kind === 'constant')
    );
  const count = Number(form.slice(1));
  const kind = form[0]!;
  if (o.kind === 'vector') return 'VXrlhv'.includes(kind) && o.count === count;
  if (o.kind === 'scalar') return 'SBsv'.includes(kind) && o.count === count;
  return o.kind === 'constant' && 'sv'.includes(kind);
}

/** Refuses operands and modifiers that the opcode does not take: what is ignored may have changed the result. */
export function checkForm(i: Instruction, entry: InstructionEntry, target: AmdTarget): void {
  const { operands, modifiers = [] } = entry;
  if (modifiers !== 'any') {
    const allowed = [...modifiers, ...('lane' in entry ? encodingModifiers[i.encoding] : [])];
    const unknown = Object.keys(i.modifiers).find((m) => !allowed.includes(m));
    if (unknown !== undefined) unsupported(i, `the modifier '${unknown}'`);
  }
  if (!('lane' in entry) && i.encoding !== 'plain') unsupported(i, `the encoding ${i.encoding}`);
  if (!operands) return;
  const least = operands.filter((f) => !f.endsWith('?')).length;
  if (i.operands.length > operands.length || i.operands.length < least)
    unsupported(i, `${operands.length} operands expected, ${i.operands.length} given`);
  i.operands.forEach((o, n) => {
    if (!accepts(operands[n]!, o, target)) unsupported(i, `operand ${n + 1} is not of the form '${operands[n]}'`);
  });
}

/** Numbers of the registers of an operand, as `RegisterUse` counts them. */
export function registersOf(o: Operand | undefined): number[] {
  if (o?.kind !== 'vector' && o?.kind !== 'scalar') return [];
  const first = o.kind === 'vector' ? halfOf(o.index, o.half) : vectorRegisters + o.index;
  return Array.from({ length: o.count }, (_, n) => first + n);
}

/** A register by its number, for people. */
export function registerName(register: number): string {
  const whole = wholeOf(register);
  const names: Readonly<Record<number, string>> = {
    106: 'vcc_lo',
    107: 'vcc_hi',
    124: 'm0',
    126: 'exec_lo',
    127: 'exec_hi',
  };
  if (whole >= vectorRegisters) return names[whole - vectorRegisters] ?? `s${whole - vectorRegisters}`;
  return whole < 256 ? `v${whole}` : `a${whole - 256}`;
}

/** What the operands say that an instruction reads and writes. */
export function useOf(i: Instruction, entry: InstructionEntry, target: AmdTarget): RegisterUse {
  const more = entry.uses?.(i, target) ?? { reads: [], writes: [] };
  const [reads, writes] = [[...more.reads], [...more.writes]];
  entry.operands?.forEach((form, n) => {
    const half = form[0] === 'l' ? 'low' : form[0] === 'h' ? 'high' : undefined;
    const found = registersOf(i.operands[n]).map((r) => halfOf(r, half));
    if (!isResult(form) || form[0] === 'X' || form[0] === 'B') reads.push(...found);
    if (isResult(form)) writes.push(...found);
  });
  return { reads, writes };
}

export const flag = (modifiers: Modifiers, name: string): boolean => modifiers[name] !== undefined;
export const numberIn = (i: Instruction, name: string): number => {
  const value = i.modifiers[name] ?? 0;
  return typeof value === 'number' ? value : unsupported(i, `the modifier '${name}'`);
};

/** First word of a vector register in the file of a wave, for lane 0. */
export const placeOf = (i: Instruction, o: Operand | undefined): number =>
  o?.kind === 'vector' ? o.index * 64 : unsupported(i, 'an operand that must be a vector register');

export const operandAt = (i: Instruction, n: number): Operand =>
  i.operands[n] ?? unsupported(i, 'an operand is missing');
