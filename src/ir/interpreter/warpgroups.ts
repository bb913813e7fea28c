/**
 * The block of an explicit program: what its warpgroups share, and what runs beside them. Copies and products take place
 * when the schedule says so, between their start and the wait that ends them; until then nobody may rely on either side.
 */

import { f32, storageBytes } from '../dtypes.js';
import { allocate, allocateHost, decodeElements, encodeElements } from '../numerics/registers.js';
import { isOp, type OpOf, tryDefinition } from '../ops/index.js';
import { blockAxes } from '../ops/memory.js';
import { warpgroupOpNames } from '../ops/warpgroup.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, type RefType, tileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { type BlockAccess, type Buffer, loadBlock, poison, storeBlock } from './memory.js';
import type { AsyncEvent } from './observer.js';

/** An mbarrier at run time. */
interface Barrier {
  readonly name: string;
  readonly arrivals: number;
  arrived: number;
  /** Bytes that were announced and have not come. */
  bytes: number;
  /** Phases that are complete. */
  phase: number;
  /** How often each warpgroup has waited. */
  readonly waits: number[];
}

/** Several barriers of one name. */
export interface BarrierGroup {
  readonly barriers: readonly Barrier[];
}

/** A copy that was started. */
interface Pending {
  readonly op: GenericOp;
  readonly land: () => void;
}

/** A warpgroup, as its block sees it. */
interface Group {
  readonly loads: Pending[];
  /** Stores in order; the first of them is done first. */
  stores: Pending[];
  /** Products in order. */
  products: Pending[];
  /** Holds while it cannot go on, and what it waits for. */
  waiting: { readonly op: GenericOp; readonly over: () => boolean } | undefined;
  /** How often it has come to a sync, and whether it still waits there. */
  syncs: number;
  isAtSync: boolean;
}

/** How a warpgroup reads its operands. */
export interface Operands {
  readonly number: (value: Value) => number;
  readonly buffer: (value: Value) => Buffer;
  readonly barriers: (value: Value) => BarrierGroup;
  readonly bind: (value: Value, given: Buffer | BarrierGroup) => void;
}

/** Ends the run with a report; the warpgroup is named by its number. */
export interface Faults {
  readonly missed: (op: GenericOp, barrier: string, waited: number, completed: number) => never;
  readonly overrun: (op: GenericOp, barrier: string, arrivals: number) => never;
  readonly noBarrier: (op: GenericOp, barrier: string, index: number, count: number) => never;
  readonly unfinished: (op: GenericOp, what: string, count: number) => never;
  readonly outOfBounds: (op: GenericOp, access: BlockAccess, axis: number, index: number) => never;
}

export const isWarpgroupOp = (op: GenericOp): boolean => warpgroupOpNames.has(op.name);

export class Block {
  private readonly shared = new Map<GenericOp, Buffer | BarrierGroup>();
  private readonly groups: readonly Group[];
  /** Loads of all warpgroups that have not landed, oldest first. */
  private readonly inFlight: Pending[] = [];

  constructor(
    count: number,
    /** Told of everything that is asynchronous. */
    private readonly observe?: (warpgroup: number, event: AsyncEvent) => void,
  ) {
    this.groups = Array.from({ length: count }, () => ({
      loads: [],
      stores: [],
      products: [],
      waiting: undefined,
      syncs: 0,
      isAtSync: false,
    }));
  }

  /** What a warpgroup waits for, if it cannot go on. */
  waitOf(warpgroup: number): GenericOp | undefined {
    const { waiting } = this.groups[warpgroup]!;
    return waiting && !waiting.over() ? waiting.op : undefined;
  }

  /** Copies and products that may take place now. */
  get pending(): number {
    return (
      this.inFlight.length +
      this.groups.reduce((n, g) => n + Number(g.stores.length > 0) + Number(g.products.length > 0), 0)
    );
  }

  /** Lets one of them take place: loads in any order, stores and products of a warpgroup in theirs. */
  advance(which: number): void {
    if (which < this.inFlight.length) return this.inFlight.splice(which, 1)[0]!.land();
    let rest = which - this.inFlight.length;
    for (const group of this.groups)
      for (const queue of [group.stores, group.products])
        if (queue.length > 0 && rest-- === 0) return queue.shift()!.land();
  }

  /** Lets the oldest load land, if there is one: the latest moment, where nothing else can go on. */
  landOne(): boolean {
    const next = this.inFlight.shift();
    next?.land();
    return next !== undefined;
  }

  /** The block ends: everything must have been waited for. */
  finish(faults: (warpgroup: number) => Faults): void {
    this.groups.forEach(({ stores, products, loads }, i) => {
      const open = loads.filter((load) => this.inFlight.includes(load));
      const rest = [
        [open, 'copies to shared memory'],
        [stores, 'copies to global memory'],
        [products, 'products'],
      ] as const;
      for (const [queue, what] of rest) if (queue[0]) faults(i).unfinished(queue[0].op, what, queue.length);
    });
  }

  /** Executes one op of a warpgroup. False: it has to wait, and executes the op again. */
  execute(warpgroup: number, op: GenericOp, given: Operands, faults: Faults): boolean {
    const group = this.groups[warpgroup]!;
    group.waiting = undefined;
    const waitUntil = (over: () => boolean): boolean => {
      if (over()) return true;
      group.waiting = { op, over };
      return false;
    };
    if (isOp(op, 'allocate')) {
      this.allocate(op, given);
      return true;
    }
    if (isOp(op, 'barriers')) {
      given.bind(op.results[0]!, this.sharedOf(op, () => this.makeBarriers(op)) as BarrierGroup);
      return true;
    }
    if (isOp(op, 'async_load')) return this.load(warpgroup, op, given, faults);
    if (isOp(op, 'async_store')) return this.store(warpgroup, op, given, faults);
    if (isOp(op, 'barrier_arrive')) {
      const barrier = this.barrierOf(op, given, faults);
      if (barrier.arrived === barrier.arrivals) faults.overrun(op, barrier.name, barrier.arrivals);
      barrier.arrived++;
      this.observe?.(warpgroup, { kind: 'arrive', op, barrier });
      settle(barrier);
      return true;
    }
    if (isOp(op, 'barrier_wait')) {
      const barrier = this.barrierOf(op, given, faults);
      const waited = barrier.waits[warpgroup] ?? 0;
      if (!waitUntil(() => barrier.phase > waited)) return false;
      if (barrier.phase > waited + 1) faults.missed(op, barrier.name, waited + 1, barrier.phase);
      barrier.waits[warpgroup] = waited + 1;
      this.observe?.(warpgroup, { kind: 'wait', op, barrier });
      return true;
    }
    if (isOp(op, 'wgmma')) return this.product(warpgroup, op, given, faults);
    if (isOp(op, 'wgmma_wait')) {
      this.finishProducts(warpgroup, op.attrs.pending);
      return true;
    }
    if (isOp(op, 'async_store_wait')) {
      while (group.stores.length > op.attrs.pending) group.stores.shift()!.land();
      this.observe?.(warpgroup, { kind: 'storesDone', op });
      return true;
    }
    if (isOp(op, 'warpgroup_sync')) {
      if (!group.isAtSync) {
        group.syncs++;
        this.observe?.(warpgroup, { kind: 'meet', sync: group.syncs });
      }
      const { syncs } = group;
      group.isAtSync = !waitUntil(() => this.groups.every((g) => g.syncs >= syncs));
      if (!group.isAtSync) this.observe?.(warpgroup, { kind: 'met', sync: syncs });
      return !group.isAtSync;
    }
    if (isOp(op, 'commit_smem')) this.observe?.(warpgroup, { kind: 'fence', op });
    return true;
  }

  /** Products that are started must be done before their sums are read. */
  finishProducts(warpgroup: number, pending = 0): void {
    const { products } = this.groups[warpgroup]!;
    while (products.length > pending) products.shift()!.land();
    this.observe?.(warpgroup, { kind: 'productsWaited', pending });
  }

  private sharedOf<T extends Buffer | BarrierGroup>(op: GenericOp, make: () => T): T {
    let found = this.shared.get(op) as T | undefined;
    if (!found) {
      found = make();
      this.shared.set(op, found);
    }
    return found;
  }

  private allocate(op: OpOf<'allocate'>, given: Operands): void {
    const type = op.results[0]!.type as RefType;
    const make = (): Buffer => {
      const shape = type.shape as readonly number[];
      const count = elementCount(shape);
      const data = allocateHost(type.dtype, count);
      if (type.space !== 'acc') {
        const anything = allocate(type.dtype, count);
        poison(type.dtype, anything);
        encodeElements(type.dtype, anything, 0, count, data, 0);
      }
      return { name: op.attrs.name, dtype: type.dtype, shape, data };
    };
    given.bind(op.results[0]!, type.space === 'acc' ? make() : this.sharedOf(op, make));
  }

  private makeBarriers({ attrs: { name, arrivals, count } }: OpOf<'barriers'>): BarrierGroup {
    return {
      barriers: Array.from({ length: count }, (_, i) => ({
        name: count === 1 ? name : `${name}[${i}]`,
        arrivals,
        arrived: 0,
        bytes: 0,
        phase: 0,
        waits: [],
      })),
    };
  }

  private barrierOf(
    op: OpOf<'barrier_arrive' | 'barrier_wait' | 'async_load'>,
    given: Operands,
    faults: Faults,
  ): Barrier {
    const { barrier, barrier_index } = op.operands;
    const { barriers } = given.barriers(barrier);
    const at = barrier_index ? given.number(barrier_index) : 0;
    return barriers[at] ?? faults.noBarrier(op, barriers[0]!.name, at, barriers.length);
  }

  private load(warpgroup: number, op: OpOf<'async_load'>, given: Operands, faults: Faults): boolean {
    const { from, to, index = [], to_index = [] } = op.operands;
    const { box, axes, to_axes } = op.attrs;
    const barrier = this.barrierOf(op, given, faults);
    if (barrier.arrived === barrier.arrivals) faults.overrun(op, barrier.name, barrier.arrivals);
    const bytes = elementCount(box) * storageBytes(from.type.dtype);
    barrier.arrived++;
    barrier.bytes += bytes;
    const source = boxOf(op, given.buffer(from), index.map(given.number), axes, box, faults);
    const target = boxOf(op, given.buffer(to), to_index.map(given.number), to_axes, box, faults);
    const { dtype } = target.buffer;
    const spoilt = allocate(dtype, elementCount(box));
    poison(dtype, spoilt);
    storeBlock(target, { dtype, shape: box, data: spoilt });
    this.observe?.(warpgroup, { kind: 'load', op, source: within(source), target, barrier });
    const pending = {
      op,
      land: () => {
        storeBlock(target, loadZeroed(source));
        barrier.bytes -= bytes;
        this.observe?.(warpgroup, { kind: 'loaded', op, source: within(source), target, barrier });
        settle(barrier);
      },
    };
    this.inFlight.push(pending);
    this.groups[warpgroup]!.loads.push(pending);
    return true;
  }

  private store(warpgroup: number, op: OpOf<'async_store'>, given: Operands, faults: Faults): boolean {
    const { from, ref, index = [], to_index = [] } = op.operands;
    const { box, axes, to_axes } = op.attrs;
    const source = boxOf(op, given.buffer(from), index.map(given.number), axes, box, faults);
    const target = boxOf(op, given.buffer(ref), to_index.map(given.number), to_axes, box, faults);
    this.observe?.(warpgroup, { kind: 'store', op, source, target: within(target) });
    this.groups[warpgroup]!.stores.push({
      op,
      land: () => {
        storeBlock(within(target), loadBlock(source, undefined, true));
        this.observe?.(warpgroup, { kind: 'stored', op, source, target: within(target) });
      },
    });
    return true;
  }

  private product(warpgroup: number, op: OpOf<'wgmma'>, given: Operands, faults: Faults): boolean {
    const { acc, a, b, a_index = [], b_index = [] } = op.operands;
    const sums = given.buffer(acc);
    const left = matrixOf(op, given.buffer(a), a_index.map(given.number), faults);
    const right = matrixOf(op, given.buffer(b), b_index.map(given.number), faults);
    this.observe?.(warpgroup, { kind: 'product', op, sources: [left, right] });
    const land = (): void => {
      const x = loadBlock(left, undefined, true);
      const y = loadBlock(right, undefined, true);
      const data = allocate(f32, elementCount(sums.shape));
      decodeElements(f32, sums.data, 0, data.length, 1, data, 0);
      const inputs = [x, op.attrs.transpose_b ? transposed(y) : y, { dtype: f32, shape: sums.shape, data }];
      const [result] = tryDefinition('dot')!.evaluate!(inputs, { precision: 'ieee' } as never, [
        tileType(f32, sums.shape),
      ]);
      encodeElements(f32, result!.data, 0, data.length, sums.data, 0);
      this.observe?.(warpgroup, { kind: 'productDone', op, sources: [left, right] });
    };
    this.groups[warpgroup]!.products.push({ op, land });
    return true;
  }
}

/** Completes a phase that has all its arrivals and bytes. */
function settle(barrier: Barrier): void {
  if (barrier.arrived < barrier.arrivals || barrier.bytes > 0) return;
  barrier.arrived = 0;
  barrier.phase++;
}

function boxOf(
  op: GenericOp,
  buffer: Buffer,
  start: readonly number[],
  axes: readonly number[] | undefined,
  shape: readonly number[],
  faults: Faults,
): BlockAccess {
  const access: BlockAccess = {
    buffer,
    start,
    axes: blockAxes(buffer.shape.length, axes),
    shape,
    limits: shape,
    outOfBounds: (axis, index) => faults.outOfBounds(op, access, axis, index),
  };
  return access;
}

/** The part of a box that lies within its array, where it begins within. */
function within(access: BlockAccess): BlockAccess {
  const { buffer, start, axes, shape } = access;
  const outside = start.some((at, axis) => !axes.includes(axis) && (at < 0 || at >= buffer.shape[axis]!));
  const limits = shape.map((n, i) =>
    Math.max(0, outside ? 0 : Math.min(n, buffer.shape[axes[i]!]! - start[axes[i]!]!)),
  );
  return { ...access, limits };
}

/** A box with zeros outside of its array. */
function loadZeroed(access: BlockAccess): TileValue {
  const part = within(access);
  const zeros = allocate(access.buffer.dtype, elementCount(access.shape));
  if (part.limits.some((n) => n <= 0)) return { dtype: access.buffer.dtype, shape: access.shape, data: zeros };
  const { dtype, shape, data } = loadBlock({ ...part, shape: part.limits }, undefined, true);
  const target = { name: '', dtype, shape: access.shape, data: allocateHost(dtype, zeros.length) };
  const origin = {
    ...part,
    buffer: target,
    start: shape.map(() => 0),
    axes: shape.map((_, i) => i),
    shape,
    limits: shape,
  };
  storeBlock(origin, { dtype, shape, data });
  decodeElements(dtype, target.data, 0, zeros.length, 1, zeros, 0);
  return { dtype, shape: access.shape, data: zeros };
}

/** The matrix of the last two axes. */
function matrixOf(op: GenericOp, buffer: Buffer, index: readonly number[], faults: Faults): BlockAccess {
  const rank = buffer.shape.length;
  return boxOf(op, buffer, [...index, 0, 0], [rank - 2, rank - 1], buffer.shape.slice(-2), faults);
}

function transposed({ dtype, shape, data }: TileValue): TileValue {
  const [rows, columns] = shape as [number, number];
  const turned = allocate(dtype, data.length) as Float64Array;
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) turned[j * rows + i] = data[i * columns + j] as number;
  return { dtype, shape: [columns, rows], data: turned };
}
