/**
 * The pipeline pass: a loop that adds products of blocks becomes TMA copies into a ring of shared buffers, mbarriers and
 * wgmma. ADR 0004 says what it matches and why.
 */

import { backendCodes } from '../../diagnostics/codes/backend.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { storageBytes } from '../../ir/dtypes.js';
import type { ArrayParam } from '../../ir/kernel.js';
import { terminatorValues } from '../../ir/ops/control.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import { blockAxes } from '../../ir/ops/memory.js';
import type { TileType } from '../../ir/types.js';
import type { Value } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';
import { valueMultiple } from './facts.js';
import { arrayName, arrayType } from './module.js';
import type { Program } from './program.js';
import { reachesTheEnd, rowBytes } from './shared.js';
import { checkStrides } from './strides.js';
import {
  asyncLoad,
  asyncStore,
  barrierType,
  elementType,
  optimizationBarrier,
  proxyFence,
  sharedType,
  sliceSmem,
  smem,
  vectorType,
} from './text.js';

/** Rows of one wgmma. */
const wgmmaRows = 64;
/** Elements of an accumulator that the registers of one warpgroup hold, with room for the epilogue. */
const mostAccumulators = 128 * 128;

/** A loop that the pass matches. */
interface Pipeline {
  readonly loop: OpOf<'for'>;
  readonly dot: OpOf<'dot'>;
  readonly a: OpOf<'load'>;
  readonly b: OpOf<'load'>;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** Whether a loop carries nothing but a sum of products. */
export function isPipeline({ definition }: Program, loop: OpOf<'for'>): boolean {
  const [body] = loop.regions;
  const [sum, ...more] = terminatorValues(body!);
  const dot = sum && definition(sum);
  return more.length === 0 && isOp(dot, 'dot') && dot.operands.acc === body!.args[1];
}

/** The pipeline that a loop is; refuses a loop that is none, at the op that is in the way. */
export function matchPipeline(program: Program, loop: OpOf<'for'>): Pipeline {
  const { definition } = program;
  const [body] = loop.regions;
  const { from, step, init = [] } = loop.operands;
  const isConstant = (v: Value, value: number): boolean => {
    const op = definition(v);
    return isOp(op, 'constant') && Number(op.attrs.value) === value;
  };
  const [sum] = terminatorValues(body!);
  const dot = sum && definition(sum);
  if (init.length !== 1 || !isOp(dot, 'dot') || dot.operands.acc !== body!.args[1])
    return unsupportedOp('loops other than those that add up products of blocks, with mosaic_gpu');
  if (!isConstant(from, 0) || !isConstant(step, 1) || !isConstant(init[0]!, 0))
    return unsupportedOp('loops over products that do not count from 0 by 1 and start from zeros, with mosaic_gpu');
  program.at = dot.loc;
  const [a, b] = [operandLoad(program, dot.operands.a), operandLoad(program, dot.operands.b)];
  const [m, k] = (dot.operands.a.type as TileType).shape as [number, number];
  const n = (dot.operands.b.type as TileType).shape.at(-1)!;
  return { loop, dot, a, b, m, n, k };
}

/** The load that makes an operand. A mask of zeros is what TMA does anyway, where it is that of the array's bounds. */
function operandLoad(program: Program, value: Value): OpOf<'load'> {
  const { definition } = program;
  const op = definition(value);
  const masked = isOp(op, 'select') ? op : undefined;
  const load = masked ? definition(masked.operands.on_true) : op;
  if (!isOp(load, 'load') || (load.attrs.axes?.length ?? 2) !== 2 || load.operands.mask)
    return unsupportedOp('operands of dot that are not loaded whole and unchanged, with mosaic_gpu');
  const { ref, index = [], valid = [] } = load.operands;
  if (ref.type.shape.length !== 2)
    return unsupportedOp('operands of dot of arrays that are not of rank 2, with mosaic_gpu');
  if (masked) {
    const mask = definition(masked.operands.condition);
    const other = definition(masked.operands.on_false);
    if (!isOp(mask, 'extent_mask') || !isOp(other, 'constant') || Number(other.attrs.value) !== 0)
      return unsupportedOp('operands of dot with masks of their own, with mosaic_gpu');
    const { shape } = load.results[0]!.type as TileType;
    (mask.operands.extents ?? []).forEach((extent, axis) => {
      const whole = definition(extent);
      if (isOp(whole, 'constant') && Number(whole.attrs.value) >= shape[axis]!) return;
      if (extent !== valid[axis] || !reachesTheEnd(program, ref, axis, extent, index[axis]!))
        unsupportedOp('operands of dot that end before their array does, with mosaic_gpu');
    });
  }
  return load;
}

/** A coordinate for TMA: the lowering wants it to be a multiple of the tile, and proven so. */
function coordinate(program: Program, value: Value, tile: number): string {
  if (valueMultiple(value, program.definition) % tile !== 0)
    unsupportedOp(`blocks of dot that do not begin at multiples of ${tile}, with mosaic_gpu`);
  return program.out.let(
    `"mosaic_gpu.assume_multiple"(${program.scalar(value)}) <{multiple = ${tile} : i32}> : (i32) -> i32`,
  );
}

const swizzled = (element: string, rows: readonly number[], name: string): string => {
  const type = sharedType(rows, element);
  return `"mosaic_gpu.with_transforms"(${name}) <{transforms = [#mosaic_gpu.tile<[8, 64]>, #mosaic_gpu.swizzle<128 : i32>]}> : (${type}) -> ${type}`;
};

/** Panels of an operand in shared memory, each one swizzle wide, with a leading axis of ring slots. */
interface Ring {
  readonly panels: readonly { readonly name: string; readonly row: number; readonly column: number }[];
  readonly rows: number;
  readonly load: OpOf<'load'>;
  readonly param: ArrayParam;
}

/** Emits the loop; its result is a tile of vectors, one for each panel of columns. */
export function emitPipeline(program: Program, pipeline: Pipeline): void {
  const { loop, dot, m, n, k } = pipeline;
  const { out } = program;
  const { dtype } = dot.operands.a.type as TileType;
  if (dtype.name !== 'f16' && dtype.name !== 'bf16')
    unsupportedOp(`dot of ${dtype.name} with mosaic_gpu (wgmma is there for f16 and bf16 so far)`);
  const width = rowBytes / storageBytes(dtype);
  if (m % wgmmaRows !== 0) unsupportedOp(`dot of ${m} rows with mosaic_gpu: wgmma takes multiples of ${wgmmaRows}`);
  if (n % width !== 0 || k % width !== 0)
    unsupportedOp(`dot of [${m}, ${k}] · [${k}, ${n}] with mosaic_gpu: columns come in panels of ${width}`);
  if (m > 256) unsupportedOp(`blocks of ${m} rows with mosaic_gpu: a box of TMA has at most 256`);
  if (m * n > mostAccumulators)
    throw new CompileError([
      backendCodes.accumulators(
        { m, n, registers: (m * n) / 128 },
        {
          loc: dot.loc,
          help: `set the block to 128 × 128 or less: its ${mostAccumulators} sums are what one warpgroup holds`,
        },
      ),
    ]);

  const element = elementType(dtype);
  const params = [pipeline.a, pipeline.b].map((load) => program.array(load.operands.ref));
  checkStrides(program, params[0]!, pipeline.a);
  checkStrides(program, params[1]!, pipeline.b);
  const stepBytes = (m * k + k * n) * storageBytes(dtype);
  const own = program.launch.backendParams.find((p) => p.backend === 'mosaic_gpu')?.options.maxConcurrentSteps;
  // Room for the barriers and for the block that is stored.
  const room = program.freeBytes - m * n * storageBytes(dtype) - 4096;
  const slots = Number(own ?? Math.max(2, Math.min(4, Math.floor(room / stepBytes))));
  const ring = (
    load: OpOf<'load'>,
    param: ArrayParam,
    rows: number,
    places: readonly (readonly [number, number])[],
  ): Ring => ({
    load,
    param,
    rows,
    panels: places.map(([row, column]) => {
      const shape = [slots, rows, width];
      const bytes = slots * rows * rowBytes;
      const offset = program.reserve(`${slots} × ${rows} × ${width} of '${param.name}'`, bytes, 1024, load.loc);
      const buffer = out.let(sliceSmem(offset, sharedType(shape, element)), load.loc);
      return { name: out.let(swizzled(element, shape, buffer), load.loc), row, column };
    }),
  });
  const steps = Array.from({ length: k / width }, (_, i) => i * width);
  const columns = Array.from({ length: n / width }, (_, i) => i * width);
  const a = ring(
    pipeline.a,
    params[0]!,
    m,
    steps.map((at) => [0, at] as const),
  );
  const b = ring(
    pipeline.b,
    params[1]!,
    width,
    steps.flatMap((row) => columns.map((column) => [row, column] as const)),
  );
  const barriers = emitBarriers(program, slots, loop);

  const zero = out.int(0);
  const one = out.int(1);
  const count = out.int(slots);
  const ahead = out.int(slots - 1);
  const trips = program.scalar(loop.operands.to);

  const panelType = (rows: number): string =>
    `memref<${rows}x${width}x${element}, strided<[${width}, 1], offset: ?>, ${smem}>`;
  const view = (r: Ring, panel: string, slot: string): string =>
    program.out.let(
      `memref.subview ${panel}[${slot}, 0, 0] [1, ${r.rows}, ${width}] [1, 1, 1] : ${sharedType([slots, r.rows, width], element)} to ${panelType(r.rows)}`,
    );
  const barrierOf = (slot: string): string => {
    const at = program.out.let(`llvm.getelementptr ${barriers}[${slot}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64`);
    return program.out.let(`builtin.unrealized_conversion_cast ${at} : !llvm.ptr<3> to ${barrierType}`);
  };

  /** Starts the copies of one step. The index arithmetic of the loop is repeated for it. */
  const fetch = (step: string): void => {
    program.bind(loop.regions[0]!.args[0]!, step);
    const slot = program.out.let(`arith.remui ${step}, ${count} : i32`);
    const slotIndex = program.out.let(`arith.index_cast ${slot} : i32 to index`);
    const barrier = barrierOf(slot);
    program.out.add(`mosaic_gpu.arrive_expect_tx barrier(${barrier} : ${barrierType}) ${stepBytes}`, loop.loc);
    for (const r of [a, b]) {
      const [row, column] = r.load.operands.index!.map((v, axis) => coordinate(program, v, axis === 0 ? 8 : width)) as [
        string,
        string,
      ];
      for (const panel of r.panels) {
        const shift = (base: string, by: number, tile: number): string =>
          by === 0
            ? base
            : program.out.let(
                `"mosaic_gpu.assume_multiple"(${program.out.let(`arith.addi ${base}, ${program.out.int(by)} : i32`)}) <{multiple = ${tile} : i32}> : (i32) -> i32`,
              );
        const copy = {
          from: arrayName(r.param.name),
          fromType: arrayType(r.param),
          to: view(r, panel.name, slotIndex),
          toType: panelType(r.rows),
          at: [shift(row, panel.row, 8), shift(column, panel.column, width)],
          lengths: [r.rows, width],
        };
        program.out.add(asyncLoad(copy, barrier), r.load.loc);
      }
    }
  };
  const fetchIf = (step: string): void => {
    const inside = program.out.nested();
    const more = program.out.let(`arith.cmpi slt, ${step}, ${trips} : i32`);
    program.within(inside, () => fetch(step));
    program.out.region(`scf.if ${more}`, inside);
  };

  const prologue = out.nested();
  const first = out.fresh();
  program.within(prologue, () => fetchIf(first));
  out.region(`scf.for ${first} = ${zero} to ${ahead} step ${one} : i32`, prologue);

  const sums = vectorType([m, width], 'f32');
  const cleared = out.let(`arith.constant dense<0.0> : ${sums}`);
  const started = columns.map(() => out.let(optimizationBarrier(cleared, sums), dot.loc));
  const carried = columns.map(() => out.fresh());
  const step = out.fresh();
  const body = out.nested();
  program.within(body, () => {
    const o = program.out;
    const slot = o.let(`arith.remui ${step}, ${count} : i32`);
    const slotIndex = o.let(`arith.index_cast ${slot} : i32 to index`);
    const turn = o.let(`arith.divui ${step}, ${count} : i32`);
    const parity = o.let(`arith.trunci ${o.let(`arith.andi ${turn}, ${one} : i32`)} : i32 to i1`);
    o.add(`mosaic_gpu.wait barrier(${barrierOf(slot)} : ${barrierType}) parity(${parity} : i1)`, dot.loc);
    o.add('nvvm.wgmma.fence.aligned');
    let now: string[] = [...carried];
    for (const [i, panel] of a.panels.entries()) {
      const left = view(a, panel.name, slotIndex);
      now = columns.map((_, j) => {
        const right = view(b, b.panels[i * columns.length + j]!.name, slotIndex);
        return o.let(
          `mosaic_gpu.wgmma accumulator(${now[j]} : ${sums}) a(${left} : ${panelType(m)}) b(${right} : ${panelType(width)}) -> ${sums}`,
          dot.loc,
        );
      });
    }
    o.add('nvvm.wgmma.commit.group.sync.aligned');
    // The products of the step before are done: its slot is free.
    o.add('nvvm.wgmma.wait.group.sync.aligned 1');
    fetchIf(o.let(`arith.addi ${step}, ${ahead} : i32`));
    o.add(`scf.yield ${now.join(', ')} : ${now.map(() => sums).join(', ')}`);
  });
  const results = out.fresh();
  const init = carried.map((name, i) => `${name} = ${started[i]}`).join(', ');
  out.region(
    `${results}:${carried.length} = scf.for ${step} = ${zero} to ${trips} step ${one} iter_args(${init}) -> (${carried.map(() => sums).join(', ')}) : i32`,
    body,
  );
  out.add('nvvm.wgmma.wait.group.sync.aligned 0');
  const vectors = carried.map((_, i) => out.let(optimizationBarrier(`${results}#${i}`, sums), dot.loc));
  program.tiles.set(loop.results[0]!, { kind: 'vectors', vectors, shape: [m, width] });
}

/** Initialises a barrier for each slot; gives the pointer to the first. */
function emitBarriers(program: Program, slots: number, loop: OpOf<'for'>): string {
  const { out } = program;
  const offset = program.reserve(`${slots} barriers`, slots * 8, 8, loop.loc);
  const type = `memref<${slots}x!mosaic_gpu.barrier, ${smem}>`;
  const struct = '!llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>';
  const buffer = out.let(sliceSmem(offset, type));
  const view = out.let(`builtin.unrealized_conversion_cast ${buffer} : ${type} to ${struct}`);
  const pointer = out.let(`llvm.extractvalue ${view}[1] : ${struct}`);
  out.add(
    `"mosaic_gpu.initialize_barrier"(${pointer}) <{arrival_count = 1 : i64, num_barriers = ${slots} : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()`,
  );
  out.add('nvvm.fence.mbarrier.init');
  out.add('gpu.barrier');
  return pointer;
}

/** Stores panels side by side by TMA, which drops what lies outside of the array. */
export function storePanels(
  program: Program,
  op: OpOf<'store'>,
  vectors: readonly string[],
  shape: readonly number[],
): void {
  const { out } = program;
  const param = program.array(op.operands.ref);
  checkStrides(program, param, op);
  const { dtype } = param.value.type;
  const element = elementType(dtype);
  const [rows, width] = shape as [number, number];
  const type = sharedType(shape, element);
  const rank = param.value.type.shape.length;
  const along = blockAxes(rank, op.attrs.axes);
  if (along.at(-1) !== rank - 1)
    unsupportedOp('a store of a matrix across the last axis of its array, with mosaic_gpu');
  const start = op.operands.index!.map((v) => program.scalar(v));
  const column = start.at(-1)!;
  const lengths = start.map((_, axis) => (axis === rank - 1 ? width : axis === along[0] ? rows : -1));
  const buffers = vectors.map((vector) => {
    const bytes = rows * width * storageBytes(dtype);
    const buffer = out.let(
      sliceSmem(program.reserve(`${rows} × ${width} of '${param.name}'`, bytes, 1024, op.loc), type),
    );
    const plain = out.let(`"mosaic_gpu.with_transforms"(${buffer}) <{transforms = []}> : (${type}) -> ${type}`);
    out.add(`"mosaic_gpu.vector_store"(${vector}, ${plain}) : (${vectorType(shape, element)}, ${type}) -> ()`, op.loc);
    return plain;
  });
  out.add(proxyFence);
  out.add('gpu.barrier');
  for (const [i, buffer] of buffers.entries()) {
    const at = i === 0 ? column : out.let(`arith.addi ${column}, ${out.int(i * width)} : i32`);
    const copy = {
      from: buffer,
      fromType: type,
      to: arrayName(param.name),
      toType: arrayType(param),
      at: [...start.slice(0, -1), at],
      lengths,
    };
    out.add(asyncStore(copy), op.loc);
  }
  out.add('nvvm.cp.async.bulk.wait_group 0');
}
