/** The local data share: loads, stores, atomics and transposed loads. */

import { type Access, halfRead, ldsLoads, ldsStores, loadInto, storeFrom, takeData } from '../access.js';
import { type WordFunction, wordFunctions } from '../atomic-functions.js';
import {
  type Form,
  halfOf,
  type InstructionEntry,
  type InstructionTable,
  numberIn,
  operandAt,
  placeOf,
  registersOf,
} from '../instruction.js';
import type { Instruction } from '../module.js';
import type { Wave } from '../wave.js';

/** Offsets of the accesses of one instruction, in bytes: one, or two in units of an element or of 64. */
type Offsets = (i: Instruction) => readonly number[];
const one: Offsets = (i) => [numberIn(i, 'offset')];
const two =
  (unit: number): Offsets =>
  (i) => [numberIn(i, 'offset0') * unit, numberIn(i, 'offset1') * unit];

function addresses(wave: Wave, from: number, offset: number, { bytes }: Access, what: string): Int32Array {
  const at = new Int32Array(64).fill(-1);
  for (let l = 0; l < 64; l++)
    if (wave.isActive(l)) at[l] = wave.group.ldsAt(wave.vector[from + l]! + offset, bytes, what, wave, l);
  return at;
}

const read = (access: Access, count: 1 | 2, offsets: Offsets): InstructionEntry => ({
  doc: `load of ${access.bytes} bytes${count === 2 ? ', twice' : ''}`,
  operands: [`V${access.words * count}` as Form, 'r1'],
  modifiers: count === 1 ? ['offset'] : ['offset0', 'offset1'],
  kind: 'lds',
  wave: ({ instruction: i }) => {
    const [to, from] = [placeOf(i, i.operands[0]), placeOf(i, i.operands[1])];
    const at = offsets(i);
    const writes = registersOf(i.operands[0]).map((r) => halfOf(r, access.half));
    return (wave) => {
      const places = at.map((offset) => addresses(wave, from, offset, access, 'read'));
      if (!access.half) wave.spoil(to, access.words * count, undefined);
      wave.issue('lds', writes, () => {
        places.forEach((place, n) => {
          for (let l = 0; l < 64; l++) {
            if (place[l]! < 0) continue;
            wave.group.observe(place[l]!, access.bytes, 'load', wave, l);
            loadInto(wave, wave.group.lds, place[l]!, to + n * access.words * 64, l, access);
          }
        });
      });
    };
  },
});

function dataForm(access: Access): Form {
  const half = halfRead(access);
  return `${half === undefined ? 'r' : half === 'low' ? 'l' : 'h'}${access.words}` as Form;
}
const write = (access: Access, count: 1 | 2, offsets: Offsets): InstructionEntry => ({
  doc: `store of ${access.bytes} bytes${count === 2 ? ', twice' : ''}`,
  operands: ['r1', ...Array.from({ length: count }, () => dataForm(access))],
  modifiers: count === 1 ? ['offset'] : ['offset0', 'offset1'],
  kind: 'lds',
  wave: ({ instruction: i }) => {
    const at = offsets(i);
    const address = placeOf(i, i.operands[0]);
    const sources = at.map((_, n) => placeOf(i, operandAt(i, n + 1)));
    return (wave) => {
      const places = at.map((offset) => addresses(wave, address, offset, access, 'write'));
      const data = sources.map((from) => takeData(wave, from, access));
      wave.issue('lds', [], () => {
        places.forEach((place, n) => {
          for (let l = 0; l < 64; l++) {
            if (place[l]! < 0) continue;
            wave.group.observe(place[l]!, access.bytes, 'store', wave, l);
            storeFrom(wave.group.lds, place[l]!, data[n]!, l, access);
          }
        });
      });
    };
  },
});

const wordAccess: Access = { bytes: 4, words: 1, signed: false, half: undefined };
const atomic = (f: WordFunction, returns: boolean): InstructionEntry => ({
  doc: 'reads, changes and writes a word as one',
  operands: returns ? ['V1', 'r1', 'r1'] : ['r1', 'r1'],
  modifiers: ['offset'],
  kind: 'lds',
  wave: ({ instruction: i }) => {
    const first = returns ? 1 : 0;
    const [address, from] = [placeOf(i, i.operands[first]), placeOf(i, i.operands[first + 1])];
    const to = returns ? placeOf(i, i.operands[0]) : 0;
    const writes = returns ? registersOf(i.operands[0]) : [];
    const offset = numberIn(i, 'offset');
    return (wave) => {
      const at = addresses(wave, address, offset, wordAccess, 'atomic');
      const data = takeData(wave, from, wordAccess);
      if (returns) wave.spoil(to, 1, undefined);
      wave.issue('lds', writes, () => {
        const { i32 } = wave.group.lds;
        for (let l = 0; l < 64; l++) {
          if (at[l]! < 0) continue;
          wave.group.observe(at[l]!, 4, 'atomic', wave, l);
          const old = i32[at[l]! >> 2]!;
          i32[at[l]! >> 2] = f(old, data[l]!);
          if (returns) wave.vector[to + l] = old;
        }
      });
    };
  },
});

/** Of each 16 lanes: rows of 16 elements, spread over some lanes each; lane i gets column i. */
const transposed = (elementBytes: 1 | 2): InstructionEntry => ({
  doc: 'load of 8 bytes that transposes over 16 lanes',
  operands: ['V2', 'r1'],
  modifiers: ['offset'],
  kind: 'lds',
  wave: ({ instruction: i }) => {
    const [to, from] = [placeOf(i, i.operands[0]), placeOf(i, i.operands[1])];
    const offset = numberIn(i, 'offset');
    const writes = registersOf(i.operands[0]);
    const perLane = 8 / elementBytes;
    const lanesOfRow = 16 / perLane;
    const access: Access = { bytes: 8, words: 2, signed: false, half: undefined };
    return (wave) => {
      const at = addresses(wave, from, offset, access, 'read');
      wave.spoil(to, 2, undefined);
      wave.issue('lds', writes, () => {
        const { u8 } = wave.group.lds;
        const { vector } = wave;
        for (let l = 0; l < 64; l++) {
          if (at[l]! < 0) continue;
          wave.group.observe(at[l]!, 8, 'load', wave, l);
          vector[to + l] = vector[to + 64 + l] = 0;
          const column = l & 15;
          for (let row = 0; row < perLane; row++) {
            const source = (l & 48) + row * lanesOfRow + Math.floor(column / perLane);
            for (let b = 0; b < elementBytes; b++) {
              const byte = u8[at[source]! + (column % perLane) * elementBytes + b]!;
              const place = row * elementBytes + b;
              vector[to + 64 * (place >> 2) + l]! |= byte << (8 * (place & 3));
            }
          }
        }
      });
    };
  },
});

/** Names of atomics in the local data share, in the words of the functions. */
const atomicNames: Readonly<Record<string, string>> = {
  add_u32: 'add',
  sub_u32: 'sub',
  min_i32: 'imin',
  max_i32: 'imax',
  min_u32: 'umin',
  max_u32: 'umax',
  and_b32: 'and',
  or_b32: 'or',
  xor_b32: 'xor',
  wrxchg_b32: 'swap',
  inc_u32: 'inc',
  dec_u32: 'dec',
  add_f32: 'add_f32',
  min_f32: 'min_f32',
  max_f32: 'max_f32',
  pk_add_f16: 'pk_add_f16',
  pk_add_bf16: 'pk_add_bf16',
};
const withReturn = (name: string): string => name.replace(/_(\w+)$/, (_, type) => `_rtn_${type}`);
const doubled = ['b32', 'b64'] as const;

export const lds: InstructionTable = Object.fromEntries([
  ...Object.entries(ldsLoads).map(([name, access]) => [`ds_read_${name}`, read(access, 1, one)] as const),
  ...Object.entries(ldsStores).map(([name, access]) => [`ds_write_${name}`, write(access, 1, one)] as const),
  ...doubled.flatMap((name) => {
    const access = ldsLoads[name]!;
    return [
      [`ds_read2_${name}`, read(access, 2, two(access.bytes))] as const,
      [`ds_read2st64_${name}`, read(access, 2, two(64 * access.bytes))] as const,
      [`ds_write2_${name}`, write(access, 2, two(access.bytes))] as const,
      [`ds_write2st64_${name}`, write(access, 2, two(64 * access.bytes))] as const,
    ];
  }),
  ...Object.entries(atomicNames).flatMap(([name, f]) => [
    [`ds_${name}`, atomic(wordFunctions[f]!, false)] as const,
    [`ds_${withReturn(name)}`, atomic(wordFunctions[f]!, true)] as const,
  ]),
  ['ds_read_b64_tr_b16', transposed(2)] as const,
  ['ds_read_b64_tr_b8', transposed(1)] as const,
]);
