import type { Dim, Kernel, Launch } from '../kernel.js';
import { isOp } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { rewriteKernel } from '../rewrite.js';
import { argument, type Extent, sameExtent, symbolic } from '../symbolic.js';
import { indexType, type TileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { walk } from '../walk.js';

/** No expression that a host writes for an array or a grid is larger; beyond, a shared chain could grow without end. */
const maxNodes = 64;
const [lowest, highest] = [-(2 ** 31), 2 ** 31 - 1];

/** `scale * t + offset` for a count t from 0 that stays below `count`. */
interface Progression {
  readonly scale: number;
  readonly offset: number;
  readonly count: Extent;
}

/** What is known of the i32 scalars of a launch: which are host expressions, which go up in steps. */
class Scalars {
  private readonly extents = new Map<Value, { readonly extent: Extent; readonly nodes: number }>();
  private readonly progressions = new Map<Value, Progression>();
  private readonly makers = new Map<Value, GenericOp>();
  private readonly grid: ReadonlyMap<string, Extent>;
  private readonly dims: ReadonlyMap<string, Dim>;

  constructor(kernel: Kernel, launch: Launch) {
    this.grid = new Map(launch.grid.map((a) => [a.name, a.extent]));
    this.dims = new Map(kernel.dims.map((d) => [d.name, d]));
    walk(launch.body, (op) => this.note(op));
  }

  /** The value as an expression of dims and constants, where it is one. */
  extentOf(v: Value): Extent | undefined {
    return this.extents.get(v)?.extent;
  }

  private note(op: GenericOp): void {
    const [result] = op.results;
    if (result) this.makers.set(result, op);
    if (isOp(op, 'for'))
      return this.noteLoop(op.regions[0]!.args[0]!, op.operands.from, op.operands.to, op.operands.step);
    if (result?.type.kind !== 'tile' || result.type.shape.length > 0) return;
    if (isOp(op, 'constant')) this.setExtent(result, Number(op.attrs.value), 1);
    else if (isOp(op, 'dim')) this.setExtent(result, argument(op.attrs.name), 1);
    else if (isOp(op, 'program_id')) {
      const count = this.grid.get(op.attrs.axis);
      if (count !== undefined) this.progressions.set(result, { scale: 1, offset: 0, count });
    } else if (
      isOp(op, 'add') ||
      isOp(op, 'sub') ||
      isOp(op, 'mul') ||
      isOp(op, 'cdiv') ||
      isOp(op, 'floor_div') ||
      isOp(op, 'min') ||
      isOp(op, 'max')
    ) {
      const [left, right] = [this.extents.get(op.operands.left), this.extents.get(op.operands.right)];
      if (left && right)
        this.setExtent(result, symbolic(op.name, left.extent, right.extent), left.nodes + right.nodes + 1);
      this.noteProgression(op.name, result, op.operands.left, op.operands.right);
    }
  }

  private setExtent(v: Value, extent: Extent, nodes: number): void {
    // A number that wraps on the device is not what the expression says.
    const fits = typeof extent !== 'number' || (extent >= lowest && extent <= highest);
    if (fits && nodes <= maxNodes) this.extents.set(v, { extent, nodes });
  }

  /** The counter of `for from, to, step` is `step * t`, if it starts from 0. */
  private noteLoop(counter: Value, from: Value, to: Value, step: Value): void {
    const [first, bound, by] = [this.extentOf(from), this.extentOf(to), this.extentOf(step)];
    if (first !== 0 || bound === undefined || typeof by !== 'number' || by < 1) return;
    this.progressions.set(counter, { scale: by, offset: 0, count: symbolic('cdiv', bound, by) });
  }

  private noteProgression(name: string, result: Value, left: Value, right: Value): void {
    for (const [moving, fixed] of [
      [left, right],
      [right, left],
    ] as const) {
      const p = this.progressions.get(moving);
      const c = this.extentOf(fixed);
      if (!p || typeof c !== 'number' || c < 0) continue;
      if (name === 'mul' && c > 0) this.progressions.set(result, { ...p, scale: p.scale * c, offset: p.offset * c });
      if (name === 'add') this.progressions.set(result, { ...p, offset: p.offset + c });
    }
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

  private atLeast(extent: Extent): number {
    if (typeof extent === 'number') return extent;
    return extent.kind === 'argument' ? (this.dims.get(extent.name)?.min ?? 0) : Number.NEGATIVE_INFINITY;
  }

  /**
   * Whether a valid extent always covers `size` elements. Proven forms: a number or a dim that is large enough;
   * `D - (c * t + r)` with t below cdiv(D, c) and D a multiple of c: the block lies within the t-th of D's parts of c
   * elements, if r + size fits into one.
   */
  covers(extent: Value, size: number): boolean {
    const known = this.extentOf(extent);
    if (known !== undefined && this.atLeast(known) >= size) return true;
    const op = this.makers.get(extent);
    if (!isOp(op, 'sub')) return false;
    const whole = this.extentOf(op.operands.left);
    const p = this.progressions.get(op.operands.right);
    if (whole === undefined || !p || p.offset + size > p.scale || !this.isMultiple(whole, p.scale)) return false;
    const parts = symbolic('cdiv', whole, p.scale);
    return sameExtent(p.count, parts) || (typeof p.count === 'number' && typeof parts === 'number' && p.count <= parts);
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
      // A block has extents for all of its axes or none, so a full axis says so by a number.
      if (valid.every((v, axis) => !full[axis] || typeof scalars.extentOf(v) === 'number'))
        return void rewriter.keep(op);
      const limits = valid.map((v, axis) =>
        full[axis] && typeof scalars.extentOf(v) !== 'number'
          ? rewriter.emit('constant', {}, { value: shape[axis]! }, op, { types: [indexType] }).results[0]!
          : v,
      );
      rewriter.keep(op, { operands: { ...op.operands, valid: limits } });
    });
  },
};
