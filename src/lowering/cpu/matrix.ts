/** Matrix products and transposes on scratch tiles. */

import { elementCount } from '../../ir/types.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import { type Elem, isFloatElem, type Lanes } from './emitter.js';
import { loadScratch, storeScratch } from './storage.js';
import type { Tiles } from './tiles.js';
import type { VectorUnit } from './vector-unit.js';

/** A scratch tile seen as a stack of matrices. */
interface Matrix {
  readonly base: MlirValue;
  readonly buffer: Buffer;
}

/**
 * Rows and vectors of one micro-kernel: its accumulators stay in registers along k, next to the vectors of b and one
 * broadcast element of a.
 */
export function microKernel(
  { bytes, registers }: VectorUnit,
  elemBytes: number,
): { rows: number; vectors: number; lanes: number } {
  const lanes = bytes / elemBytes;
  return registers >= 32 ? { rows: 8, vectors: 2, lanes } : { rows: 6, vectors: 2, lanes };
}

/** Columns of b that one micro-kernel reads: the width of the panels that b is packed into. */
export function panelWidth(unit: VectorUnit, elem: Elem): number {
  const { vectors, lanes } = microKernel(unit, Number(elem.slice(1)) / 8);
  return vectors * lanes;
}

/** `c[…, m, n] (+)= a[…, m, k] · b[…, k, n]`: scratch tiles of one element, a and c row-major, b in panels. */
export function emitDot(tiles: Tiles, unit: VectorUnit, a: Buffer, b: Buffer, c: Buffer, accumulate: boolean): void {
  const { e } = tiles;
  const rank = c.shape.length;
  const [m, n, k] = [c.shape[rank - 2]!, c.shape[rank - 1]!, a.shape[rank - 1]!];
  const batch = elementCount(c.shape.slice(0, rank - 2));
  // However many batch axes there are, they are one.
  const stacked = (buffer: Buffer): Buffer => ({ ...buffer, shape: [batch, ...buffer.shape.slice(rank - 2)] });
  const at = (buffer: Buffer): Matrix => ({ base: tiles.baseOf(buffer), buffer: stacked(buffer) });
  const [left, right, to] = [at(a), at(b), at(c)];
  const kernel = microKernel(unit, Number(c.elem.slice(1)) / 8);
  e.count(batch, 1, [], (t) => {
    for (const columns of panels(n, kernel.lanes * kernel.vectors, kernel.lanes))
      e.count(columns.count * columns.size, columns.size, [], (j) => {
        for (const rows of blocks(m, kernel.rows))
          e.count(rows.count * rows.size, rows.size, [], (i) => {
            const place = {
              t,
              i: e.addIndex(i, e.i64(rows.start)),
              j: e.addIndex(j, e.i64(columns.start)),
            };
            emitMicroKernel(tiles, left, right, to, { m, n, k }, place, rows.size, columns.widths, accumulate);
            return [];
          });
        return [];
      });
    return [];
  });
}

interface Panel {
  readonly start: number;
  readonly size: number;
  readonly count: number;
}

/** Splits n rows into blocks of `size`, then what is left in powers of two. */
function blocks(n: number, size: number): Panel[] {
  const list: Panel[] = [];
  for (let start = 0, width = size; start < n; ) {
    while (width > n - start) width = width === size ? 2 ** Math.floor(Math.log2(n - start)) : width / 2;
    const count = Math.floor((n - start) / width);
    list.push({ start, size: width, count });
    start += count * width;
  }
  return list;
}

/** Splits n columns into panels of whole vectors, then one vector, then narrower pieces. */
function panels(n: number, size: number, lanes: number): (Panel & { readonly widths: readonly number[] })[] {
  return blocks(n, size).map((p) => ({
    ...p,
    widths: p.size <= lanes ? [p.size] : Array.from({ length: p.size / lanes }, () => lanes),
  }));
}

function emitMicroKernel(
  tiles: Tiles,
  a: Matrix,
  b: Matrix,
  c: Matrix,
  { m, n, k }: { m: number; n: number; k: number },
  { t, i, j }: { t: MlirValue; i: MlirValue; j: MlirValue },
  rows: number,
  widths: readonly number[],
  accumulate: boolean,
): void {
  const { e } = tiles;
  const elem = c.buffer.elem;
  const offsets = widths.map((_, v) => widths.slice(0, v).reduce((x, y) => x + y, 0));
  const flat = (matrix: number, row: MlirValue, stride: number, column: MlirValue): MlirValue =>
    e.addIndex(e.addIndex(e.mulIndex(t, e.i64(matrix)), e.mulIndex(row, e.i64(stride))), column);
  const cells = Array.from({ length: rows }, (_, r) => {
    const start = flat(m * n, e.addIndex(i, e.i64(r)), n, j);
    return widths.map((width, v) => ({ index: e.addIndex(start, e.i64(offsets[v]!)), width }));
  });
  const init = cells
    .flat()
    .map(({ index, width }) => (accumulate ? loadScratch(e, c.base, index, elem, width) : e.number(0, elem, width)));
  const aRows = Array.from({ length: rows }, (_, r) => flat(m * k, e.addIndex(i, e.i64(r)), k, e.i64(0)));
  // A step of k goes to the panel's next row.
  const bStart = tiles.flatIndex(b.buffer, [t, e.i64(0), j]);
  const results = e.for(
    e.i64(0),
    e.i64(k),
    e.i64(1),
    init.map((l) => l.value),
    (p, carried) => {
      const bRow = e.addIndex(bStart, e.mulIndex(p, e.i64(b.buffer.panel ?? n)));
      const right = widths.map((width, v) => loadScratch(e, b.base, e.addIndex(bRow, e.i64(offsets[v]!)), elem, width));
      return Array.from({ length: rows }, (_, r) => {
        const x = loadScratch(e, a.base, e.addIndex(aRows[r]!, p), elem, 1);
        return widths.map((width, v) => {
          const acc: Lanes = { value: carried[r * widths.length + v]!, elem, width };
          const left = e.splat(x, width);
          return isFloatElem(elem)
            ? e.fma(left, right[v]!, acc).value
            : e.binary('addi', acc, e.binary('muli', left, right[v]!)).value;
        });
      }).flat();
    },
  );
  cells.flat().forEach(({ index, width }, cell) => {
    storeScratch(e, { value: results[cell]!, elem, width }, c.base, index);
  });
}

/**
 * Interleaves a square block of n rows with n lanes until it is transposed: log2(n) rounds, each pairing row i with
 * row i + n/2.
 */
export function transposeRows(tiles: Tiles, rows: readonly Lanes[]): Lanes[] {
  const { e } = tiles;
  const n = rows.length;
  const low = Array.from({ length: n }, (_, lane) => (lane % 2 === 0 ? lane / 2 : n + (lane - 1) / 2));
  const high = low.map((lane) => lane + n / 2);
  let current = [...rows];
  for (let round = 1; round < n; round *= 2) {
    const next: Lanes[] = [];
    for (let i = 0; i < n / 2; i++) {
      const [x, y] = [current[i]!, current[i + n / 2]!];
      next.push(e.shuffle(x, y, low), e.shuffle(x, y, high));
    }
    current = next;
  }
  return current;
}
