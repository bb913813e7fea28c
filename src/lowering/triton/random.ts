/** Philox-4x32-10 in Triton IR. */

import type { OpOf } from '../../ir/ops/index.js';
import { philoxKeySteps, philoxMultipliers } from '../../ir/ops/random.js';
import type { ProgramLowering } from './program.js';

export function lowerPhilox(l: ProgramLowering, op: OpOf<'philox'>): void {
  const { e } = l;
  const { counter0, counter1, counter2, counter3, key0, key1 } = op.operands;
  let counter = [counter0, counter1, counter2, counter3].map((v) => l.get(v));
  let key = [key0, key1].map((v) => l.get(v));
  for (let round = 0; round < 10; round++) {
    if (round > 0) key = key.map((k, i) => e.binary('addi', k, e.like(philoxKeySteps[i]!, k)));
    const [a, b, c, d] = counter;
    const [m0, m1] = philoxMultipliers.map((m) => e.like(m, a!));
    const high = (x: typeof a, m: typeof a): NonNullable<typeof a> => e.op('tt.mulhiui', [x!, m!], x!.type);
    counter = [
      e.binary('xori', e.binary('xori', high(c, m1), b!), key[0]!),
      e.binary('muli', c!, m1!),
      e.binary('xori', e.binary('xori', high(a, m0), d!), key[1]!),
      e.binary('muli', a!, m0!),
    ];
  }
  l.set(op.results[0]!, counter[op.attrs.word]!);
}
