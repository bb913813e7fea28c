/** Who reads which value of a region, and what it would cost to compute one again. */

import { definitionOf, isOp, type OpOf, writtenRef } from '../../ir/ops/index.js';
import { unitReshapeAxes } from '../../ir/ops/ragged-rules.js';
import type { GenericOp, Region, Value } from '../../ir/value.js';
import { operandsOf, walk } from '../../ir/walk.js';
import { elementRules } from './arithmetic.js';
import { type Tiles, typeOf } from './tiles.js';

/** Cost of computing one element again, in simple instructions; what is dearer than `recomputeLimit` and used twice is kept. */
const opCosts: Readonly<Record<string, number>> = {
  exp: 20,
  exp2: 20,
  log: 20,
  log2: 20,
  tanh: 30,
  div: 6,
  sqrt: 6,
  rsqrt: 10,
  rem: 10,
  floor_div: 12,
  mod: 12,
  cdiv: 12,
  philox: 90,
  load: 1,
  gather: 8,
  take_along: 8,
  constant: 0,
  iota: 1,
  broadcast: 0,
  reshape: 0,
};
const recomputeLimit = 4;

/** Ops whose tiles need not exist in memory. */
const virtualOps = new Set([
  'constant',
  'iota',
  'extent_mask',
  'broadcast',
  'cast',
  'select',
  'reshape',
  'transpose',
  'slice',
  'flip',
  'take_along',
  'load',
  'gather',
  ...Object.keys(elementRules),
]);

/** Whether an op gives each element from the same element of its operands. */
export const isElementwise = (op: GenericOp): boolean => op.name in elementRules || isOp(op, 'cast');

/** Whether a reshape only adds and drops axes of extent 1. */
export function isUnitReshape(op: OpOf<'reshape'>): boolean {
  return unitReshapeAxes(typeOf(op.operands.input).shape, typeOf(op.results[0]!).shape) !== undefined;
}

/** Whether the last axis of a reshape that only adds and drops axes of extent 1 is its input's last axis. */
export function keepsLanes(op: OpOf<'reshape'>): boolean {
  const { shape } = typeOf(op.operands.input);
  const last = unitReshapeAxes(shape, typeOf(op.results[0]!).shape)!.at(-1);
  return last === undefined || last === shape.length - 1;
}

export class RegionUses {
  private readonly positions = new Map<GenericOp, number>();
  private readonly users = new Map<Value, GenericOp[]>();
  private readonly local = new Set<Value>();

  constructor(
    private readonly region: Region,
    private readonly tiles: Tiles,
  ) {
    for (const arg of region.args) this.local.add(arg);
    region.ops.forEach((op, i) => {
      this.positions.set(op, i);
      for (const r of op.results) this.local.add(r);
      const used = new Set(operandsOf(op));
      for (const inner of op.regions) walk(inner, (o) => operandsOf(o).forEach((v) => used.add(v)));
      for (const v of used) {
        const list = this.users.get(v);
        if (list) list.push(op);
        else this.users.set(v, [op]);
      }
    });
  }

  /** Whether a value is defined in the region itself. */
  isLocal(value: Value): boolean {
    return this.local.has(value);
  }

  positionOf(op: GenericOp): number {
    return this.positions.get(op)!;
  }

  /** The ops of the region that read a value, themselves or in their regions. */
  usersOf(value: Value): readonly GenericOp[] {
    return this.users.get(value) ?? [];
  }

  /** Cost of one element of a virtual value, and whether memory is read for it. */
  cost(value: Value, seen = new Map<Value, number>()): number {
    const known = seen.get(value);
    if (known !== undefined) return known;
    const place = this.tiles.tryPlace(value);
    const own = !place || place.kind === 'scalar' ? 0 : place.kind === 'buffer' ? 1 : (opCosts[place.op.name] ?? 1);
    const total =
      place?.kind === 'virtual' && !isOp(place.op, 'load')
        ? operandsOf(place.op)
            .filter((v) => v.type.kind === 'tile')
            .reduce((sum, v) => sum + this.cost(v, seen), own)
        : own;
    seen.set(value, total);
    return total;
  }

  readsMemory(value: Value): boolean {
    return this.virtualLeaves(value).some((op) => isOp(op, 'load') || isOp(op, 'gather'));
  }

  /** The virtual ops that a value is computed from, itself included. */
  virtualLeaves(value: Value, seen = new Set<GenericOp>()): GenericOp[] {
    if (value.type.kind !== 'tile') return [];
    const place = this.tiles.tryPlace(value);
    if (place?.kind !== 'virtual' || seen.has(place.op)) return [];
    seen.add(place.op);
    return [place.op, ...operandsOf(place.op).flatMap((v) => this.virtualLeaves(v, seen))];
  }

  /** Whether a tile should exist in scratch rather than be computed for each reader. */
  mustKeep(value: Value): boolean {
    const users = this.usersOf(value);
    if (users.some((u) => u.regions.length > 0 && !definitionOf(u).combines))
      return this.readsMemory(value) || this.cost(value) > recomputeLimit;
    if (users.some((u) => isOp(u, 'reshape') && !isUnitReshape(u))) return true;
    return users.length > 1 && this.cost(value) > recomputeLimit;
  }

  /** Whether a virtual op serves `value` alone, elementwise all the way. */
  onlyFor(op: GenericOp, value: Value, leaves: readonly GenericOp[]): boolean {
    if (!isElementwise(op)) return false;
    const [result] = op.results;
    return result === value || this.usersOf(result!).every((u) => leaves.includes(u) && this.onlyFor(u, value, leaves));
  }

  /** Whether its array is written between a load and the last op that may still ask for its elements. */
  isOverwrittenBeforeUse(load: OpOf<'load' | 'gather'>, now: number): boolean {
    const last = this.lastReader(load.results[0]!, now);
    return this.region.ops.slice(now + 1, last + 1).some((op) => writesTo(op, load.operands.ref));
  }

  /** Position of the last op that reads a value, directly or through virtual values. */
  private lastReader(value: Value, now: number): number {
    return Math.max(
      now,
      ...this.usersOf(value).map((u) => {
        const at = this.positions.get(u)!;
        return u.results[0] && virtualOps.has(u.name) ? Math.max(at, this.lastReader(u.results[0], now)) : at;
      }),
    );
  }
}

/** Whether an op, or one inside its regions, writes to an array. */
function writesTo(op: GenericOp, ref: Value): boolean {
  const direct = (o: GenericOp): boolean => writtenRef(o) === ref;
  let found = direct(op);
  for (const region of op.regions) walk(region, (o) => (found ||= direct(o)));
  return found;
}
