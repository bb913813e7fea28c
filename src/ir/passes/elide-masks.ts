import type { Dim, Kernel, Launch } from '../kernel.js';
import { isOp } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { rewriteKernel } from '../rewrite.js';
import { argument, type Extent, evaluateExtent, sameExtent, symbolic } from '../symbolic.js';
import { indexType, type TileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { walk } from '../walk.js';

/** What is known of an i32 scalar: how it is computed, as far as it is a host expression or counts below one. */
class Scalars {
  private readonly definitions = new Map<Value, GenericOp>();
  private readonly bounds = new Map<Value, Value>();
  private readonly grid: ReadonlyMap<string, Extent>;
  private readonly dims: ReadonlyMap<string, Dim>;

  constructor(kernel: Kernel, launch: Launch) {
    this.grid = new Map(launch.grid.map((a) => [a.name, a.extent]));
    this.dims = new Map(kernel.dims.map((d) => [d.name, d]));
    walk(launch.body, (op) => {
      for (const r of op.results) this.definitions.set(r, op);
      if (isOp(op, 'for')) this.bounds.set(op.regions[0]!.args[0]!, op.operands.to);
    });
  }

  /** The value as an expression of dims and constants, where it is one. */
  extentOf(v: Value): Extent | undefined {
    const op = this.definitions.get(v);
    if (isOp(op, 'constant')) return Number(op.attrs.value);
    if (isOp(op, 'dim')) return argument(op.attrs.name);
    if (
      isOp(op, 'add') ||
      isOp(op, 'sub') ||
      isOp(op, 'mul') ||
      isOp(op, 'cdiv') ||
      isOp(op, 'floor_div') ||
      isOp(op, 'min') ||
      isOp(op, 'max')
    ) {
      const [left, right] = [this.extentOf(op.operands.left), this.extentOf(op.operands.right)];
      return left === undefined || right === undefined ? undefined : symbolic(op.name, left, right);
    }
    return undefined;
  }

  /** What a grid axis or a loop counter stays below. */
  private boundOf(v: Value): Extent | undefined {
    const op = this.definitions.get(v);
    if (isOp(op, 'program_id')) return this.grid.get(op.attrs.axis);
    const bound = this.bounds.get(v);
    return bound && this.extentOf(bound);
  }

  /** `i * c` with a constant c: gives i and c; a bare `i` counts as `i * 1`. */
  private scaled(v: Value): { index: Value; factor: number } {
    const op = this.definitions.get(v);
    if (isOp(op, 'mul')) {
      const { left, right } = op.operands;
      for (const [index, factor] of [
        [left, right],
        [right, left],
      ] as const) {
        const c = this.extentOf(factor);
        if (typeof c === 'number') return { index, factor: c };
      }
    }
    return { index: v, factor: 1 };
  }

  private isMultiple(extent: Extent, of: number): boolean {
    if (typeof extent === 'number') return extent % of === 0;
    if (extent.kind === 'argument') return (this.dims.get(extent.name)?.multipleOf ?? 1) % of === 0;
    if (extent.kind === 'mul') return this.isMultiple(extent.left, of) || this.isMultiple(extent.right, of);
    return (
      (extent.kind === 'add' || extent.kind === 'sub') &&
      this.isMultiple(extent.left, of) &&
      this.isMultiple(extent.right, of)
    );
  }

  /**
   * Whether a valid extent always covers `size` elements. Proven forms: a known number; a dim with a large enough
   * `min`; `D - i * size` where i counts below cdiv(D, size) and D is a multiple of size, so the last block is whole.
   */
  covers(extent: Value, size: number): boolean {
    const known = this.extentOf(extent);
    if (typeof known === 'number') return known >= size;
    if (size === 1 && known?.kind === 'argument') return (this.dims.get(known.name)?.min ?? 0) >= 1;
    if (known?.kind === 'argument') return (this.dims.get(known.name)?.min ?? 0) >= size;
    const op = this.definitions.get(extent);
    if (!isOp(op, 'sub')) return false;
    const whole = this.extentOf(op.operands.left);
    const { index, factor } = this.scaled(op.operands.right);
    const bound = this.boundOf(index);
    if (whole === undefined || bound === undefined || factor !== size) return false;
    const blocks = symbolic('cdiv', whole, size);
    return (
      this.isMultiple(whole, size) &&
      (sameExtent(bound, blocks) ||
        (typeof blocks === 'number' && typeof bound === 'number' && bound <= evaluateExtent(blocks, new Map())))
    );
  }
}

/** Drops valid extents that are proven to cover their whole axis. */
export const elideMasks: Pass = {
  name: 'elide-masks',
  summary: 'Drop valid extents that divisibility and bounds prove to be full.',
  run(kernel: Kernel): Kernel {
    const known = new Map(kernel.launches.map((l) => [l, new Scalars(kernel, l)]));
    return rewriteKernel(kernel, 'elide-masks', (op, rewriter, launch) => {
      if (!isOp(op, 'load') && !isOp(op, 'store')) return void rewriter.keep(op);
      const { valid = [] } = op.operands;
      const scalars = known.get(launch)!;
      const { shape } = (isOp(op, 'store') ? op.operands.value.type : op.results[0]!.type) as TileType;
      const full = valid.map((v, axis) => scalars.covers(v, shape[axis]!));
      if (!full.includes(true)) return void rewriter.keep(op);
      if (full.every((f) => f)) return void rewriter.keep(op, { operands: { ...op.operands, valid: [] } });
      const limits = valid.map((v, axis) => {
        const isConstant = typeof scalars.extentOf(v) === 'number';
        return full[axis] && !isConstant
          ? rewriter.emit('constant', {}, { value: shape[axis]! }, op, { types: [indexType] }).results[0]!
          : v;
      });
      rewriter.keep(op, { operands: { ...op.operands, valid: limits } });
    });
  },
};
