import { assertNever } from '../diagnostics/diagnostic.js';
import { bool, type DType, i32 } from './dtypes.js';
import { type Extent, printExtent, sameExtent } from './symbolic.js';

export const memorySpaces = ['gmem', 'smem', 'tmem', 'acc'] as const;
export type MemorySpace = (typeof memorySpaces)[number];

/** An immutable value in registers: elements of one dtype in a static shape. Rank 0 is a scalar; every extent is at least 1. */
export interface TileType {
  readonly kind: 'tile';
  readonly dtype: DType;
  readonly shape: readonly number[];
}

/** A mutable array in memory, row-major. Extents may depend on run-time dims. */
export interface RefType {
  readonly kind: 'ref';
  readonly space: MemorySpace;
  readonly dtype: DType;
  readonly shape: readonly Extent[];
}

/** An mbarrier in shared memory that completes a phase after `arrivals` arrivals. */
export interface BarrierType {
  readonly kind: 'barrier';
  readonly arrivals: number;
}

export interface SemaphoreType {
  readonly kind: 'semaphore';
}

/** Orders an asynchronous operation before its wait. */
export interface TokenType {
  readonly kind: 'token';
}

export type Type = TileType | RefType | BarrierType | SemaphoreType | TokenType;

export const maxRank = 6;

export function tileType(dtype: DType, shape: readonly number[] = []): TileType {
  return { kind: 'tile', dtype, shape };
}

export function refType(space: MemorySpace, dtype: DType, shape: readonly Extent[]): RefType {
  return { kind: 'ref', space, dtype, shape };
}

/** The type of dims, ids and index arithmetic. */
export const indexType: TileType = tileType(i32);
export const conditionType: TileType = tileType(bool);

export const elementCount = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export function sameShape(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}

export function sameType(a: Type, b: Type): boolean {
  switch (a.kind) {
    case 'tile':
      return b.kind === 'tile' && a.dtype === b.dtype && sameShape(a.shape, b.shape);
    case 'ref':
      return (
        b.kind === 'ref' &&
        a.space === b.space &&
        a.dtype === b.dtype &&
        a.shape.length === b.shape.length &&
        a.shape.every((n, i) => sameExtent(n, b.shape[i]!))
      );
    case 'barrier':
      return b.kind === 'barrier' && a.arrivals === b.arrivals;
    case 'semaphore':
    case 'token':
      return a.kind === b.kind;
    default:
      return assertNever(a, 'type');
  }
}

/** `f32`, `f16[64, 128]`, `ref<gmem f16[m, k]>`, `barrier<2>`. */
export function printType(type: Type): string {
  switch (type.kind) {
    case 'tile':
      return printElements(type.dtype, type.shape);
    case 'ref':
      return `ref<${type.space} ${printElements(type.dtype, type.shape)}>`;
    case 'barrier':
      return `barrier<${type.arrivals}>`;
    case 'semaphore':
    case 'token':
      return type.kind;
    default:
      return assertNever(type, 'type');
  }
}

const printElements = (dtype: DType, shape: readonly Extent[]): string =>
  shape.length === 0 ? dtype.name : `${dtype.name}[${shape.map(printExtent).join(', ')}]`;
