/** Sorting along an axis. */

import type { DType, I32 } from '../ir/dtypes.js';
import { checkFlag, checkOptions } from './handle.js';
import type { Axis, Rank } from './rank.js';
import { asTile, checkAxis, type Tile, traced, useTile } from './tile.js';
import { needTrace } from './trace.js';

/** A tile in order along an axis. */
export interface Sorted<D extends DType, R extends Rank> {
  readonly values: Tile<D, R>;
  /** Where each value was along the axis. */
  readonly positions: Tile<I32, R>;
}

function emitSort<D extends DType, R extends Rank>(
  what: string,
  t: Tile<D, R>,
  axis: number,
  attrs: { readonly descending?: boolean | undefined; readonly keep?: number },
): Sorted<D, R> {
  const trace = needTrace(`'${what}'`);
  const input = asTile(`'${what}' takes a tile`, t);
  checkAxis(axis, input.type.shape.length, input.label);
  checkFlag('descending', attrs.descending);
  const [values, positions] = trace.emit('sort', { input: useTile(input) }, { axis, ...attrs });
  return { values: traced(values!), positions: traced(positions!) };
}

/**
 * Sorts along an axis, from the least value on or (`descending`) from the greatest. Stable in both directions; NaN comes
 * last in both, and -0 equals 0. A ragged tile is sorted as far as it is valid.
 */
export function sort<D extends DType, R extends Rank>(
  t: Tile<D, R>,
  axis: Axis<R>,
  options: { readonly descending?: boolean } = {},
): Sorted<D, R> {
  checkOptions('sort', ['descending'], options);
  return emitSort('sort', t, axis, options.descending ? { descending: true } : options);
}

/**
 * The `k` greatest values along an axis in order (`smallest`: the least), and where they were; of equal ones the first. The
 * axis gets extent `k`. Where a ragged tile has fewer, NaN (or the integer that comes last) follows, with positions beyond
 * its edge.
 */
export function topK<D extends DType, R extends Rank>(
  t: Tile<D, R>,
  k: number,
  axis: Axis<R>,
  options: { readonly smallest?: boolean } = {},
): Sorted<D, R> {
  checkOptions('topK', ['smallest'], options);
  checkFlag('smallest', options.smallest);
  return emitSort('topK', t, axis, options.smallest ? { keep: k } : { keep: k, descending: true });
}
