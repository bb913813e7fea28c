/** How much code a Triton IR text turns into, guessed without compiling it. */

import type { GpuTarget } from '../../lowering/gpu-target.js';

export interface SizeEstimate {
  /** Elements of the largest tile that one thread holds. */
  readonly perThread: number;
  readonly instructions: number;
  /** Of a dot without matrix instruction: products that one thread makes, all in a row. */
  readonly products: number;
}

/** What costs nothing: constants, and tiles that are one value seen many times. */
const free = /= (?:arith\.constant|tt\.splat|tt\.broadcast|tt\.expand_dims|tt\.make_range|tt\.reshape)\b/;

/** The extents of each tile that a line names. */
const tilesOf = (line: string): number[][] =>
  [...line.matchAll(/tensor<((?:\d+x)+)/g)].map(([, shape]) => shape!.split('x').slice(0, -1).map(Number));

const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** Products of a dot that no matrix instruction takes: f64, and f32 at full precision except on CDNA. */
function scalarProducts(line: string, shapes: readonly number[][], target: GpuTarget): number {
  const wide = /tt\.dot\b/.test(line) && /x(f32|f64)(?:, #\w+)?> \* /.exec(line)?.[1];
  if (!wide || /inputPrecision/.test(line)) return 0;
  if (wide === 'f32' && target.vendor === 'amd' && target.family.startsWith('cdna')) return 0;
  return product(shapes[0]!) * (shapes[1]!.at(-1) ?? 1);
}

/** Counts each op of the text once for every element of its tile that a thread holds, and the products of slow dots. */
export function estimateSize(ttir: string, threads: number, target: GpuTarget): SizeEstimate {
  let [largest, instructions, products] = [0, 0, 0];
  for (const line of ttir.split('\n')) {
    const shapes = tilesOf(line);
    if (shapes.length === 0 || free.test(line)) continue;
    const perThread = Math.ceil(Math.max(...shapes.map(product)) / threads);
    largest = Math.max(largest, perThread);
    const slow = Math.ceil(scalarProducts(line, shapes, target) / threads);
    products = Math.max(products, slow);
    instructions += perThread + slow;
  }
  return { perThread: largest, instructions, products };
}

/** From here on compilers take minutes. */
export const isHuge = ({ perThread, instructions }: Pick<SizeEstimate, 'perThread' | 'instructions'>): boolean =>
  perThread > 1024 || instructions > 40_000;

/**
 * Warps for a program that does not say how many it wants: four, or eight where one tile would take a quarter of a thread's
 * registers.
 */
export function warpsFor(ttir: string, target: GpuTarget): number {
  const { perThread, products } = estimateSize(ttir, 4 * target.warpSize, target);
  return perThread * 4 >= target.limits.registersPerThread || products > 128 ? 8 : 4;
}
