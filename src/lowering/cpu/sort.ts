/** Sorting of lines: merges of runs that double from pass to pass, between two lines of scratch. */

import { isFloat } from '../../ir/dtypes.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import type { Lanes } from './emitter.js';
import type { RegionLowering } from './program.js';
import { loadScratch, storeScratch } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

/** Values in scratch, and where each was if that is asked for. */
interface Line {
  readonly values: Buffer;
  readonly positions: Buffer | undefined;
}

const lane = (value: MlirValue): Lanes => ({ value, elem: 'i64', width: 1 });

export function lowerSort(lowering: RegionLowering, op: OpOf<'sort'>): void {
  const { tiles } = lowering;
  const { e } = tiles;
  const { input } = op.operands;
  const { axis, descending = false } = op.attrs;
  const { shape, dtype } = typeOf(input);
  const n = shape[axis]!;
  const kept = typeOf(op.results[0]!).shape[axis]!;
  const asked = lowering.isRead(op.results[1]!);
  const line = (): Line => ({
    values: lowering.allocate(tiles.elem(input), [n]),
    positions: asked ? lowering.allocate('i32', [n]) : undefined,
  });
  const lines: [Line, Line] = [line(), line()];

  /** Whether `b`, which comes later, belongs in front of `a`. */
  const before = (b: Lanes, a: Lanes): Lanes => {
    if (!isFloat(dtype)) {
      const [less, more] = dtype.signed ? (['slt', 'sgt'] as const) : (['ult', 'ugt'] as const);
      return e.compareInt(descending ? more : less, b, a);
    }
    const less = e.compareFloat(descending ? 'ogt' : 'olt', b, a);
    const onlyANaN = e.binary('andi', e.compareFloat('uno', a, a), e.compareFloat('ord', b, b));
    return e.binary('ori', less, onlyANaN);
  };

  lowering.write(op, (into) => {
    const around = shape.filter((_, i) => i !== axis);
    tiles.loops(around, (outer) => {
      const place = (i: MlirValue): MlirValue[] => [...outer.slice(0, axis), i, ...outer.slice(axis)];
      e.count(n, 1, [], (i) => {
        const index = place(tiles.declareIndex(i));
        put(tiles, lines[0].values, i, tiles.lanesAt(input, index, 1));
        const { positions } = lines[0];
        if (positions) put(tiles, positions, i, e.convert('arith.trunci', lane(i), 'i32'));
        return [];
      });
      let [from, to] = lines;
      for (let run = 1; run < n; run *= 2) {
        mergeRuns(tiles, from, to, n, run, before);
        [from, to] = [to, from];
      }
      e.count(kept, 1, [], (i) => {
        into.forEach((buffer, at) => {
          const line = at === 0 ? from.values : from.positions;
          if (buffer) storeScratch(e, take(tiles, line!, i), tiles.baseOf(buffer), tiles.flatIndex(buffer, place(i)));
        });
        return [];
      });
    });
  });
}

const take = (tiles: Tiles, buffer: Buffer, at: MlirValue): Lanes =>
  loadScratch(tiles.e, tiles.baseOf(buffer), at, buffer.elem, 1);

const put = (tiles: Tiles, buffer: Buffer, at: MlirValue, x: Lanes): void =>
  storeScratch(tiles.e, x, tiles.baseOf(buffer), at);

/** Merges neighbouring sorted runs of `run` elements; of equal ones the earlier goes first. */
function mergeRuns(
  tiles: Tiles,
  from: Line,
  to: Line,
  n: number,
  run: number,
  before: (b: Lanes, a: Lanes) => Lanes,
): void {
  const { e } = tiles;
  const least = (a: MlirValue, b: number): MlirValue => e.binary('minsi', lane(a), e.int(b, 'i64')).value;
  const step = e.i64(1);
  e.for(e.i64(0), e.i64(n), e.i64(2 * run), [], (low) => {
    const middle = least(e.addIndex(low, e.i64(run)), n);
    const high = least(e.addIndex(low, e.i64(2 * run)), n);
    e.for(low, high, step, [low, middle], (k, [i, j]) => {
      // Past its end a side is not asked; where it is read then lies within the line all the same.
      const [left, right] = [least(i!, n - 1), least(j!, n - 1)];
      const [a, b] = [take(tiles, from.values, left), take(tiles, from.values, right)];
      const rightFirst = e.binary('andi', e.compareInt('slt', lane(j!), lane(high)), before(b, a));
      const leftDone = e.compareInt('sge', lane(i!), lane(middle));
      const takeRight = e.binary('ori', leftDone, rightFirst);
      const at = e.select(takeRight, lane(right), lane(left)).value;
      put(tiles, to.values, k, e.select(takeRight, b, a));
      if (from.positions && to.positions) put(tiles, to.positions, k, take(tiles, from.positions, at));
      const one = e.convert('arith.extui', takeRight, 'i64').value;
      return [e.addIndex(i!, e.subIndex(step, one)), e.addIndex(j!, one)];
    });
    return [];
  });
}
