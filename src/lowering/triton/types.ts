/** Types of Triton IR, and how tiles are held: extents are powers of two, what lies beyond the tile's own is padding. */

import type { DType } from '../../ir/dtypes.js';
import type { TileType } from '../../ir/types.js';
import type { Value } from '../../ir/value.js';
import { unsupportedOp } from '../rule-table.js';

/** Type of a value that is a tile. */
export const tileTypeOf = (value: Value): TileType => value.type as TileType;

const elements: Readonly<Record<string, string>> = {
  bool: 'i1',
  i8: 'i8',
  i16: 'i16',
  i32: 'i32',
  i64: 'i64',
  u8: 'i8',
  u16: 'i16',
  u32: 'i32',
  u64: 'i64',
  f16: 'f16',
  bf16: 'bf16',
  f32: 'f32',
  f64: 'f64',
  f8e4m3fn: 'f8E4M3FN',
  f8e5m2: 'f8E5M2',
  f8e4m3fnuz: 'f8E4M3FNUZ',
  f8e5m2fnuz: 'f8E5M2FNUZ',
};

/** Element type in registers. */
export function elementOf(dtype: DType): string {
  return elements[dtype.name] ?? unsupportedOp(`${dtype.name} in Triton`);
}

/** Element type in memory: a bool takes a byte. */
export const memoryElementOf = (dtype: DType): string => (dtype.cls === 'bool' ? 'i8' : elementOf(dtype));

export const pointerTo = (element: string): string => `!tt.ptr<${element}>`;

/** `tensor<64x64xf32>`, or the element type alone for a scalar. */
export const tensorOf = (element: string, shape: readonly number[]): string =>
  shape.length === 0 ? element : `tensor<${shape.join('x')}x${element}>`;

/** Element type of a tensor or scalar type. */
export function elementOfType(type: string): string {
  return /^tensor<(?:\d+x)+(.*)>$/.exec(type)?.[1] ?? type;
}

export const shapeOfType = (type: string): number[] =>
  type.startsWith('tensor<') ? /^tensor<((?:\d+x)+)/.exec(type)![1]!.split('x').slice(0, -1).map(Number) : [];

export const isFloatElement = (element: string): boolean => /^b?f\d/.test(element);

const nextPower = (n: number): number => 2 ** Math.ceil(Math.log2(n));

/** Extents as Triton holds them. */
export const paddedShape = (shape: readonly number[]): number[] => shape.map(nextPower);

export const isPadded = (shape: readonly number[]): boolean => shape.some((n) => n !== nextPower(n));

export const typeOfTile = ({ dtype, shape }: TileType): string => tensorOf(elementOf(dtype), paddedShape(shape));
