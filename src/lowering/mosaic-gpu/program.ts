/** The body of one launch in the making: scalars on demand, tiles as vectors of one warpgroup, shared memory by a bill. */

import { loweringCodes } from '../../diagnostics/codes/lowering.js';
import { CompileError, invariant } from '../../diagnostics/diagnostic.js';
import type { Loc } from '../../diagnostics/location.js';
import type { DType } from '../../ir/dtypes.js';
import type { ArrayParam, Kernel, Launch } from '../../ir/kernel.js';
import { isOp } from '../../ir/ops/index.js';
import type { Extent } from '../../ir/symbolic.js';
import type { TileType } from '../../ir/types.js';
import type { GenericOp, Value } from '../../ir/value.js';
import { operandsOf, walk } from '../../ir/walk.js';
import type { NvidiaTarget } from '../gpu-target.js';
import { unsupportedOp } from '../rule-table.js';
import { emitElementwise } from './elementwise.js';
import { dimName, scalarName } from './module.js';
import type { SharedBlock } from './shared.js';
import { elementType, Lines, literal, vectorType } from './text.js';

/** A tile in the making: one scalar for all elements, or vectors of the same shape that lie side by side along the last axis. */
export type Tile =
  /** A row of the result for each element: a column that is broadcast along the last axis, or a row along the first. */
  | { readonly kind: 'broadcast'; readonly vector: string; readonly length: number; readonly axis: 0 | 1 }
  /** Positions along a row of vectors. Made anew for each use, since rows and columns of a matrix lie differently. */
  | { readonly kind: 'positions' }
  /** Elements within extents; undefined where the whole axis is. */
  | { readonly kind: 'mask'; readonly extents: readonly (string | undefined)[] }
  | { readonly kind: 'splat'; readonly scalar: string; readonly constant?: string }
  | { readonly kind: 'vectors'; readonly vectors: readonly string[]; readonly shape: readonly number[] };

interface Reserved {
  readonly what: string;
  readonly bytes: number;
  readonly loc: Loc;
}

export class Program {
  out = new Lines();
  /** The op that is being lowered: where what is refused is told. */
  at: Loc;
  readonly tiles = new Map<Value, Tile>();
  /** Tiles that are blocks in shared memory. */
  readonly blocks = new Map<Value, SharedBlock>();
  readonly reserved: Reserved[] = [];
  private scopes: Map<Value, string>[] = [new Map()];
  private readonly definitions = new Map<Value, GenericOp>();
  private readonly arrays = new Map<Value, ArrayParam>();
  private position: readonly string[] | undefined;
  private end = 0;
  /** Loops round the op that is being lowered. */
  depth = 0;

  constructor(
    readonly kernel: Kernel,
    readonly launch: Launch,
    readonly target: NvidiaTarget,
  ) {
    this.at = launch.loc;
    walk(launch.body, (op) => {
      for (const result of op.results) this.definitions.set(result, op);
    });
    for (const param of kernel.params) {
      if (param.kind === 'array') this.arrays.set(param.value, param);
      else this.bind(param.value, scalarName(param.name));
    }
  }

  readonly definition = (value: Value): GenericOp | undefined => this.definitions.get(value);

  array(ref: Value): ArrayParam {
    const found = this.arrays.get(ref);
    return found ?? unsupportedOp('refs that are no arrays, with mosaic_gpu');
  }

  get sharedBytes(): number {
    return this.end;
  }

  /** Bytes that are still free in shared memory. */
  get freeBytes(): number {
    return this.target.limits.sharedBytes - this.end;
  }

  /** Reserves shared memory; gives its offset. */
  reserve(what: string, bytes: number, alignment: number, loc: Loc): number {
    const offset = Math.ceil(this.end / alignment) * alignment;
    this.end = offset + bytes;
    this.reserved.push({ what, bytes, loc });
    return offset;
  }

  /** @throws CompileError TW2020 with the bill, where a block needs more shared memory than there is. */
  checkShared(help: string): void {
    const limit = this.target.limits.sharedBytes;
    if (this.end <= limit) return;
    throw new CompileError([
      loweringCodes.overLimit(
        {
          launch: this.launch.name,
          target: this.target.name,
          what: 'of shared memory',
          used: `${this.end} bytes`,
          limit: `${limit} bytes`,
        },
        {
          loc: this.launch.loc,
          notes: this.reserved.map(({ what, bytes, loc }) => ({ message: `${what}: ${bytes} bytes`, loc })),
          help,
        },
      ),
    ]);
  }

  bind(value: Value, name: string): void {
    this.scopes.at(-1)!.set(value, name);
  }

  /** Fills a nested region: what is computed in it stays in it. */
  within(body: Lines, work: () => void): void {
    const outer = this.out;
    this.out = body;
    this.scopes.push(new Map());
    work();
    this.scopes.pop();
    this.out = outer;
  }

  /** A scalar; what computes it is emitted where it is first needed. */
  scalar(value: Value): string {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const known = this.scopes[i]!.get(value);
      if (known !== undefined) return known;
    }
    const op = this.definition(value);
    invariant(op, 'a scalar that nothing defines');
    const name = this.emitScalar(op);
    this.bind(value, name);
    return name;
  }

  private emitScalar(op: GenericOp): string {
    const type = op.results[0]!.type as TileType;
    if (isOp(op, 'constant')) {
      const { dtype } = type;
      return this.out.let(
        `arith.constant ${literal(op.attrs.value as number, dtype)}${dtype.cls === 'bool' ? '' : ` : ${elementType(dtype)}`}`,
      );
    }
    if (isOp(op, 'dim')) return dimName(op.attrs.name);
    if (isOp(op, 'program_id')) return this.programId(op.attrs.axis);
    if (isOp(op, 'num_programs'))
      return this.extent(this.launch.grid.find((axis) => axis.name === op.attrs.axis)?.extent ?? 1);
    const operands = operandsOf(op);
    if (type.shape.length > 0 || op.regions.length > 0 || operands.some((v) => !isScalar(v)))
      return unsupportedOp(`'${op.name}' that gives a scalar, with mosaic_gpu`);
    const types = operands.map((v) => v.type as TileType);
    return emitElementwise(
      this.out,
      op,
      operands.map((v) => this.scalar(v)),
      types,
      [],
    );
  }

  /** All axes are folded into x, the last of them the fastest. */
  private programId(axis: string): string {
    const { grid } = this.launch;
    if (!this.position) {
      // Once, at the top of the kernel: every region sees it.
      const outer = this.out;
      invariant(this.scopes.length >= 1, 'no scope');
      this.out = this.top;
      let rest = this.out.let('arith.index_cast %bx : index to i32');
      const ids: string[] = [];
      for (const { extent } of grid.slice(1).reverse()) {
        const size = this.extent(extent);
        ids.unshift(this.out.let(`arith.remui ${rest}, ${size} : i32`));
        rest = this.out.let(`arith.divui ${rest}, ${size} : i32`);
      }
      this.position = [rest, ...ids];
      this.out = outer;
    }
    return this.position[grid.findIndex((g) => g.name === axis)]!;
  }

  /** Lines before all others. */
  readonly top = new Lines({ next: 1_000_000 });

  /** An extent over dims and scalars. */
  extent(extent: Extent): string {
    if (typeof extent === 'number') return this.out.int(extent);
    if (extent.kind === 'argument') {
      const scalar = this.kernel.params.some((p) => p.kind === 'scalar' && p.name === extent.name);
      return scalar ? scalarName(extent.name) : dimName(extent.name);
    }
    const [a, b] = [this.extent(extent.left), this.extent(extent.right)];
    const names = {
      add: 'addi',
      sub: 'subi',
      mul: 'muli',
      floor_div: 'floordivsi',
      cdiv: 'ceildivsi',
      min: 'minsi',
      max: 'maxsi',
    } as const;
    if (extent.kind === 'mod') {
      const whole = this.out.let(`arith.muli ${this.out.let(`arith.floordivsi ${a}, ${b} : i32`)}, ${b} : i32`);
      return this.out.let(`arith.subi ${a}, ${whole} : i32`);
    }
    return this.out.let(`arith.${names[extent.kind]} ${a}, ${b} : i32`);
  }

  tile(value: Value): Tile {
    if (isScalar(value)) return { kind: 'splat', scalar: this.scalar(value) };
    const known = this.tiles.get(value);
    invariant(known, 'a tile that was not emitted');
    return known;
  }

  /** The vectors of a tile, in the shape that its neighbours have. */
  vectors(tile: Tile, dtype: DType, shape: readonly number[], count: number): readonly string[] {
    const element = elementType(dtype);
    const type = vectorType(shape, element);
    switch (tile.kind) {
      case 'vectors':
        if (tile.vectors.length !== count || tile.shape.some((n, i) => n !== shape[i]))
          return unsupportedOp('matrices that lie in different panels, with mosaic_gpu');
        return tile.vectors;
      case 'splat': {
        const one =
          tile.constant === undefined
            ? this.out.let(`vector.broadcast ${tile.scalar} : ${element} to ${type}`)
            : this.out.let(`arith.constant dense<${tile.constant}> : ${type}`);
        return Array.from({ length: count }, () => one);
      }
      case 'broadcast': {
        const { vector, length, axis } = tile;
        if (axis === 1 && count > 1) return unsupportedOp('rows along several panels, with mosaic_gpu');
        const wide = this.out.let(
          `mosaic_gpu.broadcast_in_dim(${vector} : ${vectorType([length], element)}) {broadcast_dimensions = array<i64: ${axis}>} -> ${type}`,
        );
        return Array.from({ length: count }, () => wide);
      }
      case 'positions':
        return [this.out.let(`"mosaic_gpu.broadcasted_iota"() <{dimension = 0 : i32}> : () -> ${type}`)];
      case 'mask':
        return Array.from({ length: count }, (_, panel) => this.mask(tile.extents, shape, panel * (shape[1] ?? 0)));
    }
  }

  /** Which elements of a panel lie within extents; the panel begins at a column. */
  private mask(extents: readonly (string | undefined)[], shape: readonly number[], column: number): string {
    const { out } = this;
    const type = vectorType(shape, 'i32');
    const within = extents.flatMap((extent, axis) => {
      if (extent === undefined) return [];
      const left = axis === 1 && column > 0 ? out.let(`arith.subi ${extent}, ${out.int(column)} : i32`) : extent;
      const limit = out.let(`vector.broadcast ${left} : i32 to ${type}`);
      const iota = out.let(`"mosaic_gpu.broadcasted_iota"() <{dimension = ${axis} : i32}> : () -> ${type}`);
      return [out.let(`arith.cmpi slt, ${iota}, ${limit} : ${type}`)];
    });
    const bools = vectorType(shape, 'i1');
    const [first = out.let(`arith.constant dense<true> : ${bools}`), ...rest] = within;
    return rest.reduce((a, b) => out.let(`arith.andi ${a}, ${b} : ${bools}`), first);
  }

  /** The whole module's lines of the body. */
  finish(): Lines {
    this.top.lines.push(...this.out.lines);
    return this.top;
  }
}

export const isScalar = ({ type }: Value): boolean => type.kind === 'tile' && type.shape.length === 0;
