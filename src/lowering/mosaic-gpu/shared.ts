/** Blocks in shared memory, as wgmma reads them: panels one swizzle wide, filled by TMA. */

import { storageBytes } from '../../ir/dtypes.js';
import type { ArrayParam } from '../../ir/kernel.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import { blockAxes } from '../../ir/ops/memory.js';
import type { TileType } from '../../ir/types.js';
import type { Value } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';
import { valueMultiple } from './facts.js';
import { arrayName, arrayType } from './module.js';
import type { Program } from './program.js';
import { checkStrides } from './strides.js';
import { asyncLoad, barrierType, elementType, sharedType, sliceSmem, smem } from './text.js';

/** Bytes of one swizzled row: a box this wide is clipped at the array's bounds, whatever they are. */
export const rowBytes = 128;

/** A block in shared memory. Its panels lie side by side along the block's last axis. */
export interface SharedBlock {
  readonly panels: readonly string[];
  readonly panelType: string;
  /** Of a panel, as it lies in memory. */
  readonly rows: number;
  readonly width: number;
  /** Whether the tile is the transposed block. */
  readonly transposed: boolean;
}

/** Panels of loads that are filled together, in a ring of slots with a barrier each. */
export interface SharedRing {
  readonly slots: number;
  /** Pointer to the first barrier. */
  readonly barriers: string;
  readonly buffers: readonly SharedBuffer[];
}

interface SharedBuffer {
  readonly load: OpOf<'load'>;
  readonly param: ArrayParam;
  readonly rows: number;
  readonly width: number;
  readonly panels: readonly string[];
}

/** Whether a load fills shared memory: blocks of rank 2 do, for products. */
export const isShared = (op: OpOf<'load'>): boolean => (op.results[0]!.type as TileType).shape.length === 2;

/** Reserves and initialises a ring for some loads. */
export function makeRing(program: Program, loads: readonly OpOf<'load'>[], slots: number): SharedRing {
  const { out } = program;
  const buffers = loads.map((load): SharedBuffer => {
    program.at = load.loc;
    const { shape, dtype } = load.results[0]!.type as TileType;
    const [rows, columns] = shape as [number, number];
    const param = program.array(load.operands.ref);
    if (load.operands.mask) unsupportedOp('a masked load of a matrix, with mosaic_gpu');
    if (storageBytes(dtype) !== 2) unsupportedOp(`matrices of ${dtype.name} with mosaic_gpu (f16 and bf16 so far)`);
    const width = rowBytes / storageBytes(dtype);
    if (columns % width !== 0 || rows % 8 !== 0 || rows > 256)
      unsupportedOp(
        `a matrix [${rows}, ${columns}] with mosaic_gpu: columns come in panels of ${width}, rows in eights up to 256`,
      );
    if (blockAxes(param.value.type.shape.length, load.attrs.axes).at(-1) !== param.value.type.shape.length - 1)
      unsupportedOp('a matrix that does not lie along the last axis of its array, with mosaic_gpu');
    checkStrides(program, param, load);
    const element = elementType(dtype);
    const panels = Array.from({ length: columns / width }, () => {
      const type = sharedType([slots, rows, width], element);
      const offset = program.reserve(
        `${slots} × ${rows} × ${width} of '${param.name}'`,
        slots * rows * rowBytes,
        1024,
        load.loc,
      );
      const buffer = out.let(sliceSmem(offset, type), load.loc);
      return out.let(
        `"mosaic_gpu.with_transforms"(${buffer}) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (${type}) -> ${type}`,
      );
    });
    return { load, param, rows, width, panels };
  });
  return { slots, buffers, barriers: emitBarriers(program, slots) };
}

/** Initialises a barrier for each slot; gives the pointer to the first. */
function emitBarriers(program: Program, slots: number): string {
  const { out } = program;
  const offset = program.reserve(`${slots} barriers`, slots * 8, 8, program.at);
  const type = `memref<${slots}x!mosaic_gpu.barrier, ${smem}>`;
  const struct = '!llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>';
  const view = out.let(`builtin.unrealized_conversion_cast ${out.let(sliceSmem(offset, type))} : ${type} to ${struct}`);
  const pointer = out.let(`llvm.extractvalue ${view}[1] : ${struct}`);
  out.add(
    `"mosaic_gpu.initialize_barrier"(${pointer}) <{arrival_count = 1 : i64, num_barriers = ${slots} : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()`,
  );
  out.add('nvvm.fence.mbarrier.init');
  out.add('gpu.barrier');
  return pointer;
}

function barrierOf({ out }: Program, { barriers }: SharedRing, slot: string): string {
  const at = out.let(`llvm.getelementptr ${barriers}[${slot}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64`);
  return out.let(`builtin.unrealized_conversion_cast ${at} : !llvm.ptr<3> to ${barrierType}`);
}

function panelView({ out }: Program, ring: SharedRing, buffer: SharedBuffer, panel: string, slot: string): string {
  const element = elementType(buffer.param.value.type.dtype);
  const { rows, width } = buffer;
  return out.let(
    `memref.subview ${panel}[${slot}, 0, 0] [1, ${rows}, ${width}] [1, 1, 1] : ${sharedType([ring.slots, rows, width], element)} to ${typeOfPanel(buffer)}`,
  );
}

const typeOfPanel = ({ rows, width, param }: SharedBuffer): string =>
  `memref<${rows}x${width}x${elementType(param.value.type.dtype)}, strided<[${width}, 1], offset: ?>, ${smem}>`;

/** Starts the copies into a slot (i32), with the index arithmetic as it is where this is called. */
export function fillSlot(program: Program, ring: SharedRing, slot: string): void {
  const { out } = program;
  const barrier = barrierOf(program, ring, slot);
  const at = out.let(`arith.index_cast ${slot} : i32 to index`);
  const bytes = ring.buffers.reduce((sum, b) => sum + b.panels.length * b.rows * rowBytes, 0);
  out.add(`mosaic_gpu.arrive_expect_tx barrier(${barrier} : ${barrierType}) ${bytes}`);
  for (const buffer of ring.buffers) {
    const { load, param, rows, width } = buffer;
    program.at = load.loc;
    const rank = param.value.type.shape.length;
    const [rowAxis] = blockAxes(rank, load.attrs.axes) as [number];
    const lengths = Array.from({ length: rank }, (_, axis) =>
      axis === rank - 1 ? width : axis === rowAxis ? rows : -1,
    );
    const index = load.operands.index!;
    const first = index.map((v, axis) =>
      axis === rank - 1
        ? coordinate(program, v, width)
        : axis === rowAxis
          ? coordinate(program, v, 8)
          : program.scalar(v),
    );
    buffer.panels.forEach((panel, i) => {
      const column = first.at(-1)!;
      const moved =
        i === 0 ? column : assume(program, out.let(`arith.addi ${column}, ${out.int(i * width)} : i32`), width);
      const copy = {
        from: arrayName(param.name),
        fromType: arrayType(param),
        to: panelView(program, ring, buffer, panel, at),
        toType: typeOfPanel(buffer),
        at: [...first.slice(0, -1), moved],
        lengths,
      };
      out.add(asyncLoad(copy, barrier), load.loc);
    });
  }
}

const assume = ({ out }: Program, x: string, multiple: number): string =>
  out.let(`"mosaic_gpu.assume_multiple"(${x}) <{multiple = ${multiple} : i32}> : (i32) -> i32`);

/** A coordinate for TMA: the lowering wants it to be a multiple of the tile, and proven so. */
function coordinate(program: Program, value: Value, tile: number): string {
  if (valueMultiple(value, program.definition) % tile !== 0)
    unsupportedOp(`blocks of matrices that do not begin at multiples of ${tile}, with mosaic_gpu`);
  return assume(program, program.scalar(value), tile);
}

/** Waits for a slot and makes its blocks the tiles of their loads. */
export function awaitSlot(program: Program, ring: SharedRing, slot: string, parity: string): void {
  const { out } = program;
  out.add(`mosaic_gpu.wait barrier(${barrierOf(program, ring, slot)} : ${barrierType}) parity(${parity} : i1)`);
  const at = out.let(`arith.index_cast ${slot} : i32 to index`);
  for (const buffer of ring.buffers) {
    const panels = buffer.panels.map((panel) => panelView(program, ring, buffer, panel, at));
    const { rows, width } = buffer;
    const block: SharedBlock = { panels, panelType: typeOfPanel(buffer), rows, width, transposed: false };
    program.blocks.set(buffer.load.results[0]!, block);
  }
}

/** The block that a tile is in shared memory: of a load, masked with zeros at its array's end or not, transposed or not. */
export function blockOf(program: Program, value: Value): SharedBlock | undefined {
  const { definition, blocks } = program;
  const op = definition(value);
  const known = blocks.get(value);
  if (known) return known;
  if (isOp(op, 'transpose')) {
    const block = blockOf(program, op.operands.input);
    return block && { ...block, transposed: !block.transposed };
  }
  if (!isOp(op, 'select')) return undefined;
  const block = blockOf(program, op.operands.on_true);
  if (!block) return undefined;
  const mask = definition(op.operands.condition);
  const other = definition(op.operands.on_false);
  if (!isOp(mask, 'extent_mask') || !isOp(other, 'constant') || Number(other.attrs.value) !== 0)
    return unsupportedOp('matrices with masks of their own, with mosaic_gpu');
  checkEnds(program, op.operands.on_true, mask.operands.extents ?? []);
  return block;
}

/** Refuses a mask other than that of the array's bounds, which TMA fills in itself. */
function checkEnds(program: Program, value: Value, extents: readonly Value[]): void {
  const { definition } = program;
  const op = definition(value);
  if (isOp(op, 'transpose')) return checkEnds(program, op.operands.input, [...extents].reverse());
  if (!isOp(op, 'load')) return unsupportedOp('matrices that are masked twice, with mosaic_gpu');
  const { shape } = op.results[0]!.type as TileType;
  const along = blockAxes(op.operands.ref.type.shape.length, op.attrs.axes);
  extents.forEach((extent, i) => {
    const whole = definition(extent);
    if (isOp(whole, 'constant') && Number(whole.attrs.value) >= shape[i]!) return;
    const axis = along[i]!;
    if (
      extent !== op.operands.valid?.[i] ||
      !reachesTheEnd(program, op.operands.ref, axis, extent, op.operands.index![axis]!)
    )
      unsupportedOp('matrices that end before their array does, with mosaic_gpu');
  });
}

/** Whether a valid extent is what is left of the array from the block's first element on. */
export function reachesTheEnd({ definition }: Program, ref: Value, axis: number, extent: Value, index: Value): boolean {
  const bound = ref.type.kind === 'ref' ? ref.type.shape[axis]! : 0;
  const isBound = (v: Value): boolean => {
    const op = definition(v);
    if (isOp(op, 'dim')) return typeof bound !== 'number' && bound.kind === 'argument' && bound.name === op.attrs.name;
    return isOp(op, 'constant') && bound === Number(op.attrs.value);
  };
  const start = definition(index);
  if (isOp(start, 'constant') && Number(start.attrs.value) === 0 && isBound(extent)) return true;
  const difference = definition(extent);
  return isOp(difference, 'sub') && difference.operands.right === index && isBound(difference.operands.left);
}
