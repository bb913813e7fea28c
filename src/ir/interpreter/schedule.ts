/** In which order programs take their turns. */

import type { Launch } from '../kernel.js';
import { definitionOf, isOp } from '../ops/index.js';
import { walk } from '../walk.js';

/** Programs that take turns; the rest wait until one of them ends. A device has room for so many at least. */
export const residentPrograms = 32;

/** Numbers below `n` from a seed; the same on every machine (mulberry32). */
export function randomNumbers(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * n);
  };
}

/** Whether programs may wait for each other: a `while` loop that looks at memory. */
export function mayWait(launch: Launch): boolean {
  let waits = false;
  walk(launch.body, (op) => {
    if (!isOp(op, 'while')) return;
    for (const region of op.regions)
      walk(region, (inner) => {
        waits ||= definitionOf(inner).effects.some((e) => e === 'reads' || e === 'atomic');
      });
  });
  return waits;
}

/** The order in which programs start: as the grid counts, or shuffled by a seed. */
export function startOrder(programs: number, random: ((n: number) => number) | undefined): (turn: number) => number {
  if (!random) return (turn) => turn;
  const order = Int32Array.from({ length: programs }, (_, i) => i);
  for (let i = programs - 1; i > 0; i--) {
    const j = random(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return (turn) => order[turn]!;
}
