/** What the instruction table says of an opcode. */

import type { Block } from './block.js';
import type { LaneCode } from './lane-code.js';
import { bitsOfType, type Instruction, type Operand, type Predicate } from './module.js';
import { type Symbols, unsupported } from './symbols.js';
import type { Warp } from './warp.js';

export type WarpFunction = (warp: Warp, mask: number) => void;
export type WarpTest = (warp: Warp, mask: number) => boolean;

/** One thing that a warp does at a time. */
export type Step = {
  readonly instructions: Instruction[];
  /** Lanes that went different ways meet here before it is done. */
  readonly converges: boolean;
} & (
  | { readonly kind: 'run'; run: WarpFunction }
  | { readonly kind: 'branch'; readonly guard: Predicate | undefined; target: number }
  | { readonly kind: 'exit'; readonly guard: Predicate | undefined }
  /** Done in any case; where it fails, other lanes and warps get a chance first. */
  | { readonly kind: 'try'; readonly run: WarpTest }
  /** Tried again until it succeeds. */
  | { readonly kind: 'hold'; readonly run: WarpTest }
  | {
      readonly kind: 'barrier';
      readonly barrier: (warp: Warp, lane: number) => number;
      /** Threads that take part; 0: all. */
      readonly threads: (warp: Warp, lane: number) => number;
      readonly waits: boolean;
      readonly scope: 'block' | 'cluster';
    }
);

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
/** A step without what the compiler adds. */
export type Action = DistributiveOmit<Step, 'instructions'>;

/** What a warp function is made with. */
export interface Scope {
  readonly symbols: Symbols;
  readonly instruction: Instruction;
}

type OperandKind = 'value' | 'register' | 'predicate' | 'address' | 'vector' | 'constant' | 'label' | 'any';

interface EntryBase {
  /** One line: what it does. */
  readonly doc: string;
  /** Kinds of the operands; `?` behind one that may be absent, as all behind it then. */
  readonly operands: readonly (OperandKind | `${OperandKind}?`)[];
  /** What may stand behind the opcode besides types; where told, everything else is refused. */
  readonly modifiers?: readonly string[];
  /** Types that may stand there: 1, if not told. */
  readonly types?: number;
  /** What it touches memory by: ordinary accesses, the proxy of asynchronous ones, the tensor map's. */
  readonly proxy?: 'generic' | 'async';
}

/** One opcode: done by every lane for itself in generated code, or by the warp as a whole. */
export type InstructionEntry = EntryBase &
  (
    | { readonly lane: (code: LaneCode, i: Instruction) => void; readonly memory?: 'load' | 'store' }
    | { readonly warp: (scope: Scope) => Action }
  );

export type InstructionTable = Readonly<Record<string, InstructionEntry>>;

const isValue = (o: Operand): boolean => o.kind === 'register' || o.kind === 'immediate' || o.kind === 'symbol';
const accepts: Readonly<Record<OperandKind, (o: Operand) => boolean>> = {
  value: isValue,
  register: (o) => o.kind === 'register' || o.kind === 'sink' || o.kind === 'pair' || o.kind === 'predicate',
  predicate: (o) => o.kind === 'predicate' || o.kind === 'immediate' || o.kind === 'sink',
  address: (o) => o.kind === 'address',
  vector: (o) => o.kind === 'vector',
  constant: (o) => o.kind === 'immediate',
  label: (o) => o.kind === 'symbol',
  any: () => true,
};

/** Refuses modifiers and operands that the opcode does not take: what is ignored may have changed the result. */
export function checkForm(i: Instruction, opcode: string, { operands, modifiers, types = 1 }: InstructionEntry): void {
  if (modifiers) {
    const behind = i.parts.slice(opcode.split('.').length);
    const unknown = behind.find((p) => bitsOfType(p) === 0 && !modifiers.includes(p));
    if (unknown !== undefined) unsupported(i, `the modifier '${unknown}'`);
    if (behind.filter((p) => bitsOfType(p) !== 0).length > types) unsupported(i, 'operands of several types');
  }
  const least = operands.findIndex((k) => k.endsWith('?'));
  const given = i.operands.length;
  if (given > operands.length || given < (least < 0 ? operands.length : least))
    unsupported(i, `${operands.length} operands expected, ${given} given`);
  i.operands.forEach((o, n) => {
    const kind = operands[n]!.replace('?', '') as OperandKind;
    if (!accepts[kind](o)) unsupported(i, `operand ${n + 1} is not of the kind '${kind}'`);
  });
}

/** Reads a word of an operand in a lane. */
export type Reader = (warp: Warp, lane: number) => number;

export function reader(operand: Operand | undefined, symbols: Symbols, word = 0): Reader {
  switch (operand?.kind) {
    case undefined:
      return () => 0;
    case 'immediate': {
      const value = Number(BigInt.asIntN(32, operand.value >> BigInt(32 * word)));
      return () => value;
    }
    case 'symbol': {
      const value = word ? symbols.window(operand.name) : symbols.address(operand);
      return () => value;
    }
    case 'address': {
      const base = reader(operand.base, symbols, word);
      const { offset } = operand;
      if (offset === 0) return base;
      if (word === 0) return (w, l) => (base(w, l) + offset) | 0;
      const low = reader(operand.base, symbols, 0);
      return (w, l) => (base(w, l) + Math.floor(((low(w, l) >>> 0) + offset) / 2 ** 32)) | 0;
    }
    case 'register': {
      if (word >= operand.words) return () => 0;
      const at = (operand.slot + word) * 32;
      return (w, l) => w.registers[at + l]!;
    }
    default:
      return symbols.refuse('an operand that is no value');
  }
}

/** First word of a register in the register file, for lane 0. */
export function placeOf(operand: Operand | undefined, symbols: Symbols): number {
  return operand?.kind === 'register' ? operand.slot * 32 : symbols.refuse('an operand that must be a register');
}

/** Elements of a vector, or the one operand that is none. */
export const elementsOf = (operand: Operand): readonly Operand[] =>
  operand.kind === 'vector' ? operand.elements : [operand];

/** Calls `f` with every lane of a mask. */
export function eachLane(mask: number, f: (lane: number) => void): void {
  for (let lane = 0; lane < 32; lane++) if ((mask >>> lane) & 1) f(lane);
}
export const firstLane = (mask: number): number => 31 - Math.clz32(mask & -mask);

/** Lanes of a mask in which a guard holds. */
export const guarded = (warp: Warp, mask: number, guard: Predicate | undefined): number =>
  guard ? mask & (guard.negated ? ~warp.predicates[guard.index]! : warp.predicates[guard.index]!) : mask;

/** An action of the lanes in which the instruction's guard holds. */
export function act({ instruction: { guard } }: Scope, run: WarpFunction, converges = false): Action {
  if (!guard) return { kind: 'run', converges, run };
  return {
    kind: 'run',
    converges,
    run: (warp, mask) => {
      const lanes = guarded(warp, mask, guard);
      if (lanes !== 0) run(warp, lanes);
    },
  };
}
export const nothing = (converges = false): Action => ({ kind: 'run', converges, run: () => {} });

export const setPredicate = (warp: Warp, index: number, mask: number, value: number): void => {
  warp.predicates[index] = (warp.predicates[index]! & ~mask) | (value & mask);
};

export type { Block, Warp };
