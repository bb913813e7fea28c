/** Text of Mosaic GPU, as JAX 0.10.2 parses it: types, and lines of ops in a body. What differs by version is here. */

import { type Loc, primaryLoc, printLoc } from '../../diagnostics/location.js';
import { type DType, isFloat } from '../../ir/dtypes.js';

/** The version of JAX that the text is for. */
export const jaxVersion = '0.10.2';

export const smem = '#gpu.address_space<workgroup>';
export const barrierType = `memref<!mosaic_gpu.barrier, ${smem}>`;

/** How a vector's elements lie in the registers of a warpgroup. */
export const layouts = {
  /** Rank 1: neighbouring elements in neighbouring lanes. */
  line: '#mosaic_gpu.TiledLayout<[[128], [32], [1]], warp_dims = [-3], lane_dims = [-2], vector_dim = -1>',
} as const;

/** MLIR's name of an element. Signedness is in the ops. */
export function elementType({ name, cls, bits }: DType): string {
  if (cls === 'bool') return 'i1';
  if (cls === 'int') return `i${bits}`;
  return { f8e4m3fn: 'f8E4M3FN', f8e5m2: 'f8E5M2' }[name] ?? name;
}

export const vectorType = (shape: readonly number[], element: string): string =>
  shape.length === 0 ? element : `vector<${[...shape, element].join('x')}>`;

export const sharedType = (shape: readonly number[], element: string): string =>
  `memref<${[...shape, element].join('x')}, ${smem}>`;

/** A literal of a type. Floats that are not finite are given by their bits. */
export function literal(value: number | bigint, dtype: DType): string {
  if (!isFloat(dtype)) return dtype.cls === 'bool' ? String(Boolean(value)) : String(value);
  const x = Number(value);
  if (Number.isFinite(x)) {
    const text = Object.is(x, -0) ? '-0.0' : String(x);
    return /[.]/.test(text) ? text : text.replace(/^(-?\d+)/, '$1.0');
  }
  const bits = infinities[dtype.name];
  const nan = nans[dtype.name];
  return Number.isNaN(x) ? nan! : x > 0 ? bits![0] : bits![1];
}

const infinities: Readonly<Record<string, readonly [string, string]>> = {
  f64: ['0x7FF0000000000000', '0xFFF0000000000000'],
  f32: ['0x7F800000', '0xFF800000'],
  bf16: ['0x7F80', '0xFF80'],
  f16: ['0x7C00', '0xFC00'],
};
const nans: Readonly<Record<string, string>> = {
  f64: '0x7FF8000000000000',
  f32: '0x7FC00000',
  bf16: '0x7FC0',
  f16: '0x7E00',
};

/** Lines of one region, with names that are fresh in the whole module. */
export class Lines {
  readonly lines: string[] = [];

  constructor(private readonly names: { next: number } = { next: 0 }) {}

  fresh(): string {
    return `%v${this.names.next++}`;
  }

  /** One op without results. */
  add(text: string, loc?: Loc): void {
    const at = loc && primaryLoc(loc);
    this.lines.push(at ? `${text} loc(${printLoc(at)})` : text);
  }

  /** One op with a result; gives its name. */
  let(text: string, loc?: Loc): string {
    const name = this.fresh();
    this.add(`${name} = ${text}`, loc);
    return name;
  }

  int(value: number, type: 'i32' | 'index' | 'i64' = 'i32'): string {
    return this.let(`arith.constant ${value} : ${type}`);
  }

  nested(): Lines {
    return new Lines(this.names);
  }

  /** A region that another builder filled: `head {`, its lines, `}`. */
  region(head: string, body: Lines, tail = '}'): void {
    this.lines.push(`${head} {`, ...body.lines.map((line) => `  ${line}`), tail);
  }
}

/** A view of a shared buffer at a byte offset. */
export const sliceSmem = (offset: number, type: string): string =>
  `"mosaic_gpu.slice_smem"() <{offset = ${offset} : i32}> : () -> ${type}`;

const list = (items: readonly unknown[]): string => items.join(', ');

export interface Copy {
  readonly from: string;
  readonly fromType: string;
  readonly to: string;
  readonly toType: string;
  /** First element on each axis of the array, i32. */
  readonly at: readonly string[];
  readonly lengths: readonly number[];
}

/** Global to shared memory by TMA; completes bytes on a barrier. */
export const asyncLoad = ({ from, fromType, to, toType, at, lengths }: Copy, barrier: string): string =>
  `"mosaic_gpu.async_load"(${list([from, to, barrier, ...at])}) <{collective = [], operandSegmentSizes = array<i32: 1, 1, 1, ${at.length}, 0>, ` +
  `slice_lengths = array<i64: ${list(lengths)}>}> : (${list([fromType, toType, barrierType, ...at.map(() => 'i32')])}) -> ()`;

/** Shared to global memory by TMA, in the current group of stores. */
export const asyncStore = ({ from, fromType, to, toType, at, lengths }: Copy, commits = true): string =>
  `"mosaic_gpu.async_store"(${list([from, to, ...at])}) <{${commits ? '' : 'commit_group = false, '}operandSegmentSizes = array<i32: 1, 1, ${at.length}, 0, 0>, ` +
  `slice_lengths = array<i64: ${list(lengths)}>}> : (${list([fromType, toType, ...at.map(() => 'i32')])}) -> ()`;

export const layoutCast = (x: string, type: string, layout: string): string =>
  `mosaic_gpu.layout_cast x(${x} : ${type}) {new_layout = ${layout}}`;

export const optimizationBarrier = (x: string, type: string): string =>
  `"mosaic_gpu.optimization_barrier"(${x}) : (${type}) -> ${type}`;

/** Makes what was written to shared memory visible to TMA and the tensor core. */
export const proxyFence = 'nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}';
