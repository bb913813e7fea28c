/**
 * Follows values that mean nothing through the ops: each lane of a tile carries the number of what spoilt it, or 0. A
 * finding comes only from where such a lane counts: at an output, an address or a branch.
 */

import { u16 } from '../dtypes.js';
import { linesAlong } from '../ops/combine.js';
import { definitionOf, isOp, tryDefinition } from '../ops/index.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, type TileType, tileType } from '../types.js';
import type { GenericOp } from '../value.js';

export type OriginKind = 'unspecified' | 'division' | 'overflow';

/** What spoilt a lane: an op, and in which program it did so first. */
export interface Origin {
  readonly kind: OriginKind;
  readonly op: GenericOp;
  readonly what: string;
}

/** Origins by number. One op has one for each kind. */
export class OriginTable {
  private readonly list: Origin[] = [];
  private readonly numbers = new Map<GenericOp, number[]>();

  /** The number of an origin; 0 when there are more than a lane can tell apart. */
  number(kind: OriginKind, op: GenericOp, what: string): number {
    const known = this.numbers.get(op) ?? [];
    const found = known.find((n) => this.list[n - 1]!.kind === kind);
    if (found !== undefined) return found;
    if (this.list.length === 0xffff) return 0;
    this.list.push({ kind, op, what });
    this.numbers.set(op, [...known, this.list.length]);
    return this.list.length;
  }

  get(number: number): Origin {
    return this.list[number - 1]!;
  }

  isOverflow(number: number): boolean {
    return this.list[number - 1]?.kind === 'overflow';
  }
}

/** Whose result says nothing of whether its operands wrapped: hashes and ring buffers are made of these. */
const reducing: ReadonlySet<string> = new Set(['rem', 'mod', 'and', 'or', 'xor', 'shr', 'mul_hi', 'philox', 'bitcast']);

/** How many operands of an op that moves elements are moved; the others say where. All where it is not listed. */
const moving: ReadonlyMap<string, number> = new Map([
  ['reshape', 1],
  ['transpose', 1],
  ['broadcast', 1],
  ['flip', 1],
  ['split', 1],
  ['slice', 1],
  ['take_along', 1],
  ['insert', 2],
  ['pad', 2],
  ['join', 2],
  ['concatenate', Number.POSITIVE_INFINITY],
]);

const first = (lanes: Uint16Array | undefined): number => lanes?.find((n) => n !== 0) ?? 0;

/** A tile of the numbers of another tile's lanes. */
function numbersOf({ shape, valid, origins }: TileValue): TileValue {
  const data = origins ?? new Uint16Array(elementCount(shape));
  return { dtype: u16, shape, data, ...(valid ? { valid } : {}) };
}

const u16Of = ({ shape }: TileType): TileType => tileType(u16, shape);

function evaluate(
  name: string,
  inputs: readonly TileValue[],
  attrs: object,
  shapes: readonly TileType[],
): Uint16Array[] {
  const outputs = tryDefinition(name)!.evaluate!(inputs, attrs as never, shapes.map(u16Of));
  return outputs.map((y) => y.data as Uint16Array);
}

/** The lanes of an op's results, given that some lane of its inputs is spoilt. */
export function spread(
  op: GenericOp,
  inputs: readonly TileValue[],
  outputs: readonly TileValue[],
  table: OriginTable,
): (Uint16Array | undefined)[] {
  const types = op.results.map((r) => r.type as TileType);
  const everywhere = (number: number): Uint16Array[] => outputs.map((y) => new Uint16Array(y.data.length).fill(number));
  const any = (list: readonly TileValue[]): number => list.reduce((n, x) => n || first(x.origins), 0);
  const definition = definitionOf(op);

  if (isOp(op, 'select')) return [selected(inputs)];
  if ((isOp(op, 'and') || isOp(op, 'or')) && inputs[0]!.dtype.cls === 'bool')
    return [shortCircuit(inputs, isOp(op, 'and') ? 0 : 1)];
  if (definition.elementwise) {
    if (inputs.some((x) => x.data.length !== outputs[0]!.data.length)) return everywhere(any(inputs));
    const merged = new Uint16Array(outputs[0]!.data.length);
    for (const { origins } of inputs) if (origins) for (let i = 0; i < merged.length; i++) merged[i] ||= origins[i]!;
    if (reducing.has(op.name)) for (let i = 0; i < merged.length; i++) if (table.isOverflow(merged[i]!)) merged[i] = 0;
    return [merged];
  }
  const moved = moving.get(op.name);
  if (moved !== undefined) {
    const data = inputs.slice(0, moved);
    const where = inputs.slice(data.length);
    const place = any(where);
    return place ? everywhere(place) : evaluate(op.name, [...data.map(numbersOf), ...where], op.attrs, types);
  }
  const { axis } = op.attrs as { axis?: number };
  if (isOp(op, 'reduce')) return evaluate('reduce', [numbersOf(inputs[0]!)], { kind: 'max', axis }, types);
  if (isOp(op, 'reduce_with')) {
    const lines = inputs.map((x) => evaluate('reduce', [numbersOf(x)], { kind: 'max', axis }, types.slice(0, 1))[0]!);
    const merged = lines.reduce((a, b) => a.map((n, i) => n || b[i]!));
    return outputs.map(() => merged);
  }
  if (isOp(op, 'scan') || isOp(op, 'scan_with')) {
    const attrs = { kind: 'max', axis, reverse: op.attrs.reverse };
    const lines = inputs.map((x) => evaluate('scan', [numbersOf(x)], attrs, types.slice(0, 1))[0]!);
    const merged = lines.reduce((a, b) => a.map((n, i) => n || b[i]!));
    return outputs.map(() => merged);
  }
  if (isOp(op, 'dot')) return [product(inputs, types[0]!)];
  return everywhere(any(inputs));
}

function selected([condition, onTrue, onFalse]: readonly TileValue[]): Uint16Array {
  const { data, origins } = condition!;
  const lanes = new Uint16Array(data.length);
  for (let i = 0; i < lanes.length; i++)
    lanes[i] = origins?.[i] || (data[i] ? onTrue!.origins?.[i] : onFalse!.origins?.[i]) || 0;
  return lanes;
}

/** A logical op whose one side decides alone (`and` with false) does not depend on the other. */
function shortCircuit([a, b]: readonly TileValue[], deciding: number): Uint16Array {
  const lanes = new Uint16Array(a!.data.length);
  for (let i = 0; i < lanes.length; i++) {
    const [x, y] = [a!.origins?.[i] ?? 0, b!.origins?.[i] ?? 0];
    const decided = (!x && a!.data[i] === deciding) || (!y && b!.data[i] === deciding);
    lanes[i] = decided ? 0 : x || y;
  }
  return lanes;
}

/** Each row of `a` and column of `b` spoils what it goes into. */
function product([a, b, acc]: readonly TileValue[], { shape }: TileType): Uint16Array {
  const rank = shape.length;
  const [m, n] = [shape[rank - 2]!, shape[rank - 1]!];
  const batch = shape.slice(0, -2);
  const rows = evaluate('reduce', [numbersOf(a!)], { kind: 'max', axis: rank - 1 }, [tileType(u16, [...batch, m])])[0]!;
  const columns = evaluate('reduce', [numbersOf(b!)], { kind: 'max', axis: rank - 2 }, [
    tileType(u16, [...batch, n]),
  ])[0]!;
  const lanes = new Uint16Array(elementCount(shape));
  for (let i = 0; i < lanes.length; i++) {
    const row = Math.floor(i / n);
    lanes[i] = acc?.origins?.[i] || rows[row] || columns[Math.floor(row / m) * n + (i % n)]!;
  }
  return lanes;
}

/** Lanes within the extents that an access takes part in, in row-major order, with or without regard to its mask. */
export function forEachLane(shape: readonly number[], limits: readonly number[], visit: (lane: number) => void): void {
  if (limits.some((n) => n <= 0)) return;
  const { outer, count } = linesAlong(shape.length === 0 ? [1] : shape, Math.max(0, shape.length - 1));
  const inner = limits.at(-1) ?? 1;
  const at = new Array<number>(Math.max(0, shape.length - 1)).fill(0);
  for (let line = 0; line < outer; line++) {
    if (at.every((p, axis) => p < limits[axis]!)) for (let i = 0; i < inner; i++) visit(line * count + i);
    for (let axis = at.length - 1; axis >= 0; axis--) {
      if (++at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
  }
}
