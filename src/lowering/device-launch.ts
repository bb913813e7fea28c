/** The seam between lowering for a GPU and the drivers that compile: one launch, its text, and how it is called. */

import type { Extent } from '../ir/symbolic.js';

/** One parameter of the compiled function, in its order. What the host computes is given as an extent over dims and scalars. */
export type DeviceParam =
  /** Address of an array argument. */
  | {
      readonly kind: 'pointer';
      readonly array: string;
      /** Bytes that the code takes the address to be a multiple of. */
      readonly alignment?: number;
      /** Whether the code takes the array to be smaller than 2 GiB. */
      readonly below2GiB?: boolean;
    }
  /** A scalar argument, in its own dtype. */
  | { readonly kind: 'scalar'; readonly name: string; readonly dtype: string }
  /** A dim, or what the host computes of dims and integer scalars. */
  | {
      readonly kind: 'extent';
      readonly value: Extent;
      readonly type: 'i32' | 'i64';
      /** The code takes the value to be a multiple of this. */
      readonly divisibleBy?: number;
    }
  /** A tensor map (NVIDIA, 128 bytes by value) over a whole array. Its box is the compiler's choice, told after it ran. */
  | {
      readonly kind: 'tensorMap';
      readonly array: string;
      /** The tile that one access moves. */
      readonly block: readonly number[];
      readonly shape: readonly Extent[];
      /** In elements; the last is 1. */
      readonly strides: readonly Extent[];
    };

/** One launch of a kernel, lowered for a GPU. */
export interface DeviceLaunch {
  /** The launch's name in the kernel, and the function's in the text. */
  readonly name: string;
  readonly symbol: string;
  /** The module: TTIR, or MLIR of Mosaic GPU. */
  readonly text: string;
  readonly params: readonly DeviceParam[];
  /** Programs along x, y and z of the hardware's grid; axes that do not fit are folded into x. */
  readonly grid: readonly [x: Extent, y: Extent, z: Extent];
  /** Options of the back end for this launch by the names of its CompilerParams: the user's, and what lowering chose. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
}
