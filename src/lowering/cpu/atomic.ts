/** Atomic updates, element by element: one instruction where the machine has it, else a compare-and-swap loop. */

import { bf16, type DType, f16, isFloat } from '../../ir/dtypes.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import type { AtomicKind } from '../../ir/ops/memory.js';
import type { MlirValue } from '../mlir.js';
import { unsupportedOp } from '../rule-table.js';
import type { Buffer } from './arena.js';
import { type ElementRule, elementRules } from './arithmetic.js';
import type { Emitter, Lanes } from './emitter.js';
import { atomicOperations as binary, fromMemory, isPacked, memoryElem, storeScratch, toMemory } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

/** LLVM's numbers of the orderings. */
const orderings = { relaxed: 2, acquire: 4, release: 5, acq_rel: 6 } as const;

/** The one instruction for `kind`, or undefined. Float max and min have NaN rules that no instruction follows. */
function instruction(kind: AtomicKind, dtype: DType): number | undefined {
  if (kind === 'exchange') return dtype === f16 || dtype === bf16 ? undefined : binary.exchange;
  if (isFloat(dtype)) return kind === 'add' && dtype.bits >= 32 ? binary.fadd : undefined;
  if (kind === 'max' || kind === 'min') return dtype.signed ? binary[kind] : kind === 'max' ? binary.umax : binary.umin;
  return binary[kind];
}

const combine: Record<AtomicKind, ElementRule> = {
  ...(elementRules as Pick<typeof elementRules, 'add' | 'max' | 'min' | 'and' | 'or' | 'xor'>),
  exchange: (_, [, value]) => value!,
};

/** @param old receives what was there before, if anything reads that. */
export function emitAtomic(tiles: Tiles, op: OpOf<'atomic_rmw' | 'atomic_cas'>, old: Buffer | undefined): void {
  const { e } = tiles;
  const { ref, value, index: positions = [], mask } = op.operands;
  const { shape, dtype } = typeOf(value);
  if (isPacked(dtype)) return unsupportedOp(`an atomic update of ${dtype.name} on the CPU`);
  const element = (index: readonly MlirValue[]): void => {
    const { array, offsets } = tiles.indexedOffsets(ref, positions, index, 1);
    const address = e.address(array.base, offsets.value, memoryElem(dtype));
    const next = tiles.lanesAt(value, index, 1);
    const before = isOp(op, 'atomic_cas')
      ? swap(e, op, address, tiles.lanesAt(op.operands.compare, index, 1), next, dtype)
      : update(e, op as OpOf<'atomic_rmw'>, address, next, dtype);
    if (old) storeScratch(e, before, tiles.baseOf(old), tiles.flatIndex({ shape }, index));
  };
  tiles.inNest(false, () => {
    const outer = tiles.nestDepth;
    tiles.nestDepth = e.depth;
    tiles.loops(shape, (index) => {
      if (!mask) element(index);
      else
        e.if(tiles.lanesAt(mask, index, 1).value, [], () => {
          element(index);
          return [];
        });
    });
    tiles.nestDepth = outer;
  });
}

/** Updates one element; gives what was there. */
function update(e: Emitter, op: OpOf<'atomic_rmw'>, address: MlirValue, value: Lanes, dtype: DType): Lanes {
  const memory = memoryElem(dtype);
  const direct = instruction(op.attrs.kind, dtype);
  if (direct !== undefined) {
    const raw = e.op('llvm.atomicrmw', {
      operands: [address, toMemory(e, value, dtype)],
      types: [memory],
      properties: { bin_op: `${direct} : i64`, ordering: `${orderings[op.attrs.order]} : i64` },
    });
    return fromMemory(e, raw, dtype, 1);
  }
  const seen = asBits(e, e.loadMemory(address, memory, 1, Number(memory.slice(1)) / 8));
  const [last] = e.until([seen], ([expected]) => {
    const current = fromBits(e, expected!, dtype);
    const next = asBits(e, toMemory(e, combine[op.attrs.kind](e, [current, value], dtype, op), dtype));
    const { was, done } = compareAndSwap(e, address, expected!, next, op.attrs.order);
    return { done, next: [was] };
  });
  return fromBits(e, last!, dtype);
}

function swap(
  e: Emitter,
  op: OpOf<'atomic_cas'>,
  address: MlirValue,
  compare: Lanes,
  value: Lanes,
  dtype: DType,
): Lanes {
  const [expected, next] = [compare, value].map((x) => asBits(e, toMemory(e, x, dtype)));
  return fromBits(e, compareAndSwap(e, address, expected!, next!, op.attrs.order).was, dtype);
}

function compareAndSwap(
  e: Emitter,
  address: MlirValue,
  expected: MlirValue,
  next: MlirValue,
  order: keyof typeof orderings,
): { was: MlirValue; done: MlirValue } {
  const pair = e.op('llvm.cmpxchg', {
    operands: [address, expected, next],
    types: [`!llvm.struct<(${expected.type}, i1)>`],
    properties: { success_ordering: `${orderings[order]} : i64`, failure_ordering: '2 : i64' },
  });
  const field = (n: number, type: string): MlirValue =>
    e.op('llvm.extractvalue', { operands: [pair], types: [type], properties: { position: `array<i64: ${n}>` } });
  return { was: field(0, expected.type), done: field(1, 'i1') };
}

/** Compare-and-swap works on the bits: a NaN never compares equal to itself. */
function asBits(e: Emitter, raw: MlirValue): MlirValue {
  const bits = `i${raw.type.slice(1)}`;
  return raw.type === bits ? raw : e.op('arith.bitcast', { operands: [raw], types: [bits] });
}

function fromBits(e: Emitter, bits: MlirValue, dtype: DType): Lanes {
  const memory = memoryElem(dtype);
  const raw = memory === bits.type ? bits : e.op('arith.bitcast', { operands: [bits], types: [memory] });
  return fromMemory(e, raw, dtype, 1);
}
