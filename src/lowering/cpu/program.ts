/** Lowers the ops of one program, in order: scalars at once, tiles as virtual values, sinks in shared loop nests. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import { bool, f32, f64, i32 } from '../../ir/dtypes.js';
import { accumulatorDType } from '../../ir/ops/contraction.js';
import { isOp, isPure, type OpName, type OpOf } from '../../ir/ops/index.js';
import { sameShape } from '../../ir/types.js';
import type { GenericOp, Region, Value } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import type { Arena, Buffer } from './arena.js';
import { cast, type ElementRule, elementRules, elemOf } from './arithmetic.js';
import { emitAtomic } from './atomic.js';
import type { Elem, Lanes } from './emitter.js';
import { emitDot, panelWidth } from './matrix.js';
import { isInnerReduction, type NestEmitter, type Sink, sinkInput, sinkShape } from './nest.js';
import { cpuRules } from './rules.js';
import { loadScratch } from './storage.js';
import { type Place, type Tiles, typeOf } from './tiles.js';
import { isElementwise, isUnitReshape, keepsLanes, RegionUses } from './uses.js';
import type { VectorUnit } from './vector-unit.js';

export interface ProgramContext {
  readonly tiles: Tiles;
  readonly arena: Arena;
  readonly unit: VectorUnit;
  readonly nests: NestEmitter;
  readonly dims: ReadonlyMap<string, Lanes>;
  readonly ids: ReadonlyMap<string, Lanes>;
  readonly grid: ReadonlyMap<string, Lanes>;
}

/** Lowers one region. Tiles that belong to the region are released with it. */
export class RegionLowering {
  private pending: Sink[] = [];
  private readonly own: Buffer[] = [];
  private now = 0;

  private readonly uses: RegionUses;

  constructor(
    private readonly context: ProgramContext,
    private readonly region: Region,
  ) {
    this.uses = new RegionUses(region, context.tiles);
  }

  get tiles(): Tiles {
    return this.context.tiles;
  }

  /** Position of the program on each axis of its grid, by name. */
  get programIds(): ReadonlyMap<string, Lanes> {
    return this.context.ids;
  }

  /** Lowers all ops but the terminator, which `end` handles while the region's tiles still exist. */
  lower<T>(end: (terminator: GenericOp | undefined) => T): T {
    const { tiles } = this.context;
    const { e } = tiles;
    // What is finished here of values from outside is so only where this region is run, and in buffers that it gives back.
    const leave = tiles.enter();
    for (const op of this.region.ops) {
      this.now = this.uses.positionOf(op);
      e.loc = op.loc;
      if (isOp(op, 'yield') || isOp(op, 'condition')) break;
      this.op(op);
    }
    this.now = this.region.ops.length;
    const result = end(this.region.ops.at(-1));
    this.flush();
    for (const buffer of this.own) this.context.arena.release(buffer);
    leave();
    return result;
  }

  private op(op: GenericOp): void {
    const [result] = op.results;
    const isScalar = (v: Value | undefined): boolean => v?.type.kind === 'tile' && v.type.shape.length === 0;
    if (isScalar(result) && isPure(op) && operandsOf(op).every(isScalar)) this.scalarOp(op);
    else (cpuRules[op.name as OpName] as (lowering: RegionLowering, op: GenericOp) => void)(this, op);
  }

  /** A tile that is computed where it is asked for. */
  virtual(op: GenericOp): void {
    const [result] = op.results;
    this.context.tiles.set(result!, { kind: 'virtual', op });
    if (this.uses.mustKeep(result!)) this.keep(result!);
  }

  broadcast(op: OpOf<'broadcast'>): void {
    this.beforeBroadcast(op);
    this.virtual(op);
  }

  // ---- scalars ------------------------------------------------------------------------------------------------------

  private scalarOp(op: GenericOp): void {
    const { tiles, dims, ids, grid } = this.context;
    const { e } = tiles;
    const [result] = op.results;
    const { dtype } = typeOf(result!);
    const set = (lanes: Lanes): void => tiles.set(result!, { kind: 'scalar', lanes });
    if (isOp(op, 'dim')) return set(dims.get(op.attrs.name)!);
    if (isOp(op, 'program_id')) return set(ids.get(op.attrs.axis)!);
    if (isOp(op, 'num_programs')) return set(grid.get(op.attrs.axis)!);
    if (isOp(op, 'constant')) return set(e.number(op.attrs.value, elemOf(dtype)));
    if (isOp(op, 'extent_mask')) return set(e.int(1, 'i1'));
    const args = operandsOf(op).map((v) => this.scalar(v));
    if (isOp(op, 'cast')) return set(cast(e, args[0]!, typeOf(op.operands.input).dtype, dtype, op.attrs.saturate));
    if (isOp(op, 'reshape') || isOp(op, 'broadcast') || isOp(op, 'slice') || isOp(op, 'multiple_of'))
      return set(args[0]!);
    if (isOp(op, 'insert')) return set(args[1]!);
    const rule = (elementRules as Record<string, ElementRule>)[op.name];
    if (!rule) throw new InternalError(`scalar '${op.name}' has no CPU lowering`);
    set(rule(e, args, typeOf(operandsOf(op)[0]!).dtype, op));
  }

  scalar(value: Value): Lanes {
    const { tiles } = this.context;
    // A reduction's result exists once its nest has been emitted.
    if (!tiles.tryPlace(value)) this.flush();
    return tiles.scalar(value);
  }

  // ---- what to keep ---------------------------------------------------------------------------------------------------

  /** A value that a broadcast repeats is computed once, not once a row. */
  private beforeBroadcast(op: OpOf<'broadcast'>): void {
    const { input } = op.operands;
    const [from, to] = [typeOf(input).shape, typeOf(op.results[0]!).shape];
    const alongRows = from.length > 0 && from.at(-1) === to.at(-1) && from.length > 0 && from.at(-1) !== 1;
    if (alongRows && this.uses.cost(input) > 1) this.keep(input);
  }

  /** Scratch of the region. */
  allocate(elem: Elem, shape: readonly number[], panel?: number): Buffer {
    const buffer = this.context.arena.allocate(elem, shape, panel);
    this.own.push(buffer);
    return buffer;
  }

  /** Makes a tile exist in scratch. Takes over the buffer of an operand that nothing reads any more. */
  keep(value: Value): Buffer {
    const { tiles } = this.context;
    const waiting = this.pending.find((s) =>
      s.kind === 'keep' ? s.value === value : s.kind === 'reduce' && s.op.results[0] === value,
    );
    if (waiting) return (waiting as { buffer: Buffer }).buffer;
    const place = tiles.place(value);
    if (place.kind === 'buffer') return place.buffer;
    const buffer = this.reusable(value) ?? this.allocate(tiles.elem(value), typeOf(value).shape);
    this.add({ kind: 'keep', value, buffer });
    return buffer;
  }

  /** A buffer of the same form that `value` reads, element for element, as its last reader. */
  private reusable(value: Value): Buffer | undefined {
    const { tiles } = this.context;
    const { shape } = typeOf(value);
    const elem = tiles.elem(value);
    const leaves = this.uses.virtualLeaves(value);
    for (const op of leaves) {
      if (!isElementwise(op)) continue;
      for (const v of operandsOf(op)) {
        const place = tiles.tryPlace(v);
        if (
          place?.kind !== 'buffer' ||
          this.shared.has(place.buffer.offset) ||
          place.buffer.elem !== elem ||
          !sameShape(typeOf(v).shape, shape) ||
          !this.uses.isLocal(v)
        )
          continue;
        const readers = this.uses.usersOf(v);
        const onlyHere = readers.every((u) => leaves.includes(u) && this.uses.onlyFor(u, value, leaves));
        if (onlyHere) return place.buffer;
      }
    }
    return undefined;
  }

  // ---- nests ----------------------------------------------------------------------------------------------------------

  private add(sink: Sink): void {
    const [first] = this.pending;
    const alone = isInnerReduction(sink);
    if (first && (alone || !sameShape(sinkShape(first), sinkShape(sink)) || this.waits(sink))) this.flush();
    this.pending.push(sink);
    if (alone) this.flush();
  }

  /** Whether a sink needs something that the pending nest has not finished. */
  private waits(sink: Sink): boolean {
    const kept = new Set<Value>();
    const reduced = new Set<Value>();
    const written = new Set<Value>();
    for (const s of this.pending) {
      if (s.kind === 'keep') kept.add(s.value);
      else if (s.kind === 'reduce') reduced.add(s.op.results[0]!);
      else if (s.kind === 'store' || s.kind === 'scatter') written.add(s.op.operands.ref);
    }
    // A kept tile is at hand at the same element only; any other way to it waits.
    const visit = (value: Value, sameElement: boolean): boolean => {
      if (value.type.kind !== 'tile') return false;
      if (reduced.has(value) || (kept.has(value) && !sameElement)) return true;
      const place = this.context.tiles.tryPlace(value);
      if (kept.has(value) || place?.kind !== 'virtual') return false;
      const { op } = place;
      if ((isOp(op, 'load') || isOp(op, 'gather')) && written.has(op.operands.ref)) return true;
      const elementwise = isElementwise(op);
      return operandsOf(op).some((v) => visit(v, sameElement && elementwise));
    };
    const operands = sink.kind === 'keep' ? [sink.value] : operandsOf(sink.op);
    return operands.some((v) => visit(v, true));
  }

  /** Emits the pending nest. */
  flush(): void {
    const sinks = this.pending;
    if (sinks.length === 0) return;
    this.pending = [];
    const { tiles, nests } = this.context;
    const results = nests.emit(sinks, this.extentsOf(sinks));
    for (const sink of sinks) {
      if (sink.kind === 'keep') tiles.set(sink.value, { kind: 'buffer', buffer: sink.buffer });
      if (sink.kind !== 'reduce') continue;
      const lanes = results.get(sink.op);
      tiles.set(sink.op.results[0]!, lanes ? { kind: 'scalar', lanes } : { kind: 'buffer', buffer: sink.buffer! });
    }
  }

  /** The extents that a nest's accesses and masks depend on, each with the size that makes it full. */
  private extentsOf(sinks: readonly Sink[]): readonly (readonly [Value, number])[] {
    const found = new Map<Value, number>();
    const note = (extents: readonly Value[] = [], shape: readonly number[]): void =>
      extents.forEach((v, axis) => found.set(v, Math.max(found.get(v) ?? 0, shape[axis]!)));
    for (const sink of sinks) {
      const roots = sink.kind === 'keep' ? [sink.value] : operandsOf(sink.op);
      for (const op of roots.flatMap((v) => this.uses.virtualLeaves(v))) {
        if (isOp(op, 'load')) note(op.operands.valid, typeOf(op.results[0]!).shape);
        if (isOp(op, 'extent_mask')) note(op.operands.extents, typeOf(op.results[0]!).shape);
      }
      if (sink.kind === 'store') note(sink.op.operands.valid, typeOf(sinkInput(sink)).shape);
    }
    return [...found];
  }

  /** A buffer that holds the value, finished. */
  materialise(value: Value): Buffer {
    const buffer = this.keep(value);
    this.flush();
    return buffer;
  }

  // ---- memory ---------------------------------------------------------------------------------------------------------

  load(op: OpOf<'load'>): void {
    const { tiles } = this.context;
    const [result] = op.results;
    if (this.pendingWrites(op.operands.ref)) this.flush();
    tiles.declareBlock(op);
    this.read(op, result!);
  }

  /** A tile that is read where it is asked for, unless its array may have changed by then; a scalar is read at once. */
  private read(op: OpOf<'load' | 'gather'>, result: Value): void {
    const { tiles } = this.context;
    tiles.set(result, { kind: 'virtual', op });
    if (typeOf(result).shape.length === 0) {
      const lanes = tiles.inNest(false, () => tiles.lanesAt(result, [], 1));
      return tiles.set(result, { kind: 'scalar', lanes });
    }
    if (this.uses.mustKeep(result) || this.uses.isOverwrittenBeforeUse(op, this.now)) this.materialise(result);
  }

  gather(op: OpOf<'gather'>): void {
    if (this.pendingWrites(op.operands.ref)) this.flush();
    this.read(op, op.results[0]!);
  }

  private pendingWrites(ref: Value): boolean {
    return this.pending.some((s) => (s.kind === 'store' || s.kind === 'scatter') && s.op.operands.ref === ref);
  }

  store(op: OpOf<'store'>): void {
    this.context.tiles.declareBlock(op);
    if (typeOf(op.operands.value).shape.length === 0) this.flush();
    if (this.pendingReads(op.operands.ref)) this.flush();
    this.add({ kind: 'store', op });
  }

  scatter(op: OpOf<'scatter'>): void {
    this.flush();
    this.add({ kind: 'scatter', op });
    this.flush();
  }

  private pendingReads(ref: Value): boolean {
    return this.pending.some((s) =>
      (s.kind === 'keep' ? [s.value] : operandsOf(s.op)).some((v) =>
        this.uses.virtualLeaves(v).some((op) => (isOp(op, 'load') || isOp(op, 'gather')) && op.operands.ref === ref),
      ),
    );
  }

  atomic(op: OpOf<'atomic_rmw' | 'atomic_cas'>): void {
    this.flush();
    const [result] = op.results;
    const { shape } = typeOf(result!);
    const old =
      this.uses.usersOf(result!).length > 0 ? this.allocate(this.context.tiles.elem(result!), shape) : undefined;
    emitAtomic(this.context.tiles, op, old);
    if (old) this.place(result!, old);
  }

  // ---- tiles that are made in memory ------------------------------------------------------------------------------------

  reduce(op: OpOf<'reduce'>): void {
    const [result] = op.results;
    const { shape } = typeOf(result!);
    const buffer = shape.length === 0 ? undefined : this.allocate(this.context.tiles.elem(result!), shape);
    this.add({ kind: 'reduce', op, ...(buffer ? { buffer } : {}) });
  }

  /**
   * An op that writes loops of its own: `emit` fills a buffer for each result that anything reads. Of an axis it takes `chunk` elements at once, or the `lanes` of one register.
   */
  write(op: GenericOp, emit: (buffers: readonly (Buffer | undefined)[], chunk: number, lanes: number) => void): void {
    const buffers = op.results.map((r) =>
      this.isRead(r) ? this.allocate(this.tiles.elem(r), typeOf(r).shape) : undefined,
    );
    if (buffers.every((b) => b === undefined)) return;
    this.emitAlone({ kind: 'own', op, emit: (...widths) => emit(buffers, ...widths) });
    op.results.forEach((r, i) => {
      const buffer = buffers[i];
      if (buffer) this.place(r, buffer);
    });
  }

  isRead(value: Value): boolean {
    return this.uses.usersOf(value).length > 0;
  }

  /** An op that visits elements of its operands for its effects. */
  visitAlone(op: GenericOp, emit: () => void): void {
    for (const v of operandsOf(op)) if (typeOf(v).shape.length === 0) this.scalar(v);
    this.flush();
    const { tiles } = this;
    tiles.inNest(false, () => {
      const outer = tiles.nestDepth;
      tiles.nestDepth = tiles.e.depth;
      emit();
      tiles.nestDepth = outer;
    });
  }

  /** Gives a value that lies in scratch its place: a scalar is an SSA value. */
  private place(value: Value, buffer: Buffer): void {
    const { tiles } = this.context;
    if (typeOf(value).shape.length > 0) return tiles.set(value, { kind: 'buffer', buffer });
    const lanes = loadScratch(tiles.e, tiles.baseOf(buffer), tiles.e.i64(0), buffer.elem, 1);
    tiles.set(value, { kind: 'scalar', lanes });
  }

  /** Emits a nest of one sink. */
  private emitAlone(sink: Sink): void {
    this.flush();
    this.context.nests.emit([sink], this.extentsOf([sink]));
  }

  dot(op: OpOf<'dot'>): void {
    const { tiles, unit } = this.context;
    const [result] = op.results;
    const { a, b, acc } = op.operands;
    const acc32 = accumulatorDType(typeOf(a).dtype);
    const elem = elemOf(acc32);
    const left = this.operandAs(a, elem);
    const right = this.packed(b, elem);
    const into = acc ? this.accumulatorFor(acc, op) : this.allocate(elem, typeOf(result!).shape);
    this.flush();
    emitDot(tiles, unit, left, right, into, acc !== undefined);
    tiles.set(result!, { kind: 'buffer', buffer: into });
  }

  /** The right operand of a dot, in panels. A transpose that only feeds this dot writes them directly. */
  private packed(value: Value, elem: Elem): Buffer {
    const { tiles, unit, nests } = this.context;
    const transpose = this.waitingTranspose(value);
    if (transpose && tiles.elem(value) !== elem)
      this.transposeInto(transpose, this.allocate(tiles.elem(value), typeOf(value).shape));
    const wide = this.asElem(value, elem);
    const buffer = this.allocate(elem, typeOf(wide).shape, panelWidth(unit, elem));
    this.flush();
    const direct = transpose && wide === value;
    const sink: Sink = direct ? { kind: 'transpose', op: transpose, buffer } : { kind: 'keep', value: wide, buffer };
    const place = tiles.place(wide);
    nests.emit([sink], this.extentsOf([sink]));
    tiles.set(wide, place);
    return buffer;
  }

  /** The transpose that waited to give `value`, a dot's operand. What masks its result masks its input instead. */
  private waitingTranspose(value: Value): OpOf<'transpose'> | undefined {
    const { tiles } = this.context;
    const place = tiles.place(value);
    if (place.kind !== 'virtual' || !isOp(place.op, 'select')) return this.transposed.get(value);
    const { condition, on_true, on_false } = place.op.operands;
    const transpose = this.transposed.get(on_true);
    if (!transpose) return undefined;
    const { permutation } = transpose.attrs;
    const [mask, fill] = [condition, on_false].map((v) => tiles.place(v) as Extract<Place, { kind: 'virtual' }>);
    const { extents = [] } = (mask!.op as OpOf<'extent_mask'>).operands;
    const { shape } = typeOf(transpose.operands.input);
    const along = { extents: shape.map((_, axis) => extents[permutation.indexOf(axis)]!) };
    const masked = tiles.define('select', typeOf(value).dtype, shape, {
      condition: tiles.define('extent_mask', bool, shape, along),
      on_true: transpose.operands.input,
      on_false: tiles.define('constant', typeOf(value).dtype, shape, {}, fill!.op.attrs),
    });
    return { ...transpose, operands: { input: masked }, results: [value] } as OpOf<'transpose'>;
  }

  /** A dot operand in scratch, widened to the accumulator's element. */
  private operandAs(value: Value, elem: Elem): Buffer {
    return this.materialise(this.asElem(value, elem));
  }

  /** A value whose registers hold the accumulator's element: itself, or a virtual cast of it. */
  private asElem(value: Value, elem: Elem): Value {
    const { tiles } = this.context;
    if (tiles.elem(value) === elem) return value;
    let wide = this.widened.get(value);
    if (!wide) {
      const dtype = elem === 'i32' ? i32 : elem === 'f64' ? f64 : f32;
      wide = tiles.define('cast', dtype, typeOf(value).shape, { input: value });
      this.widened.set(value, wide);
    }
    return wide;
  }

  private readonly widened = new Map<Value, Value>();

  /** The accumulator's own buffer where this dot is its last reader, else a copy. */
  private accumulatorFor(acc: Value, op: GenericOp): Buffer {
    const { tiles } = this.context;
    const mine = this.uses.isLocal(acc) && this.uses.usersOf(acc).every((u) => u === op);
    if (mine) return this.materialise(acc);
    const copy = this.allocate(tiles.elem(acc), typeOf(acc).shape);
    this.copy(acc, copy);
    return copy;
  }

  transpose(op: OpOf<'transpose'>): void {
    const { tiles } = this.context;
    const [result] = op.results;
    const { permutation } = op.attrs;
    if (permutation.at(-1) === permutation.length - 1) return this.virtual(op);
    if (this.feedsPanels(result!)) {
      tiles.set(result!, { kind: 'virtual', op });
      this.transposed.set(result!, op);
      return;
    }
    this.transposeInto(op, this.allocate(tiles.elem(result!), typeOf(result!).shape));
  }

  /** Whether a value is the right operand of one dot and nothing else, as it is or masked at its extents. */
  private feedsPanels(value: Value): boolean {
    const users = this.uses.usersOf(value);
    const [user] = users;
    if (users.length !== 1 || !user) return false;
    if (isOp(user, 'dot')) return user.operands.b === value && user.operands.a !== value;
    if (!isOp(user, 'select') || user.operands.on_true !== value) return false;
    const { condition, on_false } = user.operands;
    const isVirtual = (v: Value, name: OpName): boolean => {
      const place = this.context.tiles.tryPlace(v);
      return place?.kind === 'virtual' && place.op.name === name;
    };
    return isVirtual(condition, 'extent_mask') && isVirtual(on_false, 'constant') && this.feedsPanels(user.results[0]!);
  }

  private transposeInto(op: OpOf<'transpose'>, buffer: Buffer): void {
    this.emitAlone({ kind: 'transpose', op, buffer });
    this.context.tiles.set(op.results[0]!, { kind: 'buffer', buffer });
  }

  /** Transposes that wait for the dot that reads them. */
  private readonly transposed = new Map<Value, OpOf<'transpose'>>();

  reshape(op: OpOf<'reshape'>): void {
    const toScalar = typeOf(op.results[0]!).shape.length === 0;
    if (isUnitReshape(op) && !toScalar) {
      // Elements that lay below each other lie side by side in scratch, but not where they are computed from.
      if (!keepsLanes(op)) this.materialise(op.operands.input);
      return this.virtual(op);
    }
    const buffer = this.materialise(op.operands.input);
    if (toScalar) return this.place(op.results[0]!, buffer);
    this.shared.add(buffer.offset);
    const [result] = op.results;
    this.context.tiles.set(result!, { kind: 'buffer', buffer: { ...buffer, shape: typeOf(result!).shape } });
  }

  /** Buffers that two values see; neither may write over the other. */
  private readonly shared = new Set<number>();

  // ---- for control flow -----------------------------------------------------------------------------------------------

  /** The lowering of a region of one of this one's ops. */
  inside(region: Region): RegionLowering {
    return new RegionLowering(this.context, region);
  }

  /** The buffer of a tile that only `op` reads, which may therefore write over it. */
  takeOver(value: Value, op: GenericOp): Buffer | undefined {
    const place = this.tiles.place(value);
    const mine = place.kind === 'buffer' && this.uses.isLocal(value) && !this.shared.has(place.buffer.offset);
    return mine && this.uses.usersOf(value).every((u) => u === op) ? place.buffer : undefined;
  }

  /** Writes a value to a buffer without making that the value's place. */
  copy(value: Value, buffer: Buffer): void {
    const { tiles, nests } = this.context;
    this.flush();
    const place = tiles.place(value);
    const sink: Sink = { kind: 'keep', value, buffer };
    nests.emit([sink], this.extentsOf([sink]));
    tiles.set(value, place);
  }
}
