/** Ops of explicit programs: warpgroups of one block, what they share, and what runs beside them. */

import { attr } from '../attributes.js';
import { defineOp, one, optional, type Report, types, variadic } from '../define-op.js';
import { type DType, f16, f32, storageBytes } from '../dtypes.js';
import { indexType, printType, type RefType, type Type } from '../types.js';
import type { Value } from '../value.js';
import { blockAxes } from './memory.js';

/** Elements of a box of TMA on one axis. */
const largestBox = 256;
/** Bytes of the last axis of a box come in these. */
const boxGrain = 16;
/** Rows of one wgmma, and the columns that it can have. */
const wgmmaRows = 64;
const largestColumns = 256;
/** Bytes that wgmma takes of the axis that is summed. */
const wgmmaDepthBytes = 32;
/** Arrivals that an mbarrier can count. */
const mostArrivals = 2 ** 20 - 1;

const place = { index: variadic(types.index), to_index: variadic(types.index) };
const boxAttrs = { box: attr.ints, axes: attr.optional(attr.ints), to_axes: attr.optional(attr.ints) };

interface BoxOperands {
  readonly source: Value<RefType>;
  readonly target: Value<RefType>;
  readonly index: readonly Value[];
  readonly toIndex: readonly Value[];
}
interface BoxAttrs {
  readonly box: readonly number[];
  readonly axes?: readonly number[] | undefined;
  readonly to_axes?: readonly number[] | undefined;
}

/** What a copy of a box needs: one dtype, a place in both refs, extents and bytes that TMA takes. */
function verifyBox(name: string, { source, target, index, toIndex }: BoxOperands, attrs: BoxAttrs, report: Report) {
  const { dtype } = source.type;
  if (dtype !== target.type.dtype)
    report(`'${name}' copies elements of one dtype, got ${printType(source.type)} and ${printType(target.type)}`);
  const sides = [
    [source, index, attrs.axes],
    [target, toIndex, attrs.to_axes],
  ] as const;
  for (const [ref, at, axes] of sides) {
    const rank = ref.type.shape.length;
    if (at.length !== rank) report(`'${name}' needs ${rank} indices for ${printType(ref.type)}, got ${at.length}`);
    const along = blockAxes(rank, axes);
    const ordered = along.every((axis, i) => axis >= 0 && axis < rank && (i === 0 || axis > along[i - 1]!));
    if (along.length !== attrs.box.length || !ordered)
      report(
        `'${name}' of a box [${attrs.box.join(', ')}] cannot lie along axes [${along.join(', ')}] of ${printType(ref.type)}`,
      );
    else if (along.length > 0 && along.at(-1) !== rank - 1)
      report(`'${name}' copies boxes that lie along the last axis of ${printType(ref.type)}`);
  }
  const wide = attrs.box.findIndex((n) => n < 1 || n > largestBox);
  if (wide >= 0)
    report(
      `'${name}' of a box [${attrs.box.join(', ')}]: axis ${wide} has ${attrs.box[wide]} elements, TMA takes 1 to ${largestBox}`,
    );
  const bytes = (attrs.box.at(-1) ?? 1) * storageBytes(dtype);
  if (bytes % boxGrain !== 0)
    report(
      `'${name}' of a box [${attrs.box.join(', ')}] of ${dtype.name}: rows of ${bytes} bytes, TMA takes multiples of ${boxGrain}`,
    );
}

/** Products that the tensor core of Hopper forms, by the dtype of both sides: what they are summed in. */
const sums: Readonly<Record<string, DType>> = { f16: f32, bf16: f32 };

/** The extents of a matrix in shared memory: its last two axes; those before are chosen by the indices. */
function matrixOf(ref: Value<RefType>): readonly [number, number] | undefined {
  const last = ref.type.shape.slice(-2);
  return last.length === 2 && last.every((n) => typeof n === 'number') ? (last as [number, number]) : undefined;
}

const nothing = { infer: (): readonly Type[] => [] };

export const warpgroupOps = [
  defineOp({
    name: 'warpgroup_id',
    summary: 'Give the number of the warpgroup in its block.',
    results: { infer: () => [indexType] },
  }),

  defineOp({
    name: 'allocate',
    summary: 'Reserve a buffer: in shared memory for the block, or sums in the registers of each warpgroup.',
    semantics:
      'Shared memory holds anything at first; sums (`acc`) are zeros. `swizzle` says in bytes how rows are permuted in memory, which no op can see.',
    attrs: { name: attr.text, swizzle: attr.optional(attr.int) },
    results: { stated: 1 },
    verify: ({ attrs: { swizzle }, results: [result] }, report) => {
      const type = result!.type;
      if (type.kind !== 'ref' || type.space === 'gmem' || !type.shape.every((n) => typeof n === 'number'))
        return report(`'allocate' gives a ref of static shape in smem, tmem or acc, got ${printType(type)}`);
      const shape = type.shape as readonly number[];
      if (
        type.space === 'acc' &&
        (type.dtype !== f32 || shape.length !== 2 || shape[0]! % wgmmaRows !== 0 || shape[1]! % 8 !== 0)
      )
        report(
          `sums are a matrix of f32 whose rows are a multiple of ${wgmmaRows} and columns of 8, got ${printType(type)}`,
        );
      if (swizzle === undefined) return;
      if (![16, 32, 64, 128].includes(swizzle)) report(`a swizzle has 16 (none), 32, 64 or 128 bytes, got ${swizzle}`);
      const row = (shape.at(-1) ?? 1) * storageBytes(type.dtype);
      if (row % swizzle !== 0)
        report(`a swizzle of ${swizzle} bytes does not fit rows of ${row} bytes (${printType(type)})`);
      if (shape.length < 2 || shape.at(-2)! % 8 !== 0)
        report(`a swizzle permutes eight rows: ${printType(type)} has no multiple of 8`);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'barriers',
    summary:
      'Set up mbarriers in shared memory; each completes a phase after `arrivals` arrivals and the bytes announced.',
    attrs: { name: attr.text, arrivals: attr.int, count: attr.int },
    results: { infer: (_, { arrivals }) => [{ kind: 'barrier', arrivals }] },
    verify: ({ attrs: { arrivals, count } }, report) => {
      if (arrivals < 1 || arrivals > mostArrivals)
        report(`a barrier counts 1 to ${mostArrivals} arrivals, got ${arrivals}`);
      if (count < 1 || count > 32) report(`there are 1 to 32 barriers of a name, got ${count}`);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'async_load',
    summary: 'Start a copy from global to shared memory; it arrives on a barrier, which also waits for its bytes.',
    semantics: 'Elements outside of the array become zeros. The target holds anything until the barrier completes.',
    operands: {
      from: one(types.ref('gmem')),
      to: one(types.ref('smem')),
      barrier: one(types.barrier),
      ...place,
      barrier_index: optional(types.index),
    },
    attrs: boxAttrs,
    results: nothing,
    verify: ({ operands: { from, to, index = [], to_index = [] }, attrs }, report) =>
      verifyBox('async_load', { source: from, target: to, index, toIndex: to_index }, attrs, report),
    effects: ['external'],
  }),

  defineOp({
    name: 'async_store',
    summary: 'Start a copy from shared to global memory, in a group of its own.',
    semantics: 'Elements outside of the array are dropped. `async_store_wait` tells when it is done.',
    operands: { from: one(types.ref('smem')), ref: one(types.ref('gmem')), ...place },
    attrs: boxAttrs,
    results: nothing,
    verify: ({ operands: { from, ref, index = [], to_index = [] }, attrs }, report) =>
      verifyBox('async_store', { source: from, target: ref, index, toIndex: to_index }, attrs, report),
    effects: ['writes', 'external'],
  }),

  defineOp({
    name: 'async_store_wait',
    summary: 'Wait until at most `pending` of the stores that this warpgroup started are not done.',
    semantics: 'With `read_only` a store counts as done once its source has been read.',
    attrs: { pending: attr.int, read_only: attr.optional(attr.flag) },
    results: nothing,
    verify: ({ attrs: { pending } }, report) => {
      if (pending < 0) report(`'async_store_wait' leaves 0 or more stores, got ${pending}`);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'commit_smem',
    summary: 'Make what this warpgroup wrote to shared memory visible to copies and to the tensor core.',
    results: nothing,
    effects: ['external'],
  }),

  defineOp({
    name: 'barrier_arrive',
    summary: 'Count one arrival of this warpgroup on a barrier.',
    operands: { barrier: one(types.barrier), barrier_index: optional(types.index) },
    results: nothing,
    effects: ['external'],
  }),

  defineOp({
    name: 'barrier_wait',
    summary: 'Wait until the next phase of a barrier is complete.',
    semantics:
      'Each warpgroup counts its own waits: its first wait is for the first phase, and so on. A warpgroup must not miss a phase.',
    operands: { barrier: one(types.barrier), barrier_index: optional(types.index) },
    results: nothing,
    effects: ['external'],
  }),

  defineOp({
    name: 'wgmma',
    summary: 'Start adding a product of matrices in shared memory to sums in registers.',
    semantics:
      'As `dot` with these sums. Both sides are read until `wgmma_wait` says otherwise; the sums may be read after that. The last two axes of a ref are the matrix.',
    operands: {
      acc: one(types.ref('acc')),
      a: one(types.ref('smem')),
      b: one(types.ref('smem')),
      a_index: variadic(types.index),
      b_index: variadic(types.index),
    },
    attrs: { transpose_b: attr.optional(attr.flag) },
    results: nothing,
    verify: ({ operands: { acc, a, b, a_index = [], b_index = [] }, attrs }, report) => {
      const [left, right, sum] = [matrixOf(a), matrixOf(b), matrixOf(acc)];
      if (!left || !right || !sum) return report("'wgmma' takes matrices in shared memory");
      for (const [side, ref, index] of [
        ['a', a, a_index],
        ['b', b, b_index],
      ] as const)
        if (index.length !== ref.type.shape.length - 2)
          report(
            `'wgmma' needs ${ref.type.shape.length - 2} indices for ${side}, ${printType(ref.type)}, got ${index.length}`,
          );
      const [k, n] = attrs.transpose_b ? [right[1], right[0]] : right;
      if (left[1] !== k)
        report(`'wgmma' sums over ${left[1]} elements of ${printType(a.type)} but ${k} of ${printType(b.type)}`);
      if (sum[0] !== left[0] || sum[1] !== n)
        report(
          `'wgmma' of [${left.join(', ')}] and [${k}, ${n}] gives sums of [${left[0]}, ${n}], got ${printType(acc.type)}`,
        );
      const { dtype } = a.type;
      if (dtype !== b.type.dtype || sums[dtype.name] !== acc.type.dtype)
        report(
          `'wgmma' takes ${Object.keys(sums).join(' or ')} on both sides and sums of ${f32.name}, got ${dtype.name}, ${b.type.dtype.name} and ${acc.type.dtype.name}`,
        );
      if (left[0] % wgmmaRows !== 0) report(`'wgmma' takes rows in multiples of ${wgmmaRows}, got ${left[0]}`);
      if (n % 8 !== 0 || n > largestColumns)
        report(`'wgmma' takes columns in multiples of 8 up to ${largestColumns}, got ${n}`);
      const depth = wgmmaDepthBytes / storageBytes(f16);
      if (k % depth !== 0) report(`'wgmma' of ${dtype.name} sums over multiples of ${depth} elements, got ${k}`);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'wgmma_wait',
    summary: 'Wait until at most `pending` of the products that this warpgroup started are not done.',
    attrs: { pending: attr.int },
    results: nothing,
    verify: ({ attrs: { pending } }, report) => {
      if (pending < 0 || pending > 7) report(`'wgmma_wait' leaves 0 to 7 products, got ${pending}`);
    },
    effects: ['external'],
  }),

  defineOp({
    name: 'warpgroup_sync',
    summary: 'Wait for all warpgroups of the block.',
    results: nothing,
    effects: ['external'],
  }),

  defineOp({
    name: 'set_max_registers',
    summary: 'Give registers of each thread of the warpgroup back to the block, or take more of them.',
    attrs: { count: attr.int, action: attr.word('increase', 'decrease') },
    results: nothing,
    verify: ({ attrs: { count } }, report) => {
      if (count < 24 || count > 256 || count % 8 !== 0)
        report(`'set_max_registers' takes multiples of 8 from 24 to 256, got ${count}`);
    },
    effects: ['external'],
  }),
] as const;

export type WarpgroupOpName = (typeof warpgroupOps)[number]['name'];

/** Ops that only a launch of warpgroups may have. */
export const warpgroupOpNames: ReadonlySet<string> = new Set(warpgroupOps.map((op) => op.name));
