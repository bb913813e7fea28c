/** What loads and stores move: sizes, signs, halves of registers, and the copying itself. */

import type { Views } from '../memory.js';
import type { Wave } from './wave.js';

export interface Access {
  readonly bytes: number;
  readonly words: number;
  readonly signed: boolean;
  /** The half of the register that a load fills or a store takes; a load into a half keeps the other one. */
  readonly half: 'low' | 'high' | undefined;
}

const whole = (bytes: number): Access => ({ bytes, words: Math.max(1, bytes >> 2), signed: false, half: undefined });
const part = (bytes: 1 | 2, signed: boolean, half?: 'low' | 'high'): Access => ({ bytes, words: 1, signed, half });

/** By the end of the mnemonic. */
export const loads: Readonly<Record<string, Access>> = {
  ubyte: part(1, false),
  sbyte: part(1, true),
  ushort: part(2, false),
  sshort: part(2, true),
  ubyte_d16: part(1, false, 'low'),
  ubyte_d16_hi: part(1, false, 'high'),
  sbyte_d16: part(1, true, 'low'),
  sbyte_d16_hi: part(1, true, 'high'),
  short_d16: part(2, false, 'low'),
  short_d16_hi: part(2, false, 'high'),
  dword: whole(4),
  dwordx2: whole(8),
  dwordx3: whole(12),
  dwordx4: whole(16),
};
export const stores: Readonly<Record<string, Access>> = {
  byte: part(1, false),
  byte_d16_hi: part(1, false, 'high'),
  short: part(2, false),
  short_d16_hi: part(2, false, 'high'),
  dword: whole(4),
  dwordx2: whole(8),
  dwordx3: whole(12),
  dwordx4: whole(16),
};
export const ldsLoads: Readonly<Record<string, Access>> = {
  u8: part(1, false),
  i8: part(1, true),
  u16: part(2, false),
  i16: part(2, true),
  u8_d16: part(1, false, 'low'),
  u8_d16_hi: part(1, false, 'high'),
  i8_d16: part(1, true, 'low'),
  i8_d16_hi: part(1, true, 'high'),
  u16_d16: part(2, false, 'low'),
  u16_d16_hi: part(2, false, 'high'),
  b32: whole(4),
  b64: whole(8),
  b96: whole(12),
  b128: whole(16),
};
export const ldsStores: Readonly<Record<string, Access>> = {
  b8: part(1, false),
  b8_d16_hi: part(1, false, 'high'),
  b16: part(2, false),
  b16_d16_hi: part(2, false, 'high'),
  b32: whole(4),
  b64: whole(8),
  b96: whole(12),
  b128: whole(16),
};

/** The half of a register that a store takes. */
export const halfRead = ({ bytes, half }: Access): Access['half'] => half ?? (bytes < 4 ? 'low' : undefined);

/** A word at any byte. */
export const wordAt = ({ u8, i32 }: Views, at: number): number =>
  at & 3 ? u8[at]! | (u8[at + 1]! << 8) | (u8[at + 2]! << 16) | (u8[at + 3]! << 24) : i32[at >> 2]!;
export function setWord({ u8, i32 }: Views, at: number, value: number): void {
  if ((at & 3) === 0) i32[at >> 2] = value;
  else for (let b = 0; b < 4; b++) u8[at + b] = value >>> (8 * b);
}

/** Loads from byte `at` into the register whose words for the lane begin at `to`. */
export function loadInto(wave: Wave, memory: Views, at: number, to: number, lane: number, access: Access): void {
  const { vector } = wave;
  if (access.bytes >= 4) {
    for (let w = 0; w < access.words; w++) vector[to + w * 64 + lane] = wordAt(memory, at + 4 * w);
    return;
  }
  const { u8 } = memory;
  let value = access.bytes === 1 ? u8[at]! : u8[at]! | (u8[at + 1]! << 8);
  if (access.signed) value = access.bytes === 1 ? (value << 24) >> 24 : (value << 16) >> 16;
  setPart(wave, to + lane, value, access.half);
}
function setPart({ vector }: Wave, at: number, value: number, half: Access['half']): void {
  if (half === 'high') vector[at] = (vector[at]! & 0xffff) | (value << 16);
  else vector[at] = half === 'low' ? (vector[at]! & ~0xffff) | (value & 0xffff) : value;
}
/** What a load that is out of range of its descriptor gives. */
export function loadZero(wave: Wave, to: number, lane: number, access: Access): void {
  for (let w = 0; w < access.words; w++) setPart(wave, to + w * 64 + lane, 0, access.half);
}
/** Takes what a store moves from a register, for all lanes: words by lane. */
export function takeData({ vector }: Wave, from: number, { words, half }: Access): Int32Array {
  const data = new Int32Array(64 * words);
  for (let l = 0; l < 64; l++)
    for (let w = 0; w < words; w++) {
      const word = vector[from + w * 64 + l]!;
      data[l * words + w] = half === 'high' ? word >>> 16 : word;
    }
  return data;
}
export function storeFrom(memory: Views, at: number, data: Int32Array, lane: number, { bytes, words }: Access): void {
  if (bytes >= 4) for (let w = 0; w < words; w++) setWord(memory, at + 4 * w, data[lane * words + w]!);
  else {
    memory.u8[at] = data[lane]!;
    if (bytes === 2) memory.u8[at + 1] = data[lane]! >>> 8;
  }
}
