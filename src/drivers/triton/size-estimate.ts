/** How much code a Triton IR text turns into, guessed without compiling it. */

export interface SizeEstimate {
  /** Elements of the largest tile that one thread holds. */
  readonly perThread: number;
  readonly instructions: number;
}

/** What costs nothing: constants, and tiles that are one value seen many times. */
const free = /= (?:arith\.constant|tt\.splat|tt\.broadcast|tt\.expand_dims|tt\.make_range|tt\.reshape)\b/;

/** Counts each op of the text once for every element of its tile that a thread holds. */
export function estimateSize(ttir: string, threads: number): SizeEstimate {
  let [largest, instructions] = [0, 0];
  for (const line of ttir.split('\n')) {
    const tiles = [...line.matchAll(/tensor<((?:\d+x)+)/g)].map(([, shape]) =>
      shape!
        .split('x')
        .slice(0, -1)
        .reduce((product, extent) => product * Number(extent), 1),
    );
    if (tiles.length === 0 || free.test(line)) continue;
    const perThread = Math.ceil(Math.max(...tiles) / threads);
    largest = Math.max(largest, perThread);
    instructions += perThread;
  }
  return { perThread: largest, instructions };
}

/** From here on compilers take minutes. */
export const isHuge = ({ perThread, instructions }: SizeEstimate): boolean => perThread > 1024 || instructions > 40_000;
