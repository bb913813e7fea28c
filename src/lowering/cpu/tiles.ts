/**
 * Where the values of a program are, and how any of their elements is had.
 *
 * A scalar is an SSA value. A tile is either in a scratch buffer, or virtual: not stored anywhere, its elements computed
 * from its operands wherever a loop nest asks for them.
 */

import { InternalError, invariant } from '../../diagnostics/diagnostic.js';
import type { DType } from '../../ir/dtypes.js';
import { isOp, type OpName, type OpOf } from '../../ir/ops/index.js';
import { blockAxes } from '../../ir/ops/memory.js';
import { unitReshapeAxes } from '../../ir/ops/ragged-rules.js';
import { elementCount, type TileType, tileType } from '../../ir/types.js';
import type { GenericOp, Value } from '../../ir/value.js';
import type { MlirOp, MlirValue } from '../mlir.js';
import type { Buffer } from './arena.js';
import { cast, type ElementRule, elementRules, elemOf } from './arithmetic.js';
import type { Elem, Emitter, Lanes } from './emitter.js';
import { arenaAddress, gatherLanes, gatherScratch, isPacked, loadLanes, loadScratch, memoryElem } from './storage.js';

export type Place =
  | { readonly kind: 'scalar'; readonly lanes: Lanes }
  | { readonly kind: 'buffer'; readonly buffer: Buffer }
  | { readonly kind: 'virtual'; readonly op: GenericOp };

/** An array argument inside a program: base address and strides in elements. */
export interface ArrayPlace {
  readonly base: MlirValue;
  readonly strides: readonly MlirValue[];
  readonly dtype: DType;
}

/** A block's first element, as an offset in elements, and the strides along the tile's axes. */
interface BlockPlace {
  readonly array: ArrayPlace;
  readonly offset: MlirValue;
  readonly strides: readonly MlirValue[];
  readonly contiguous: boolean;
}

const cacheLine = 64;
/** Far enough for memory to answer, near enough that the row is still in the cache when its turn comes. */
const rowsAhead = 8;

interface Remembered {
  readonly index: readonly MlirValue[];
  readonly lanes: Lanes;
  readonly depth: number;
  readonly region: readonly MlirOp[];
}

export const typeOf = (v: Value): TileType => v.type as TileType;

export class Tiles {
  private places = new Map<Value, Place>();
  private readonly blocks = new Map<GenericOp, BlockPlace>();
  private readonly depths = new Map<MlirValue, number>();
  private readonly bases = new Map<number, MlirValue>();
  private remembered = new Map<Value, Remembered[]>();
  /** In the fast version of a nest every ragged extent is known to be full. */
  private full = false;

  constructor(
    readonly e: Emitter,
    readonly arrays: ReadonlyMap<Value, ArrayPlace>,
    private readonly arena: MlirValue,
  ) {}

  /** Begins a region. @returns what ends it: every value is then where it was before. */
  enter(): () => void {
    const outer = this.places;
    this.places = new Map(outer);
    return () => {
      this.places = outer;
    };
  }

  set(value: Value, place: Place): void {
    this.places.set(value, place);
  }

  /** A virtual tile that no op of the program gives. */
  define(
    name: OpName,
    dtype: DType,
    shape: readonly number[],
    operands: GenericOp['operands'],
    attrs: GenericOp['attrs'] = {},
  ): Value {
    const result = { type: tileType(dtype, shape) };
    const op: GenericOp = { name, operands, attrs, results: [result], regions: [], loc: this.e.loc };
    this.set(result, { kind: 'virtual', op });
    return result;
  }

  tryPlace(value: Value): Place | undefined {
    return this.places.get(value);
  }

  place(value: Value): Place {
    const place = this.places.get(value);
    invariant(place, `value of type ${typeOf(value).dtype.name} has no place`);
    return place;
  }

  scalar(value: Value): Lanes {
    const place = this.place(value);
    invariant(place.kind === 'scalar', 'a scalar is an SSA value');
    return place.lanes;
  }

  /** Marks a loop counter with the depth of the region that it belongs to. */
  declareIndex(index: MlirValue): MlirValue {
    if (this.e.knownInt(index) === undefined) this.depths.set(index, this.e.depth);
    return index;
  }

  /** One loop nest: what it computes is remembered inside it, and extents may be taken as full. */
  inNest<T>(full: boolean, emit: () => T): T {
    const [outer, wasFull] = [this.remembered, this.full];
    this.remembered = new Map();
    this.full = full;
    try {
      return emit();
    } finally {
      this.remembered = outer;
      this.full = wasFull;
    }
  }

  /** A loop for each axis of `shape` around `body`. */
  loops(shape: readonly number[], body: (index: readonly MlirValue[]) => void, outer: readonly MlirValue[] = []): void {
    const [n, ...rest] = shape;
    if (n === undefined) return body(outer);
    this.e.count(n, 1, [], (i) => {
      this.loops(rest, body, [...outer, this.declareIndex(i)]);
      return [];
    });
  }

  get extentsAreFull(): boolean {
    return this.full;
  }

  baseOf(buffer: Buffer): MlirValue {
    let base = this.bases.get(buffer.offset);
    if (!base) {
      base = this.e.at(0, () => arenaAddress(this.e, this.arena, buffer.offset));
      this.bases.set(buffer.offset, base);
    }
    return base;
  }

  /** Offset of an element of a scratch tile. What is moved at once must not cross a panel. */
  flatIndex({ shape, panel }: Pick<Buffer, 'shape' | 'panel'>, index: readonly MlirValue[]): MlirValue {
    const { e } = this;
    if (panel === undefined) return this.rowMajor(shape, index);
    const rank = shape.length;
    const rows = elementCount(shape.slice(0, -1));
    const column = index[rank - 1]!;
    const which = e.divIndex(column, e.i64(panel));
    const within = e.remIndex(column, e.i64(panel));
    const row = this.rowMajor(shape.slice(0, -1), index.slice(0, -1));
    return e.addIndex(e.mulIndex(which, e.i64(rows * panel)), e.addIndex(e.mulIndex(row, e.i64(panel)), within));
  }

  private rowMajor(shape: readonly number[], index: readonly MlirValue[]): MlirValue {
    const { e } = this;
    let flat: MlirValue | undefined;
    let stride = 1;
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      const term = stride === 1 ? index[axis]! : e.mulIndex(index[axis]!, e.i64(stride));
      flat = flat ? e.addIndex(term, flat) : term;
      stride *= shape[axis]!;
    }
    return flat ?? e.i64(0);
  }

  /** `width` elements of `value` along its last axis, from `index` on. */
  lanesAt(value: Value, index: readonly MlirValue[], width: number): Lanes {
    const place = this.place(value);
    if (place.kind === 'scalar') return this.e.splat(place.lanes, width);
    const known = this.recall(value, index, width);
    if (known) return known;
    const lanes =
      place.kind === 'buffer'
        ? loadScratch(
            this.e,
            this.baseOf(place.buffer),
            this.flatIndex({ ...place.buffer, shape: typeOf(value).shape }, index),
            place.buffer.elem,
            width,
          )
        : this.compute(place.op, index, width);
    this.remember(value, index, lanes);
    return lanes;
  }

  remember(value: Value, index: readonly MlirValue[], lanes: Lanes): void {
    const list = this.remembered.get(value) ?? [];
    list.push({ index, lanes, depth: this.e.depth, region: this.e.regionAt(this.e.depth) });
    this.remembered.set(value, list);
  }

  private recall(value: Value, index: readonly MlirValue[], width: number): Lanes | undefined {
    return this.remembered
      .get(value)
      ?.find(
        (r) =>
          r.lanes.width === width &&
          r.depth <= this.e.depth &&
          this.e.regionAt(r.depth) === r.region &&
          r.index.every((x, axis) => x === index[axis]),
      )?.lanes;
  }

  /** Evaluates where the deepest of the indices is defined, outside of loops that do not matter. */
  private hoisted<T>(index: readonly MlirValue[], emit: () => T): T {
    const depth = Math.max(0, ...index.map((i) => this.depths.get(i) ?? 0));
    return depth < this.e.depth ? this.e.at(Math.max(depth, this.nestDepth), emit) : emit();
  }

  /** Depth at which the current nest stands; nothing moves further out than that. */
  nestDepth = 0;

  private compute(op: GenericOp, index: readonly MlirValue[], width: number): Lanes {
    const { e } = this;
    const type = typeOf(op.results[0]!);
    const rule = (elementRules as Record<string, ElementRule>)[op.name];
    if (rule && !isOp(op, 'select')) return this.elementwise(op, rule, index, width);
    switch (op.name as OpName) {
      case 'select':
        return this.select(op as OpOf<'select'>, index, width);
      case 'constant':
        return e.number((op as OpOf<'constant'>).attrs.value, elemOf(type.dtype), width);
      case 'cast': {
        const { input } = (op as OpOf<'cast'>).operands;
        const { saturate } = (op as OpOf<'cast'>).attrs;
        return cast(e, this.lanesAt(input, index, width), typeOf(input).dtype, type.dtype, saturate);
      }
      case 'iota':
        return this.positions((op as OpOf<'iota'>).attrs.axis, index, width);
      case 'extent_mask':
        return this.full
          ? e.int(1, 'i1', width)
          : this.within((op as OpOf<'extent_mask'>).operands.extents ?? [], index, width);
      case 'broadcast':
        return this.broadcast((op as OpOf<'broadcast'>).operands.input, type, index, width);
      case 'reshape':
        return this.reshape((op as OpOf<'reshape'>).operands.input, type, index, width);
      case 'transpose': {
        const { permutation } = (op as OpOf<'transpose'>).attrs;
        return this.lanesAt(
          (op as OpOf<'transpose'>).operands.input,
          permutation.map((_, axis) => index[permutation.indexOf(axis)]!),
          width,
        );
      }
      case 'slice':
        return this.slice(op as OpOf<'slice'>, index, width);
      case 'flip':
        return this.flip(op as OpOf<'flip'>, index, width);
      case 'take_along':
        return this.takeAlong(op as OpOf<'take_along'>, index, width);
      case 'load':
        return this.load(op as OpOf<'load'>, index, width);
      case 'gather':
        return this.gather(op as OpOf<'gather'>, index, width);
      default:
        throw new InternalError(`'${op.name}' cannot be virtual`);
    }
  }

  private elementwise(op: GenericOp, rule: ElementRule, index: readonly MlirValue[], width: number): Lanes {
    const operands = Object.values(op.operands) as Value[];
    const args = operands.map((v) => this.lanesAt(v, index, width));
    return rule(this.e, args, typeOf(operands[0]!).dtype, op);
  }

  private select(
    { operands: { condition, on_true, on_false } }: OpOf<'select'>,
    index: readonly MlirValue[],
    width: number,
  ): Lanes {
    const place = this.place(condition);
    if (this.full && place.kind === 'virtual' && isOp(place.op, 'extent_mask'))
      return this.lanesAt(on_true, index, width);
    const c = this.lanesAt(condition, index, width);
    return this.e.select(c, this.lanesAt(on_true, index, width), this.lanesAt(on_false, index, width));
  }

  /** Position along `axis` of each of `width` elements, as i32. */
  positions(axis: number, index: readonly MlirValue[], width: number): Lanes {
    const { e } = this;
    const first = e.convert('arith.trunci', { value: index[axis]!, elem: 'i64', width: 1 }, 'i32');
    if (axis !== index.length - 1 || width === 1) return e.splat(first, width);
    return e.binary('addi', e.splat(first, width), e.steps('i32', width));
  }

  /** Which of `width` elements lie within i32 extents, one per axis. */
  within(extents: readonly Value[], index: readonly MlirValue[], width: number): Lanes {
    const { e } = this;
    const inside = extents.map((extent, axis) => {
      const last = axis === extents.length - 1;
      const position = this.positions(axis, index, last ? width : 1);
      return e.splat(e.compareInt('slt', position, e.splat(this.scalar(extent), last ? width : 1)), width);
    });
    return inside.length === 0 ? e.int(1, 'i1', width) : inside.reduce((a, b) => e.binary('andi', a, b));
  }

  private broadcast(input: Value, to: TileType, index: readonly MlirValue[], width: number): Lanes {
    const from = typeOf(input).shape;
    const lead = to.shape.length - from.length;
    const source = from.map((n, axis) => (n === 1 ? this.e.i64(0) : index[lead + axis]!));
    if (from.length > 0 && from.at(-1) === to.shape.at(-1) && to.shape.at(-1) !== 1)
      return this.lanesAt(input, source, width);
    return this.hoisted(source, () => this.e.splat(this.lanesAt(input, source, 1), width));
  }

  private reshape(input: Value, to: TileType, index: readonly MlirValue[], width: number): Lanes {
    const from = typeOf(input).shape;
    const axes = unitReshapeAxes(from, to.shape)!;
    const source = from.map((_, axis) => {
      const at = axes.indexOf(axis);
      return at < 0 ? this.e.i64(0) : index[at]!;
    });
    return this.lanesAt(input, source, width);
  }

  // ---- parts --------------------------------------------------------------------------------------------------------

  private readonly starts = new Map<GenericOp, readonly MlirValue[]>();

  /** Where a part of a tile begins: moved so that it lies within the whole. */
  partStarts(index: readonly Value[], part: readonly number[], whole: readonly number[]): MlirValue[] {
    const { e } = this;
    return whole.map((n, axis) => {
      const last = n - part[axis]!;
      if (last === 0) return e.i64(0);
      const start = this.scalar(index[axis]!);
      const known = e.knownInt(start.value);
      if (known !== undefined) return e.i64(Math.min(Math.max(Number(known), 0), last));
      return e.toIndex(e.binary('maxsi', e.binary('minsi', start, e.int(last, 'i32')), e.int(0, 'i32')));
    });
  }

  /** Computes where a slice begins where it stands; loop nests then only add to it. */
  declareStarts(op: GenericOp, index: readonly Value[], part: readonly number[], whole: readonly number[]): void {
    this.starts.set(op, this.partStarts(index, part, whole));
  }

  private slice(op: OpOf<'slice'>, index: readonly MlirValue[], width: number): Lanes {
    const starts = this.starts.get(op)!;
    const from = index.map((i, axis) => this.declareIndex(this.e.addIndex(i, starts[axis]!)));
    return this.lanesAt(op.operands.input, from, width);
  }

  private flip(
    { operands: { input }, attrs: { axis } }: OpOf<'flip'>,
    index: readonly MlirValue[],
    width: number,
  ): Lanes {
    const { e } = this;
    const { shape } = typeOf(input);
    const along = axis === shape.length - 1 ? width : 1;
    const last = this.declareIndex(e.subIndex(e.i64(shape[axis]! - along), index[axis]!));
    const lanes = this.lanesAt(input, index.with(axis, last), width);
    if (along === 1) return lanes;
    return e.shuffle(
      lanes,
      lanes,
      Array.from({ length: width }, (_, lane) => width - 1 - lane),
    );
  }

  private takeAlong(op: OpOf<'take_along'>, index: readonly MlirValue[], width: number): Lanes {
    const { e } = this;
    const { input, index: positions } = op.operands;
    const { axis } = op.attrs;
    const { shape } = typeOf(input);
    const place = this.place(input);
    invariant(place.kind === 'buffer', 'what is picked from lies in scratch');
    const given = this.lanesAt(positions, index, width);
    const { signed } = typeOf(positions).dtype;
    const wide = e.convert(signed ? 'arith.extsi' : 'arith.extui', given, 'i64');
    const most = e.int(shape[axis]! - 1, 'i64', width);
    const capped = e.binary(signed ? 'minsi' : 'minui', wide, most);
    const position = e.binary('maxsi', capped, e.int(0, 'i64', width));
    const stride = elementCount(shape.slice(axis + 1));
    const base = this.flatIndex({ shape }, index.with(axis, e.i64(0)));
    const first = e.splat({ value: base, elem: 'i64', width: 1 }, width);
    const steps = axis === shape.length - 1 ? first : e.binary('addi', first, e.steps('i64', width));
    const offsets = e.binary('addi', steps, e.binary('muli', position, e.int(stride, 'i64', width)));
    return gatherScratch(e, this.baseOf(place.buffer), offsets, place.buffer.elem);
  }

  // ---- arrays -------------------------------------------------------------------------------------------------------

  /** Computes a block's offset where the load or store stands; loop nests then only add to it. */
  declareBlock(op: OpOf<'load'> | OpOf<'store'>): BlockPlace {
    const { e } = this;
    const { ref, index = [] } = op.operands;
    const array = this.arrays.get(ref)!;
    const tile = isOp(op, 'store') ? typeOf(op.operands.value) : typeOf(op.results[0]!);
    const axes = blockAxes(array.strides.length, op.attrs.axes);
    const offset = index
      .map((v, axis) => e.mulIndex(e.toIndex(this.scalar(v)), array.strides[axis]!))
      .reduce((a, b) => e.addIndex(a, b), e.i64(0));
    const contiguous = tile.shape.length === 0 || axes.at(-1) === array.strides.length - 1;
    const block = { array, offset, strides: axes.map((axis) => array.strides[axis]!), contiguous };
    this.blocks.set(op, block);
    return block;
  }

  /** Offset in elements of a block's element. */
  private elementOffset({ offset, strides }: BlockPlace, index: readonly MlirValue[]): MlirValue {
    const { e } = this;
    return index.reduce(
      (sum, i, axis) =>
        e.addIndex(sum, axis === strides.length - 1 && this.isUnit(strides[axis]!) ? i : e.mulIndex(i, strides[axis]!)),
      offset,
    );
  }

  private isUnit(stride: MlirValue): boolean {
    return stride === this.e.i64(1);
  }

  /** Address of a block's element, and the offsets of `width` lanes from the base where they do not lie side by side. */
  blockAddress(
    op: OpOf<'load'> | OpOf<'store'>,
    index: readonly MlirValue[],
    width: number,
  ): { array: ArrayPlace; address?: MlirValue; offsets?: Lanes } {
    const { e } = this;
    const block = this.blocks.get(op)!;
    const offset = this.elementOffset(block, index);
    const { array } = block;
    if (!isPacked(array.dtype) && (block.contiguous || width === 1))
      return { array, address: e.address(array.base, offset, memoryElem(array.dtype)) };
    if (width === 1) return { array, offsets: { value: offset, elem: 'i64', width } };
    const stride = e.splat({ value: block.strides.at(-1)!, elem: 'i64', width: 1 }, width);
    const first = e.splat({ value: offset, elem: 'i64', width: 1 }, width);
    return { array, offsets: e.binary('addi', first, e.binary('muli', e.steps('i64', width), stride)) };
  }

  /** Mask of a block access: what lies within its valid extents, and the user's own mask. */
  accessMask(
    { operands: { valid = [], mask } }: OpOf<'load'> | OpOf<'store'>,
    index: readonly MlirValue[],
    width: number,
  ): Lanes | undefined {
    const parts = [
      ...(valid.length > 0 && !this.full ? [this.within(valid, index, width)] : []),
      ...(mask ? [this.lanesAt(mask, index, width)] : []),
    ];
    return parts.length === 0 ? undefined : parts.reduce((a, b) => this.e.binary('andi', a, b));
  }

  private load(op: OpOf<'load'>, index: readonly MlirValue[], width: number): Lanes {
    const mask = this.accessMask(op, index, width);
    const { array, address, offsets } = this.blockAddress(op, index, width);
    if (address && this.full) this.prefetchRow(op, array, address, width);
    const lanes = address
      ? loadLanes(this.e, address, array.dtype, width, mask)
      : gatherLanes(this.e, array.base, offsets!, array.dtype, mask);
    return this.otherwise(op.operands, lanes, index, width);
  }

  /**
   * Asks for a row of a block some rows ahead. Rows of a large array lie on different pages, where the processor's own
   * prefetching stops; asking for what does not exist is harmless.
   */
  private prefetchRow(op: OpOf<'load'>, { dtype }: ArrayPlace, address: MlirValue, width: number): void {
    const { e } = this;
    const rowStride = this.blocks.get(op)!.strides.at(-2);
    const memory = memoryElem(dtype);
    const lineElements = cacheLine / (Number(memory.slice(1)) / 8);
    if (!rowStride || width < lineElements) return;
    const ahead = e.mulIndex(rowStride, e.i64(rowsAhead));
    for (let at = 0; at < width; at += lineElements) {
      const line = e.address(address, e.addIndex(ahead, e.i64(at)), memory);
      e.ops('llvm.intr.prefetch', {
        operands: [line],
        properties: { rw: '0 : i32', hint: '3 : i32', cache: '1 : i32' },
      });
    }
  }

  /** `other` where the user's mask is false. */
  private otherwise(
    { mask, other }: { readonly mask?: Value | undefined; readonly other?: Value | undefined },
    lanes: Lanes,
    index: readonly MlirValue[],
    width: number,
  ): Lanes {
    if (!mask || !other) return lanes;
    return this.e.select(this.lanesAt(mask, index, width), lanes, this.e.splat(this.scalar(other), width));
  }

  /** Offsets of element-by-element accesses. */
  indexedOffsets(
    ref: Value,
    tiles: readonly Value[],
    index: readonly MlirValue[],
    width: number,
  ): { array: ArrayPlace; offsets: Lanes } {
    const { e } = this;
    const array = this.arrays.get(ref)!;
    const terms = tiles.map((t, axis) => {
      const { dtype } = typeOf(t);
      const position = e.convert(dtype.signed ? 'arith.extsi' : 'arith.extui', this.lanesAt(t, index, width), 'i64');
      const stride = array.strides[axis]!;
      return this.isUnit(stride)
        ? position
        : e.binary('muli', position, e.splat({ value: stride, elem: 'i64', width: 1 }, width));
    });
    return { array, offsets: terms.reduce((a, b) => e.binary('addi', a, b)) };
  }

  private gather(op: OpOf<'gather'>, index: readonly MlirValue[], width: number): Lanes {
    const { ref, index: tiles = [], mask } = op.operands;
    const { array, offsets } = this.indexedOffsets(ref, tiles, index, width);
    const lanes = gatherLanes(this.e, array.base, offsets, array.dtype, mask && this.lanesAt(mask, index, width));
    return this.otherwise(op.operands, lanes, index, width);
  }

  elem(value: Value): Elem {
    return elemOf(typeOf(value).dtype);
  }
}
