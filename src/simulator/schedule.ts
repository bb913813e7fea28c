/** When asynchronous work is done and in which order warps run: everything that a device leaves open. */

export interface Schedule {
  readonly name: string;
  /** Copies into shared memory: at the instruction, or as late as the waits allow. */
  readonly loads: 'early' | 'late';
  /** Matrix instructions and copies out of shared memory. */
  readonly compute: 'early' | 'late';
  readonly order: 'natural' | 'reversed' | 'shuffled';
  readonly seed: number;
}

const schedule = (
  name: string,
  loads: Schedule['loads'],
  compute: Schedule['compute'],
  order: Schedule['order'] = 'natural',
): Schedule => ({ name, loads, compute, order, seed: 1 });

/** What a kernel must agree in. */
export const schedules: readonly Schedule[] = [
  schedule('eager', 'early', 'early'),
  schedule('lazy', 'late', 'late'),
  schedule('mixed', 'early', 'late'),
  schedule('late loads', 'late', 'early'),
  schedule('reversed', 'early', 'early', 'reversed'),
  schedule('shuffled', 'late', 'late', 'shuffled'),
];

export const eager: Schedule = schedules[0]!;

/** Numbers in [0, 1) from a seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Puts the warps of one round in the order of a schedule. */
export function inOrder<T>(items: readonly T[], { order }: Schedule, random: () => number): readonly T[] {
  if (order === 'natural') return items;
  if (order === 'reversed') return [...items].reverse();
  const shuffled = [...items];
  for (let i = shuffled.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
  }
  return shuffled;
}
