/** AMD assembly as data: what the parser makes and everything else reads. */

import type { Loc } from '../../diagnostics/location.js';

/** Signs of a float source. */
interface Signs {
  readonly negate: boolean;
  readonly absolute: boolean;
}

/** Accumulation registers follow the 256 vector registers in one numbering. */
export type VectorRegister = Signs & {
  readonly kind: 'vector';
  readonly index: number;
  readonly count: number;
  /** One half of a register, as gfx11 and later write it. */
  readonly half: 'low' | 'high' | undefined;
};
/** Numbered as the encoding does: 106 is vcc, 124 m0, 126 exec. */
export type ScalarRegister = Signs & { readonly kind: 'scalar'; readonly index: number; readonly count: number };
export type Constant = Signs & {
  readonly kind: 'constant';
  /** Of an integer or of bits; of a float, the bits of its f32. */
  readonly value: bigint;
  /** As it was written, where it was written as a float. */
  readonly float: number | undefined;
};

export type Operand =
  | VectorRegister
  | ScalarRegister
  | Constant
  /** `off`, `null`: nothing is there. */
  | { readonly kind: 'none' }
  /** A label, or a name that some instruction knows. */
  | { readonly kind: 'symbol'; readonly name: string };

export type Modifier = true | number | string | readonly number[];
export type Modifiers = Readonly<Record<string, Modifier>>;

export interface Instruction {
  /** As the table names it: in the words of gfx9, without its encoding. */
  readonly opcode: string;
  /** The same, for the profile. */
  readonly parts: readonly [string];
  /** How lanes or parts of the first sources are chosen. */
  readonly encoding: 'plain' | 'dpp' | 'sdwa';
  readonly operands: readonly Operand[];
  readonly modifiers: Modifiers;
  readonly text: string;
  /** Of the assembly. */
  readonly line: number;
  /** Of the kernel. */
  readonly loc: Loc;
  /** The second instruction of a pair that reads before either writes. */
  readonly second: Instruction | undefined;
}

export interface KernelArgument {
  readonly offset: number;
  readonly bytes: number;
  /** `global_buffer`, `by_value`, or one that the runtime fills in: `hidden_…`. */
  readonly kind: string;
}

export interface AmdKernel {
  readonly name: string;
  readonly arguments: readonly KernelArgument[];
  readonly argumentBytes: number;
  /** The `.amdhsa_` directives. */
  readonly directives: ReadonlyMap<string, number>;
  readonly code: readonly Instruction[];
  /** Of each label: the instruction that follows it. */
  readonly labels: ReadonlyMap<string, number>;
}

export interface AmdTarget {
  readonly name: string;
  /** 9 stands for CDNA, 11 and 12 for RDNA. */
  readonly generation: 9 | 11 | 12;
  readonly lanes: 32 | 64;
  /** Which of the two kinds of fp8 the matrix and conversion instructions mean. */
  readonly fp8: 'fnuz' | 'ocp';
}

export interface AmdModule {
  readonly target: AmdTarget;
  readonly kernels: ReadonlyMap<string, AmdKernel>;
}

export const registers = { vcc: 106, m0: 124, exec: 126, ttmp: 108 } as const;
/** Registers of a wave: 256 vector, 256 accumulation, one for what DPP gathers. */
export const vectorRegisters = 513;
export const gatherRegister = 512;
export const scalarRegisters = 128;
