/** Lowers the regions of a launch: where values are kept, which arguments the function takes, control flow. */

import { InternalError } from '../../diagnostics/diagnostic.js';
import type { DType } from '../../ir/dtypes.js';
import type { ArrayParam, Kernel, Launch } from '../../ir/kernel.js';
import { isOp, type OpOf } from '../../ir/ops/index.js';
import { type Extent, evaluateExtent } from '../../ir/symbolic.js';
import type { GenericOp, Region, Value } from '../../ir/value.js';
import { countUses, walk } from '../../ir/walk.js';
import type { GpuTarget } from '../gpu-target.js';
import type { MlirValue } from '../mlir.js';
import { TritonEmitter } from './emitter.js';
import { tritonRules } from './rules.js';
import { memoryElementOf, pointerTo, tileTypeOf, typeOfTile } from './types.js';

/** The most that dims may be. */
const mostOfDim = 2 ** 31 - 1;

/** What cannot be missing: without it, a bug of ours. */
function bug(what: string): never {
  throw new InternalError(what);
}

/** An argument of the function that the body asked for. */
export type Argument =
  | { readonly kind: 'pointer'; readonly param: ArrayParam; readonly value: MlirValue }
  | { readonly kind: 'dim' | 'scalar'; readonly name: string; readonly value: MlirValue };

/** What a masked load gives where it does not read, taken from the selection that follows it. */
export interface FoldedSelects {
  /** Number that a load gives beyond its extents. */
  readonly others: ReadonlyMap<GenericOp, number | bigint>;
  /** Selections that are their load. */
  readonly selects: ReadonlySet<GenericOp>;
  /** Masks that nothing else uses. */
  readonly masks: ReadonlySet<GenericOp>;
}

export class ProgramLowering {
  readonly e = new TritonEmitter();
  private readonly values = new Map<Value, MlirValue>();
  private readonly makers = new Map<Value, GenericOp>();
  private readonly arguments = new Map<string, Argument>();
  private readonly arrays: ReadonlyMap<Value, ArrayParam>;
  private readonly scalars: ReadonlyMap<Value, string>;
  readonly folded: FoldedSelects;
  /** What is left of an array from a line's first element on, and how far past that every place fits 32 bits. */
  readonly lines = new Map<Value, number>();

  constructor(
    readonly kernel: Kernel,
    readonly launch: Launch,
    readonly target: GpuTarget,
    private readonly programIds: (lowering: ProgramLowering) => ReadonlyMap<string, MlirValue>,
  ) {
    const arrays = kernel.params.filter((p): p is ArrayParam => p.kind === 'array');
    this.arrays = new Map(arrays.map((p) => [p.value, p]));
    this.scalars = new Map(kernel.params.flatMap((p) => (p.kind === 'scalar' ? [[p.value as Value, p.name]] : [])));
    walk(launch.body, (op) => {
      for (const r of op.results) this.makers.set(r, op);
    });
    this.folded = foldSelects(launch.body, this.makers);
  }

  // ---- arguments --------------------------------------------------------------------------------------------------

  /** The arguments that were asked for: arrays, dims, scalars, each in the kernel's order. */
  usedArguments(): Argument[] {
    const names = [
      ...this.kernel.params.map((p) => `${p.kind === 'array' ? 'pointer' : 'scalar'} ${p.name}`),
      ...this.kernel.dims.map((d) => `dim ${d.name}`),
    ];
    return names.flatMap((name) => this.arguments.get(name) ?? []);
  }

  private argument(kind: Argument['kind'], name: string, type: string, param?: ArrayParam): MlirValue {
    const key = `${kind} ${name}`;
    let found = this.arguments.get(key);
    if (!found) {
      const value = { type };
      found = kind === 'pointer' ? { kind, param: param!, value } : { kind, name, value };
      this.arguments.set(key, found);
    }
    return found.value;
  }

  pointer(ref: Value): MlirValue {
    const param = this.arrayOf(ref);
    return this.argument('pointer', param.name, pointerTo(memoryElementOf(param.value.type.dtype)), param);
  }

  arrayOf(ref: Value): ArrayParam {
    return this.arrays.get(ref) ?? bug('a ref that is no array');
  }

  dim(name: string): MlirValue {
    return this.argument('dim', name, 'i32');
  }

  /** A host extent as an i32 of the program. Extents are not negative and divisors are positive. */
  extent(extent: Extent): MlirValue {
    const { e } = this;
    if (typeof extent === 'number') return e.i32(extent);
    if (extent.kind === 'argument') {
      const scalar = this.kernel.params.find((p) => p.kind === 'scalar' && p.name === extent.name);
      return scalar ? this.get(scalar.value) : this.dim(extent.name);
    }
    const [a, b] = [this.extent(extent.left), this.extent(extent.right)];
    switch (extent.kind) {
      case 'add':
        return e.scalar('addi', a, b);
      case 'sub':
        return e.scalar('subi', a, b);
      case 'mul':
        return e.scalar('muli', a, b);
      case 'floor_div':
        return e.scalar('divsi', a, b);
      case 'mod':
        return e.scalar('remsi', a, b);
      case 'cdiv':
        return e.scalar('divsi', e.scalar('addi', a, e.scalar('subi', b, e.i32(1))), b);
      case 'min':
        return e.binary('minsi', a, b);
      case 'max':
        return e.binary('maxsi', a, b);
    }
  }

  /** The most that an extent can be, by what the dims promise. */
  most(extent: Extent): number {
    const dims = this.kernel.dims.map((d) => [d.name, d.max ?? mostOfDim] as const);
    const scalars = [...this.scalars.values()].map((name) => [name, mostOfDim] as const);
    const grows = (x: Extent): boolean =>
      typeof x === 'number' ||
      x.kind === 'argument' ||
      ((x.kind === 'add' || x.kind === 'mul' || x.kind === 'min' || x.kind === 'max') &&
        grows(x.left) &&
        grows(x.right)) ||
      ((x.kind === 'floor_div' || x.kind === 'cdiv') && grows(x.left) && typeof x.right === 'number');
    return grows(extent) ? evaluateExtent(extent, new Map([...dims, ...scalars])) : mostOfDim;
  }

  // ---- values -----------------------------------------------------------------------------------------------------

  get(value: Value): MlirValue {
    const found = this.values.get(value);
    if (found) return found;
    const scalar = this.scalars.get(value);
    if (scalar !== undefined) return this.argument('scalar', scalar, typeOfTile(tileTypeOf(value)));
    return bug(`a value of '${value.hint ?? '?'}' that nothing has defined`);
  }

  /** The op that gives a value; none of arguments. */
  makerOf(value: Value): GenericOp | undefined {
    return this.makers.get(value);
  }

  set(value: Value, to: MlirValue): void {
    this.values.set(value, to);
  }

  dtypeOf(value: Value): DType {
    return tileTypeOf(value).dtype;
  }

  // ---- regions ----------------------------------------------------------------------------------------------------

  /** The launch's body; the caller adds the return. */
  run(): void {
    this.ids = this.programIds(this);
    this.region(this.launch.body);
  }

  private ids: ReadonlyMap<string, MlirValue> = new Map();

  programId(axis: string): MlirValue {
    return this.ids.get(axis) ?? bug(`no grid axis '${axis}'`);
  }

  private region(region: Region): void {
    for (const op of region.ops) {
      this.e.loc = op.loc;
      (tritonRules[op.name as keyof typeof tritonRules] as (l: ProgramLowering, op: GenericOp) => void)(this, op);
    }
  }

  /** Lowers a region whose arguments are given; its terminator is handed to `end`. */
  inside(region: Region, args: readonly MlirValue[], end: (values: readonly MlirValue[]) => void): void {
    region.args.forEach((a, i) => {
      this.set(a, args[i]!);
    });
    const last = region.ops.at(-1)!;
    this.region({ ...region, ops: region.ops.slice(0, -1) });
    this.e.loc = last.loc;
    const operands = last.operands as { values?: readonly Value[]; condition?: Value };
    end((operands.condition ? [operands.condition] : (operands.values ?? [])).map((v) => this.get(v)));
  }

  for(op: OpOf<'for'>): void {
    const { e } = this;
    const { from, to, step, init = [] } = op.operands;
    const start = init.map((v) => this.get(v));
    const body = e.region(['i32', ...start.map((v) => v.type)], (args) =>
      this.inside(op.regions[0]!, args, (values) => e.yield(values)),
    );
    e.loc = op.loc;
    const { unroll } = op.attrs;
    const results = e.ops('scf.for', {
      operands: [this.get(from), this.get(to), this.get(step), ...start],
      types: start.map((v) => v.type),
      regions: [body],
      attributes: unroll === undefined ? {} : { 'tt.loop_unroll_factor': `${unroll} : i32` },
    });
    op.results.forEach((r, i) => {
      this.set(r, results[i]!);
    });
  }

  while(op: OpOf<'while'>): void {
    const { e } = this;
    const start = (op.operands.init ?? []).map((v) => this.get(v));
    const types = start.map((v) => v.type);
    const before = e.region(types, (args) =>
      this.inside(op.regions[0]!, args, ([holds]) => e.ops('scf.condition', { operands: [holds!, ...args] })),
    );
    const after = e.region(types, (args) => this.inside(op.regions[1]!, args, (values) => e.yield(values)));
    e.loc = op.loc;
    const results = e.ops('scf.while', { operands: start, types, regions: [before, after] });
    op.results.forEach((r, i) => {
      this.set(r, results[i]!);
    });
  }

  if(op: OpOf<'if'>): void {
    const { e } = this;
    const [then, otherwise] = op.regions.map((r) =>
      e.region([], () =>
        this.inside(r, [], (values) => {
          if (values.length > 0) e.yield(values);
        }),
      ),
    );
    e.loc = op.loc;
    const results = e.ops('scf.if', {
      operands: [this.get(op.operands.condition)],
      types: op.results.map((r) => typeOfTile(tileTypeOf(r))),
      regions: [then!, otherwise!],
    });
    op.results.forEach((r, i) => {
      this.set(r, results[i]!);
    });
  }
}

/**
 * Finds selections by an extent mask of what a load gave, where the mask cuts nowhere but at the load's own extents: the
 * load gives the other number itself. What lies beyond those extents is unspecified, so it may be that number too.
 */
function foldSelects(body: Region, makers: ReadonlyMap<Value, GenericOp>): FoldedSelects {
  const others = new Map<GenericOp, number | bigint>();
  const selects = new Set<GenericOp>();
  const maskUses = new Map<GenericOp, number>();
  walk(body, (op) => {
    if (!isOp(op, 'select')) return;
    const [mask, chosen, other] = [op.operands.condition, op.operands.on_true, op.operands.on_false].map((v) =>
      makers.get(v),
    );
    // Zero is zero in every dtype.
    const through = isOp(chosen, 'cast') && isOp(other, 'constant') && Object.is(Number(other.attrs.value), 0);
    const load = through ? makers.get(chosen.operands.input) : chosen;
    if (!isOp(mask, 'extent_mask') || !isOp(load, 'load') || !isOp(other, 'constant')) return;
    const { valid = [], mask: own } = load.operands;
    const { shape } = tileTypeOf(op.results[0]!);
    const cutsAlike = (mask.operands.extents ?? []).every((extent, axis) => {
      const maker = makers.get(extent);
      return extent === valid[axis] || (isOp(maker, 'constant') && Number(maker.attrs.value) >= shape[axis]!);
    });
    const number = other.attrs.value as number | bigint;
    if (own || valid.length === 0 || !cutsAlike) return;
    if (others.has(load) && !Object.is(others.get(load), number)) return;
    others.set(load, number);
    selects.add(op);
    maskUses.set(mask, (maskUses.get(mask) ?? 0) + 1);
  });
  const uses = countUses(body);
  const masks = new Set([...maskUses].filter(([mask, n]) => uses.get(mask.results[0]!) === n).map(([mask]) => mask));
  return { others, selects, masks };
}
