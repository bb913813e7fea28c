/**
 * Loop nests. Ops that end a chain of virtual values (a store, a reduction, a tile that must exist in scratch) are
 * sinks; sinks over one shape that do not wait for each other share a nest, so that what they have in common is
 * computed once.
 */

import type { ReduceKind } from '../../ir/ops/contraction.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { GenericOp, Value } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import type { Lanes } from './emitter.js';
import { transposeRows } from './matrix.js';
import { largestPower, pieces } from './pieces.js';
import { type Accumulator, type Reducer, reducer } from './reduction.js';
import { scatterLanes, storeLanes, storeScratch } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

/** What ends a chain of virtual values. A reduction's result goes to an SSA value if it is a scalar, else to scratch; `own` writes loops of its own. */
export type Sink =
  | { readonly kind: 'store'; readonly op: OpOf<'store'> }
  | { readonly kind: 'scatter'; readonly op: OpOf<'scatter'> }
  | { readonly kind: 'keep'; readonly value: Value; readonly buffer: Buffer }
  | { readonly kind: 'reduce'; readonly op: OpOf<'reduce'>; readonly buffer?: Buffer }
  | { readonly kind: 'own'; readonly op: GenericOp; readonly emit: (chunk: number, lanes: number) => void }
  | { readonly kind: 'transpose'; readonly op: OpOf<'transpose'>; readonly buffer: Buffer };

/** The value whose elements a sink visits. */
export function sinkInput(sink: Sink): Value {
  switch (sink.kind) {
    case 'store':
    case 'scatter':
      return sink.op.operands.value;
    case 'keep':
      return sink.value;
    case 'reduce':
    case 'transpose':
      return sink.op.operands.input;
    case 'own':
      return operandsOf(sink.op)[0]!;
  }
}

export const sinkShape = (sink: Sink): readonly number[] => typeOf(sinkInput(sink)).shape;

/** A reduction along another axis than the last runs that axis innermost, in a nest of its own. */
export const isInnerReduction = (sink: Sink): boolean =>
  sink.kind === 'reduce' && sink.op.attrs.axis !== sinkShape(sink).length - 1;

export class NestEmitter {
  constructor(
    private readonly tiles: Tiles,
    /** Elements that one step of the innermost loop takes: a few registers, for parallelism within a core. */
    private readonly chunk: number,
    /** Side of the square blocks in which tiles are transposed: the lanes of one register. */
    private readonly square: number,
  ) {}

  /**
   * Emits one nest. Where extents are ragged there are two versions: all extents full, and masked.
   *
   * @param extents `[value, size]` of each ragged axis that the nest touches.
   * @returns scalar results, by reduction.
   */
  emit(sinks: readonly Sink[], extents: readonly (readonly [Value, number])[]): Map<OpOf<'reduce'>, Lanes> {
    const { e } = this.tiles;
    const scalars = sinks.flatMap((s) => (s.kind === 'reduce' && !s.buffer ? [s.op] : []));
    const version = (full: boolean): readonly Lanes[] =>
      this.tiles.inNest(full, () => {
        const outer = this.tiles.nestDepth;
        this.tiles.nestDepth = e.depth;
        try {
          return this.domain(sinks);
        } finally {
          this.tiles.nestDepth = outer;
        }
      });
    if (extents.length === 0) return pair(scalars, version(true));
    const full = extents
      .map(([extent, size]) => e.compareInt('sge', this.tiles.scalar(extent), e.int(size, 'i32')))
      .reduce((a, b) => e.binary('andi', a, b));
    const elems = scalars.map((op) => this.tiles.elem(op.results[0]!));
    const raw = (lanes: readonly Lanes[]): readonly MlirValue[] => lanes.map((l) => l.value);
    const results = e.if(
      full.value,
      elems,
      () => raw(version(true)),
      () => raw(version(false)),
    );
    return pair(
      scalars,
      results.map((value, i) => ({ value, elem: elems[i]!, width: 1 })),
    );
  }

  private domain(sinks: readonly Sink[]): readonly Lanes[] {
    const shape = sinkShape(sinks[0]!);
    if (isInnerReduction(sinks[0]!)) {
      for (const sink of sinks) this.innerReduction(sink as Extract<Sink, { kind: 'reduce' }>);
      return [];
    }
    const [sink] = sinks;
    if (sink!.kind === 'transpose') {
      this.transpose(sink!);
      return [];
    }
    if (sink!.kind === 'own') {
      sink!.emit(this.chunk, this.square);
      return [];
    }
    let results: readonly Lanes[] = [];
    this.tiles.loops(shape.slice(0, -1), (index) => {
      results = this.row(sinks, shape.at(-1) ?? 1, index, shape.length);
    });
    return results;
  }

  /** Runs `body` over an axis of `n` elements, carrying accumulators of the piece's width; none yet where there is one trip. */
  private alongAxis(
    n: number,
    chunk: number,
    start: (width: number) => readonly Lanes[],
    body: (at: MlirValue, width: number, carried: readonly Lanes[] | undefined) => readonly Lanes[],
    finish: (carried: readonly Lanes[]) => void,
  ): void {
    const { e } = this.tiles;
    for (const piece of pieces(n, chunk)) {
      const { width, trips } = piece;
      const init = start(width);
      const lanes = (values: readonly MlirValue[]): Lanes[] =>
        values.map((value, i) => ({ value, elem: init[i]!.elem, width }));
      const step = (at: MlirValue, carried: readonly MlirValue[]): readonly MlirValue[] =>
        body(this.tiles.declareIndex(at), width, lanes(carried)).map((l) => l.value);
      const values = init.map((l) => l.value);
      const first = e.i64(piece.start);
      const last =
        trips === 1
          ? body(first, width, undefined).map((l) => l.value)
          : e.for(first, e.i64(piece.start + trips * width), e.i64(width), values, step);
      finish(lanes(last));
    }
  }

  private row(sinks: readonly Sink[], n: number, outer: readonly MlirValue[], rank: number): readonly Lanes[] {
    const { tiles } = this;
    const reductions = sinks
      .filter((s) => s.kind === 'reduce')
      .map((sink) => ({
        sink,
        reduce: reducer(tiles.e, sink.op.attrs.kind as ReduceKind, typeOf(sink.op.operands.input).dtype),
      }));
    const sizes = reductions.map(({ reduce }) => reduce.start(1).length);
    const totals: (Accumulator | undefined)[] = reductions.map(() => undefined);
    const panels = sinks.flatMap((s) => (s.kind === 'keep' && s.buffer.panel ? [s.buffer.panel] : []));
    this.alongAxis(
      n,
      Math.min(this.chunk, ...panels),
      (width) => reductions.flatMap(({ reduce }) => reduce.start(width)),
      (at, width, carried) => {
        const index = rank === 0 ? [] : [...outer, at];
        const groups = carried && split(carried, sizes);
        let next = 0;
        const updated: Lanes[] = [];
        for (const sink of sinks) {
          if (sink.kind !== 'reduce') this.visit(sink as never, index, width);
          else {
            const { reduce } = reductions[next]!;
            const x = tiles.lanesAt(sink.op.operands.input, index, width);
            const position = (): Lanes => tiles.positions(rank - 1, index, width);
            updated.push(...(groups ? reduce.step(groups[next]!, x, position) : reduce.first(x, position)));
            next++;
          }
        }
        return updated;
      },
      (carried) => {
        split(carried, sizes).forEach((acc, i) => {
          const { reduce } = reductions[i]!;
          const part = reduce.collapse(acc);
          totals[i] = totals[i] ? reduce.merge(totals[i], part) : part;
        });
      },
    );
    const results: Lanes[] = [];
    reductions.forEach(({ sink, reduce }, i) => {
      const result = reduce.finish(totals[i]!);
      if (sink.buffer) storeScratch(tiles.e, result, tiles.baseOf(sink.buffer), tiles.flatIndex(sink.buffer, outer));
      else results.push(result);
    });
    return results;
  }

  /** What a sink does with one piece of a row. */
  private visit(
    sink: Exclude<Sink, { kind: 'reduce' | 'transpose' | 'own' }>,
    index: readonly MlirValue[],
    width: number,
  ): void {
    const { tiles } = this;
    const { e } = tiles;
    const x = tiles.lanesAt(sinkInput(sink), index, width);
    if (sink.kind === 'keep') {
      storeScratch(e, x, tiles.baseOf(sink.buffer), tiles.flatIndex(sink.buffer, index));
      tiles.remember(sink.value, index, x);
      return;
    }
    if (sink.kind === 'scatter') {
      const { ref, index: positions = [], mask } = sink.op.operands;
      const { array, offsets } = tiles.indexedOffsets(ref, positions, index, width);
      return scatterLanes(e, x, array.base, offsets, array.dtype, mask && tiles.lanesAt(mask, index, width));
    }
    const mask = tiles.accessMask(sink.op, index, width);
    const { array, address, offsets } = tiles.blockAddress(sink.op, index, width);
    if (address) storeLanes(e, x, address, array.dtype, mask);
    else scatterLanes(e, x, array.base, offsets!, array.dtype, mask);
  }

  /** A swap of the last two axes goes in square blocks through registers; any other order element by element. */
  private transpose({ op, buffer }: Extract<Sink, { kind: 'transpose' }>): void {
    const { tiles } = this;
    const { input } = op.operands;
    const { permutation } = op.attrs;
    const { shape } = typeOf(input);
    const rank = shape.length;
    const swap = permutation.every((axis, i) => axis === (i === rank - 2 ? rank - 1 : i === rank - 1 ? rank - 2 : i));
    if (swap)
      return tiles.loops(shape.slice(0, -2), (outer) =>
        this.transposeRect(input, buffer, outer, [0, shape[rank - 2]!], [0, shape[rank - 1]!]),
      );
    tiles.loops(shape, (index) => {
      const to = permutation.map((axis) => index[axis]!);
      storeScratch(tiles.e, tiles.lanesAt(input, index, 1), tiles.baseOf(buffer), tiles.flatIndex(buffer, to));
    });
  }

  /** Transposes rows × columns `[start, count]` of the last two axes: the largest square blocks first, then the rims. */
  private transposeRect(
    input: Value,
    buffer: Buffer,
    outer: readonly MlirValue[],
    rows: readonly [number, number],
    columns: readonly [number, number],
  ): void {
    if (rows[1] === 0 || columns[1] === 0) return;
    const { tiles } = this;
    const { e } = tiles;
    const block = Math.min(this.square, largestPower(rows[1]), largestPower(columns[1]));
    const [height, width] = [Math.floor(rows[1] / block) * block, Math.floor(columns[1] / block) * block];
    const from = (start: number, count: number, body: (i: MlirValue) => void): void => {
      if (count === block) return body(e.i64(start));
      e.for(e.i64(start), e.i64(start + count), e.i64(block), [], (i) => {
        body(tiles.declareIndex(i));
        return [];
      });
    };
    from(rows[0], height, (r) =>
      from(columns[0], width, (c) => {
        const lines = Array.from({ length: block }, (_, i) =>
          tiles.lanesAt(input, [...outer, tiles.declareIndex(e.addIndex(r, e.i64(i))), c], block),
        );
        transposeRows(tiles, lines).forEach((line, i) => {
          const to = [...outer, e.addIndex(c, e.i64(i)), r];
          storeScratch(e, line, tiles.baseOf(buffer), tiles.flatIndex(buffer, to));
        });
      }),
    );
    this.transposeRect(input, buffer, outer, [rows[0], height], [columns[0] + width, columns[1] - width]);
    this.transposeRect(input, buffer, outer, [rows[0] + height, rows[1] - height], columns);
  }

  private innerReduction({ op, buffer }: Extract<Sink, { kind: 'reduce' }>): void {
    const { tiles } = this;
    const { e } = tiles;
    const { axis, kind } = op.attrs;
    const input = op.operands.input;
    const { shape, dtype } = typeOf(input);
    const kept = shape.filter((_, i) => i !== axis);
    const reduce: Reducer = reducer(e, kind as ReduceKind, dtype);
    tiles.loops(kept.slice(0, -1), (outer) => {
      this.alongAxis(
        kept.at(-1)!,
        this.chunk,
        () => [],
        (at, width) => {
          const around = [...outer, at];
          const start = reduce.start(width);
          const last = e.count(
            shape[axis]!,
            1,
            start.map((l) => l.value),
            (i, carried) => {
              const index = [...around.slice(0, axis), tiles.declareIndex(i), ...around.slice(axis)];
              const acc = carried.map((value, n) => ({ value, elem: start[n]!.elem, width }));
              const x = tiles.lanesAt(input, index, width);
              const position = (): Lanes => tiles.positions(axis, index, width);
              return reduce.step(acc, x, position).map((l) => l.value);
            },
          );
          const result = reduce.finish(last.map((value, n) => ({ value, elem: start[n]!.elem, width })));
          storeScratch(e, result, tiles.baseOf(buffer!), tiles.flatIndex({ shape: kept }, around));
          return [];
        },
        () => {},
      );
    });
  }
}

function split<T>(list: readonly T[], sizes: readonly number[]): T[][] {
  return sizes.map((n, i) => {
    const at = sizes.slice(0, i).reduce((a, b) => a + b, 0);
    return list.slice(at, at + n);
  });
}

const pair = (ops: readonly OpOf<'reduce'>[], lanes: readonly Lanes[]): Map<OpOf<'reduce'>, Lanes> =>
  new Map(ops.map((op, i) => [op, lanes[i]!]));
