/** Instructions that move data between lanes, and between lanes and scalar registers. */

import { type InstructionEntry, type InstructionTable, numberIn, operandAt, placeOf } from '../instruction.js';
import { type Instruction, type Operand, registers } from '../module.js';
import { bitsOfConstant } from '../operand-bits.js';
import { unsupported } from '../unsupported.js';
import type { Wave } from '../wave.js';

/** Reads a scalar operand. */
export function scalarReader(o: Operand | undefined, word = 0, words = 1): (wave: Wave) => number {
  if (o?.kind === 'constant') {
    const value = bitsOfConstant(o, word, words);
    return () => value;
  }
  if (o?.kind !== 'scalar') return () => 0;
  const index = o.index + word;
  return (wave) => wave.scalar[index]!;
}
const scalarPlace = (o: Operand): number => (o.kind === 'scalar' ? o.index : 0);

/** Lane `l` reads lane `(l & 48) ^ flip` of its rows, chosen by 4 bits of two scalars. */
const permuteRow = (doc: string, flip: number): InstructionEntry => ({
  doc,
  operands: ['V1', 'r1', 's1', 's1'],
  modifiers: ['op_sel'],
  wave: ({ instruction: i }) => {
    const [to, from] = [placeOf(i, i.operands[0]), placeOf(i, i.operands[1])];
    const [low, high] = [scalarReader(i.operands[2]), scalarReader(i.operands[3])];
    const choices = i.modifiers.op_sel;
    const [inactive, bound] = Array.isArray(choices) ? [choices[0] === 1, choices[1] === 1] : [false, false];
    return (wave) => {
      const { vector } = wave;
      const old = vector.slice(from, from + 64);
      for (let l = 0; l < 64; l++) {
        if (!wave.isActive(l)) continue;
        const j = l & 15;
        const select = ((j < 8 ? low(wave) : high(wave)) >>> (4 * (j & 7))) & 15;
        const other = ((l & 48) ^ flip) + select;
        if (inactive || wave.isActive(other)) vector[to + l] = old[other]!;
        else if (bound) vector[to + l] = 0;
      }
    };
  },
});
/** Rows of the first register that have the bit change places with those of the second that do not. */
const exchangeRows = (doc: string, bit: number): InstructionEntry => ({
  doc,
  operands: ['X1', 'X1'],
  modifiers: ['bound_ctrl', 'fi'],
  wave: ({ instruction: i }) => {
    const [a, b] = [placeOf(i, i.operands[0]), placeOf(i, i.operands[1])];
    return ({ vector }) => {
      for (let l = 0; l < 64; l++) {
        if (l & bit) continue;
        const old = vector[a + l + bit]!;
        vector[a + l + bit] = vector[b + l]!;
        vector[b + l] = old;
      }
    };
  },
});

function firstActive({ scalar }: Wave): number {
  const [low, high] = [scalar[registers.exec]!, scalar[registers.exec + 1]!];
  if (low !== 0) return 31 - Math.clz32(low & -low);
  return high !== 0 ? 63 - Math.clz32(high & -high) : 0;
}

export const lanes = {
  v_readfirstlane_b32: {
    doc: 'a scalar of the first lane that is on',
    operands: ['S1', 'v1'],
    wave: ({ instruction: i }) => {
      const [d, a] = [scalarPlace(operandAt(i, 0)), operandAt(i, 1)];
      if (a.kind !== 'vector') {
        const read = scalarReader(a);
        return (wave) => {
          wave.scalar[d] = read(wave);
        };
      }
      const at = a.index * 64;
      return (wave) => {
        wave.scalar[d] = wave.vector[at + firstActive(wave)]!;
      };
    },
  },
  v_readlane_b32: {
    doc: 'a scalar of one lane',
    operands: ['S1', 'r1', 's1'],
    wave: ({ instruction: i, target }) => {
      const [d, at, lane] = [scalarPlace(operandAt(i, 0)), placeOf(i, i.operands[1]), scalarReader(i.operands[2])];
      return (wave) => {
        wave.scalar[d] = wave.vector[at + (lane(wave) & (target.lanes - 1))]!;
      };
    },
  },
  v_writelane_b32: {
    doc: 'a scalar into one lane',
    operands: ['V1', 's1', 's1'],
    wave: ({ instruction: i, target }) => {
      const [d, value, lane] = [placeOf(i, i.operands[0]), scalarReader(i.operands[1]), scalarReader(i.operands[2])];
      return (wave) => {
        wave.vector[d + (lane(wave) & (target.lanes - 1))] = value(wave);
      };
    },
  },
  v_permlane16_b32: permuteRow('lanes of the own row of 16', 0),
  v_permlanex16_b32: permuteRow('lanes of the neighbouring row of 16', 16),
  v_permlane16_swap_b32: exchangeRows('odd rows of 16 of the first for even ones of the second', 16),
  v_permlane32_swap_b32: exchangeRows('upper half of the first for the lower half of the second', 32),
  v_permlane64_b32: {
    doc: 'halves of the wave change places',
    operands: ['V1', 'r1'],
    wave: ({ instruction: i, target }) => {
      const [to, from] = [placeOf(i, i.operands[0]), placeOf(i, i.operands[1])];
      return (wave) => {
        const old = wave.vector.slice(from, from + 64);
        for (let l = 0; l < 64; l++) if (wave.isActive(l)) wave.vector[to + l] = old[target.lanes === 64 ? l ^ 32 : l]!;
      };
    },
  },
  v_nop: { doc: 'nothing', operands: [], wave: () => () => {} },
  ds_bpermute_b32: {
    doc: 'each lane reads the lane that it names',
    operands: ['V1', 'r1', 'r1'],
    modifiers: ['offset'],
    kind: 'lds',
    wave: ({ instruction: i, target }) => permuteLanes(i, target.lanes, true),
  },
  ds_permute_b32: {
    doc: 'each lane writes the lane that it names',
    operands: ['V1', 'r1', 'r1'],
    modifiers: ['offset'],
    kind: 'lds',
    wave: ({ instruction: i, target }) => permuteLanes(i, target.lanes, false),
  },
  ds_swizzle_b32: {
    doc: 'lanes in one of some fixed patterns',
    operands: ['V1', 'r1'],
    modifiers: ['offset'],
    kind: 'lds',
    wave: ({ instruction: i }) => {
      const pattern = swizzleOf(i);
      const from = placeOf(i, i.operands[1]);
      return exchange(i, (wave, active) => {
        const out = new Int32Array(64);
        for (let l = 0; l < 64; l++) if (active[pattern(l)]) out[l] = wave.vector[from + pattern(l)]!;
        return out;
      });
    },
  },
} satisfies InstructionTable;

/** Values are taken at once and arrive with the operations on the local data share. */
function exchange(
  i: Instruction,
  values: (wave: Wave, active: readonly boolean[]) => Int32Array,
): (wave: Wave) => void {
  const to = placeOf(i, i.operands[0]);
  const writes = [to / 64];
  return (wave) => {
    const active = Array.from({ length: 64 }, (_, l) => wave.isActive(l));
    const out = values(wave, active);
    wave.spoil(to, 1, active);
    wave.issue('lds', writes, () => {
      for (let l = 0; l < 64; l++) if (active[l]) wave.vector[to + l] = out[l]!;
    });
  };
}
function permuteLanes(i: Instruction, lanesOfWave: number, backward: boolean): (wave: Wave) => void {
  const [names, from] = [placeOf(i, i.operands[1]), placeOf(i, i.operands[2])];
  const offset = numberIn(i, 'offset');
  return exchange(i, ({ vector }, active) => {
    const out = new Int32Array(64);
    for (let l = 0; l < 64; l++) {
      if (!active[l]) continue;
      const other = ((vector[names + l]! + offset) >> 2) & (lanesOfWave - 1);
      if (!backward) out[other] = vector[from + l]!;
      else if (active[other]) out[l] = vector[from + other]!;
    }
    return out;
  });
}
function swizzleOf(i: Instruction): (lane: number) => number {
  const { offset } = i.modifiers;
  if (typeof offset === 'number') {
    if (offset & 0x8000) return (l) => (l & ~3) + ((offset >> (2 * (l & 3))) & 3);
    return (l) => (l & 32) + (((l & 31 & (offset & 31)) | ((offset >> 5) & 31)) ^ ((offset >> 10) & 31));
  }
  const m = /^swizzle\((\w+),(.*)\)$/.exec(String(offset));
  const list = (m?.[2] ?? '').split(',').map(Number);
  const n = list[0] ?? 0;
  if (m?.[1] === 'SWAP') return (l) => l ^ n;
  if (m?.[1] === 'QUAD_PERM') return (l) => (l & ~3) + list[l & 3]!;
  if (m?.[1] === 'BROADCAST') return (l) => (l & ~(n - 1)) + list[1]!;
  if (m?.[1] === 'REVERSE') return (l) => l ^ (n - 1);
  return unsupported(i, `the modifier 'offset'`);
}
