/** Loops and branches: carried scalars are SSA values, carried tiles lie in slots of scratch. */

import { terminatorValues } from '../../ir/ops/control.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { GenericOp, Region, Value } from '../../ir/value.js';
import type { MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import type { RegionLowering } from './program.js';
import { type Tiles, typeOf } from './tiles.js';

/** The slot of each carried value; undefined for scalars. */
type Slots = readonly (Buffer | undefined)[];

/** Slots with the initial values in place. */
function slotsFor(lowering: RegionLowering, init: readonly Value[], op: GenericOp): Slots {
  lowering.flush();
  return init.map((v) => {
    if (typeOf(v).shape.length === 0) return undefined;
    const own = init.filter((x) => x === v).length === 1 ? lowering.takeOver(v, op) : undefined;
    if (own) return own;
    const slot = lowering.allocate(lowering.tiles.elem(v), typeOf(v).shape);
    lowering.copy(v, slot);
    return slot;
  });
}

function bindCarried(tiles: Tiles, args: readonly Value[], slots: Slots, scalars: readonly MlirValue[]): void {
  let next = 0;
  args.forEach((arg, i) => {
    const slot = slots[i];
    if (slot) tiles.set(arg, { kind: 'buffer', buffer: slot });
    else tiles.set(arg, { kind: 'scalar', lanes: { value: scalars[next++]!, elem: tiles.elem(arg), width: 1 } });
  });
}

/** Hands values over to slots: all are finished first, so that no slot is overwritten while it is read. */
function handOver(inner: RegionLowering, values: readonly Value[], slots: Slots): MlirValue[] {
  for (const v of values.filter((_, i) => slots[i])) inner.keep(v);
  inner.flush();
  const moves = values.flatMap((v, i) => {
    const slot = slots[i];
    const from = slot && inner.materialise(v);
    return slot && from!.offset !== slot.offset ? [{ v, from: from!, slot }] : [];
  });
  const isSlot = (b: Buffer): boolean => slots.some((s) => s?.offset === b.offset);
  for (const move of moves) {
    if (!isSlot(move.from)) continue;
    const aside = inner.allocate(move.from.elem, move.from.shape);
    inner.copy(move.v, aside);
    move.from = aside;
  }
  for (const { v, from, slot } of moves) copyBuffer(inner, v, from, slot);
  return values.flatMap((v, i) => (slots[i] ? [] : [inner.scalar(v).value]));
}

function copyBuffer(inner: RegionLowering, value: Value, from: Buffer, to: Buffer): void {
  const { tiles } = inner;
  const place = tiles.place(value);
  tiles.set(value, { kind: 'buffer', buffer: from });
  inner.copy(value, to);
  tiles.set(value, place);
}

/** Lowers a region that ends by handing its values over. */
function lowerBody(lowering: RegionLowering, body: Region, slots: Slots): MlirValue[] {
  const inner = lowering.inside(body);
  return inner.lower(() => handOver(inner, terminatorValues(body), slots));
}

const scalarsOf = (lowering: RegionLowering, init: readonly Value[], slots: Slots): MlirValue[] =>
  init.filter((_, i) => !slots[i]).map((v) => lowering.scalar(v).value);

export function lowerFor(lowering: RegionLowering, op: OpOf<'for'>): void {
  const { tiles } = lowering;
  const { from, to, step, init = [] } = op.operands;
  const slots = slotsFor(lowering, init, op);
  const [first, bound, by] = [from, to, step].map((v) => lowering.scalar(v).value);
  const [body] = op.regions;
  const scalars = scalarsOf(lowering, init, slots);
  const results = tiles.e.for(first!, bound!, by!, scalars, (counter, carried) => {
    const [counterArg, ...args] = body!.args;
    tiles.set(counterArg!, { kind: 'scalar', lanes: { value: counter, elem: 'i32', width: 1 } });
    bindCarried(tiles, args, slots, carried);
    return lowerBody(lowering, body!, slots);
  });
  bindCarried(tiles, op.results, slots, results);
}

export function lowerWhile(lowering: RegionLowering, op: OpOf<'while'>): void {
  const { tiles } = lowering;
  const { init = [] } = op.operands;
  const slots = slotsFor(lowering, init, op);
  const [condition, body] = op.regions;
  const results = tiles.e.while(
    scalarsOf(lowering, init, slots),
    (carried) => {
      bindCarried(tiles, condition!.args, slots, carried);
      const inner = lowering.inside(condition!);
      return inner.lower((end) => inner.scalar((end as OpOf<'condition'>).operands.condition).value);
    },
    (carried) => {
      bindCarried(tiles, body!.args, slots, carried);
      return lowerBody(lowering, body!, slots);
    },
  );
  bindCarried(tiles, op.results, slots, results);
}

export function lowerIf(lowering: RegionLowering, op: OpOf<'if'>): void {
  const { tiles } = lowering;
  lowering.flush();
  const slots = op.results.map((r) =>
    typeOf(r).shape.length === 0 ? undefined : lowering.allocate(tiles.elem(r), typeOf(r).shape),
  );
  const elems = op.results.filter((_, i) => !slots[i]).map((r) => tiles.elem(r));
  const [then, otherwise] = op.regions.map((region) => (): MlirValue[] => lowerBody(lowering, region, slots));
  const results = tiles.e.if(lowering.scalar(op.operands.condition).value, elems, then!, otherwise!);
  bindCarried(tiles, op.results, slots, results);
}
