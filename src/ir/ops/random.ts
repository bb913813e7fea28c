/** Random bits from counters: no state, so that any element of any program is drawn alone and the same everywhere. */

import { attr } from '../attributes.js';
import { defineOp, one, types } from '../define-op.js';
import { mulHiU32 } from '../numerics/integer.js';
import { allocate } from '../numerics/registers.js';
import { elementCount, printType, sameType } from '../types.js';
import { raggedElementwise } from './ragged-rules.js';

/** Multipliers of the two products of a round, and what the keys grow by from round to round. */
export const philoxMultipliers = [0xd2511f53, 0xcd9e8d57] as const;
export const philoxKeySteps = [0x9e3779b9, 0xbb67ae85] as const;
export const philoxRounds = 10;

/** Philox-4x32-10: four words from a counter of four and a key of two. */
export function philox(counter: readonly number[], key: readonly number[]): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter as [number, number, number, number];
  let [k0, k1] = key as [number, number];
  for (let round = 0; round < philoxRounds; round++) {
    const [m0, m1] = philoxMultipliers;
    const [high0, low0, high1, low1] = [mulHiU32(m0, c0), Math.imul(m0, c0), mulHiU32(m1, c2), Math.imul(m1, c2)];
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1 >>> 0, (high0 ^ c3 ^ k1) >>> 0, low0 >>> 0];
    [k0, k1] = [(k0 + philoxKeySteps[0]) >>> 0, (k1 + philoxKeySteps[1]) >>> 0];
  }
  return [c0, c1, c2, c3];
}

export const randomOps = [
  defineOp({
    name: 'philox',
    summary: 'Draw 32 random bits for each element from a counter of four words and a key of two.',
    semantics:
      'Word `word` (0 to 3) of Philox-4x32 with 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), bit-exact: counter 0 and key 0 give 0x6627e8d5 as word 0.',
    operands: {
      counter0: one(types.u32),
      counter1: one(types.u32),
      counter2: one(types.u32),
      counter3: one(types.u32),
      key0: one(types.u32),
      key1: one(types.u32),
    },
    attrs: { word: attr.int },
    results: {
      infer: (operands, { word }, report) => {
        const [first, ...rest] = Object.values(operands);
        if (word < 0 || word > 3) report(`'philox' gives words 0 to 3, got ${word}`);
        if (rest.every((x) => sameType(x.type, first!.type))) return [first!.type];
        report(
          `'philox' needs operands of one type, got ${Object.values(operands)
            .map((x) => printType(x.type))
            .join(', ')}`,
        );
        return undefined;
      },
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: (inputs, { word }, [type]) => {
      const { shape } = inputs[0]!;
      const data = allocate(type!.dtype, elementCount(shape));
      for (let i = 0; i < data.length; i++) {
        const words = inputs.map((x) => x.data[i] as number);
        data[i] = philox(words.slice(0, 4), words.slice(4))[word]!;
      }
      return [{ dtype: type!.dtype, shape, data }];
    },
  }),
] as const;
