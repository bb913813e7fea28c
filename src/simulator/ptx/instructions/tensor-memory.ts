/** tcgen05: tensor memory, and the matrix instructions that accumulate in it. */

import { tensorColumns } from '../block.js';
import { act, eachLane, elementsOf, type InstructionTable, nothing, reader, type Scope } from '../instruction.js';
import { elementTypes, multiplyAdd, readTile } from '../matrix.js';
import { sharedBase, unsupported } from '../symbols.js';
import type { Warp } from '../warp.js';
import { has, operand } from './arithmetic.js';
import { accessKinds } from './memory.js';

const rows = 128;

function allocate(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const [address, columns] = [reader(operand(i, 0), symbols), reader(operand(i, 1), symbols)];
  return act(
    scope,
    (warp) => {
      const { block } = warp;
      const at = block.sharedAt(address(warp, 0) >>> 0, 0, 4, accessKinds.store, warp, 0);
      const n = columns(warp, 0);
      if (n < 32 || n > tensorColumns || (n & (n - 1)) !== 0)
        warp.misuse(`an allocation of ${n} columns of tensor memory`);
      if (block.tensorTop + n > tensorColumns) warp.misuse(`tensor memory has no ${n} columns left`);
      block.shared.i32[at >> 2] = block.tensorTop;
      block.tensorAllocations.set(block.tensorTop, n);
      block.tensorTop += n;
    },
    true,
  );
}

function free(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const [address, columns] = [reader(operand(i, 0), symbols), reader(operand(i, 1), symbols)];
  return act(
    scope,
    (warp) => {
      const { block } = warp;
      const [at, n] = [address(warp, 0), columns(warp, 0)];
      if (block.tensorAllocations.get(at) !== n) warp.misuse(`columns ${at} of tensor memory were not allocated so`);
      block.tensorAllocations.delete(at);
      if (block.tensorAllocations.size === 0) block.tensorTop = 0;
    },
    true,
  );
}

/** Row and column of register `n` of a lane, within the quarter of the warp. `split`: from the first half to the second. */
const shapes: Readonly<
  Record<string, (lane: number, n: number, split: number) => readonly [row: number, column: number]>
> = {
  '32x32b': (lane, n) => [lane, n],
  '16x32bx2': (lane, n, split) => [lane & 15, n + (lane >> 4) * split],
  '16x256b': (lane, n) => [(lane >> 2) + 8 * ((n >> 1) & 1), (n >> 2) * 8 + (lane & 3) * 2 + (n & 1)],
  '16x128b': (lane, n) => [(lane >> 2) + 8 * (n & 1), (n >> 1) * 4 + (lane & 3)],
};

/** Each warp reaches the quarter of the rows that its number in the warpgroup names. */
function quarterOf(warp: Warp, address: number): number {
  const lane = address >>> 16;
  const quarter = warp.index & 3;
  if (lane > 31 && lane >> 5 !== quarter) warp.misuse(`lane ${lane} of tensor memory, which this warp does not reach`);
  return quarter * 32 + (lane & 31);
}

function move(scope: Scope, loads: boolean) {
  const { instruction: i, symbols } = scope;
  const place = shapes[i.parts.find((p) => /^\d+x\d+b(x2)?$/.test(p)) ?? ''] ?? unsupported(i);
  if (i.parts.some((p) => p.includes('pack') || p === 'red')) unsupported(i);
  const address = reader(operand(i, loads ? 1 : 0), symbols);
  const splits = i.operands.length === 3 ? operand(i, loads ? 2 : 1) : undefined;
  const split = splits?.kind === 'immediate' ? Number(splits.value) : 0;
  const elements = elementsOf(operand(i, loads ? 0 : i.operands.length - 1));
  const values = elements.map((e) => (loads ? undefined : reader(e, symbols)));
  return act(
    scope,
    (warp) => {
      const { tensor } = warp.block;
      const at = address(warp, 0);
      const [row, column] = [quarterOf(warp, at), at & 0xffff];
      elements.forEach((e, n) => {
        for (let lane = 0; lane < 32; lane++) {
          const [r, c] = place(lane, n, split);
          if (column + c >= tensorColumns) warp.misuse(`column ${column + c} of tensor memory`);
          const cell = (column + c) * rows + row + r;
          if (!loads) tensor[cell] = values[n]!(warp, lane);
          else if (e.kind === 'register') warp.registers[e.slot * 32 + lane] = tensor[cell]!;
        }
      });
    },
    true,
  );
}

/** Element types by their number in the instruction descriptor, and the depth of one instruction. */
const kinds: Readonly<Record<string, { readonly K: number; readonly types: Readonly<Record<number, string>> }>> = {
  'kind::f16': { K: 16, types: { 0: 'f16', 1: 'bf16' } },
  'kind::tf32': { K: 8, types: { 2: 'tf32' } },
  'kind::f8f6f4': { K: 32, types: { 0: 'e4m3', 1: 'e5m2' } },
  'kind::i8': { K: 32, types: { 0: 'u8', 1: 's8' } },
};

/** Fields of the instruction descriptor. */
function describe(descriptor: number) {
  const field = (at: number, bits: number): number => (descriptor >>> at) & ((1 << bits) - 1);
  return {
    sums: (['f16', 'f32', 's32'] as const)[field(4, 2)],
    typeA: field(7, 3),
    typeB: field(10, 3),
    negates: field(13, 2) !== 0,
    transposedA: field(15, 1) === 1,
    transposedB: field(16, 1) === 1,
    N: field(17, 6) << 3,
    M: field(24, 5) << 4,
  };
}

/** Lane of tensor memory that row `m` of a matrix at `address` lies in: 64 rows take one half of each quarter. */
const laneOf = (m: number, M: number, address: number): number =>
  (M === 64 ? (m >> 4) * 32 + (m & 15) : m) + (address >>> 16);

function mma(scope: Scope) {
  const { instruction: i, symbols } = scope;
  const kind = kinds[i.parts.find((p) => p.startsWith('kind::')) ?? ''] ?? unsupported(i, 'this kind of tcgen05.mma');
  if (!has(i, 'cta_group::1') || i.operands.length > 5) unsupported(i, 'this form of tcgen05.mma');
  const inTensorMemory = operand(i, 1).kind === 'address';
  const read = (n: number, word = 0) => reader(operand(i, n), symbols, word);
  const [target, descriptor] = [read(0), read(3)];
  const [aLow, aHigh] = [read(1), inTensorMemory ? () => 0 : read(1, 1)];
  const [bLow, bHigh] = [read(2), read(2, 1)];
  const enable = operand(i, 4);
  const { K } = kind;
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const d = describe(descriptor(warp, lane));
      const { M, N } = d;
      const elementOf = (type: number) =>
        elementTypes[kind.types[type] ?? ''] ?? warp.misuse(`a tcgen05.mma of element type ${type}`, lane);
      const [elementA, elementB] = [elementOf(d.typeA), elementOf(d.typeB)];
      if ((M !== 64 && M !== rows) || d.negates || d.sums === 'f16')
        warp.misuse(`a tcgen05.mma of ${M} rows with sums in ${d.sums}, which is not modelled`, lane);
      const keep =
        enable.kind === 'immediate'
          ? enable.value !== 0n
          : enable.kind === 'predicate' && (((warp.predicates[enable.index]! >>> lane) & 1) === 1) !== enable.negated;
      const to = target(warp, lane);
      const column = to & 0xffff;
      const [a0, a1, b0, b1] = [aLow(warp, lane), aHigh(warp, lane), bLow(warp, lane), bHigh(warp, lane)];
      const perform = (): void => {
        const [A, B] = [new Float64Array(M * K), new Float64Array(N * K)];
        const integer = d.sums === 's32';
        const C = integer ? new Float64Array(M * N) : new Float32Array(M * N);
        const common = { K, firstRow: 0, generation: 'blackwell' as const };
        if (inTensorMemory) {
          const { perWord, get } = elementA;
          for (let m = 0; m < M; m++)
            for (let k = 0; k < K; k++) {
              const word = block.tensor[((a0 & 0xffff) + Math.floor(k / perWord)) * rows + laneOf(m, M, a0)]!;
              A[m * K + k] = get(word, k % perWord);
            }
        } else readTile(block, warp, a0, a1, { ...common, rows: M, transposed: d.transposedA, element: elementA }, A);
        readTile(block, warp, b0, b1, { ...common, rows: N, transposed: d.transposedB, element: elementB }, B);
        const sums = integer ? block.tensor : new Float32Array(block.tensor.buffer);
        const cell = (m: number, n: number): number => (column + n) * rows + laneOf(m, M, to);
        if (keep) for (let m = 0; m < M; m++) for (let n = 0; n < N; n++) C[m * N + n] = sums[cell(m, n)]!;
        multiplyAdd(A, B, C, M, N, K);
        for (let m = 0; m < M; m++) for (let n = 0; n < N; n++) sums[cell(m, n)] = C[m * N + n]!;
        block.launch.products += M * N * K;
      };
      if (block.launch.schedule.compute === 'late') block.tensorWork.push(perform);
      else perform();
    }),
  );
}

/** An arrival at an mbarrier when everything that was issued before is over. */
function commit(scope: Scope) {
  const { instruction: i, symbols } = scope;
  if (!has(i, 'cta_group::1') || i.parts.some((p) => p.includes('multicast'))) unsupported(i);
  const address = reader(operand(i, 0), symbols);
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const at = address(warp, lane) >>> 0;
      const arrive = (): void => {
        const barrier = block.barrierAt(at, warp);
        if (barrier.pending < 1)
          warp.misuse(`more arrivals than the mbarrier at shared offset ${at - sharedBase} expects`);
        barrier.pending--;
        block.release(barrier, warp);
        block.settle(barrier);
      };
      if (block.launch.schedule.compute !== 'late') return arrive();
      const work = block.tensorWork;
      block.tensorWork = [];
      block.pending.push(() => {
        for (const job of work) job();
        arrive();
      });
    }),
  );
}

const converging = (doc: string) => ({ doc, operands: ['any?', 'any?'] as const, warp: () => nothing(true) });

export const tensorMemory = {
  'tcgen05.alloc': { doc: 'allocates columns of tensor memory', operands: ['address', 'value'], warp: allocate },
  'tcgen05.dealloc': { doc: 'frees columns', operands: ['value', 'value'], warp: free },
  'tcgen05.relinquish_alloc_permit': converging('no more allocations of this block'),
  'tcgen05.ld': {
    doc: 'tensor memory to registers',
    operands: ['any', 'address', 'constant?'],
    warp: (s) => move(s, true),
  },
  'tcgen05.st': {
    doc: 'registers to tensor memory',
    operands: ['address', 'any', 'any?'],
    warp: (s) => move(s, false),
  },
  'tcgen05.wait::ld': converging('waits for loads of tensor memory, which are done at once here'),
  'tcgen05.wait::st': converging('waits for stores to tensor memory, which are done at once here'),
  'tcgen05.fence::before_thread_sync': converging('order between threads'),
  'tcgen05.fence::after_thread_sync': converging('order between threads'),
  'tcgen05.mma': {
    doc: 'matrix product into tensor memory',
    operands: ['address', 'any', 'value', 'value', 'any', 'any?', 'any?'],
    proxy: 'async',
    warp: mma,
  },
  'tcgen05.commit': {
    doc: 'arrival at an mbarrier when all before is done',
    operands: ['address', 'value?'],
    warp: commit,
  },
} satisfies InstructionTable;
