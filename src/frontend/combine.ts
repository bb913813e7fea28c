/** Reductions and scans of one tile or several, by an operator that the kernel gives as a function on scalars. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { definitionOf } from '../ir/ops/index.js';
import { tileType } from '../ir/types.js';
import { type Carry, match, rebuild, tilesOf, useAll } from './control.js';
import { mistake } from './errors.js';
import { checkCallback, checkOptions, isRecord, refuse } from './handle.js';
import type { Axis, Pred, Rank } from './rank.js';
import { userLoc } from './site.js';
import { checkAxis, type Scalar, Tile, traced } from './tile.js';
import { needTrace, type TracedValue } from './trace.js';

/** One element of each of several tiles. */
export type Elements<C extends Carry> =
  C extends Tile<infer D, infer _>
    ? Scalar<D>
    : { readonly [K in keyof C]: C[K] extends Tile<infer D, infer _> ? Scalar<D> : never };

/** The tiles without the axis that was reduced. */
export type Reduced<C extends Carry> =
  C extends Tile<infer D, infer R extends Rank>
    ? Tile<D, Pred<R>>
    : { readonly [K in keyof C]: C[K] extends Tile<infer D, infer R extends Rank> ? Tile<D, Pred<R>> : never };

type RankIn<C> =
  C extends Tile<infer _, infer R extends Rank>
    ? R
    : C extends { readonly [name: string]: Tile<infer _, infer R extends Rank> }
      ? R
      : Rank;

type Combine<C extends Carry> = (a: Elements<C>, b: Elements<C>) => NoInfer<Elements<C>>;

function emitCombine(
  name: 'reduce_with' | 'scan_with',
  what: 'reduce' | 'scan',
  tiles: Carry,
  axis: number,
  combine: (a: never, b: never) => unknown,
  reverse: boolean | undefined,
): readonly TracedValue[] {
  const trace = needTrace(`'${what}'`);
  const loc = userLoc();
  checkCallback(`'${what}' takes a function that combines two: (a, b) => …`, combine);
  if (!(tiles instanceof Tile) && !isRecord(tiles)) refuse(`'${what}' takes a tile or a record of tiles`, tiles);
  const inputs = tilesOf(tiles);
  for (const { tile } of inputs) checkAxis(axis, tile.type.shape.length, tile.label);
  const scalars = inputs.map((x) => ({ type: tileType(x.tile.dtype), hint: x.name }));
  const { region } = trace.region(loc, [...scalars, ...scalars], (values) => {
    const [a, b] = [values.slice(0, inputs.length), values.slice(inputs.length)];
    const elements = inputs.map(({ name: n }, i) => ({ name: n, tile: traced(a[i]!) as Tile }));
    const result = combine(rebuild(tiles, a) as never, rebuild(tiles, b) as never);
    const next = match(elements, result, `the function of '${what}'`);
    trace.emit('yield', { values: useAll(next) }, {}, { loc });
  });
  const foreign = region.ops.find((op) => !definitionOf(op).elementwise && !definitionOf(op).terminator);
  if (foreign) {
    const message = `the function of '${what}' does elementwise arithmetic only, not '${foreign.name}'`;
    mistake((c) => frontendCodes.badOperand({ message }, c), {
      help: `compute it before, and give the tile to '${what}' as one more operand`,
    });
  }
  const operands = { inputs: useAll(inputs.map(({ tile }) => tile)) };
  const attrs = reverse === undefined ? { axis } : { axis, reverse };
  return trace.emit(name, operands, attrs, { regions: [region], loc });
}

/**
 * Reduces along an axis, which goes, by an associative and commutative operator: of one tile, or of several of one shape
 * together (a record of tiles).
 *
 * @param combine gets two elements (two records of elements) and returns their combination, of the same dtypes; it may do
 *   elementwise arithmetic on scalars only.
 * @example const { top, at } = reduce({ top: x, at: iota([64]) }, 0, (a, b) => …);
 */
export function reduce<C extends Carry>(tiles: C, axis: Axis<RankIn<C>>, combine: Combine<C>): Reduced<C> {
  return rebuild(tiles, emitCombine('reduce_with', 'reduce', tiles, axis, combine, undefined)) as never;
}

/**
 * Combines each element with all before it along an axis, by an associative operator: of one tile, or of several of one
 * shape together (a record of tiles).
 *
 * @param combine gets what comes earlier and what comes later; as for `reduce`.
 * @param options.reverse goes from the last element to the first, so that `combine` gets the later one first.
 * @example // sums that start anew where `start` is true
 *   const { sum } = scan({ sum: x, start }, 0, (a, b) => ({
 *     sum: select(b.start, b.sum, a.sum.add(b.sum)),
 *     start: a.start.or(b.start),
 *   }));
 */
export function scan<C extends Carry>(
  tiles: C,
  axis: Axis<RankIn<C>>,
  combine: Combine<C>,
  options: { readonly reverse?: boolean } = {},
): C {
  checkOptions('scan', ['reverse'], options);
  return rebuild(tiles, emitCombine('scan_with', 'scan', tiles, axis, combine, options.reverse));
}
