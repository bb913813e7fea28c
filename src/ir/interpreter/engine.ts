/**
 * The interpreter's engine. A thread is a stack of frames (a region and a position in it), never a JavaScript call
 * stack, so any number of threads can be suspended between any two ops.
 */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { RaggedAnalysis } from '../analyses/ragged.js';
import type { OpDefinition, RaggedContext, ValidExtents } from '../define-op.js';
import { i32 } from '../dtypes.js';
import { formatPieces } from '../ops/debug.js';
import { definitionOf, isOp, type OpName, type OpOf } from '../ops/index.js';
import { blockAxes } from '../ops/memory.js';
import { indexedTiles } from '../ops/ragged-rules.js';
import { stridesOf } from '../ops/shape.js';
import type { TileValue } from '../tile-value.js';
import { elementCount, type TileType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';
import { combineTiles } from './combine.js';
import { elementText } from './element-text.js';
import {
  atomicElements,
  type BlockAccess,
  type Buffer,
  compareAndSwapElements,
  gatherElements,
  type IndexedAccess,
  loadBlock,
  scatterElements,
  storeBlock,
} from './memory.js';
import type { Observer, Program } from './observer.js';
import { type BarrierGroup, type Block, type Faults, isWarpgroupOp, type Operands } from './warpgroups.js';

/** A value at run time. */
export type RuntimeValue = TileValue | Buffer | BarrierGroup;

/** What a thread knows of the world: its place in the grid and the run-time extents. */
export interface ProgramContext {
  readonly dims: ReadonlyMap<string, number>;
  readonly ids: ReadonlyMap<string, number>;
  readonly grid: ReadonlyMap<string, number>;
  readonly program: Program;
  /** Watches this program; absent where nobody does. */
  readonly observer?: Observer | undefined;
  /** Values whose content is wanted, and who takes it. */
  readonly shows?: {
    readonly values: { readonly has: (value: Value) => boolean };
    readonly take: (value: Value, tile: TileValue) => void;
  };
  /** Of an explicit program: which warpgroup of which block this is. */
  readonly warpgroup?: { readonly number: number; readonly block: Block; readonly faults: Faults };
  /** Ends the run with a report. */
  readonly outOfBounds: (op: GenericOp, access: BlockAccess | IndexedAccess, axis: number, index: number) => never;
  readonly badStep: (op: GenericOp, step: number) => never;
  readonly emptyReduction: (op: GenericOp, name: string) => never;
  /** @param place of the element in its tile: `[2, 3]`, or nothing. */
  readonly failedAssertion: (op: GenericOp, message: string, place: string) => never;
  readonly brokenPromise: (op: GenericOp, promise: string) => never;
  /** Writes a line, behind the name of the program. */
  readonly print: (text: string) => void;
}

interface Frame {
  readonly region: Region;
  next: number;
  /** The op whose region this is; absent for the body of the launch. */
  readonly owner?: GenericOp;
  /** For a counted loop: the counter of the current trip, its bound and its step. */
  counter: number;
  readonly to: number;
  readonly step: number;
}

export function scalarValue(x: number): TileValue {
  return { dtype: i32, shape: [], data: Int32Array.of(x) };
}

export class Thread {
  private readonly frames: Frame[] = [];
  private readonly values: Map<Value, RuntimeValue>;
  /** Grows with whatever another program could have waited for, and with the end of each wait of its own. */
  progress = 0;

  constructor(
    body: Region,
    params: ReadonlyMap<Value, RuntimeValue>,
    private readonly context: ProgramContext,
    /** Of the launch that `body` belongs to. */
    private readonly extents: RaggedAnalysis,
  ) {
    this.values = new Map(params);
    this.push(body);
  }

  get done(): boolean {
    return this.frames.length === 0;
  }

  /** The op that runs next; undefined at the end. */
  get nextOp(): GenericOp | undefined {
    const frame = this.frames.at(-1);
    return frame?.region.ops[frame.next];
  }

  /** The loop that it is in, if any: the innermost `while`, else the innermost `for`. */
  get loop(): GenericOp | undefined {
    const owners = this.frames.map((frame) => frame.owner).reverse();
    return owners.find((op) => isOp(op, 'while')) ?? owners.find((op) => isOp(op, 'for'));
  }

  /** Executes one op. */
  step(): void {
    const frame = this.frames.at(-1)!;
    const op = frame.region.ops[frame.next++];
    if (!op) {
      this.frames.pop();
      return;
    }
    // Extents of what a loop or branch gives hold from before it, whether it runs or not.
    for (const inner of this.extents.escaping(op)) this.perform(inner);
    this.perform(op);
  }

  private perform(op: GenericOp): void {
    const definition = definitionOf(op);
    if (definition.evaluate || definition.combines) this.evaluate(op, definition);
    else this.execute(op as OpOf);
  }

  private push(region: Region, owner?: GenericOp, counter = 0, to = 0, step = 1): void {
    this.frames.push({ region, next: 0, ...(owner ? { owner } : {}), counter, to, step });
  }

  private tile(value: Value): TileValue {
    return this.values.get(value) as TileValue;
  }

  private number(value: Value): number {
    return this.tile(value).data[0] as number;
  }

  private tiles(values: readonly Value[] = []): TileValue[] {
    return values.map((v) => this.tile(v));
  }

  private bind(values: readonly Value[], given: readonly RuntimeValue[]): void {
    values.forEach((v, i) => {
      this.values.set(v, given[i]!);
    });
    const { shows } = this.context;
    if (shows) for (const v of values) if (shows.values.has(v)) shows.take(v, this.tile(v));
  }

  /** Binds what a region carries or gives: valid no further than the analysis says of it. */
  private bindNarrowed(values: readonly Value[], given: readonly RuntimeValue[]): void {
    this.bind(
      values,
      given.map((x, i) => {
        const v = values[i]!;
        if (!this.extents.isRagged(v)) return x;
        return withExtents(
          x as TileValue,
          this.extents.of(v).map((e) => e && this.number(e)),
        );
      }),
    );
  }

  private evaluate(op: GenericOp, definition: OpDefinition): void {
    const inputs = operandsOf(op).map((v) => this.tile(v));
    this.checkNotEmpty(op, inputs);
    if (isOp(op, 'multiple_of')) this.checkMultiple(op, inputs[0]!);
    const types = op.results.map((r) => r.type as TileType);
    const { observer, program } = this.context;
    const evaluated = definition.combines
      ? combineTiles(op as OpOf<'reduce_with' | 'scan_with'>, inputs, (v) => this.tile(v))
      : definition.evaluate!(inputs, op.attrs as never, types);
    const outputs = observer ? observer.evaluated(op, inputs, evaluated, program) : evaluated;
    if (inputs.some((x) => x.valid)) {
      const extents = definition.ragged(op as never, this.ragged);
      this.bind(
        op.results,
        outputs.map((y, i) => withExtents(y, extents[i]!)),
      );
    } else this.bind(op.results, outputs);
  }

  /** Refuses a reduction of nothing that has no identity to give. */
  private checkNotEmpty(op: GenericOp, inputs: readonly TileValue[]): void {
    const name = isOp(op, 'reduce') ? op.attrs.kind : op.name;
    if (name !== 'argmax' && name !== 'argmin' && name !== 'reduce_with') return;
    const { axis } = op.attrs as { axis: number };
    const isEmpty = (valid: readonly number[]): boolean =>
      valid[axis] === 0 && valid.every((n, i) => i === axis || n > 0);
    if (inputs.some(({ valid }) => valid && isEmpty(valid))) this.context.emptyReduction(op, name);
  }

  private checkMultiple(op: OpOf<'multiple_of'>, x: TileValue): void {
    const [value, { multiple }] = [x.data[0] as number, op.attrs];
    if (value % multiple !== 0) this.context.brokenPromise(op, `${value} is not a multiple of ${multiple}`);
  }

  /** Visits the elements of tiles of one shape that are valid in all and that the mask lets through. */
  private visit(tiles: readonly TileValue[], mask: Value | undefined, each: (at: number, place: string) => void): void {
    const masked = mask && this.tile(mask);
    const { shape } = tiles[0] ?? masked ?? scalarValue(0);
    const all = masked ? [...tiles, masked] : tiles;
    const limits = shape.map((n, axis) => Math.min(n, ...all.map((t) => t.valid?.[axis] ?? n)));
    const strides = stridesOf(shape);
    for (let i = 0; i < elementCount(shape); i++) {
      const index = shape.map((n, axis) => Math.floor(i / strides[axis]!) % n);
      if (index.every((at, axis) => at < limits[axis]!) && (!masked || masked.data[i]))
        each(i, shape.length === 0 ? '' : `[${index.join(', ')}]`);
    }
  }

  private printValues({ operands: { values = [], mask }, attrs }: OpOf<'debug_print'>): void {
    const tiles = this.tiles(values);
    const [first, ...rest] = formatPieces(attrs.format);
    this.visit(tiles, mask, (at, place) => {
      const texts = tiles.map(({ dtype, data }, i) => elementText(dtype, data[at]!) + rest[i]!);
      this.context.print(`${place} ${first}${texts.join('')}`);
    });
  }

  private check(op: OpOf<'assert'>): void {
    const condition = this.tile(op.operands.condition);
    this.visit([condition], op.operands.mask, (at, place) => {
      if (!condition.data[at]) this.context.failedAssertion(op, op.attrs.message, place);
    });
  }

  private readonly ragged: RaggedContext<number> = {
    extentsOf: (v) => {
      const { shape, valid } = this.tile(v);
      return valid ? valid.map((n, axis) => (n < shape[axis]! ? n : undefined)) : shape.map(() => undefined);
    },
    stated: (v) => this.number(v),
    meet: (a, b) => (a === undefined ? b : b === undefined ? a : Math.min(a, b)),
    // What the static analysis refuses never gets here with a shape that matters.
    refuse: () => {},
  };

  private execute(op: OpOf): void {
    const name: OpName = op.name;
    switch (name) {
      case 'dim':
        return this.bind(op.results, [scalarValue(this.context.dims.get((op as OpOf<'dim'>).attrs.name)!)]);
      case 'program_id':
        return this.bind(op.results, [scalarValue(this.context.ids.get((op as OpOf<'program_id'>).attrs.axis)!)]);
      case 'num_programs':
        return this.bind(op.results, [scalarValue(this.context.grid.get((op as OpOf<'num_programs'>).attrs.axis)!)]);
      case 'load':
        return this.load(op as OpOf<'load'>);
      case 'store':
        return this.store(op as OpOf<'store'>);
      case 'gather':
        return this.gather(op as OpOf<'gather'>);
      case 'scatter':
        return this.scatter(op as OpOf<'scatter'>);
      case 'atomic_rmw':
      case 'atomic_cas':
        return this.update(op as OpOf<'atomic_rmw' | 'atomic_cas'>);
      case 'debug_print':
        return this.printValues(op as OpOf<'debug_print'>);
      case 'assert':
        return this.check(op as OpOf<'assert'>);
      case 'assume':
        if (!this.number((op as OpOf<'assume'>).operands.condition))
          this.context.brokenPromise(op, 'what is assumed does not hold');
        return;
      case 'for':
        return this.enterFor(op as OpOf<'for'>);
      case 'while':
        return this.enterWhile(op as OpOf<'while'>, this.tiles((op as OpOf<'while'>).operands.init));
      case 'if':
        return this.enterIf(op as OpOf<'if'>);
      case 'yield':
        return this.leave(this.tiles((op as OpOf<'yield'>).operands.values));
      case 'condition':
        return this.decide(op as OpOf<'condition'>);
      case 'warpgroup_id':
        return this.bind(op.results, [scalarValue(this.context.warpgroup!.number)]);
      default:
        if (!isWarpgroupOp(op)) throw new InternalError(`op '${name}' has no reference meaning`);
        return this.executeInBlock(op);
    }
  }

  /** An op of a warpgroup. One that has to wait is executed again. */
  private executeInBlock(op: GenericOp): void {
    const { number, block, faults } = this.context.warpgroup!;
    if (!block.execute(number, op, this.operands, faults)) this.frames.at(-1)!.next--;
  }

  private readonly operands: Operands = {
    number: (v) => this.number(v),
    buffer: (v) => this.values.get(v) as Buffer,
    barriers: (v) => this.values.get(v) as BarrierGroup,
    bind: (v, given) => this.bind([v], [given]),
  };

  private enterIf(op: OpOf<'if'>): void {
    const condition = this.tile(op.operands.condition);
    this.context.observer?.decided(op, [condition], this.context.program);
    this.push(op.regions[condition.data[0] ? 0 : 1]!, op);
  }

  private enterFor(op: OpOf<'for'>): void {
    const { from, to, step, init = [] } = op.operands;
    const [first, bound, by] = [this.number(from), this.number(to), this.number(step)];
    if (by < 1) this.context.badStep(op, by);
    this.context.observer?.decided(op, this.tiles([from, to, step]), this.context.program);
    const carried = this.tiles(init);
    if (first >= bound) return this.bindNarrowed(op.results, carried);
    const [body] = op.regions;
    this.bindNarrowed(body!.args, [scalarValue(first), ...carried]);
    this.push(body!, op, first, bound, by);
  }

  private enterWhile(op: GenericOp, carried: readonly RuntimeValue[]): void {
    const [condition, body] = op.regions;
    this.bindNarrowed(condition!.args, carried);
    this.bindNarrowed(body!.args, carried);
    this.push(condition!, op);
  }

  /** A `yield`: the next trip of a loop, or the results of the op around. */
  private leave(values: readonly RuntimeValue[]): void {
    const frame = this.frames.pop()!;
    const owner = frame.owner!;
    if (isOp(owner, 'for')) {
      const counter = frame.counter + frame.step;
      if (counter >= frame.to) return this.bindNarrowed(owner.results, values);
      this.bindNarrowed(frame.region.args, [scalarValue(counter), ...values]);
      frame.counter = counter;
      frame.next = 0;
      this.frames.push(frame);
    } else if (isOp(owner, 'while')) this.enterWhile(owner, values);
    else this.bindNarrowed(owner.results, values);
  }

  /** The end of a `while`'s condition region. */
  private decide(op: OpOf<'condition'>): void {
    const condition = this.tile(op.operands.condition);
    this.context.observer?.decided(op, [condition], this.context.program);
    const { owner, region } = this.frames.pop()!;
    if (condition.data[0]) this.push(owner!.regions[1]!, owner);
    else {
      this.progress++;
      this.bindNarrowed(
        owner!.results,
        region.args.map((arg) => this.values.get(arg)!),
      );
    }
  }

  private load(op: OpOf<'load'>): void {
    const { ref, other } = op.operands;
    const { warpgroup } = this.context;
    if (ref.type.space === 'acc') warpgroup?.block.finishProducts(warpgroup.number);
    const type = op.results[0]!.type as TileType;
    const access = this.block(op, type.shape, []);
    const tile = loadBlock(access, other && this.tile(other), op.attrs.whole ?? false);
    const { observer, program } = this.context;
    this.bind(op.results, [observer ? observer.loaded(op, access, other !== undefined, tile, program) : tile]);
  }

  private store(op: OpOf<'store'>): void {
    const tile = this.tile(op.operands.value);
    const access = this.block(op, tile.shape, tile.valid ?? []);
    storeBlock(access, tile);
    this.progress++;
    this.context.observer?.stored(op, access, tile, this.context.program);
  }

  private gather(op: OpOf<'gather'>): void {
    const { other } = op.operands;
    const access = this.indexed(op);
    const tile = gatherElements(access, other && this.tile(other));
    const { observer, program } = this.context;
    this.bind(op.results, [observer ? observer.gathered(op, access, other !== undefined, tile, program) : tile]);
  }

  private scatter(op: OpOf<'scatter'>): void {
    const tile = this.tile(op.operands.value);
    const access = this.indexed(op);
    this.context.observer?.scattered(op, access, tile, this.context.program);
    scatterElements(access, tile);
    this.progress++;
  }

  private update(op: OpOf<'atomic_rmw' | 'atomic_cas'>): void {
    const access = this.indexed(op);
    const value = this.tile(op.operands.value);
    const compare = isOp(op, 'atomic_cas') ? this.tile(op.operands.compare) : undefined;
    const old = isOp(op, 'atomic_rmw')
      ? atomicElements(op.attrs.kind, access, value)
      : compareAndSwapElements(access, compare!, value);
    const { observer, program } = this.context;
    const values = compare ? [compare, value] : [value];
    this.bind(op.results, [observer ? observer.updated(op, access, values, old, program) : old]);
  }

  private block(op: OpOf<'load'> | OpOf<'store'>, shape: readonly number[], further: readonly number[]): BlockAccess {
    const { ref, index = [], valid = [], mask } = op.operands;
    const masked = mask && this.tile(mask);
    const buffer = this.values.get(ref) as Buffer;
    const { observer, program } = this.context;
    observer?.addressed(op, this.tiles([...index, ...valid]), masked, program);
    const access: BlockAccess = {
      buffer,
      start: index.map((i) => this.number(i)),
      axes: blockAxes(buffer.shape.length, op.attrs.axes),
      shape,
      limits: shape.map((n, axis) =>
        Math.max(
          0,
          Math.min(n, valid[axis] ? this.number(valid[axis]) : n, further[axis] ?? n, masked?.valid?.[axis] ?? n),
        ),
      ),
      mask: masked,
      outOfBounds: (axis, at) => this.context.outOfBounds(op, access, axis, at),
    };
    return access;
  }

  private indexed(op: OpOf<'gather' | 'scatter' | 'atomic_rmw' | 'atomic_cas'>): IndexedAccess {
    const { ref, index = [], mask } = op.operands;
    const buffer = this.values.get(ref) as Buffer;
    const tiles = this.tiles(index);
    const { shape } = tiles[0]!;
    const masked = mask && this.tile(mask);
    const ragged = this.tiles(indexedTiles(op.operands));
    const { observer, program } = this.context;
    observer?.addressed(op, tiles, masked, program);
    const access: IndexedAccess = {
      buffer,
      index: tiles,
      shape,
      limits: shape.map((n, axis) => Math.min(n, ...ragged.map((t) => t.valid?.[axis] ?? n))),
      mask: masked,
      outOfBounds: (axis, at) => this.context.outOfBounds(op, access, axis, at),
    };
    return access;
  }
}

function withExtents(tile: TileValue, extents: ValidExtents<number>): TileValue {
  if (extents.every((e) => e === undefined)) return tile;
  return { ...tile, valid: tile.shape.map((n, axis) => Math.min(n, extents[axis] ?? n, tile.valid?.[axis] ?? n)) };
}
