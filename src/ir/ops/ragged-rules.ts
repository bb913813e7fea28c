/** The ways in which valid extents pass ops, shared by the definitions. */

import type { RaggedContext, RaggedRule, ValidExtents } from '../define-op.js';
import type { Value } from '../value.js';

const shapeOf = (v: Value): readonly number[] => (v.type.kind === 'tile' ? v.type.shape : []);

const isRagged = <E>(extents: ValidExtents<E>): boolean => extents.some((e) => e !== undefined);

/** Axis by axis, the intersection of several extents. */
export function meetAll<E>(context: RaggedContext<E>, extents: readonly ValidExtents<E>[]): ValidExtents<E> {
  return extents.reduce((a, b) => a.map((e, axis) => context.meet(e, b[axis])));
}

/** Elementwise: the intersection of all operands' extents. */
export const raggedElementwise: RaggedRule<unknown, unknown> = (op, context) => {
  const tiles = Object.values(op.operands as Record<string, Value | undefined>).filter((v) => v !== undefined);
  return [
    meetAll(
      context,
      tiles.map((v) => context.extentsOf(v)),
    ),
  ];
};

/** An axis that a broadcast makes is full; the others keep their extent. Axes align at the end, as in NumPy. */
export const raggedBroadcast: RaggedRule<unknown, unknown> = (op, context) => {
  const input = (op.operands as { input: Value }).input;
  const from = shapeOf(input);
  const to = shapeOf(op.results[0]!);
  const extents = context.extentsOf(input);
  return [
    to.map((n, axis) => {
      const source = axis - (to.length - from.length);
      return source >= 0 && from[source] === n ? extents[source] : undefined;
    }),
  ];
};

/** Which axis of the input each axis of the result is, where a reshape only adds or drops axes of extent 1. */
export function unitReshapeAxes(from: readonly number[], to: readonly number[]): (number | undefined)[] | undefined {
  const kept = from.map((n, axis) => ({ n, axis })).filter(({ n }) => n !== 1);
  const axes = to.map((n) => (n === 1 ? undefined : kept.shift()));
  const fits = kept.length === 0 && axes.every((a, i) => (a === undefined ? to[i] === 1 : a.n === to[i]));
  return fits ? axes.map((a) => a?.axis) : undefined;
}

/** A reshape may add and drop axes of extent 1; one that merges or splits a ragged axis is refused. */
export const raggedReshape: RaggedRule<unknown, unknown> = (op, context) => {
  const input = (op.operands as { input: Value }).input;
  const extents = context.extentsOf(input);
  const to = shapeOf(op.results[0]!);
  if (!isRagged(extents)) return [to.map(() => undefined)];
  const axes = unitReshapeAxes(shapeOf(input), to);
  if (!axes) {
    context.refuse('a reshape across a ragged axis; make the tile full with pad(value) first');
    return [to.map(() => undefined)];
  }
  return [axes.map((axis) => (axis === undefined ? undefined : extents[axis]))];
};

export const raggedTranspose: RaggedRule<unknown, unknown> = (op, context) => {
  const extents = context.extentsOf((op.operands as { input: Value }).input);
  return [(op.attrs as { permutation: readonly number[] }).permutation.map((axis) => extents[axis])];
};

/** The reduced axis goes; what lay beyond its extent has been neutralised. */
export const raggedReduce: RaggedRule<unknown, unknown> = (op, context) => {
  const extents = context.extentsOf((op.operands as { input: Value }).input);
  const { axis } = op.attrs as { axis: number };
  return [extents.filter((_, i) => i !== axis)];
};

/** Every element stays where it is, and no extent of the input is lost. */
export const raggedScan: RaggedRule<unknown, unknown> = (op, context) => [
  context.extentsOf((op.operands as { input: Value }).input),
];

/** All inputs of a combination are valid as far as each of them is. */
const meetInputs = <E>(op: { readonly operands: unknown }, context: RaggedContext<E>): ValidExtents<E> =>
  meetAll(
    context,
    (op.operands as { inputs: readonly Value[] }).inputs.map((v) => context.extentsOf(v)),
  );

export const raggedCombined: RaggedRule<unknown, unknown> = (op, context) => {
  const extents = meetInputs(op, context);
  return op.results.map(() => extents);
};

export const raggedReduceCombined: RaggedRule<unknown, unknown> = (op, context) => {
  const { axis } = op.attrs as { axis: number };
  const extents = meetInputs(op, context).filter((_, i) => i !== axis);
  return op.results.map(() => extents);
};

/** Rows of `a` and columns of `b` (and the batch axes of both) keep their extents; the contracted axis is neutralised on both sides. */
export const raggedDot: RaggedRule<unknown, unknown> = (op, context) => {
  const { a, b, acc } = op.operands as { a: Value; b: Value; acc?: Value };
  const [left, right] = [context.extentsOf(a), context.extentsOf(b)];
  const rank = left.length;
  const product = left.map((e, axis) =>
    axis === rank - 1 ? right[axis] : axis === rank - 2 ? e : context.meet(e, right[axis]),
  );
  return [acc ? meetAll(context, [product, context.extentsOf(acc)]) : product];
};

/** A load is valid up to the extents that it states, as far as its mask is. */
export const raggedLoad: RaggedRule<unknown, unknown> = (op, context) => {
  const { whole } = op.attrs as { whole?: boolean };
  const { valid = [], mask } = op.operands as { valid?: readonly Value[]; mask?: Value };
  const shape = shapeOf(op.results[0]!);
  if (whole) return [shape.map(() => undefined)];
  const stated = shape.map((_, axis) => (valid[axis] ? context.stated(valid[axis]) : undefined));
  return [mask ? meetAll(context, [stated, context.extentsOf(mask)]) : stated];
};

/** The tiles of an op that is addressed element by element: all of them have a say in which elements take part. */
export function indexedTiles(operands: object): readonly Value[] {
  const { index = [], ...rest } = operands as { index?: readonly Value[]; [name: string]: unknown };
  const { compare, value, mask } = rest as { compare?: Value; value?: Value; mask?: Value };
  return [...index, compare, value, mask].filter((v) => v !== undefined);
}

/** Ops addressed element by element: the intersection of the extents of index tiles, value and mask. */
export const raggedIndexed: RaggedRule<unknown, unknown> = (op, context) => {
  const tiles = indexedTiles(op.operands);
  return [
    meetAll(
      context,
      tiles.map((v) => context.extentsOf(v)),
    ),
  ];
};

// ---- tiles put together, taken apart and picked from ----------------------------------------------------------------

const padFirst = 'make the tile full with pad(value) first';

/** The new axis is full. */
export const raggedJoin: RaggedRule<unknown, unknown> = (op, context) => {
  const { left, right } = op.operands as { left: Value; right: Value };
  return [[...meetAll(context, [context.extentsOf(left), context.extentsOf(right)]), undefined]];
};

export const raggedSplit: RaggedRule<unknown, unknown> = (op, context) => {
  const extents = context.extentsOf((op.operands as { input: Value }).input);
  if (extents.at(-1) !== undefined) context.refuse(`a split along a ragged axis; ${padFirst}`);
  return op.results.map(() => extents.slice(0, -1));
};

/** Extents but that of one axis, along which the op takes whole tiles only. */
function fullAlong<E>(
  context: RaggedContext<E>,
  extents: ValidExtents<E>,
  axis: number,
  what: string,
): ValidExtents<E> {
  if (extents[axis] !== undefined) context.refuse(`${what} along a ragged axis; ${padFirst}`);
  return extents.with(axis, undefined);
}

export const raggedConcatenate: RaggedRule<unknown, unknown> = (op, context) => {
  const { axis } = op.attrs as { axis: number };
  const { inputs } = op.operands as { inputs: readonly Value[] };
  return [
    meetAll(
      context,
      inputs.map((v) => fullAlong(context, context.extentsOf(v), axis, 'a concatenation')),
    ),
  ];
};

export const raggedFlip: RaggedRule<unknown, unknown> = (op, context) => {
  const { axis } = op.attrs as { axis: number };
  return [fullAlong(context, context.extentsOf((op.operands as { input: Value }).input), axis, 'a flip')];
};

/** Along a ragged axis the whole is taken, or nothing is known of what the part holds. */
export const raggedSlice: RaggedRule<unknown, unknown> = (op, context) => {
  const { input } = op.operands as { input: Value };
  const [from, to] = [shapeOf(input), shapeOf(op.results[0]!)];
  return [
    context.extentsOf(input).map((e, axis) => {
      if (e !== undefined && from[axis] !== to[axis]) context.refuse(`a slice along a ragged axis; ${padFirst}`);
      return from[axis] === to[axis] ? e : undefined;
    }),
  ];
};

/** What is inserted may end early only along axes that it covers. */
export const raggedInsert: RaggedRule<unknown, unknown> = (op, context) => {
  const { input, value } = op.operands as { input: Value; value: Value };
  const [whole, part] = [shapeOf(input), shapeOf(value)];
  const inserted = context.extentsOf(value);
  return [
    context.extentsOf(input).map((e, axis) => {
      if (whole[axis] === part[axis]) return context.meet(e, inserted[axis]);
      if (inserted[axis] !== undefined) context.refuse(`an insertion that is ragged along its axis; ${padFirst}`);
      return e;
    }),
  ];
};

export const raggedTakeAlong: RaggedRule<unknown, unknown> = (op, context) => {
  const { axis } = op.attrs as { axis: number };
  const { input, index } = op.operands as { input: Value; index: Value };
  return [meetAll(context, [context.extentsOf(index), fullAlong(context, context.extentsOf(input), axis, 'a choice')])];
};

/** What lies beyond goes last, so a line is valid as far as before; the first so many of it count as valid altogether. */
export const raggedSort: RaggedRule<unknown, unknown> = (op, context) => {
  const { axis, keep } = op.attrs as { axis: number; keep?: number };
  const extents = context.extentsOf((op.operands as { input: Value }).input);
  const sorted = keep === undefined ? extents : extents.with(axis, undefined);
  return op.results.map(() => sorted);
};
