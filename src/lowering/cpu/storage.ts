/** How lanes lie in memory: array elements by their dtype, scratch elements by their register kind. */

import { bf16, type DType, f16, u8 } from '../../ir/dtypes.js';
import type { MlirValue } from '../mlir.js';
import { elemOf, settled, wrapNibble } from './arithmetic.js';
import { type Elem, type Emitter, type Lanes, lanesType, pointer } from './emitter.js';
import { decodeFloat, encodeFloat } from './narrow-float.js';

/** MLIR element of an array in memory. bf16 and fp8 are moved as their bits, bool as a byte; a byte holds two of the 4-bit kinds. */
export function memoryElem(dtype: DType): string {
  if (dtype.bits <= 8) return 'i8';
  if (dtype === f16) return 'f16';
  if (dtype === bf16) return 'i16';
  return elemOf(dtype);
}

/** Whether two elements lie in a byte: they have indices, but no addresses of their own. */
export const isPacked = (dtype: DType): boolean => dtype.bits === 4;

/** LLVM's numbers of the read-modify-write operations. */
export const atomicOperations = {
  exchange: 0,
  add: 1,
  and: 3,
  or: 5,
  xor: 6,
  max: 7,
  min: 8,
  umax: 9,
  umin: 10,
  fadd: 11,
} as const;

const bytesOf = (memory: string): number => Number(memory.slice(1)) / 8;

/** MLIR element of a scratch tile. */
export const scratchElem = (elem: Elem): string => (elem === 'i1' ? 'i8' : elem);
export const scratchBytes = (elem: Elem): number => bytesOf(scratchElem(elem));

/** Register lanes from what lies in memory. */
export function fromMemory(e: Emitter, raw: MlirValue, dtype: DType, width: number): Lanes {
  const elem = elemOf(dtype);
  if (dtype === f16)
    return { value: e.op('arith.extf', { operands: [raw], types: [lanesType('f32', width)] }), elem, width };
  if (dtype === bf16) {
    const wide = e.convert('arith.extui', { value: raw, elem: 'i16', width }, 'i32');
    return e.bitcast(e.binary('shli', wide, e.int(16, 'i32', width)), 'f32');
  }
  if (dtype.cls === 'bool') {
    const byte: Lanes = { value: raw, elem: 'i8', width };
    return e.compareInt('ne', byte, e.int(0, 'i8', width));
  }
  const lanes: Lanes = { value: raw, elem, width };
  if (dtype.cls === 'float' && dtype.bits <= 8) return decodeFloat(e, { ...lanes, elem: 'i8' }, dtype);
  return isPacked(dtype) ? wrapNibble(e, lanes, dtype) : lanes;
}

/** What lies in memory for register lanes. */
export function toMemory(e: Emitter, x: Lanes, dtype: DType): MlirValue {
  if (dtype === f16) return e.op('arith.truncf', { operands: [x.value], types: [lanesType('f16', x.width)] });
  if (dtype === bf16) {
    const high = e.binary('shrui', e.bitcast(settled(e, dtype, x), 'i32'), e.int(16, 'i32', x.width));
    return e.convert('arith.trunci', high, 'i16').value;
  }
  if (dtype.cls === 'float' && dtype.bits <= 8) return encodeFloat(e, x, dtype, 'held').value;
  return dtype.cls === 'bool' ? e.convert('arith.extui', x, 'i8').value : x.value;
}

const zeroIn = (e: Emitter, memory: string, width: number): MlirValue =>
  e.op('arith.constant', {
    types: [lanesType(memory, width)],
    properties: {
      value: `${width === 1 ? zeroLiteral(memory) : `dense<${zeroLiteral(memory)}>`} : ${lanesType(memory, width)}`,
    },
  });
const zeroLiteral = (memory: string): string => (memory.startsWith('f') ? '0.0' : '0');

/** `width` elements from `address` on; where the mask is false nothing is read and the lane is zero. */
export function loadLanes(e: Emitter, address: MlirValue, dtype: DType, width: number, mask?: Lanes): Lanes {
  const memory = memoryElem(dtype);
  const alignment = bytesOf(memory);
  if (!mask) return fromMemory(e, e.loadMemory(address, memory, width, alignment), dtype, width);
  const type = lanesType(memory, width);
  const raw =
    width === 1
      ? e.if(
          mask.value,
          [type],
          () => [e.loadMemory(address, memory, 1, alignment)],
          () => [zeroIn(e, memory, 1)],
        )[0]!
      : e.op('llvm.intr.masked.load', {
          operands: [address, mask.value, zeroIn(e, memory, width)],
          types: [type],
          properties: { alignment: `${alignment} : i32` },
        });
  return fromMemory(e, raw, dtype, width);
}

export function storeLanes(e: Emitter, x: Lanes, address: MlirValue, dtype: DType, mask?: Lanes): void {
  const alignment = bytesOf(memoryElem(dtype));
  const raw = toMemory(e, x, dtype);
  if (!mask) e.storeMemory(raw, address, alignment);
  else if (x.width === 1)
    e.if(mask.value, [], () => {
      e.storeMemory(raw, address, alignment);
      return [];
    });
  else
    e.ops('llvm.intr.masked.store', {
      operands: [raw, address, mask.value],
      properties: { alignment: `${alignment} : i32` },
    });
}

/** Lanes at addresses of their own. */
export function gatherLanes(e: Emitter, base: MlirValue, index: Lanes, dtype: DType, mask?: Lanes): Lanes {
  const memory = memoryElem(dtype);
  const { width } = index;
  if (isPacked(dtype)) return gatherPacked(e, base, index, dtype, mask);
  const address = e.address(base, index.value, memory);
  if (width === 1) return loadLanes(e, address, dtype, 1, mask);
  const raw = e.op('llvm.intr.masked.gather', {
    operands: [address, (mask ?? e.int(1, 'i1', width)).value, zeroIn(e, memory, width)],
    types: [lanesType(memory, width)],
    properties: { alignment: `${bytesOf(memory)} : i32` },
  });
  return fromMemory(e, raw, dtype, width);
}

/** Bits that an element lies above the lowest of its byte. */
function nibbleShift(e: Emitter, index: Lanes): Lanes {
  const odd = e.binary('andi', e.convert('arith.trunci', index, 'i8'), e.int(1, 'i8', index.width));
  return e.binary('shli', odd, e.int(2, 'i8', index.width));
}

function gatherPacked(e: Emitter, base: MlirValue, index: Lanes, dtype: DType, mask?: Lanes): Lanes {
  const { width } = index;
  const bytes = e.binary('shrui', index, e.int(1, 'i64', width));
  const pairs = gatherLanes(e, base, bytes, u8, mask);
  const code = e.binary('andi', e.binary('shrui', pairs, nibbleShift(e, index)), e.int(15, 'i8', width));
  return fromMemory(e, code.value, dtype, width);
}

/** Element by element: neighbours share a byte. Atomically, as another program may own the other half. */
function scatterPacked(e: Emitter, x: Lanes, base: MlirValue, index: Lanes, dtype: DType, mask?: Lanes): void {
  const { width } = index;
  const raw: Lanes = { value: toMemory(e, x, dtype), elem: 'i8', width };
  const low = e.binary('andi', raw, e.int(15, 'i8', width));
  const shift = nibbleShift(e, index);
  const code = e.binary('shli', low, shift);
  const others = e.binary('xori', e.binary('shli', e.int(15, 'i8', width), shift), e.int(-1, 'i8', width));
  const bytes = e.binary('shrui', index, e.int(1, 'i64', width));
  const update = (operation: number, address: MlirValue, value: Lanes): MlirValue =>
    e.op('llvm.atomicrmw', {
      operands: [address, value.value],
      types: ['i8'],
      properties: { bin_op: `${operation} : i64`, ordering: '2 : i64' },
    });
  for (let lane = 0; lane < width; lane++) {
    const write = (): readonly MlirValue[] => {
      const address = e.address(base, e.extract(bytes, lane).value, 'i8');
      update(atomicOperations.and, address, e.extract(others, lane));
      update(atomicOperations.or, address, e.extract(code, lane));
      return [];
    };
    if (mask) e.if(e.extract(mask, lane).value, [], write);
    else write();
  }
}

export function scatterLanes(e: Emitter, x: Lanes, base: MlirValue, index: Lanes, dtype: DType, mask?: Lanes): void {
  const memory = memoryElem(dtype);
  if (isPacked(dtype)) return scatterPacked(e, x, base, index, dtype, mask);
  const address = e.address(base, index.value, memory);
  if (x.width === 1) return storeLanes(e, x, address, dtype, mask);
  e.ops('llvm.intr.masked.scatter', {
    operands: [toMemory(e, x, dtype), address, (mask ?? e.int(1, 'i1', x.width)).value],
    properties: { alignment: `${bytesOf(memory)} : i32` },
  });
}

/** Scratch tiles start at 64 bytes; a row may start anywhere in one, so only the element is promised. */
export function loadScratch(e: Emitter, base: MlirValue, index: MlirValue, elem: Elem, width: number): Lanes {
  const memory = scratchElem(elem);
  const raw = e.loadMemory(e.address(base, index, memory), memory, width, scratchBytes(elem));
  const lanes: Lanes = { value: raw, elem: elem === 'i1' ? 'i8' : elem, width };
  return elem === 'i1' ? e.compareInt('ne', lanes, e.int(0, 'i8', width)) : lanes;
}

/** Elements of a scratch tile at offsets of their own. */
export function gatherScratch(e: Emitter, base: MlirValue, index: Lanes, elem: Elem): Lanes {
  const { width } = index;
  if (width === 1) return loadScratch(e, base, index.value, elem, 1);
  const memory = scratchElem(elem);
  const raw = e.op('llvm.intr.masked.gather', {
    operands: [e.address(base, index.value, memory), e.int(1, 'i1', width).value, zeroIn(e, memory, width)],
    types: [lanesType(memory, width)],
    properties: { alignment: `${scratchBytes(elem)} : i32` },
  });
  const lanes: Lanes = { value: raw, elem: elem === 'i1' ? 'i8' : elem, width };
  return elem === 'i1' ? e.compareInt('ne', lanes, e.int(0, 'i8', width)) : lanes;
}

export function storeScratch(e: Emitter, x: Lanes, base: MlirValue, index: MlirValue): void {
  const memory = scratchElem(x.elem);
  const raw = x.elem === 'i1' ? e.convert('arith.extui', x, 'i8').value : x.value;
  e.storeMemory(raw, e.address(base, index, memory), scratchBytes(x.elem));
}

/** Byte address in the scratch arena. */
export const arenaAddress = (e: Emitter, arena: MlirValue, offset: number): MlirValue =>
  offset === 0
    ? arena
    : e.op('llvm.getelementptr', {
        operands: [arena],
        types: [pointer],
        properties: { elem_type: 'i8', rawConstantIndices: `array<i32: ${offset}>`, noWrapFlags: '3 : i32' },
      });
