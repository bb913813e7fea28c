/** Random bits on lanes. */

import type { DType } from '../../ir/dtypes.js';
import { isOp } from '../../ir/ops/index.js';
import { philoxKeySteps, philoxMultipliers, philoxRounds } from '../../ir/ops/random.js';
import type { GenericOp } from '../../ir/value.js';
import type { Emitter, Lanes } from './emitter.js';

/** Philox-4x32-10 on lanes of u32; products of 32 bits by 32 are one instruction on 64-bit lanes. */
export function philoxWord(e: Emitter, args: readonly Lanes[], _: DType, op: GenericOp): Lanes {
  const word = isOp(op, 'philox') ? op.attrs.word : 0;
  const { width } = args[0]!;
  const int = (n: number): Lanes => e.int(n, 'i32', width);
  const xor = (...all: readonly Lanes[]): Lanes => all.reduce((a, b) => e.binary('xori', a, b));
  const product = (m: number, x: Lanes): { high: Lanes; low: Lanes } => {
    const wide = e.binary('muli', e.int(m, 'i64', width), e.convert('arith.extui', x, 'i64'));
    const high = e.convert('arith.trunci', e.binary('shrui', wide, e.int(32, 'i64', width)), 'i32');
    return { high, low: e.convert('arith.trunci', wide, 'i32') };
  };
  let [c0, c1, c2, c3, k0, k1] = args as [Lanes, Lanes, Lanes, Lanes, Lanes, Lanes];
  for (let round = 0; round < philoxRounds; round++) {
    const [a, b] = [product(philoxMultipliers[0], c0), product(philoxMultipliers[1], c2)];
    [c0, c1, c2, c3] = [xor(b.high, c1, k0), b.low, xor(a.high, c3, k1), a.low];
    [k0, k1] = [e.binary('addi', k0, int(philoxKeySteps[0])), e.binary('addi', k1, int(philoxKeySteps[1]))];
  }
  return [c0, c1, c2, c3][word]!;
}
