/** Registers that an instruction reads although nothing on any path to it has written them. */

import { wholeOf } from './instruction.js';
import { type Instruction, scalarRegisters, vectorRegisters } from './module.js';
import type { Step } from './program.js';

const words = Math.ceil((vectorRegisters + scalarRegisters) / 32);
const add = (set: Int32Array, register: number): void => {
  const whole = wholeOf(register);
  set[whole >> 5]! |= 1 << (whole & 31);
};
const has = (set: Int32Array, register: number): boolean => {
  const whole = wholeOf(register);
  return ((set[whole >> 5]! >>> (whole & 31)) & 1) === 1;
};

/** Adds one set to another; whether that changed it. */
function merge(into: Int32Array, from: Int32Array): boolean {
  let changed = false;
  for (let i = 0; i < words; i++) {
    const merged = into[i]! | from[i]!;
    if (merged !== into[i]) changed = true;
    into[i] = merged;
  }
  return changed;
}

/** Marks the steps that have such reads. What one path writes counts as written: no right code is blamed. */
export function findUndefinedReads(
  steps: readonly Step[],
  targets: ReadonlyMap<Step, number>,
  initial: readonly number[],
): void {
  const before = steps.map(() => new Int32Array(words));
  for (const register of initial) add(before[0] ?? new Int32Array(words), register);
  const seen = new Set<number>([0]);
  const work = steps.length > 0 ? [0] : [];
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    const step = steps[at]!;
    const after = before[at]!.slice();
    for (const { writes } of step.uses) for (const w of writes) add(after, w);
    const target = targets.get(step);
    const opcode = step.instructions[0]?.opcode;
    const through = opcode !== 's_branch' && opcode !== 's_endpgm';
    for (const next of [
      ...(through && at + 1 < steps.length ? [at + 1] : []),
      ...(target === undefined ? [] : [target]),
    ]) {
      const changed = merge(before[next]!, after);
      if (!changed && seen.has(next)) continue;
      seen.add(next);
      work.push(next);
    }
  }
  steps.forEach((step, at) => {
    const known = before[at]!.slice();
    const found = new Map<Instruction, number>();
    step.uses.forEach(({ reads, writes }, n) => {
      const missing = reads.find((r) => !has(known, r));
      if (missing !== undefined) found.set(step.instructions[n]!, missing);
      for (const w of writes) add(known, w);
    });
    if (found.size > 0) step.undefinedReads = found;
  });
}
