/** Atomic updates, element by element: one instruction where the machine has it, else a compare-and-swap loop. */

import { bf16, type DType, f16, isFloat } from '../../ir/dtypes.js';
import type { OpOf } from '../../ir/ops/index.js';
import type { AtomicKind } from '../../ir/ops/memory.js';
import type { MlirValue } from '../mlir.js';
import { unsupportedOp } from '../rule-table.js';
import type { Buffer } from './arena.js';
import { type ElementRule, elementRules } from './arithmetic.js';
import type { Lanes } from './emitter.js';
import { fromMemory, memoryElem, storeScratch, toMemory } from './storage.js';
import { type Tiles, typeOf } from './tiles.js';

/** LLVM's numbers of the read-modify-write operations. */
const binary = { exchange: 0, add: 1, and: 3, or: 5, xor: 6, max: 7, min: 8, umax: 9, umin: 10, fadd: 11 } as const;
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

export function emitAtomic(tiles: Tiles, op: OpOf<'atomic_rmw'>, old: Buffer | undefined): void {
  const { e } = tiles;
  const { ref, value, index: positions = [], mask } = op.operands;
  const { shape, dtype } = typeOf(value);
  if (dtype.cls === 'bool') return unsupportedOp('atomics on bool');
  const element = (index: readonly MlirValue[]): void => {
    const { array, offsets } = tiles.indexedOffsets(ref, positions, index, 1);
    const address = e.address(array.base, offsets.value, memoryElem(dtype));
    const before = update(tiles, op, address, tiles.lanesAt(value, index, 1), dtype);
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
function update(tiles: Tiles, op: OpOf<'atomic_rmw'>, address: MlirValue, value: Lanes, dtype: DType): Lanes {
  const { e } = tiles;
  const ordering = orderings[op.attrs.order];
  const memory = memoryElem(dtype);
  const direct = instruction(op.attrs.kind, dtype);
  if (direct !== undefined) {
    const raw = e.op('llvm.atomicrmw', {
      operands: [address, toMemory(e, value, dtype)],
      types: [memory],
      properties: { bin_op: `${direct} : i64`, ordering: `${ordering} : i64` },
    });
    return fromMemory(e, raw, dtype, 1);
  }
  // Compare-and-swap works on the bits: a NaN never compares equal to itself.
  const bits = `i${memory.slice(1)}`;
  const asBits = (raw: MlirValue): MlirValue =>
    memory === bits ? raw : e.op('arith.bitcast', { operands: [raw], types: [bits] });
  const fromBits = (raw: MlirValue): MlirValue =>
    memory === bits ? raw : e.op('arith.bitcast', { operands: [raw], types: [memory] });
  const seen = asBits(e.loadMemory(address, memory, 1, Number(memory.slice(1)) / 8));
  const [last] = e.until([seen], ([expected]) => {
    const current = fromMemory(e, fromBits(expected!), dtype, 1);
    const next = asBits(toMemory(e, combine[op.attrs.kind](e, [current, value], dtype, op), dtype));
    const pair = e.op('llvm.cmpxchg', {
      operands: [address, expected!, next],
      types: [`!llvm.struct<(${bits}, i1)>`],
      properties: { success_ordering: `${ordering} : i64`, failure_ordering: '2 : i64' },
    });
    const field = (n: number, type: string): MlirValue =>
      e.op('llvm.extractvalue', { operands: [pair], types: [type], properties: { position: `array<i64: ${n}>` } });
    return { done: field(1, 'i1'), next: [field(0, bits)] };
  });
  return fromMemory(e, fromBits(last!), dtype, 1);
}
