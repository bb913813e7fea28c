/** PTX as data: what the parser makes and everything else reads. */

import type { Loc } from '../../diagnostics/location.js';

export type Operand =
  /** 32 bits or more; `slot` is the place of its first word in the register file. */
  | { readonly kind: 'register'; readonly name: string; readonly slot: number; readonly words: number }
  | { readonly kind: 'predicate'; readonly index: number; readonly negated: boolean }
  /** Bits; `float`: they were written as those of a float. */
  | { readonly kind: 'immediate'; readonly value: bigint; readonly float: boolean }
  /** A variable, a parameter or a special register. */
  | { readonly kind: 'symbol'; readonly name: string; readonly offset: number }
  | { readonly kind: 'vector'; readonly elements: readonly Operand[] }
  | {
      readonly kind: 'address';
      readonly base: Operand;
      readonly offset: number;
      readonly coordinates: readonly Operand[];
    }
  /** `a|b`: two results. */
  | { readonly kind: 'pair'; readonly first: Operand; readonly second: Operand }
  | { readonly kind: 'sink' };

export type Register = Extract<Operand, { kind: 'register' }>;
export type Predicate = Extract<Operand, { kind: 'predicate' }>;

export interface Instruction {
  /** The opcode at its dots. */
  readonly parts: readonly string[];
  readonly operands: readonly Operand[];
  readonly guard: Predicate | undefined;
  readonly text: string;
  /** Of the PTX. */
  readonly line: number;
  /** Of the kernel. */
  readonly loc: Loc;
  /** Branches: the index of the instruction that they go to. */
  readonly target: number | undefined;
}

export interface Variable {
  readonly name: string;
  readonly alignment: number;
  readonly bytes: number;
  /** Dynamic shared memory. */
  readonly extern: boolean;
  /** Initial bytes of global and constant variables. */
  readonly initial: Uint8Array | undefined;
}

export interface Parameter {
  readonly name: string;
  readonly offset: number;
  readonly bytes: number;
}

export interface Entry {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly parameterBytes: number;
  readonly shared: readonly Variable[];
  readonly local: readonly Variable[];
  /** Words of the register file and number of predicates. */
  readonly words: number;
  readonly predicates: number;
  readonly code: readonly Instruction[];
  readonly line: number;
}

export interface PtxModule {
  readonly version: string;
  readonly target: string;
  readonly entries: ReadonlyMap<string, Entry>;
  readonly globals: readonly Variable[];
}

const typeBits: Readonly<Record<string, number>> = {
  pred: 1,
  b8: 8,
  u8: 8,
  s8: 8,
  b16: 16,
  u16: 16,
  s16: 16,
  f16: 16,
  bf16: 16,
  e4m3x2: 16,
  e5m2x2: 16,
  b32: 32,
  u32: 32,
  s32: 32,
  f32: 32,
  tf32: 32,
  f16x2: 32,
  bf16x2: 32,
  b64: 64,
  u64: 64,
  s64: 64,
  f64: 64,
  f32x2: 64,
  b128: 128,
};

/** Bits of a PTX type, 0 for what is none. */
export const bitsOfType = (type: string): number => typeBits[type] ?? 0;
export const isSigned = (type: string): boolean => type.startsWith('s');
