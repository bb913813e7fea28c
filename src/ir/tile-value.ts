import type { DType } from './dtypes.js';
import type { RegisterArray } from './numerics/registers.js';

/** A tile at run time, as the interpreter and the folder hold it: row-major elements in registers. */
export interface TileValue {
  readonly dtype: DType;
  readonly shape: readonly number[];
  readonly data: RegisterArray;
  /** Valid extent of each axis (0 … shape[axis]); absent when all of it is valid. Elements beyond are unspecified. */
  readonly valid?: readonly number[];
  /** Where a sanitizer watches: what is wrong with each element, as a number that it knows; 0 for nothing. */
  readonly origins?: Uint16Array;
}
