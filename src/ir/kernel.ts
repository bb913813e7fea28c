import type { Loc } from '../diagnostics/location.js';
import type { Extent } from './symbolic.js';
import type { RefType, TileType } from './types.js';
import type { Region, Value } from './value.js';

/** A run-time extent of the kernel's arrays and what the caller promises about it. Every dim is at most 2^31 - 1. */
export interface Dim {
  readonly name: string;
  readonly multipleOf?: number;
  readonly min?: number;
  readonly max?: number;
  readonly loc: Loc;
}

/** An array argument. `inout` is an output that is aliased to an input: read and written in place. `temp` lives between the launches of one call. */
export interface ArrayParam {
  readonly kind: 'array';
  readonly role: 'in' | 'out' | 'inout' | 'temp';
  readonly name: string;
  /** The input whose memory an `inout` output shares by name, as the caller sees it. */
  readonly aliasOf?: string;
  /** Filled with zeros before the first launch. */
  readonly zeroed?: boolean;
  readonly value: Value<RefType>;
  readonly loc: Loc;
}

export interface ScalarParam {
  readonly kind: 'scalar';
  readonly name: string;
  readonly value: Value<TileType>;
  readonly loc: Loc;
}

export type Param = ArrayParam | ScalarParam;

export interface GridAxis {
  readonly name: string;
  readonly extent: Extent;
}

/** The back ends whose options a kernel can carry. */
export const backendNames = ['triton', 'mosaic_gpu'] as const;
export type BackendName = (typeof backendNames)[number];

/** Options for one back end, as the user gave them. */
export interface BackendParams {
  readonly backend: BackendName;
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

/** How deep regions may nest, the body of a launch counted: code that follows them by recursion cannot run out of stack. */
export const maxNesting = 200;

/** The warpgroups of each block of an explicit program. */
export interface Warpgroups {
  readonly name: string;
  readonly count: number;
}

/** One launch of a grid of programs. The last axis of the grid is the fastest. The body sees the kernel's params. */
export interface Launch {
  readonly name: string;
  readonly grid: readonly GridAxis[];
  /** Of an explicit program: its body is what each warpgroup runs. */
  readonly warpgroups?: Warpgroups;
  readonly backendParams: readonly BackendParams[];
  readonly body: Region;
  readonly loc: Loc;
}

/** What one call costs, for rates in reports; extents over the kernel's arguments. */
export interface CostEstimate {
  readonly flops?: Extent;
  readonly bytesAccessed?: Extent;
  readonly transcendentals?: Extent;
}

/** One kernel: one host function, one launch plan, one or more launches in order. */
export interface Kernel {
  readonly name: string;
  readonly dims: readonly Dim[];
  /** In the caller's order: inputs, outputs, scalars as declared; temporaries last. */
  readonly params: readonly Param[];
  readonly cost?: CostEstimate;
  /** Free text for the launch plan. */
  readonly metadata?: Readonly<Record<string, string>>;
  readonly launches: readonly Launch[];
  readonly loc: Loc;
}

export interface Module {
  readonly kernels: readonly Kernel[];
}
