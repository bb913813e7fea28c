/** `plgpu.warpgroupProgram`: explicit warpgroups on a mesh, with what they allocate. */

import { backendCodes } from '../diagnostics/codes/backend.js';
import type { Loc } from '../diagnostics/location.js';
import type { DType, F32 } from '../ir/dtypes.js';
import { refType } from '../ir/types.js';
import { mistake } from './errors.js';
import { checkCallback, checkNotCaptured, checkOptions, checkRecord, Handle, isRecord, refuse } from './handle.js';
import { checkMesh, type Mesh } from './mesh.js';
import {
  checkArrays,
  checkProgramOptions,
  type Handles,
  type Inputs,
  type Outputs,
  Program,
  type ProgramOptions,
} from './program.js';
import type { Rank, RankOf } from './rank.js';
import { type Extent, indexValue, Ref } from './ref.js';
import type { AccumulatorSpec, BarrierSpec, ScratchSpec } from './scratch.js';
import { userLoc } from './site.js';
import { declareGrid } from './spec.js';
import { needTrace, type Trace, type TracedValue } from './trace.js';

/** Barriers of one name, or one of them. */
export class Barrier extends Handle {
  /** @internal */
  constructor(
    readonly name: string,
    readonly count: number,
    /** @internal */
    readonly value: TracedValue,
    /** @internal */
    readonly place?: Extent,
  ) {
    super();
  }

  /** @internal */
  override get label(): string {
    return `the barrier '${this.name}'`;
  }
  /** @internal */
  override get birth(): Loc {
    return this.value.loc;
  }

  /** One of several. */
  at(index: Extent): Barrier {
    checkNotCaptured(index);
    if (typeof index === 'number' && !(Number.isInteger(index) && index >= 0 && index < this.count))
      refuse(`'${this.name}' has ${this.count} barriers; an index is an integer from 0 up`, index);
    return new Barrier(this.name, this.count, this.value, index);
  }

  /** Waits until the next phase is complete. Every warpgroup that waits sees each phase once. */
  wait(): void {
    const trace = needTrace(`wait of '${this.name}'`);
    trace.emit('barrier_wait', this.operands(trace), {});
  }

  /** Counts one arrival of this warpgroup. */
  arrive(): void {
    const trace = needTrace(`arrive of '${this.name}'`);
    trace.emit('barrier_arrive', this.operands(trace), {});
  }

  /** @internal */
  operands(trace: Trace): { barrier: never; barrier_index: never } {
    if (this.place === undefined && this.count > 1)
      refuse(`'${this.name}' has ${this.count} barriers: choose one with .at(index)`, this);
    return {
      barrier: trace.use(this.value) as never,
      barrier_index: (this.place === undefined ? undefined : indexValue(this.place)) as never,
    };
  }
}

export type AnyScratch = ScratchSpec | AccumulatorSpec | BarrierSpec;
export type Scratch = Readonly<Record<string, AnyScratch>>;
type ScratchHandle<T> = T extends BarrierSpec
  ? Barrier
  : T extends { readonly dtype: infer D extends DType; readonly shape: infer S }
    ? Ref<D, S extends readonly unknown[] ? (number extends S['length'] ? Rank : RankOf<S>) : Rank>
    : never;
export type ScratchHandles<S> = { readonly [K in keyof S]: ScratchHandle<S[K]> };

function allocateOne(trace: Trace, name: string, spec: AnyScratch): Ref | Barrier {
  const { loc } = spec;
  if (spec.space === 'barrier') {
    const { arrivals, count } = spec;
    const [value] = trace.emit('barriers', {}, { name, arrivals, count }, { loc });
    return new Barrier(name, count, value!);
  }
  const { space, dtype, shape } = spec;
  const swizzles = 'transforms' in spec ? spec.transforms.filter((t) => t.kind === 'swizzle') : [];
  const swizzle = swizzles.at(-1)?.bytes;
  const type = refType(space, dtype, shape);
  const [value] = trace.emit('allocate', {}, { name, swizzle }, { types: [type], loc });
  return new Ref(
    { name, dtype, extents: shape, value: value!, loc },
    shape.map((size) => ({ size })),
  ) as Ref;
}

function allocateAll(scratch: Scratch): Record<string, Ref | Barrier> {
  const trace = needTrace('scratch');
  return Object.fromEntries(Object.entries(scratch).map(([name, spec]) => [name, allocateOne(trace, name, spec)]));
}

function checkScratch(scratch: Scratch): void {
  checkRecord("'scratch' is a record of declarations", scratch);
  for (const [name, spec] of Object.entries(scratch) as [string, unknown][])
    if (!isRecord(spec) || !['smem', 'acc', 'barrier'].includes(spec.space as string))
      refuse(`'${name}' must be declared with smem(…), accumulator(…) or barrier(…)`, spec);
}

/** Allocates for the time of `body`; what it returns is given back. Sums of products are zeros at its start. */
export function runScoped<const S extends Scratch, T>(scratch: S, body: (handles: ScratchHandles<S>) => T): T {
  needTrace('runScoped');
  checkScratch(scratch);
  checkCallback("'runScoped' takes a body: ({ acc }) => …", body);
  return body(allocateAll(scratch) as unknown as ScratchHandles<S>);
}

export interface WarpgroupProgramSpec<I, O, S = {}> extends ProgramOptions {
  readonly mesh: Mesh;
  readonly inputs: I;
  readonly outputs: O;
  /** Shared memory, sums and barriers, which the body gets by their names. */
  readonly scratch?: S;
}

const specNames = [
  'mesh',
  'inputs',
  'outputs',
  'scratch',
  'fastMath',
  'compilerParams',
  'costEstimate',
  'metadata',
  'debug',
];

/**
 * A program of explicit warpgroups: every warpgroup of a block runs the body. Arrays are whole; copies, barriers and
 * products are the program's business.
 *
 * @throws CompileError TW2033, TW2035 for the mesh, and TW2041 for what explicit programs cannot do yet.
 */
export function warpgroupProgram<I extends Inputs, O extends Outputs, const S extends Scratch = {}>(
  spec: WarpgroupProgramSpec<I, O, S>,
  body: (handles: Handles<I, O> & ScratchHandles<S>) => void,
): Program<I, O> {
  checkRecord("'warpgroupProgram' takes a record: { mesh, inputs, outputs, scratch }", spec);
  checkOptions('warpgroupProgram', specNames, spec);
  checkCallback("'warpgroupProgram' takes a body", body);
  const { mesh, scratch = {}, ...rest } = spec;
  checkMesh(mesh);
  checkArrays(spec as never);
  checkScratch(scratch);
  const { inputs: _, outputs: __, ...options } = rest;
  checkProgramOptions(options);
  if (Object.values(mesh.cluster).some((n) => n > 1))
    mistake((c) => backendCodes.explicitPending({ what: 'clusters of blocks' }, c), { help: 'leave the cluster out' });
  const names = [...Object.keys(spec.inputs), ...Object.keys(spec.outputs)];
  const twice = Object.keys(scratch).find((name) => names.includes(name));
  if (twice !== undefined) refuse(`scratch has a name of its own, '${twice}' is an array`, twice);
  const loc = userLoc();
  const grid = declareGrid({ ...mesh.grid, ...mesh.cluster }, {}, mesh.loc);
  const [name = 'warpgroup', count = 1] = Object.entries(mesh.threads)[0] ?? [];
  const explicit = { mesh, warpgroups: { name, count }, allocate: () => allocateAll(scratch) };
  return new Program({ ...rest, grid } as never, body as never, loc, explicit);
}

// ---- what runs beside the warpgroups --------------------------------------------------------------------------------

/** A box of a ref: first elements, extents, axes. */
function boxOf(
  what: string,
  ref: unknown,
): { ref: Ref; index: never[]; box: number[]; axes: readonly number[] | undefined } {
  if (!(ref instanceof Ref)) return refuse(`'${what}' copies between refs`, ref);
  const view = ref as Ref;
  const along = view.axes.flatMap((a, axis) => (a.size === undefined ? [] : [axis]));
  const box = along.map((axis) => {
    const { size } = view.axes[axis]!;
    if (typeof size !== 'number') refuse(`'${what}' copies a box of static extents: take .at(ds(start, size))`, view);
    return size as number;
  });
  const index = view.axes.map((a) => {
    if (a.tile) refuse(`'${what}' copies boxes, not elements by index tiles`, view);
    return indexValue(a.start ?? 0);
  });
  return { ref: view, index: index as never[], box, axes: along.length === view.axes.length ? undefined : along };
}

function copyOf(what: string, source: unknown, target: unknown) {
  const trace = needTrace(what);
  const [from, to] = [boxOf(what, source), boxOf(what, target)];
  if (from.box.length !== to.box.length || from.box.some((n, i) => n !== to.box[i]))
    refuse(`'${what}' copies a box of one shape: [${from.box.join(', ')}] is not [${to.box.join(', ')}]`, to.ref);
  return {
    trace,
    refs: [trace.use(from.ref.array.value) as never, trace.use(to.ref.array.value) as never] as const,
    index: { index: from.index, to_index: to.index },
    attrs: { box: from.box, axes: from.axes, to_axes: to.axes },
  };
}

/**
 * Starts a copy from global to shared memory (TMA). It counts as one arrival on the barrier, which completes when its
 * bytes are there; what lies outside of the array becomes zeros.
 */
export function copyGmemToSmem<D extends DType>(source: Ref<D>, target: Ref<D>, barrier: Barrier): void {
  const { trace, refs, index, attrs } = copyOf('copyGmemToSmem', source, target);
  if (!(barrier instanceof Barrier)) refuse("'copyGmemToSmem' takes a barrier to arrive on", barrier);
  trace.emit('async_load', { from: refs[0], to: refs[1], ...index, ...barrier.operands(trace) }, attrs);
}

/** Starts a copy from shared to global memory (TMA); what lies outside of the array is dropped. `commitSmem` goes before it. */
export function copySmemToGmem<D extends DType>(source: Ref<D>, target: Ref<D>): void {
  const { trace, refs, index, attrs } = copyOf('copySmemToGmem', source, target);
  trace.emit('async_store', { from: refs[0], ref: refs[1], ...index }, attrs);
}

/** Waits until at most `pending` copies to global memory of this warpgroup are not done. */
export function waitSmemToGmem(pending: number, options: { readonly waitReadOnly?: boolean } = {}): void {
  checkOptions('waitSmemToGmem', ['waitReadOnly'], options);
  if (!Number.isInteger(pending)) refuse("'waitSmemToGmem' takes a number of copies", pending);
  needTrace('waitSmemToGmem').emit('async_store_wait', {}, { pending, read_only: options.waitReadOnly });
}

/** Makes what this warpgroup wrote to shared memory visible to copies and products. */
export function commitSmem(): void {
  needTrace('commitSmem').emit('commit_smem', {}, {});
}

/** A matrix in shared memory for a product. */
function operandOf(side: string, ref: unknown): { ref: Ref; index: never[] } {
  if (!(ref instanceof Ref)) return refuse(`'wgmma' takes a ref for ${side}`, ref);
  const view = ref as Ref;
  const rank = view.axes.length;
  const whole = view.axes
    .slice(-2)
    .every((a, i) => a.size === view.array.extents[rank - 2 + i] && (a.start ?? 0) === 0);
  if (rank < 2 || !whole || view.axes.slice(0, -2).some((a) => a.size !== undefined))
    refuse(`'wgmma' takes the whole last two axes of a buffer for ${side}, and an index for each before`, view);
  return { ref: view, index: view.axes.slice(0, -2).map((a) => indexValue(a.start ?? 0)) as never[] };
}

export interface WgmmaOptions {
  /** `b` is `[n, k]` in memory. */
  readonly transposeB?: boolean;
}

/** Starts `acc += a · b` of matrices in shared memory. `wgmmaWait` tells when it is done; reading `acc` waits for all. */
export function wgmma<D extends DType>(acc: Ref<F32>, a: Ref<D>, b: Ref<D>, options: WgmmaOptions = {}): void {
  const trace = needTrace('wgmma');
  checkOptions('wgmma', ['transposeB'], options);
  checkNotCaptured(acc);
  if (!(acc instanceof Ref)) refuse("'wgmma' adds to an accumulator", acc);
  const [left, right] = [operandOf('a', a), operandOf('b', b)];
  const operands = {
    acc: trace.use(acc.array.value) as never,
    a: trace.use(left.ref.array.value) as never,
    b: trace.use(right.ref.array.value) as never,
    a_index: left.index,
    b_index: right.index,
  };
  trace.emit('wgmma', operands, { transpose_b: options.transposeB });
}

/** Waits until at most `pending` products of this warpgroup are not done. */
export function wgmmaWait(pending: number): void {
  if (!Number.isInteger(pending)) refuse("'wgmmaWait' takes a number of products", pending);
  needTrace('wgmmaWait').emit('wgmma_wait', {}, { pending });
}

/** Waits for all warpgroups of the block. */
export function syncWarpgroups(): void {
  needTrace('syncWarpgroups').emit('warpgroup_sync', {}, {});
}

/** Takes more registers for each thread of this warpgroup, or gives some back: `count`, a multiple of 8 from 24 to 256. */
export function setMaxRegisters(count: number, action: 'increase' | 'decrease'): void {
  if (!Number.isInteger(count)) refuse("'setMaxRegisters' takes a number", count);
  needTrace('setMaxRegisters').emit('set_max_registers', {}, { count, action });
}
