/** Static ranks: extents are numbers known only while tracing, how many of them there are is known to TypeScript. */

export type Rank = 0 | 1 | 2 | 3 | 4 | 5 | 6;

type N = number;
/** Shape of each rank. */
export interface Dims {
  0: readonly [];
  1: readonly [N];
  2: readonly [N, N];
  3: readonly [N, N, N];
  4: readonly [N, N, N, N];
  5: readonly [N, N, N, N, N];
  6: readonly [N, N, N, N, N, N];
}

export type RankOf<S extends readonly unknown[]> = S['length'] & Rank;

interface MaxTable {
  0: [0, 1, 2, 3, 4, 5, 6];
  1: [1, 1, 2, 3, 4, 5, 6];
  2: [2, 2, 2, 3, 4, 5, 6];
  3: [3, 3, 3, 3, 4, 5, 6];
  4: [4, 4, 4, 4, 4, 5, 6];
  5: [5, 5, 5, 5, 5, 5, 6];
  6: [6, 6, 6, 6, 6, 6, 6];
}

/** Rank of the broadcast of two tiles. */
export type Max<A extends Rank, B extends Rank> = MaxTable[A][B];
export type Pred<R extends Rank> = [never, 0, 1, 2, 3, 4, 5][R];
export type Succ<R extends Rank> = [1, 2, 3, 4, 5, 6, never][R];
/** Axes of a rank-R tile. */
export type Axis<R extends Rank> = [
  never,
  0,
  0 | 1,
  0 | 1 | 2,
  0 | 1 | 2 | 3,
  0 | 1 | 2 | 3 | 4,
  0 | 1 | 2 | 3 | 4 | 5,
][R];
