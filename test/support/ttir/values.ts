/** Values of the evaluator: tensors of numbers, each rounded or wrapped to its element. */

import { dtypes } from '../../../src/ir/dtypes.js';
import { codecOf } from '../../../src/ir/numerics/formats.js';

export interface Tensor {
  readonly element: string;
  readonly shape: readonly number[];
  /** Numbers; bigints of i64; of pointers, element places in `buffer`. */
  readonly data: (number | bigint)[];
  readonly buffer?: Buffer;
}

/** Memory behind one pointer argument, a value of its element in each place. */
export interface Buffer {
  readonly name: string;
  readonly element: string;
  readonly data: (number | bigint)[];
}

export const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export function parseType(type: string): { element: string; shape: number[] } {
  const match = /^tensor<((?:\d+x)+)(.*)>$/.exec(type);
  if (!match) return { element: type, shape: [] };
  return { element: match[2]!, shape: match[1]!.split('x').slice(0, -1).map(Number) };
}

const narrow: Readonly<Record<string, keyof typeof dtypes>> = {
  f16: 'f16',
  bf16: 'bf16',
  f8E4M3FN: 'f8e4m3fn',
  f8E5M2: 'f8e5m2',
};

export const isFloat = (element: string): boolean => /^b?f\d/.test(element);
export const widthOf = (element: string): number => Number(/\d+/.exec(element)![0]);

/** A number as the element holds it. */
export function settle(element: string, x: number | bigint): number | bigint {
  if (element === 'f64' || element.startsWith('!tt.ptr')) return x;
  if (element === 'f32') return Math.fround(Number(x));
  if (narrow[element]) {
    const { decode, encode } = codecOf(dtypes[narrow[element]]);
    return decode[encode(Number(x), false)]!;
  }
  if (element === 'i1') return Number(BigInt(x) & 1n);
  if (element === 'i64') return BigInt.asIntN(64, BigInt(x));
  const wrapped = BigInt.asIntN(widthOf(element), BigInt(x));
  return Number(wrapped);
}

export const unsigned = (element: string, x: number | bigint): bigint =>
  BigInt.asUintN(element === 'i1' ? 1 : widthOf(element), BigInt(x));

/** `settle` for many values of one element. */
function settling(element: string): (x: number | bigint) => number | bigint {
  if (element === 'f32') return (x) => Math.fround(Number(x));
  if (element === 'i32') return (x) => (typeof x === 'number' && Number.isSafeInteger(x) ? x | 0 : settle(element, x));
  if (!narrow[element]) return (x) => settle(element, x);
  const { decode, encode } = codecOf(dtypes[narrow[element]]);
  return (x) => decode[encode(Number(x), false)]!;
}

export function tensor(element: string, shape: readonly number[], at: (i: number) => number | bigint): Tensor {
  const data = new Array<number | bigint>(count(shape));
  const hold = settling(element);
  for (let i = 0; i < data.length; i++) data[i] = hold(at(i));
  return { element, shape, data };
}

/** Bits of a float, or the float of bits. */
export function reinterpret(from: string, to: string, x: number | bigint): number | bigint {
  const view = new DataView(new ArrayBuffer(8));
  if (from === 'f32') view.setFloat32(0, Number(x));
  else if (from === 'f64') view.setFloat64(0, Number(x));
  else if (narrow[from]) view.setUint16(0, codecOf(dtypes[narrow[from]]).encode(Number(x), false));
  else if (widthOf(from) === 64) view.setBigInt64(0, BigInt(x));
  else if (widthOf(from) === 32) view.setInt32(0, Number(x));
  else if (widthOf(from) === 16) view.setInt16(0, Number(x));
  if (to === 'f32') return view.getFloat32(0);
  if (to === 'f64') return view.getFloat64(0);
  if (narrow[to]) return codecOf(dtypes[narrow[to]]).decode[view.getUint16(0)]!;
  return { 64: () => view.getBigInt64(0), 32: () => view.getInt32(0), 16: () => view.getInt16(0) }[
    widthOf(to) as 64 | 32 | 16
  ]();
}
