/** Scans, and reductions and scans by a body: what they combine, and the loops along their axis. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import { isFloat } from '../../ir/dtypes.js';
import { type ScanKind, scanKinds } from '../../ir/ops/combine.js';
import { reducedDType } from '../../ir/ops/contraction.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import type { Region, Value } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import { cast, type ElementRule, elementRules, elemOf, roundTo } from './arithmetic.js';
import type { Lanes } from './emitter.js';
import { type Piece, pieces } from './pieces.js';
import type { RegionLowering } from './program.js';
import { combiners } from './reduction.js';
import { storeScratch } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

type CombineOp = OpOf<'scan' | 'scan_with' | 'reduce_with'>;

/** One lane vector for each value that is combined. */
type Parts = readonly Lanes[];

interface Operator {
  /** The parts at one place of the inputs, as they are accumulated. */
  readonly lift: (index: readonly MlirValue[], width: number) => Parts;
  /** `a` is of what comes first. */
  readonly combine: (a: Parts, b: Parts) => Parts;
  /** What is stored of accumulated parts. */
  readonly finish: (parts: Parts) => Parts;
}

/** The body of a reduction or scan on lanes in place of its scalars. */
function bodyOperator(tiles: Tiles, body: Region): Operator['combine'] {
  const { e } = tiles;
  return (a, b) => {
    const { width } = a[0]!;
    const values = new Map<Value, Lanes>(body.args.map((v, i) => [v, [...a, ...b][i]!]));
    const use = (v: Value): Lanes => values.get(v) ?? e.splat(tiles.scalar(v), width);
    for (const op of body.ops) {
      const args = operandsOf(op).map(use);
      if (isOp(op, 'yield')) return args;
      const { dtype } = typeOf(op.results[0]!);
      const rule = (elementRules as Record<string, ElementRule>)[op.name];
      const lanes = isOp(op, 'constant')
        ? e.number(op.attrs.value, elemOf(dtype), width)
        : isOp(op, 'cast')
          ? cast(e, args[0]!, typeOf(op.operands.input).dtype, dtype, op.attrs.saturate)
          : rule?.(e, args, typeOf(operandsOf(op)[0]!).dtype, op);
      if (!lanes) throw new InternalError(`'${op.name}' cannot stand in a body that combines`);
      values.set(op.results[0]!, lanes);
    }
    throw new InternalError('a body ends with yield');
  };
}

function operatorOf(tiles: Tiles, op: CombineOp): Operator {
  const { e } = tiles;
  if (!isOp(op, 'scan')) {
    const { inputs = [] } = (op as OpOf<'scan_with'>).operands;
    return {
      lift: (index, width) => inputs.map((x) => tiles.lanesAt(x, index, width)),
      combine: bodyOperator(tiles, op.regions[0]!),
      finish: (parts) => parts,
    };
  }
  const { input } = op.operands;
  const kind: ScanKind = scanKinds.find((k) => k === op.attrs.kind)!;
  const { dtype } = typeOf(input);
  const result = reducedDType(kind, dtype);
  const { float, signed, unsigned } = combiners[kind];
  const name = isFloat(result) ? float : result.signed ? signed : unsigned;
  return {
    lift: (index, width) => {
      const x = tiles.lanesAt(input, index, width);
      return [result === dtype ? x : cast(e, x, dtype, result)];
    },
    combine: ([a], [b]) => [e.binary(name, a!, b!)],
    finish: ([a]) => [roundTo(e, result, a!)],
  };
}

export function lowerCombine(lowering: RegionLowering, op: CombineOp): void {
  lowering.write(op, (buffers, chunk, lanes) => emitCombine(lowering.tiles, op, buffers, chunk, lanes));
}

/**
 * Emits the loops of one op into `buffers`, one for each result that is read. A scan along the last axis takes one register
 * at a time: its rounds grow with what it takes at once.
 */
function emitCombine(
  tiles: Tiles,
  op: CombineOp,
  buffers: readonly (Buffer | undefined)[],
  chunk: number,
  lanes: number,
): void {
  const { e } = tiles;
  const operator = operatorOf(tiles, op);
  const inputs = operandsOf(op);
  const { shape } = typeOf(inputs[0]!);
  const { axis } = op.attrs;
  const scans = !isOp(op, 'reduce_with');
  const reverse = scans && ((op as OpOf<'scan'>).attrs.reverse ?? false);
  const store = (parts: Parts, index: readonly MlirValue[]): void =>
    operator.finish(parts).forEach((x, i) => {
      const buffer = buffers[i];
      if (buffer) storeScratch(e, x, tiles.baseOf(buffer), tiles.flatIndex(buffer, index));
    });
  const isLast = axis === shape.length - 1;
  const kept = shape.filter((_, i) => i !== axis);
  tiles.loops(isLast ? kept : kept.slice(0, -1), (outer) => {
    if (isLast && scans) scanRow(tiles, operator, shape[axis]!, lanes, reverse, outer, store);
    else if (isLast) store(reduceRow(tiles, operator, shape[axis]!, chunk, outer), outer);
    else
      for (const piece of pieces(kept.at(-1)!, chunk))
        eachChunk(tiles, piece, (at) => {
          const around = [...outer, at];
          const place = (i: MlirValue): MlirValue[] => [...around.slice(0, axis), i, ...around.slice(axis)];
          acrossAxis(tiles, operator, shape[axis]!, piece.width, reverse, place, scans ? store : undefined, (parts) =>
            store(parts, around),
          );
        });
  });
}

/** Runs `body` at the start of each chunk of a piece. */
function eachChunk(tiles: Tiles, { start, width, trips }: Piece, body: (at: MlirValue) => void): void {
  const { e } = tiles;
  e.count(trips, 1, [], (t) => {
    body(tiles.declareIndex(e.addIndex(e.i64(start), e.mulIndex(t, e.i64(width)))));
    return [];
  });
}

const valuesOf = (parts: Parts): MlirValue[] => parts.map((x) => x.value);
const like = (parts: Parts, values: readonly MlirValue[]): Lanes[] =>
  parts.map((x, i) => ({ ...x, value: values[i]! }));

/** Combines along an axis that is not the last, `width` lines at once. */
function acrossAxis(
  tiles: Tiles,
  { lift, combine }: Operator,
  n: number,
  width: number,
  reverse: boolean,
  place: (i: MlirValue) => MlirValue[],
  each: ((parts: Parts, index: readonly MlirValue[]) => void) | undefined,
  last: (parts: Parts) => void,
): void {
  const { e } = tiles;
  const first = place(e.i64(reverse ? n - 1 : 0));
  const start = lift(first, width);
  each?.(start, first);
  const step = (t: MlirValue, carried: readonly MlirValue[]): MlirValue[] => {
    const i = reverse ? e.subIndex(e.i64(n - 1), t) : t;
    const index = place(tiles.declareIndex(i));
    const parts = combine(like(start, carried), lift(index, width));
    each?.(parts, index);
    return valuesOf(parts);
  };
  const end = n === 1 ? valuesOf(start) : e.for(e.i64(1), e.i64(n), e.i64(1), valuesOf(start), step);
  if (!each) last(like(start, end));
}

/** Reduces a row: lane by lane first, then the lanes of what that gave. */
function reduceRow(
  tiles: Tiles,
  { lift, combine }: Operator,
  n: number,
  chunk: number,
  outer: readonly MlirValue[],
): Parts {
  const { e } = tiles;
  let total: Parts | undefined;
  for (const { start, width, trips } of pieces(n, chunk)) {
    const first = lift([...outer, e.i64(start)], width);
    const step = (at: MlirValue, carried: readonly MlirValue[]): MlirValue[] =>
      valuesOf(combine(like(first, carried), lift([...outer, tiles.declareIndex(at)], width)));
    const [from, to] = [e.i64(start + width), e.i64(start + trips * width)];
    const lanes = trips === 1 ? valuesOf(first) : e.for(from, to, e.i64(width), valuesOf(first), step);
    const part = collapse(tiles, combine, like(first, lanes));
    total = total ? combine(total, part) : part;
  }
  return total!;
}

/** All lanes to one. */
function collapse(tiles: Tiles, combine: Operator['combine'], parts: Parts): Parts {
  const { e } = tiles;
  const half = parts[0]!.width / 2;
  if (half < 1) return parts;
  const from = (start: number): Parts => parts.map((x) => (half === 1 ? e.extract(x, start) : e.slice(x, start, half)));
  return collapse(tiles, combine, combine(from(0), from(half)));
}

/** Scans a row chunk by chunk; the last element of one goes on to the next. */
function scanRow(
  tiles: Tiles,
  operator: Operator,
  n: number,
  chunk: number,
  reverse: boolean,
  outer: readonly MlirValue[],
  store: (parts: Parts, index: readonly MlirValue[]) => void,
): void {
  const { e } = tiles;
  const { lift, combine } = operator;
  const scanChunk = (at: MlirValue, width: number, before: Parts | undefined): Parts => {
    const index = [...outer, at];
    const own = scanLanes(tiles, operator, lift(index, width), reverse);
    const all = before
      ? combine(
          before.map((x) => e.splat(x, width)),
          own,
        )
      : own;
    store(all, index);
    return all.map((x) => e.extract(x, reverse ? 0 : width - 1));
  };
  let carried: Parts | undefined;
  const list = pieces(n, chunk);
  for (const { start, width, trips } of reverse ? list.reverse() : list) {
    const at = (t: MlirValue): MlirValue => {
      const nth = reverse ? e.subIndex(e.i64(trips - 1), t) : t;
      return tiles.declareIndex(e.addIndex(e.i64(start), e.mulIndex(nth, e.i64(width))));
    };
    const alone = carried ? 0 : 1;
    if (!carried) carried = scanChunk(at(e.i64(0)), width, undefined);
    if (trips === alone) continue;
    const before: Parts = carried;
    const step = (t: MlirValue, values: readonly MlirValue[]): MlirValue[] =>
      valuesOf(scanChunk(at(t), width, like(before, values)));
    const one = e.i64(1);
    carried =
      trips - alone === 1
        ? like(before, step(e.i64(alone), valuesOf(before)))
        : like(before, e.for(e.i64(alone), e.i64(trips), one, valuesOf(before), step));
  }
}

/** Scan within a vector: after the round of distance d each lane has what the 2 d lanes up to it give. */
function scanLanes({ e }: Tiles, { combine }: Operator, parts: Parts, reverse: boolean): Parts {
  const { width } = parts[0]!;
  let current = parts;
  for (let d = 1; d < width; d *= 2) {
    const source = Array.from({ length: width }, (_, lane) => {
      const from = reverse ? lane + d : lane - d;
      return from >= 0 && from < width ? from : lane;
    });
    const shifted = current.map((x) => e.shuffle(x, x, source));
    const steps = e.steps('i32', width);
    const reached = reverse
      ? e.compareInt('slt', steps, e.int(width - d, 'i32', width))
      : e.compareInt('sge', steps, e.int(d, 'i32', width));
    const combined = combine(shifted, current);
    current = current.map((x, i) => e.select(reached, combined[i]!, x));
  }
  return current;
}
