/**
 * Bodies of explicit programs. Sums and the phases of barriers are values of the text: what changes in a loop or branch
 * is carried through it.
 */

import { invariant } from '../../diagnostics/diagnostic.js';
import { storageBytes } from '../../ir/dtypes.js';
import { terminatorValues } from '../../ir/ops/control.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import { blockAxes } from '../../ir/ops/memory.js';
import { elementCount, type RefType, type TileType } from '../../ir/types.js';
import type { GenericOp, Region, Value } from '../../ir/value.js';
import { walk } from '../../ir/walk.js';
import { unsupportedOp } from '../rule-table.js';
import { valueMultiple } from './facts.js';
import { arrayName, arrayType } from './module.js';
import type { Program } from './program.js';
import { rowBytes } from './shared.js';
import { checkStrides } from './strides.js';
import {
  asyncLoad,
  asyncStore,
  barrierType,
  elementType,
  type Lines,
  optimizationBarrier,
  proxyFence,
  sharedType,
  sliceSmem,
  smem,
  vectorType,
} from './text.js';

/** A buffer in shared memory: panels side by side along its last axis. */
interface SharedBuffer {
  readonly panels: readonly string[];
  /** Extents of a panel, leading axes included. */
  readonly shape: readonly number[];
  readonly element: string;
}

interface Barriers {
  readonly pointer: string;
}

/** A value of the text that ops change: a panel of sums, or the phases of barriers as bits. */
interface Variable {
  readonly type: string;
  names: readonly string[];
}

const threadsOfWarpgroup = 128;

export class ExplicitProgram {
  private readonly buffers = new Map<Value, SharedBuffer>();
  private readonly barriers = new Map<Value, Barriers>();
  private readonly variables = new Map<Value, Variable>();
  private group: string | undefined;

  constructor(
    private readonly program: Program,
    /** Emits what an automatic program has too. */
    private readonly emitPlain: (op: GenericOp) => void,
  ) {}

  run(body: Region): void {
    this.region(body);
  }

  private get out(): Lines {
    return this.program.out;
  }

  private region({ ops }: Region): void {
    for (const op of ops) this.op(op);
  }

  private op(op: GenericOp): void {
    this.program.at = op.loc;
    if (isOp(op, 'warpgroup_id')) return this.program.bind(op.results[0]!, this.warpgroup());
    if (isOp(op, 'allocate')) return this.allocate(op);
    if (isOp(op, 'barriers')) return this.makeBarriers(op);
    if (isOp(op, 'async_load')) return this.asyncLoad(op);
    if (isOp(op, 'async_store')) return this.asyncStore(op);
    if (isOp(op, 'async_store_wait')) {
      this.out.add(`nvvm.cp.async.bulk.wait_group ${op.attrs.pending}${op.attrs.read_only ? ' {read}' : ''}`, op.loc);
      return this.syncThreads();
    }
    if (isOp(op, 'commit_smem')) {
      this.out.add(proxyFence, op.loc);
      return this.syncThreads();
    }
    if (isOp(op, 'barrier_arrive')) {
      const barrier = this.barrierOf(op);
      return this.out.add(
        `"mosaic_gpu.arrive"(${barrier}) <{orders_tensor_core = false}> : (${barrierType}) -> ()`,
        op.loc,
      );
    }
    if (isOp(op, 'barrier_wait')) return this.wait(op);
    if (isOp(op, 'wgmma')) return this.wgmma(op);
    if (isOp(op, 'wgmma_wait')) return this.out.add(`nvvm.wgmma.wait.group.sync.aligned ${op.attrs.pending}`, op.loc);
    if (isOp(op, 'warpgroup_sync')) return this.out.add('gpu.barrier', op.loc);
    if (isOp(op, 'set_max_registers'))
      return this.out.add(`nvvm.setmaxregister ${op.attrs.action} ${op.attrs.count}`, op.loc);
    if (isOp(op, 'for')) return this.for(op);
    if (isOp(op, 'if')) return this.if(op);
    if (isOp(op, 'load') && op.operands.ref.type.space === 'acc') return this.loadSums(op);
    if (isOp(op, 'store') && this.buffers.has(op.operands.ref)) return this.storeShared(op);
    this.emitPlain(op);
  }

  /** Number of the warpgroup, the same in all lanes. */
  private warpgroup(): string {
    if (this.group === undefined) {
      const { top } = this.program;
      const thread = top.let('arith.index_cast %tx : index to i32');
      const number = top.let(`arith.shrui ${thread}, ${top.int(Math.log2(threadsOfWarpgroup))} : i32`);
      this.group = top.let(`nvvm.shfl.sync idx ${top.int(-1)}, ${number}, ${top.int(0)}, ${top.int(31)} : i32 -> i32`);
    }
    return this.group;
  }

  /** Waits for the threads of this warpgroup. Barrier 0 is that of the block. */
  private syncThreads(): void {
    const id = this.out.let(`arith.addi ${this.warpgroup()}, ${this.out.int(1)} : i32`);
    this.out.add(
      `llvm.inline_asm has_side_effects asm_dialect = att "bar.sync $0, ${threadsOfWarpgroup};", "r" ${id} : (i32) -> ()`,
    );
  }

  // ---- what a block allocates -----------------------------------------------------------------------------------------

  private allocate(op: OpOf<'allocate'>): void {
    const { space, dtype, shape: extents } = op.results[0]!.type as RefType;
    const shape = extents as readonly number[];
    const element = elementType(dtype);
    const columns = shape.at(-1)!;
    if (space === 'acc') {
      const width = panelWidth(columns);
      const type = vectorType([shape[0]!, width], 'f32');
      const zeros = this.out.let(`arith.constant dense<0.0> : ${type}`);
      const names = Array.from({ length: columns / width }, () =>
        this.out.let(optimizationBarrier(zeros, type), op.loc),
      );
      this.variables.set(op.results[0]!, { type, names });
      return;
    }
    const { swizzle = 16, name } = op.attrs;
    if (swizzle !== 16 && swizzle !== rowBytes)
      return unsupportedOp(`a swizzle of ${swizzle} bytes, with mosaic_gpu (16 and ${rowBytes} so far)`);
    const width = swizzle === 16 ? columns : rowBytes / storageBytes(dtype);
    const panel = [...shape.slice(0, -1), width];
    const type = sharedType(panel, element);
    const transforms = swizzle === 16 ? '' : `#mosaic_gpu.tile<[8, ${width}]>, #mosaic_gpu.swizzle<${swizzle} : i32>`;
    const panels = Array.from({ length: columns / width }, () => {
      const bytes = elementCount(panel) * storageBytes(dtype);
      const offset = this.program.reserve(`${panel.join(' × ')} of '${name}'`, bytes, 1024, op.loc);
      const buffer = this.out.let(sliceSmem(offset, type), op.loc);
      return this.out.let(
        `"mosaic_gpu.with_transforms"(${buffer}) <{transforms = [${transforms}]}> : (${type}) -> ${type}`,
      );
    });
    this.buffers.set(op.results[0]!, { panels, shape: panel, element });
  }

  private makeBarriers(op: OpOf<'barriers'>): void {
    const [value] = op.results;
    const { name, arrivals, count } = op.attrs;
    const offset = this.program.reserve(`${count} barriers '${name}'`, count * 8, 8, op.loc);
    const type = `memref<${count}x!mosaic_gpu.barrier, ${smem}>`;
    const struct = '!llvm.struct<(ptr<3>, ptr<3>, i64, array<1 x i64>, array<1 x i64>)>';
    const { out } = this;
    const view = out.let(
      `builtin.unrealized_conversion_cast ${out.let(sliceSmem(offset, type))} : ${type} to ${struct}`,
    );
    const pointer = out.let(`llvm.extractvalue ${view}[1] : ${struct}`);
    out.add(
      `"mosaic_gpu.initialize_barrier"(${pointer}) <{arrival_count = ${arrivals} : i64, num_barriers = ${count} : i32, orders_tensor_core = false}> : (!llvm.ptr<3>) -> ()`,
      op.loc,
    );
    out.add('nvvm.fence.mbarrier.init');
    out.add('gpu.barrier');
    this.barriers.set(value!, { pointer });
    this.variables.set(value!, { type: 'i32', names: [out.int(0)] });
  }

  private placeOf({ operands }: OpOf<'barrier_wait' | 'barrier_arrive' | 'async_load'>): string {
    return operands.barrier_index ? this.program.scalar(operands.barrier_index) : this.out.int(0);
  }

  private barrierOf(op: OpOf<'barrier_wait' | 'barrier_arrive' | 'async_load'>, place = this.placeOf(op)): string {
    const found = this.barriers.get(op.operands.barrier);
    invariant(found, 'a barrier that was not set up');
    const at = this.out.let(`llvm.getelementptr ${found.pointer}[${place}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64`);
    return this.out.let(`builtin.unrealized_conversion_cast ${at} : !llvm.ptr<3> to ${barrierType}`);
  }

  /** The parity of a barrier is its bit among the phases of its name; each wait turns it. */
  private wait(op: OpOf<'barrier_wait'>): void {
    const { out } = this;
    const place = this.placeOf(op);
    const phases = this.variables.get(op.operands.barrier)!;
    const [before] = phases.names;
    const parity = out.let(`arith.trunci ${out.let(`arith.shrui ${before}, ${place} : i32`)} : i32 to i1`);
    out.add(`mosaic_gpu.wait barrier(${this.barrierOf(op, place)} : ${barrierType}) parity(${parity} : i1)`, op.loc);
    const bit = out.let(`arith.shli ${out.int(1)}, ${place} : i32`);
    phases.names = [out.let(`arith.xori ${before}, ${bit} : i32`)];
  }

  // ---- copies ---------------------------------------------------------------------------------------------------------

  /** A panel of a buffer at the indices of its leading axes: its name and type. */
  private panel(ref: Value, index: readonly Value[], which: number, rows?: readonly [number, number]) {
    const buffer = this.buffers.get(ref);
    invariant(buffer, 'a buffer that was not allocated');
    const { shape, element, panels } = buffer;
    const [height, width] = shape.slice(-2) as [number, number];
    const [first, count] = rows ?? [0, height];
    const type = sharedType(shape, element);
    if (shape.length === 2 && count === height) return { name: panels[which]!, type };
    const leading = shape.slice(0, -2);
    const at = leading.map((_, i) => this.out.let(`arith.index_cast ${this.program.scalar(index[i]!)} : i32 to index`));
    const view = `memref<${count}x${width}x${element}, strided<[${width}, 1], offset: ?>, ${smem}>`;
    const fixed = shape.length === 2 ? view.replace('offset: ?', `offset: ${first * width}`) : view;
    const list = (items: readonly unknown[]): string => items.join(', ');
    const name = this.out.let(
      `memref.subview ${panels[which]}[${list([...at, first, 0])}] [${list([...leading.map(() => 1), count, width])}] [${list(shape.map(() => 1))}] : ${type} to ${fixed}`,
    );
    return { name, type: fixed };
  }

  /** The copies of a box, one for each panel of the buffer, whose last two axes it covers. */
  private copies(
    op: OpOf<'async_load' | 'async_store'>,
    shared: { readonly ref: Value; readonly index: readonly Value[]; readonly axes: readonly number[] | undefined },
    global: { readonly ref: Value; readonly index: readonly Value[]; readonly axes: readonly number[] | undefined },
  ) {
    const { program } = this;
    const { box } = op.attrs;
    const param = program.array(global.ref);
    checkStrides(program, param, op);
    const buffer = this.buffers.get(shared.ref);
    invariant(buffer, 'a buffer that was not allocated');
    const { shape, panels } = buffer;
    const rank = shape.length;
    const [rows, width] = shape.slice(-2) as [number, number];
    const along = blockAxes(rank, shared.axes);
    if (box.length !== 2 || along[0] !== rank - 2 || box[0] !== rows || box[1] !== width * panels.length)
      return unsupportedOp(
        `a copy of a box [${box.join(', ')}] that is not the last two axes of its buffer, with mosaic_gpu`,
      );
    const globalRank = param.value.type.shape.length;
    const globalAxes = blockAxes(globalRank, global.axes);
    const lengths = Array.from({ length: globalRank }, (_, axis) =>
      axis === globalRank - 1 ? width : axis === globalAxes[0] ? rows : -1,
    );
    const isTiled = width * storageBytes(param.value.type.dtype) === rowBytes;
    const first = global.index.map((v, axis) =>
      axis === globalRank - 1
        ? this.coordinate(v, isTiled ? width : 1)
        : axis === globalAxes[0]
          ? this.coordinate(v, isTiled ? 8 : 1)
          : program.scalar(v),
    );
    return panels.map((_, i) => {
      const { name, type } = this.panel(shared.ref, shared.index, i);
      const moved =
        i === 0 ? first.at(-1)! : this.assume(`arith.addi ${first.at(-1)}, ${this.out.int(i * width)} : i32`, width);
      return { name, type, param, at: [...first.slice(0, -1), moved], lengths };
    });
  }

  private assume(text: string, multiple: number): string {
    return this.out.let(
      `"mosaic_gpu.assume_multiple"(${this.out.let(text)}) <{multiple = ${multiple} : i32}> : (i32) -> i32`,
    );
  }

  /** A coordinate for TMA: where the buffer is swizzled the lowering wants it to be a multiple of the tile. */
  private coordinate(value: Value, tile: number): string {
    const { program } = this;
    if (tile === 1) return program.scalar(value);
    if (valueMultiple(value, program.definition) % tile !== 0)
      return unsupportedOp(`boxes that do not surely begin at multiples of ${tile}, with mosaic_gpu`);
    return this.out.let(
      `"mosaic_gpu.assume_multiple"(${program.scalar(value)}) <{multiple = ${tile} : i32}> : (i32) -> i32`,
    );
  }

  private asyncLoad(op: OpOf<'async_load'>): void {
    const { from, to, index = [], to_index = [] } = op.operands;
    const { box, axes, to_axes } = op.attrs;
    const barrier = this.barrierOf(op);
    const bytes = elementCount(box) * storageBytes(from.type.dtype);
    // Every thread of the warpgroup announces its part.
    if (bytes % threadsOfWarpgroup !== 0)
      unsupportedOp(`a copy of ${bytes} bytes, with mosaic_gpu: they come in multiples of ${threadsOfWarpgroup}`);
    this.out.add(`mosaic_gpu.arrive_expect_tx barrier(${barrier} : ${barrierType}) ${bytes}`, op.loc);
    for (const { name, type, param, at, lengths } of this.copies(
      op,
      { ref: to, index: to_index, axes: to_axes },
      { ref: from, index, axes },
    )) {
      const copy = { from: arrayName(param.name), fromType: arrayType(param), to: name, toType: type, at, lengths };
      this.out.add(asyncLoad(copy, barrier), op.loc);
    }
  }

  private asyncStore(op: OpOf<'async_store'>): void {
    const { from, ref, index = [], to_index = [] } = op.operands;
    const { axes, to_axes } = op.attrs;
    const copies = this.copies(op, { ref: from, index, axes }, { ref, index: to_index, axes: to_axes });
    copies.forEach(({ name, type, param, at, lengths }, i) => {
      const copy = { from: name, fromType: type, to: arrayName(param.name), toType: arrayType(param), at, lengths };
      this.out.add(asyncStore(copy, i === copies.length - 1), op.loc);
    });
  }

  private storeShared(op: OpOf<'store'>): void {
    const { program } = this;
    const { ref, value, index = [], mask } = op.operands;
    const tile = program.tile(value);
    const buffer = this.buffers.get(ref)!;
    const [rows, width] = buffer.shape.slice(-2) as [number, number];
    if (mask || value.type.shape.length !== 2 || value.type.shape[0] !== rows)
      return unsupportedOp('a store to a part of a buffer in shared memory, with mosaic_gpu');
    const vectors = program.vectors(tile, value.type.dtype, [rows, width], buffer.panels.length);
    vectors.forEach((vector, i) => {
      const { name, type } = this.panel(ref, index, i);
      this.out.add(
        `"mosaic_gpu.vector_store"(${vector}, ${name}) : (${vectorType([rows, width], buffer.element)}, ${type}) -> ()`,
        op.loc,
      );
    });
  }

  // ---- products -------------------------------------------------------------------------------------------------------

  private wgmma(op: OpOf<'wgmma'>): void {
    const { acc, a, b, a_index = [], b_index = [] } = op.operands;
    const { out } = this;
    const sums = this.variables.get(acc)!;
    const [left, right] = [this.buffers.get(a)!, this.buffers.get(b)!];
    const depth = left.shape.at(-1)!;
    const isTurned = op.attrs.transpose_b ?? false;
    const [rows, columns] = right.shape.slice(-2) as [number, number];
    const width = rowBytes / 2;
    const fits = isTurned ? right.panels.length === left.panels.length : left.panels.length * depth === rows;
    if (depth !== width || columns !== width || !fits)
      return unsupportedOp(`wgmma of buffers that are not swizzled by ${rowBytes} bytes, with mosaic_gpu`);
    out.add('nvvm.wgmma.fence.aligned', op.loc);
    let now = sums.names;
    for (let i = 0; i < left.panels.length; i++) {
      const x = this.panel(a, a_index, i);
      now = now.map((sum, j) => {
        const y = isTurned
          ? this.turned(this.panel(b, b_index, i, [j * width, width]))
          : this.panel(b, b_index, j, [i * depth, depth]);
        return out.let(
          `mosaic_gpu.wgmma accumulator(${sum} : ${sums.type}) a(${x.name} : ${x.type}) b(${y.name} : ${y.type}) -> ${sums.type}`,
          op.loc,
        );
      });
    }
    out.add('nvvm.wgmma.commit.group.sync.aligned');
    sums.names = now;
  }

  /** A panel with its axes in the other order. */
  private turned({ name, type }: { readonly name: string; readonly type: string }) {
    const turned = type.replace(
      /^memref<(\d+)x(\d+)x(\w+)(?:, strided<\[\d+, 1\](, offset: [^>]*)?>)?/,
      (_, rows, columns, element, offset = '') =>
        `memref<${columns}x${rows}x${element}, strided<[1, ${columns}]${offset}>`,
    );
    return { name: this.out.let(`memref.transpose ${name} (r, c) -> (c, r) : ${type} to ${turned}`), type: turned };
  }

  private loadSums(op: OpOf<'load'>): void {
    const sums = this.variables.get(op.operands.ref)!;
    const { shape } = op.results[0]!.type as TileType;
    this.out.add('nvvm.wgmma.wait.group.sync.aligned 0', op.loc);
    const vectors = sums.names.map((name) => this.out.let(optimizationBarrier(name, sums.type), op.loc));
    sums.names = vectors;
    const width = panelWidth(shape[1]!);
    this.program.tiles.set(op.results[0]!, { kind: 'vectors', vectors, shape: [shape[0]!, width] });
  }

  // ---- control flow ---------------------------------------------------------------------------------------------------

  /** Variables from outside that the regions of an op change. */
  private changed(op: GenericOp): Variable[] {
    const found = new Set<Variable>();
    for (const region of op.regions)
      walk(region, (inner) => {
        const target = isOp(inner, 'wgmma')
          ? inner.operands.acc
          : isOp(inner, 'barrier_wait')
            ? inner.operands.barrier
            : isOp(inner, 'load')
              ? inner.operands.ref
              : undefined;
        const variable = target && this.variables.get(target);
        if (variable) found.add(variable);
      });
    return [...found];
  }

  /** Gives the variables, one after the other, the names that `name` makes. */
  private rename(variables: readonly Variable[], name: () => string): void {
    for (const v of variables) v.names = v.names.map(name);
  }

  /** A region of the text that ends with a yield of scalars and of what it changes. */
  private nested(region: Region, variables: readonly Variable[], types: readonly string[]): Lines {
    const body = this.out.nested();
    this.program.within(body, () => {
      this.region({ ...region, ops: region.ops.slice(0, -1) });
      const names = [
        ...terminatorValues(region).map((v) => this.program.scalar(v)),
        ...variables.flatMap((v) => v.names),
      ];
      if (names.length > 0) this.out.add(`scf.yield ${names.join(', ')} : ${types.join(', ')}`);
    });
    return body;
  }

  private typesOf(values: readonly Value[], variables: readonly Variable[]): string[] {
    const scalars = values.map(({ type }) => {
      if (type.kind !== 'tile' || type.shape.length > 0)
        return unsupportedOp('tiles that loops and branches of explicit programs carry, with mosaic_gpu');
      return elementType(type.dtype);
    });
    return [...scalars, ...variables.flatMap((v) => v.names.map(() => v.type))];
  }

  /** What a loop or branch gives: results, then variables. */
  private take(op: GenericOp, results: string, variables: readonly Variable[], count: number): void {
    const name = (i: number): string => (count === 1 ? results : `${results}#${i}`);
    op.results.forEach((r, i) => this.program.bind(r, name(i)));
    let next = op.results.length;
    this.rename(variables, () => name(next++));
  }

  private for(op: OpOf<'for'>): void {
    const { program, out } = this;
    const { from, to, step, init = [] } = op.operands;
    const [body] = op.regions;
    const variables = this.changed(op);
    const types = this.typesOf(init, variables);
    const bounds = [from, to, step].map((v) => program.scalar(v)) as [string, string, string];
    const initial = [...init.map((v) => program.scalar(v)), ...variables.flatMap((v) => v.names)];
    const carried = types.map(() => out.fresh());
    const counter = out.fresh();
    let next = init.length;
    this.rename(variables, () => carried[next++]!);
    [counter, ...carried.slice(0, init.length)].forEach((name, i) => program.bind(body!.args[i]!, name));
    const lines = this.nested(body!, variables, types);
    const args = carried.map((name, i) => `${name} = ${initial[i]}`).join(', ');
    const head = `scf.for ${counter} = ${bounds[0]} to ${bounds[1]} step ${bounds[2]}`;
    if (types.length === 0) return out.region(`${head} : i32`, lines);
    const results = out.fresh();
    const many = types.length === 1 ? '' : `:${types.length}`;
    out.region(`${results}${many} = ${head} iter_args(${args}) -> (${types.join(', ')}) : i32`, lines);
    this.take(op, results, variables, types.length);
  }

  private if(op: OpOf<'if'>): void {
    const { program, out } = this;
    const variables = this.changed(op);
    const types = this.typesOf(op.results, variables);
    const condition = program.scalar(op.operands.condition);
    const before = variables.map((v) => v.names);
    const restore = (): void => variables.forEach((v, i) => (v.names = before[i]!));
    const then = this.nested(op.regions[0]!, variables, types);
    restore();
    const otherwise = this.nested(op.regions[1]!, variables, types);
    restore();
    if (types.length === 0 && otherwise.lines.length === 0) return out.region(`scf.if ${condition}`, then);
    const results = out.fresh();
    const many = types.length === 1 ? '' : `:${types.length}`;
    const head = types.length === 0 ? '' : `${results}${many} = `;
    const arrow = types.length === 0 ? '' : ` -> (${types.join(', ')})`;
    out.region(`${head}scf.if ${condition}${arrow}`, then, '} else {');
    out.lines.push(...otherwise.lines.map((line) => `  ${line}`), '}');
    this.take(op, results, variables, types.length);
  }
}

/** Columns of a panel of sums: those of one swizzle of a side in half precision. */
function panelWidth(columns: number): number {
  const width = rowBytes / 2;
  return columns % width === 0
    ? width
    : unsupportedOp(`sums of ${columns} columns with mosaic_gpu: they come in panels of ${width}`);
}
