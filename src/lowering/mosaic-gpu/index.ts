/** Lowering of the kernel IR to the text of Mosaic GPU: one module for each launch. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { DType } from '../../ir/dtypes.js';
import type { Kernel, Launch } from '../../ir/kernel.js';
import { definitionOf, isOp, type OpOf } from '../../ir/ops/index.js';
import { type Extent, symbolic } from '../../ir/symbolic.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp, Value } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import type { DeviceLaunch } from '../device-launch.js';
import type { GpuTarget, NvidiaTarget } from '../gpu-target.js';
import { unsupportedOp, withOpLocation } from '../rule-table.js';
import { symbolsFor } from '../symbol.js';
import { emitElementwise } from './elementwise.js';
import { ExplicitProgram } from './explicit.js';
import { emitLineLoad, emitLineStore, emitMask, emitReduce } from './line.js';
import { emitDot, emitLoop, emitMatrixLoad, emitRowReduce } from './matrix.js';
import { printModule, slotParam, slotsOf } from './module.js';
import { emitPipeline, isPipeline, matchPipeline, storePanels } from './pipeline.js';
import { isScalar, Program, type Tile } from './program.js';
import { blockOf, isShared } from './shared.js';
import { literal } from './text.js';

/** A launch of Mosaic GPU. Its parameters are the slots of the host function's block of arguments. */
export interface MosaicLaunch extends DeviceLaunch {
  /** The arrays, by the slots that hold their pointers. */
  readonly arrays: readonly MosaicArray[];
  /** Bytes of shared memory by what they hold. */
  readonly bill: readonly string[];
}

export interface MosaicArray {
  readonly name: string;
  readonly dtype: DType;
  readonly shape: readonly Extent[];
}

/** Of a warpgroup. */
const threadsOfWarpgroup = 128;

/**
 * The modules of a kernel.
 *
 * @throws CompileError TW2001 and TW2042 on, at the op that this back end does not take.
 */
export function lowerToMosaic(kernel: Kernel, target: GpuTarget): readonly MosaicLaunch[] {
  if (target.vendor !== 'nvidia') throw new InternalError('Mosaic GPU compiles for NVIDIA');
  const symbols = symbolsFor(kernel.launches.map((l) => l.name));
  return kernel.launches.map((launch, i) => lowerLaunch(kernel, launch, target, symbols[i]!));
}

function lowerLaunch(kernel: Kernel, launch: Launch, target: NvidiaTarget, symbol: string): MosaicLaunch {
  const program = new Program(kernel, launch, target);
  withOpLocation(
    () => program.at,
    target.name,
    () => {
      if (launch.warpgroups) new ExplicitProgram(program, (op) => emit(program, op)).run(launch.body);
      else for (const op of launch.body.ops) emit(program, op);
    },
  );
  program.checkShared('fewer concurrent steps (`maxConcurrentSteps`) or smaller blocks need less');
  const slots = slotsOf(kernel);
  const threads = threadsOfWarpgroup * (launch.warpgroups?.count ?? 1);
  const arch = [Math.floor(target.capability / 10), target.capability % 10] as const;
  const text = printModule({ symbol, slots, arch, threads, sharedBytes: program.sharedBytes }, program.finish());
  const programs = launch.grid.reduce((product, { extent }) => symbolic('mul', product, extent), 1 as Extent);
  return {
    name: launch.name,
    symbol,
    text,
    params: slots.map(slotParam),
    grid: [programs, 1, 1],
    options: launch.backendParams.find((p) => p.backend === 'mosaic_gpu')?.options ?? {},
    arrays: slots.flatMap((slot) =>
      slot.kind === 'array' ? [{ name: slot.param.name, ...slot.param.value.type }] : [],
    ),
    bill: program.reserved.map(({ what, bytes }) => `${what}: ${bytes} bytes`),
  };
}

/** One op of a body. Scalars are emitted by those who need them; so are blocks in shared memory, and their masks. */
function emit(program: Program, op: GenericOp): void {
  program.at = op.loc;
  if (isOp(op, 'for')) {
    if (isPipeline(program, op)) return emitPipeline(program, matchPipeline(program, op));
    return emitLoop(program, op, (inner) => emit(program, inner));
  }
  if (isOp(op, 'store')) return emitStore(program, op);
  if (op.results.length !== 1 || op.regions.length > 0) return unsupportedOp(`'${op.name}' with mosaic_gpu`);
  const result = op.results[0]!;
  const { shape, dtype } = result.type as TileType;
  const set = (tile: Tile): void => {
    program.tiles.set(result, tile);
  };
  const vectors = (name: string): void => set({ kind: 'vectors', vectors: [name], shape });
  if (isOp(op, 'reduce')) {
    if (!isScalar(result)) return emitRowReduce(program, op);
    const { shape: whole, dtype: held } = op.operands.input.type;
    const [vector] = program.vectors(program.tile(op.operands.input), held, whole, 1);
    return program.bind(result, emitReduce(program, op, vector!));
  }
  if (isScalar(result)) return;
  if (isOp(op, 'constant'))
    return set({ kind: 'splat', scalar: '', constant: literal(op.attrs.value as number, dtype) });
  if (isOp(op, 'dot')) return emitDot(program, op);
  if (isOp(op, 'load')) return isShared(op) ? emitMatrixLoad(program, op) : vectors(emitLineLoad(program, op));
  if (isOp(op, 'iota') && shape.length === 1) return set({ kind: 'positions' });
  if (isOp(op, 'extent_mask')) {
    const extents = op.operands.extents!;
    if (shape.length === 1) return vectors(emitMask(program, shape[0]!, program.scalar(extents[0]!)));
    if (shape.length === 2)
      return set({ kind: 'mask', extents: extents.map((e, axis) => openExtent(program, e, shape[axis]!)) });
  }
  if (isOp(op, 'reshape')) return set(reshaped(program, op));
  if (isOp(op, 'broadcast')) {
    const { input } = op.operands;
    if (isScalar(input)) return set({ kind: 'splat', scalar: program.scalar(input) });
    const tile = program.tile(input);
    if (tile.kind === 'splat' || tile.kind === 'broadcast') return set(tile);
    const [length = 0] = input.type.shape;
    if (input.type.shape.length !== 1 || shape.length !== 2)
      return unsupportedOp("'broadcast' of matrices with mosaic_gpu");
    const [vector] = program.vectors(tile, dtype, [length], 1);
    return set({ kind: 'broadcast', vector: vector!, length, axis: 1 });
  }
  if (blockOf(program, result)) return;
  if (definitionOf(op).elementwise) return emitTile(program, op);
  unsupportedOp(`'${op.name}' with mosaic_gpu`);
}

/** An extent that an axis does not surely lie within. */
function openExtent(program: Program, extent: Value, length: number): string | undefined {
  const op = program.definition(extent);
  return isOp(op, 'constant') && Number(op.attrs.value) >= length ? undefined : program.scalar(extent);
}

/** A row or column of a matrix that is going to be broadcast. */
function reshaped(program: Program, op: OpOf<'reshape'>): Tile {
  const [from, to] = [op.operands.input.type.shape, (op.results[0]!.type as TileType).shape];
  const tile = program.tile(op.operands.input);
  if (tile.kind === 'splat') return tile;
  const [length = 0] = from;
  const axis = to.length === 2 ? to.indexOf(1) : -1;
  if (from.length !== 1 || axis < 0 || to[1 - axis] !== length) return unsupportedOp("'reshape' with mosaic_gpu");
  const [vector] = program.vectors(tile, op.operands.input.type.dtype, from, 1);
  return { kind: 'broadcast', vector: vector!, length, axis: axis === 1 ? 0 : 1 };
}

function emitTile(program: Program, op: GenericOp): void {
  const result = op.results[0]!;
  const operands = operandsOf(op);
  const tiles = operands.map((v) => program.tile(v));
  const model = tiles.find((t) => t.kind === 'vectors');
  const shape = model?.shape ?? (result.type as TileType).shape;
  const count = model?.vectors.length ?? 1;
  const types = operands.map((v) => v.type as TileType);
  const inputs = tiles.map((tile, i) => program.vectors(tile, types[i]!.dtype, shape, count));
  const made = Array.from({ length: count }, (_, i) =>
    emitElementwise(
      program.out,
      op,
      inputs.map((panels) => panels[i]!),
      types,
      shape,
    ),
  );
  program.tiles.set(result, { kind: 'vectors', vectors: made, shape });
}

function emitStore(program: Program, op: GenericOp): void {
  if (!isOp(op, 'store')) return;
  const { value } = op.operands;
  const tile = program.tile(value);
  const { shape, dtype } = value.type;
  if (tile.kind === 'vectors' && tile.shape.length === 2) return storePanels(program, op, tile.vectors, tile.shape);
  const [vector] = program.vectors(tile, dtype, shape, 1);
  emitLineStore(program, op, vector!);
}
