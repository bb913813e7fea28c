/** Tiles put together, taken apart and picked from. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { type DType, i32 } from '../ir/dtypes.js';
import { printType, tileType } from '../ir/types.js';
import { mistake } from './errors.js';
import { checkList, describe, refuse } from './handle.js';
import type { Axis, Pred, Rank, Succ } from './rank.js';
import type { Extent } from './ref.js';
import { type AnyTile, asTile, checkAxis, checkShape, constant, type Scalar, Tile, traced, useTile } from './tile.js';
import { needTrace } from './trace.js';

/** Two tiles of one type side by side, along a new last axis of extent 2. */
export function join<D extends DType, R extends Rank>(a: Tile<D, R>, b: Tile<D, R>): Tile<D, Succ<R>> {
  const trace = needTrace("'join'");
  const [left, right] = [a, b].map((t) => useTile(asTile("'join' takes two tiles", t)));
  return traced(trace.emit('join', { left: left!, right: right! }, {})[0]!);
}

/** The two halves of a tile whose last axis has extent 2: what `join` put together. */
export function split<D extends DType, R extends Rank>(t: Tile<D, R>): readonly [Tile<D, Pred<R>>, Tile<D, Pred<R>>] {
  const trace = needTrace("'split'");
  return trace.emit('split', { input: useTile(asTile("'split' takes a tile", t)) }, {}).map((v) => traced(v)) as never;
}

/** Tiles one after the other along an axis; none may be ragged there. */
export function concatenate<D extends DType, R extends Rank>(tiles: readonly Tile<D, R>[], axis: Axis<R>): Tile<D, R> {
  const trace = needTrace("'concatenate'");
  checkList("'concatenate' takes a list of tiles", tiles);
  const inputs = tiles.map((t) => asTile("'concatenate' takes a list of tiles", t));
  for (const t of inputs) checkAxis(axis, t.type.shape.length, t.label);
  return traced(trace.emit('concatenate', { inputs: inputs.map(useTile) }, { axis })[0]!);
}

/** Where a part begins, as operands. Numbers must lie within; what is known at run time only is moved to lie within. */
function starts(what: string, t: AnyTile, part: readonly number[], given: unknown): never[] {
  const takes = `'${what}' takes a start for each axis of ${t.label}`;
  const { shape } = t.type;
  if (!Array.isArray(given) || given.length !== shape.length) return refuse(takes, given);
  return given.map((x: unknown, axis) => {
    if (x instanceof Tile) return useTile(x);
    const last = shape[axis]! - (part[axis] ?? 1);
    if (typeof x !== 'number' || !Number.isInteger(x)) return refuse(`a start of '${what}' is an i32 scalar`, x);
    if (x < 0 || x > last)
      mistake((c) =>
        frontendCodes.badIndex(
          {
            message: `'${what}' of ${printType(tileType(t.dtype, part))} from ${describe(x)} on reaches out of axis ${axis} of ${t.label}`,
          },
          c,
        ),
      );
    return useTile(constant(x, i32, []));
  });
}

/**
 * The part of a tile that begins at `from` and has extents `shape`. Along an axis that is ragged only the whole can be taken.
 *
 * @param from an integer or an i32 scalar for each axis; a scalar is moved so that the part lies within the tile.
 */
export function slice<D extends DType, R extends Rank>(
  t: Tile<D, R>,
  from: readonly Extent[],
  shape: readonly number[],
): Tile<D, R> {
  const trace = needTrace("'slice'");
  const input = asTile("'slice' takes a tile", t);
  const type = tileType(input.dtype, checkShape(shape));
  const operands = { input: useTile(input), index: starts('slice', input, type.shape, from) };
  return traced(trace.emit('slice', operands, {}, { types: [type] })[0]!);
}

/** One element of a tile, as a scalar. @param index as the starts of `slice`. */
export function extract<D extends DType, R extends Rank>(t: Tile<D, R>, index: readonly Extent[]): Scalar<D> {
  const ones = asTile("'extract' takes a tile", t).type.shape.map(() => 1);
  return slice(t, index, ones).reshape([]) as never;
}

/** A tile with the part that begins at `from` replaced. @param from as the starts of `slice`. */
export function insert<D extends DType, R extends Rank>(
  t: Tile<D, R>,
  value: Tile<D, R>,
  from: readonly Extent[],
): Tile<D, R> {
  const trace = needTrace("'insert'");
  const [input, part] = [asTile("'insert' takes a tile", t), asTile("'insert' takes a tile to put in", value)];
  const operands = {
    input: useTile(input),
    value: useTile(part),
    index: starts('insert', input, part.type.shape, from),
  };
  return traced(trace.emit('insert', operands, {})[0]!);
}

/** A tile in reverse along an axis, which may not be ragged. */
export function flip<D extends DType, R extends Rank>(t: Tile<D, R>, axis: Axis<R>): Tile<D, R> {
  const trace = needTrace("'flip'");
  const input = asTile("'flip' takes a tile", t);
  checkAxis(axis, input.type.shape.length, input.label);
  return traced(trace.emit('flip', { input: useTile(input) }, { axis })[0]!);
}

/**
 * Picks from a tile along an axis: element `[…, i, …]` is `t[…, index[…, i, …], …]`. The shapes differ along that axis only;
 * an index outside of it is moved to its nearer end.
 */
export function takeAlong<D extends DType, R extends Rank, I extends DType<string, 'int'>>(
  t: Tile<D, R>,
  index: Tile<I, R>,
  axis: Axis<R>,
): Tile<D, R> {
  const trace = needTrace("'takeAlong'");
  const input = asTile("'takeAlong' takes a tile", t);
  checkAxis(axis, input.type.shape.length, input.label);
  const operands = { input: useTile(input), index: useTile(asTile("'takeAlong' takes a tile of indices", index)) };
  return traced(trace.emit('take_along', operands, { axis })[0]!);
}
