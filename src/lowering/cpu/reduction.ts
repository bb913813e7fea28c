/** Accumulators of reductions: how lanes are combined, and how the lanes of one accumulator become one value. */

import { type DType, isFloat } from '../../ir/dtypes.js';
import { type ReduceKind, reducedDType, reduceIdentity } from '../../ir/ops/contraction.js';
import { cast, elemOf, roundTo } from './arithmetic.js';
import type { Emitter, Lanes } from './emitter.js';

/** One reduction in progress: one vector, or for argmax and argmin the best values and their positions. */
export type Accumulator = readonly Lanes[];

export interface Reducer {
  readonly start: (width: number) => Accumulator;
  /** `step` from the start: what the first lanes give. */
  readonly first: (x: Lanes, position: () => Lanes) => Accumulator;
  /** `position`: index of each lane along the reduced axis (used by argmax and argmin only). */
  readonly step: (acc: Accumulator, x: Lanes, position: () => Lanes) => Accumulator;
  /** Combines two accumulators of one width. */
  readonly merge: (a: Accumulator, b: Accumulator) => Accumulator;
  /** All lanes to one. */
  readonly collapse: (acc: Accumulator) => Accumulator;
  /** The result's value, rounded to its dtype. */
  readonly finish: (acc: Accumulator) => Lanes;
}

/** The arith op that combines two values of a class, and the reduction of a vector's lanes. */
export const combiners: Record<
  Exclude<ReduceKind, 'argmax' | 'argmin'>,
  { float: string; signed: string; unsigned: string; lanes: (op: string) => string }
> = {
  sum: { float: 'addf', signed: 'addi', unsigned: 'addi', lanes: () => 'add' },
  prod: { float: 'mulf', signed: 'muli', unsigned: 'muli', lanes: () => 'mul' },
  max: { float: 'maximumf', signed: 'maxsi', unsigned: 'maxui', lanes: (op) => op },
  min: { float: 'minimumf', signed: 'minsi', unsigned: 'minui', lanes: (op) => op },
  max_num: { float: 'maximumf', signed: 'maxsi', unsigned: 'maxui', lanes: (op) => op },
  min_num: { float: 'minimumf', signed: 'minsi', unsigned: 'minui', lanes: (op) => op },
  any: { float: 'ori', signed: 'ori', unsigned: 'ori', lanes: () => 'or' },
  all: { float: 'andi', signed: 'andi', unsigned: 'andi', lanes: () => 'and' },
};

/** Reduction of `kind` over lanes of `dtype`. Sums of narrow floats run in f32, of narrow integers in 32 bits. */
export function reducer(e: Emitter, kind: ReduceKind, dtype: DType): Reducer {
  if (kind === 'argmax' || kind === 'argmin') return positionReducer(e, kind, dtype);
  if (isFloat(dtype) && isExtremum(kind)) return extremumReducer(e, kind, dtype);
  const result = reducedDType(kind, dtype);
  const elem = elemOf(result);
  const { float, signed, unsigned, lanes } = combiners[kind];
  const op = isFloat(result) ? float : result.signed ? signed : unsigned;
  const widen = (x: Lanes): Lanes => (result === dtype ? x : cast(e, x, dtype, result));
  const merge = ([a]: Accumulator, [b]: Accumulator): Accumulator => [e.binary(op, a!, b!)];
  const start = (width: number): Accumulator => [e.number(reduceIdentity(kind, result)!, elem, width)];
  return {
    start,
    first: (x) => merge(start(x.width), [widen(x)]),
    step: (acc, x) => merge(acc, [widen(x)]),
    merge,
    collapse: ([a]) => [e.reduction(lanes(op), a!)],
    finish: ([a]) => roundTo(e, result, a!),
  };
}

type Extremum = 'max' | 'min' | 'max_num' | 'min_num';
const isExtremum = (kind: ReduceKind): kind is Extremum =>
  kind === 'max' || kind === 'min' || kind === 'max_num' || kind === 'min_num';

/**
 * Largest or smallest float, in integers: with the bits below the sign inverted where it is set, floats are ordered as
 * their bits are, -0 below +0. One integer instruction a step, where the float ones need five for zeros and NaN. A NaN
 * gets the key that beats all, or that of the identity where NaN is ignored.
 */
function extremumReducer(e: Emitter, kind: Extremum, dtype: DType): Reducer {
  const elem = elemOf(dtype) as 'f32' | 'f64';
  const [key, bits] = elem === 'f64' ? (['i64', 64] as const) : (['i32', 32] as const);
  const isMax = kind === 'max' || kind === 'max_num';
  const flip = (x: Lanes): Lanes => {
    const sign = e.binary('shrsi', x, e.int(bits - 1, key, x.width));
    return e.binary('xori', x, e.binary('andi', sign, e.int((1n << BigInt(bits - 1)) - 1n, key, x.width)));
  };
  const keyOf = (x: Lanes): Lanes => flip(e.bitcast(x, key));
  const identity = Number(reduceIdentity(kind, dtype)!);
  const nanBits = (elem === 'f64' ? 0x7ff8n : 0x7fc0n) << BigInt(bits - 16);
  const nanKey = (width: number): Lanes => {
    if (kind === 'max_num' || kind === 'min_num') return keyOf(e.float(identity, elem, width));
    return e.int(isMax ? nanBits : ~nanBits, key, width);
  };
  const lift = (x: Lanes): Lanes => e.select(e.compareFloat('uno', x, x), nanKey(x.width), keyOf(x));
  const op = isMax ? 'maxsi' : 'minsi';
  const merge = ([a]: Accumulator, [b]: Accumulator): Accumulator => [e.binary(op, a!, b!)];
  return {
    start: (width) => [keyOf(e.float(identity, elem, width))],
    first: (x) => [lift(x)],
    step: (acc, x) => merge(acc, [lift(x)]),
    merge,
    collapse: ([a]) => [e.reduction(op, a!)],
    finish: ([a]) => e.bitcast(flip(a!), elem),
  };
}

/** Larger (smaller) wins, then the lower position; the first NaN beats everything. */
function positionReducer(e: Emitter, kind: 'argmax' | 'argmin', dtype: DType): Reducer {
  const elem = elemOf(dtype);
  const worst = reduceIdentity(kind === 'argmax' ? 'max' : 'min', dtype)!;
  const beats = (a: Lanes, b: Lanes): Lanes => {
    if (isFloat(dtype)) return e.compareFloat(kind === 'argmax' ? 'ogt' : 'olt', a, b);
    const [up, down] = dtype.signed ? (['sgt', 'slt'] as const) : (['ugt', 'ult'] as const);
    return e.compareInt(kind === 'argmax' ? up : down, a, b);
  };
  const merge = ([x, i]: Accumulator, [y, j]: Accumulator): Accumulator => {
    const earlier = e.compareInt('slt', j!, i!);
    let equal = isFloat(dtype) ? e.compareFloat('oeq', y!, x!) : e.compareInt('eq', y!, x!);
    let better = beats(y!, x!);
    if (isFloat(dtype)) {
      const [xNaN, yNaN] = [e.compareFloat('uno', x!, x!), e.compareFloat('uno', y!, y!)];
      equal = e.binary('ori', equal, e.binary('andi', xNaN, yNaN));
      better = e.binary('ori', better, e.binary('andi', yNaN, e.binary('xori', xNaN, e.int(1, 'i1', x!.width))));
    }
    const take = e.binary('ori', better, e.binary('andi', equal, earlier));
    return [e.select(take, y!, x!), e.select(take, j!, i!)];
  };
  const collapse = (acc: Accumulator): Accumulator => {
    const { width } = acc[0]!;
    if (width === 1) return acc;
    const half = (from: number): Accumulator =>
      acc.map((x) => {
        const mask = Array.from({ length: width / 2 }, (_, lane) => from + lane);
        return width === 2 ? e.extract(x, from) : e.shuffle(x, x, mask);
      });
    return collapse(merge(half(0), half(width / 2)));
  };
  return {
    start: (width) => [e.number(worst, elem, width), e.int(2 ** 31 - 1, 'i32', width)],
    first: (x, position) => [x, position()],
    step: (acc, x, position) => merge(acc, [x, position()]),
    merge,
    collapse,
    finish: ([, i]) => i!,
  };
}
