/** Matrix operands: fragments in registers, tiles in shared memory named by descriptors, and the product. */

import { brainValues, e4m3Values, e5m2Values, floatOf, halfValues } from '../formats.js';
import type { Block } from './block.js';
import type { Warp } from './warp.js';

export interface ElementType {
  /** Elements of a 32-bit word. */
  readonly perWord: 1 | 2 | 4;
  /** Element `e` of a word. */
  readonly get: (word: number, e: number) => number;
  readonly integer: boolean;
  /** Values of the 16-bit codes. */
  readonly values?: Float32Array;
}

const sixteen = (values: Float32Array): ElementType => ({
  perWord: 2,
  get: (w, e) => values[(w >>> (16 * e)) & 0xffff]!,
  integer: false,
  values,
});
const eight = (values: Float32Array): ElementType => ({
  perWord: 4,
  get: (w, e) => values[(w >>> (8 * e)) & 0xff]!,
  integer: false,
});

export const elementTypes: Readonly<Record<string, ElementType>> = {
  f16: sixteen(halfValues),
  bf16: sixteen(brainValues),
  // The lowest 13 bits are ignored.
  tf32: { perWord: 1, get: (w) => floatOf(w & ~0x1fff), integer: false },
  s8: { perWord: 4, get: (w, e) => (w << (24 - 8 * e)) >> 24, integer: true },
  u8: { perWord: 4, get: (w, e) => (w >>> (8 * e)) & 0xff, integer: true },
  e4m3: eight(e4m3Values),
  e5m2: eight(e5m2Values),
};

/** C[M,N] += A[M,K] B[N,K]^T: products and sums in doubles, one rounding into C. */
export function multiplyAdd(
  A: Float64Array,
  B: Float64Array,
  C: Float32Array | Float64Array,
  M: number,
  N: number,
  K: number,
): void {
  if (M % 2 !== 0 || N % 4 !== 0) {
    for (let i = 0; i < M; i++)
      for (let j = 0; j < N; j++) {
        let sum = 0;
        for (let k = 0; k < K; k++) sum += A[i * K + k]! * B[j * K + k]!;
        C[i * N + j]! += sum;
      }
    return;
  }
  // Eight sums at a time: every element that is read is used for several.
  for (let j = 0; j < N; j += 4)
    for (let i = 0; i < M; i += 2) {
      let [a0, a1] = [i * K, i * K + K];
      let [b0, b1, b2, b3] = [j * K, j * K + K, j * K + 2 * K, j * K + 3 * K];
      let [s00, s01, s02, s03, s10, s11, s12, s13] = [0, 0, 0, 0, 0, 0, 0, 0];
      for (const end = a0 + K; a0 < end; a0++, a1++, b0++, b1++, b2++, b3++) {
        const [x, y] = [A[a0]!, A[a1]!];
        const [p, q, r, s] = [B[b0]!, B[b1]!, B[b2]!, B[b3]!];
        s00 += x * p;
        s01 += x * q;
        s02 += x * r;
        s03 += x * s;
        s10 += y * p;
        s11 += y * q;
        s12 += y * r;
        s13 += y * s;
      }
      const [o, u] = [i * N + j, i * N + N + j];
      C[o]! += s00;
      C[o + 1]! += s01;
      C[o + 2]! += s02;
      C[o + 3]! += s03;
      C[u]! += s10;
      C[u + 1]! += s11;
      C[u + 2]! += s12;
      C[u + 3]! += s13;
    }
}

/** The A fragment of 16 rows: words go down 8 rows first, then to the next part of K. */
export function readFragmentA(
  warp: Warp,
  registers: readonly number[],
  { perWord, get }: ElementType,
  out: Float64Array,
  K: number,
): void {
  registers.forEach((at, i) => {
    const row = 8 * (i & 1);
    const first = (i >> 1) * 4 * perWord;
    for (let lane = 0; lane < 32; lane++) {
      const word = warp.registers[at + lane]!;
      const to = (row + (lane >> 2)) * K + first + (lane & 3) * perWord;
      for (let e = 0; e < perWord; e++) out[to + e] = get(word, e);
    }
  });
}

/** The B fragment of 8 columns. */
export function readFragmentB(
  warp: Warp,
  registers: readonly number[],
  { perWord, get }: ElementType,
  out: Float64Array,
  K: number,
): void {
  registers.forEach((at, i) => {
    for (let lane = 0; lane < 32; lane++) {
      const word = warp.registers[at + lane]!;
      const to = (lane >> 2) * K + i * 4 * perWord + (lane & 3) * perWord;
      for (let e = 0; e < perWord; e++) out[to + e] = get(word, e);
    }
  });
}

/** Row and column of accumulator word `i` of a lane, in rows of `columns`. */
export const accumulatorPlace = (lane: number, i: number, columns: number): number =>
  ((lane >> 2) + 8 * ((i >> 1) & 1)) * columns + (i >> 2) * 8 + (lane & 3) * 2 + (i & 1);

export interface TileShape {
  /** Of the tile; its rows are M or N. */
  readonly rows: number;
  readonly K: number;
  /** The first of them within what the descriptor names. */
  readonly firstRow: number;
  /** Whether neighbours in memory are neighbours in M or N, not in K. */
  readonly transposed: boolean;
  readonly element: ElementType;
  /** How the swizzle is coded. */
  readonly generation: 'hopper' | 'blackwell';
}

const swizzleSpans: Readonly<Record<TileShape['generation'], Readonly<Record<number, number>>>> = {
  hopper: { 0: 16, 1: 128, 2: 64, 3: 32 },
  blackwell: { 0: 16, 2: 128, 4: 64, 6: 32 },
};

/**
 * Reads the tile that a 64-bit shared memory descriptor names into `out[row * K + k]`.
 *
 * Groups of 8 rows lie `SBO` bytes apart, a row is as long as the swizzle's span, and bits 4-6 of the address are
 * xored with bits 7-9 of itself, as many as the span has.
 */
export function readTile(
  block: Block,
  warp: Warp,
  low: number,
  high: number,
  shape: TileShape,
  out: Float64Array,
): void {
  const { rows, K, firstRow, transposed, element, generation } = shape;
  const start = (low & 0x3fff) << 4;
  const leading = ((low >>> 16) & 0x3fff) << 4;
  const stride = (high & 0x3fff) << 4;
  const mode = generation === 'hopper' ? high >>> 30 : high >>> 29;
  const span = swizzleSpans[generation][mode] ?? warp.misuse(`swizzle ${mode} of a matrix descriptor`);
  if ((high >>> 17) & 7) warp.misuse('a base offset in a matrix descriptor');
  const chunks = span / 16;
  const chunkStride = span === 16 ? leading : 16;
  const place = (linear: number): number =>
    block.sharedRange(linear ^ (((linear >> 7) & (chunks - 1)) << 4), 16, 'asyncRead', warp);
  const { i32, u16 } = block.shared;
  const { perWord, get, values } = element;
  if (transposed) {
    if (!values) return warp.misuse('a transposed matrix of elements that have not 16 bits');
    for (let c = 0; c < rows >> 3; c++) {
      const column = c + (firstRow >> 3);
      const first =
        span === 16 ? start + column * stride : start + (column % chunks) * 16 + Math.floor(column / chunks) * leading;
      const groupStride = span === 16 ? leading : stride;
      for (let k = 0; k < K; k++) {
        const from = place(first + (k & 7) * span + (k >> 3) * groupStride) >> 1;
        for (let e = 0; e < 8; e++) out[(c * 8 + e) * K + k] = values[u16[from + e]!]!;
      }
    }
    return;
  }
  const perChunk = perWord * 4;
  for (let r = 0; r < rows; r++) {
    const row = r + firstRow;
    const first = start + (row >> 3) * stride + (row & 7) * span;
    for (let c = 0; c < K / perChunk; c++) {
      const from = place(first + c * chunkStride);
      const to = r * K + c * perChunk;
      if (values) for (let e = 0; e < 8; e++) out[to + e] = values[u16[(from >> 1) + e]!]!;
      else
        for (let w = 0; w < 4; w++)
          for (let e = 0; e < perWord; e++) out[to + w * perWord + e] = get(i32[(from >> 2) + w]!, e);
    }
  }
}
