/** What constants and registers of the scalar unit are as bits. */

import { highOf, lowOf } from '../formats.js';
import type { Constant, Operand } from './module.js';

const wordOf = (value: bigint, word: number): number => Number(BigInt.asIntN(32, value >> BigInt(32 * word)));

/** A word of a constant, where the operand has so many words. A float fills all of them. */
export function bitsOfConstant({ value, float }: Constant, word: number, words: number): number {
  if (float === undefined) return wordOf(value, word);
  if (words === 1) return wordOf(value, 0);
  return word === 0 ? lowOf(float) : highOf(float);
}

/** The index of a scalar register, or undefined. */
export const scalarIndex = (o: Operand | undefined): number | undefined => (o?.kind === 'scalar' ? o.index : undefined);
