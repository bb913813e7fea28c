/** What may watch the interpreter at work. Without an observer the engine pays one comparison an op. */

import type { TileValue } from '../tile-value.js';
import type { GenericOp } from '../value.js';
import type { BlockAccess, IndexedAccess } from './memory.js';

/** A program of the launch that runs. */
export interface Program {
  /** In row-major order of the grid. */
  readonly number: number;
  /** `(i=0, j=2)` */
  readonly shown: string;
  /** Of an explicit program: which of its warpgroups. */
  readonly warpgroup?: number;
}

/** What happens beside the ops of a warpgroup: a copy or product is started and, later, takes place; barriers are used. */
export type AsyncEvent =
  | { readonly kind: 'arrive' | 'wait'; readonly op: GenericOp; readonly barrier: object }
  /** A warpgroup comes to where all of them meet, and goes on from there. */
  | { readonly kind: 'meet' | 'met'; readonly sync: number }
  | { readonly kind: 'productsWaited'; readonly pending: number }
  | { readonly kind: 'fence' | 'storesDone'; readonly op: GenericOp }
  | {
      readonly kind: 'load' | 'loaded';
      readonly op: GenericOp;
      readonly source: BlockAccess;
      readonly target: BlockAccess;
      readonly barrier: object;
    }
  | {
      readonly kind: 'store' | 'stored';
      readonly op: GenericOp;
      readonly source: BlockAccess;
      readonly target: BlockAccess;
    }
  | { readonly kind: 'product' | 'productDone'; readonly op: GenericOp; readonly sources: readonly BlockAccess[] };

/** Each hook that is given a result gives back the one to go on with. */
export interface Observer {
  /** A pure op was evaluated. */
  evaluated(
    op: GenericOp,
    inputs: readonly TileValue[],
    outputs: readonly TileValue[],
    at: Program,
  ): readonly TileValue[];
  /** Addresses, extents and masks of an access that comes next. */
  addressed(op: GenericOp, address: readonly TileValue[], mask: TileValue | undefined, at: Program): void;
  loaded(op: GenericOp, access: BlockAccess, hasOther: boolean, tile: TileValue, at: Program): TileValue;
  stored(op: GenericOp, access: BlockAccess, tile: TileValue, at: Program): void;
  gathered(op: GenericOp, access: IndexedAccess, hasOther: boolean, tile: TileValue, at: Program): TileValue;
  /** Asked before the elements are written. */
  scattered(op: GenericOp, access: IndexedAccess, tile: TileValue, at: Program): void;
  /** @param values what went in: the value, or what is compared and the value. @param old what was there. */
  updated(op: GenericOp, access: IndexedAccess, values: readonly TileValue[], old: TileValue, at: Program): TileValue;
  /** A loop or branch goes where scalars say. */
  decided(op: GenericOp, scalars: readonly TileValue[], at: Program): void;
  /** Something asynchronous of a warpgroup of an explicit program. */
  asynchronous(event: AsyncEvent, warpgroup: number, at: Program): void;
}
