/** Lowering of the kernel IR to the text of Mosaic GPU: one module for each launch. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { DType } from '../../ir/dtypes.js';
import type { Kernel, Launch } from '../../ir/kernel.js';
import { definitionOf, isOp } from '../../ir/ops/index.js';
import { type Extent, symbolic } from '../../ir/symbolic.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp } from '../../ir/value.js';
import { operandsOf } from '../../ir/walk.js';
import type { DeviceLaunch } from '../device-launch.js';
import type { GpuTarget, NvidiaTarget } from '../gpu-target.js';
import { unsupportedOp, withOpLocation } from '../rule-table.js';
import { symbolsFor } from '../symbol.js';
import { emitElementwise } from './elementwise.js';
import { emitIota, emitLineLoad, emitLineStore, emitMask, emitReduce } from './line.js';
import { printModule, slotParam, slotsOf } from './module.js';
import { emitPipeline, matchPipeline, storePanels } from './pipeline.js';
import { isScalar, Program } from './program.js';
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

const threads = 128;

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
      for (const op of launch.body.ops) {
        program.at = op.loc;
        emit(program, op);
      }
    },
  );
  program.checkShared('fewer concurrent steps (`maxConcurrentSteps`) or smaller blocks need less');
  const slots = slotsOf(kernel);
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

/** One op of a launch's body. Scalars are emitted by those who need them; so are the loads and masks of a pipeline. */
function emit(program: Program, op: GenericOp): void {
  if (isOp(op, 'for')) return emitPipeline(program, matchPipeline(program, op));
  if (isOp(op, 'store')) return emitStore(program, op);
  if (op.results.length !== 1 || op.regions.length > 0) return unsupportedOp(`'${op.name}' with mosaic_gpu`);
  const result = op.results[0]!;
  const { shape, dtype } = result.type as TileType;
  if (isOp(op, 'reduce') && isScalar(result)) {
    const input = program.tile(op.operands.input);
    const { shape: whole, dtype: held } = op.operands.input.type;
    const [vector] = program.vectors(input, held, whole, 1);
    return program.bind(result, emitReduce(program, op, vector!));
  }
  if (isScalar(result)) return;
  if (isOp(op, 'constant'))
    program.tiles.set(result, { kind: 'splat', scalar: '', constant: literal(op.attrs.value as number, dtype) });
  else if (isOp(op, 'broadcast')) {
    if (!isScalar(op.operands.input)) return unsupportedOp("'broadcast' of tiles with mosaic_gpu");
    program.tiles.set(result, { kind: 'splat', scalar: program.scalar(op.operands.input) });
  } else if (isOp(op, 'load')) vectors([emitLineLoad(program, op)]);
  else if (isOp(op, 'extent_mask') && shape.length === 1)
    vectors([emitMask(program, shape[0]!, program.scalar(op.operands.extents![0]!))]);
  else if (isOp(op, 'iota') && shape.length === 1) vectors([emitIota(program, shape[0]!)]);
  else if (definitionOf(op).elementwise) emitTile(program, op);
  else unsupportedOp(`'${op.name}' with mosaic_gpu`);

  function vectors(names: readonly string[]): void {
    program.tiles.set(result, { kind: 'vectors', vectors: names, shape });
  }
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
