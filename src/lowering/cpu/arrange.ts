/** Tiles put together, taken apart and picked from. */

import type { OpOf } from '../../ir/ops/index.js';
import type { Value } from '../../ir/value.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import { pieces } from './pieces.js';
import type { RegionLowering } from './program.js';
import { loadScratch, storeScratch } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

/** Visits a tile of `shape` row by row in pieces of at most `chunk` elements. */
function eachPiece(
  tiles: Tiles,
  shape: readonly number[],
  chunk: number,
  visit: (index: readonly MlirValue[], width: number) => void,
): void {
  const { e } = tiles;
  if (shape.length === 0) return visit([], 1);
  tiles.loops(shape.slice(0, -1), (outer) => {
    for (const { start, width, trips } of pieces(shape.at(-1)!, chunk))
      e.count(trips, 1, [], (t) => {
        visit([...outer, tiles.declareIndex(e.addIndex(e.i64(start), e.mulIndex(t, e.i64(width))))], width);
        return [];
      });
  });
}

/** Writes a tile into a larger one, from `starts` on. */
function writePart(tiles: Tiles, value: Value, into: Buffer, starts: readonly MlirValue[], chunk: number): void {
  const { e } = tiles;
  eachPiece(tiles, typeOf(value).shape, chunk, (index, width) => {
    const to = index.map((i, axis) => e.addIndex(i, starts[axis]!));
    storeScratch(e, tiles.lanesAt(value, index, width), tiles.baseOf(into), tiles.flatIndex(into, to));
  });
}

const origin = (tiles: Tiles, rank: number): MlirValue[] => Array.from({ length: rank }, () => tiles.e.i64(0));

export function lowerJoin(lowering: RegionLowering, op: OpOf<'join'>): void {
  const { tiles } = lowering;
  const { e } = tiles;
  const { left, right } = op.operands;
  lowering.write(op, ([into], chunk) =>
    eachPiece(tiles, typeOf(left).shape, chunk / 2, (index, width) => {
      const [a, b] = [tiles.lanesAt(left, index, width), tiles.lanesAt(right, index, width)];
      const at = (side: number): MlirValue => tiles.flatIndex(into!, [...index, e.i64(side)]);
      if (width === 1) for (const [side, x] of [a, b].entries()) storeScratch(e, x, tiles.baseOf(into!), at(side));
      else {
        const zipped = Array.from({ length: 2 * width }, (_, lane) => (lane >> 1) + (lane & 1) * width);
        storeScratch(e, e.shuffle(a, b, zipped), tiles.baseOf(into!), at(0));
      }
    }),
  );
}

export function lowerSplit(lowering: RegionLowering, op: OpOf<'split'>): void {
  const { tiles } = lowering;
  const { e } = tiles;
  const from = lowering.materialise(op.operands.input);
  lowering.write(op, (into, chunk) =>
    eachPiece(tiles, typeOf(op.results[0]!).shape, chunk / 2, (index, width) => {
      const start = tiles.flatIndex(from, [...index, e.i64(0)]);
      const both = loadScratch(e, tiles.baseOf(from), start, from.elem, 2 * width);
      into.forEach((buffer, side) => {
        if (!buffer) return;
        const lanes = Array.from({ length: width }, (_, lane) => 2 * lane + side);
        const own = width === 1 ? e.extract(both, side) : e.shuffle(both, both, lanes);
        storeScratch(e, own, tiles.baseOf(buffer), tiles.flatIndex(buffer, index));
      });
    }),
  );
}

export function lowerConcatenate(lowering: RegionLowering, op: OpOf<'concatenate'>): void {
  const { tiles } = lowering;
  const { inputs = [] } = op.operands;
  const { axis } = op.attrs;
  lowering.write(op, ([into], chunk) => {
    let start = 0;
    for (const x of inputs) {
      const { shape } = typeOf(x);
      writePart(tiles, x, into!, origin(tiles, shape.length).with(axis, tiles.e.i64(start)), chunk);
      start += shape[axis]!;
    }
  });
}

export function lowerInsert(lowering: RegionLowering, op: OpOf<'insert'>): void {
  const { tiles } = lowering;
  const { input, value, index = [] } = op.operands;
  const starts = tiles.partStarts(index, typeOf(value).shape, typeOf(input).shape);
  lowering.write(op, ([into], chunk) => {
    writePart(tiles, input, into!, origin(tiles, starts.length), chunk);
    writePart(tiles, value, into!, starts, chunk);
  });
}

/** A part of a tile is not moved: its elements are asked for where they lie. */
export function lowerSlice(lowering: RegionLowering, op: OpOf<'slice'>): void {
  const { input, index = [] } = op.operands;
  lowering.tiles.declareStarts(op, index, typeOf(op.results[0]!).shape, typeOf(input).shape);
  lowering.virtual(op);
}

export function lowerTakeAlong(lowering: RegionLowering, op: OpOf<'take_along'>): void {
  lowering.materialise(op.operands.input);
  lowering.virtual(op);
}
