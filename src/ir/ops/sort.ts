/** Sorting along an axis. */

import { attr } from '../attributes.js';
import { defineOp, one, types } from '../define-op.js';
import { type DType, i32, isFloat, isWide } from '../dtypes.js';
import { allocate } from '../numerics/registers.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, printType, type TileType, tileType } from '../types.js';
import { linesAlong } from './combine.js';
import { reduceIdentity } from './contraction.js';
import { raggedSort } from './ragged-rules.js';

/** What comes last in an order: NaN, or the greatest (least) integer. */
export function lastValue(dtype: DType, descending: boolean): number | bigint {
  return isFloat(dtype) ? Number.NaN : reduceIdentity(descending ? 'max' : 'min', dtype)!;
}

function evaluateSort(
  x: TileValue,
  axis: number,
  descending: boolean,
  [values, positions]: readonly TileType[],
): TileValue[] {
  const { outer, count, inner } = linesAlong(x.shape, axis);
  const kept = values!.shape[axis]!;
  const valid = Math.min(count, x.valid?.[axis] ?? count);
  const sorted = allocate(x.dtype, elementCount(values!.shape)) as Float64Array;
  const places = allocate(i32, sorted.length);
  const last = lastValue(x.dtype, descending) as number;
  const isNaN = (v: number): boolean => !isWide(x.dtype) && Number.isNaN(v);
  for (let o = 0; o < outer; o++)
    for (let i = 0; i < inner; i++) {
      const at = (n: number): number => (n < valid ? (x.data[(o * count + n) * inner + i] as number) : last);
      // The sort of JavaScript is stable. No subtraction: infinities and bigints have none that would do.
      const compare = (m: number, n: number): number => {
        const [a, b] = [at(m), at(n)];
        if (isNaN(a) || isNaN(b)) return Number(isNaN(a)) - Number(isNaN(b));
        const order = a < b ? -1 : a > b ? 1 : 0;
        return descending ? -order : order;
      };
      const order = Array.from({ length: valid }, (_, n) => n).sort(compare);
      for (let n = 0; n < kept; n++) {
        const to = (o * kept + n) * inner + i;
        places[to] = order[n] ?? n;
        sorted[to] = at(order[n] ?? n);
      }
    }
  return [
    { dtype: x.dtype, shape: values!.shape, data: sorted as never },
    { dtype: i32, shape: positions!.shape, data: places },
  ];
}

export const sortOps = [
  defineOp({
    name: 'sort',
    summary: 'Sort along an axis; gives the values, and where each was.',
    semantics:
      'Stable, in both directions: what is equal (as -0 and 0 are) keeps its order. NaN comes last in both. With `keep` the first so many are given. Elements beyond a valid extent come after all others; those that are kept of them count as valid, with the value that comes last (NaN, or the greatest or least integer).',
    operands: { input: one(types.tile) },
    attrs: { axis: attr.int, descending: attr.optional(attr.flag), keep: attr.optional(attr.int) },
    results: {
      infer: ({ input: { type } }, { axis, keep }, report) => {
        const n = type.shape[axis];
        if (n === undefined) {
          report(`'sort': axis ${axis} is not one of ${printType(type)}`);
          return undefined;
        }
        if (keep !== undefined && (keep < 1 || keep > n)) {
          report(`'sort' cannot keep ${keep} of ${n} elements`);
          return undefined;
        }
        const shape = type.shape.with(axis, keep ?? n);
        return [tileType(type.dtype, shape), tileType(i32, shape)];
      },
    },
    ragged: raggedSort,
    evaluate: ([x], { axis, descending }, types) => evaluateSort(x!, axis, descending ?? false, types),
  }),
] as const;
