import type { Kernel } from '../kernel.js';
import { terminatorValues } from '../ops/control.js';
import { definitionOf, isOp } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { mapBodies } from '../rewrite.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf, walk } from '../walk.js';

/** Whether an op must stay although nothing uses its results. Loads have no effect but reading; a `while` may never end. */
function mustStay(op: GenericOp): boolean {
  return isOp(op, 'while') || definitionOf(op).effects.some((e) => e !== 'reads' && e !== 'control');
}

/** Arguments of a region that stand for the values a loop carries, without the counter. */
const carriedArgs = (op: GenericOp, region: Region): readonly Value[] =>
  isOp(op, 'for') ? region.args.slice(1) : region.args;

/** Marks from effects backward: an op is live if it acts, holds a live op, or gives a live value. */
class Liveness {
  readonly ops = new Set<GenericOp>();
  readonly values = new Set<Value>();
  private readonly makers = new Map<Value, { readonly op: GenericOp; readonly index: number }>();
  private readonly owners = new Map<GenericOp, GenericOp>();
  private readonly open: Value[] = [];

  constructor(body: Region) {
    const acting: GenericOp[] = [];
    walk(body, (op) => {
      op.results.forEach((r, index) => this.makers.set(r, { op, index }));
      for (const region of op.regions) {
        if (isOp(op, 'for')) this.makers.set(region.args[0]!, { op, index: -1 });
        if (!definitionOf(op).combines)
          carriedArgs(op, region).forEach((arg, index) => this.makers.set(arg, { op, index }));
        for (const inner of region.ops) this.owners.set(inner, op);
      }
      if (mustStay(op)) acting.push(op);
    });
    for (const op of acting) this.keep(op);
    for (let v = this.open.pop(); v; v = this.open.pop()) {
      const made = this.makers.get(v);
      if (!made) continue;
      this.keep(made.op);
      if (made.op.regions.length > 0 && !definitionOf(made.op).combines) this.keepCarried(made.op, made.index);
    }
  }

  private use(v: Value): void {
    if (this.values.has(v)) return;
    this.values.add(v);
    this.open.push(v);
  }

  private keep(op: GenericOp): void {
    for (let next: GenericOp | undefined = op; next && !this.ops.has(next); next = this.owners.get(next)) {
      this.ops.add(next);
      const { init, ...control } = next.operands as { init?: readonly Value[] };
      for (const v of operandsOf(next.regions.length > 0 ? { ...next, operands: control } : next)) this.use(v);
      if (isOp(next, 'while')) for (const v of operandsOf(next.regions[0]!.ops.at(-1)!)) this.use(v);
      if (definitionOf(next).combines) this.keepCombined(next);
    }
  }

  /** The body of a reduction or scan needs all that it gives, whichever results are used. */
  private keepCombined(op: GenericOp): void {
    for (const v of [...op.results, ...op.regions[0]!.args]) this.values.add(v);
    for (const v of terminatorValues(op.regions[0]!)) this.use(v);
  }

  /** One value that a loop carries or an `if` gives: all that it is from trip to trip. */
  private keepCarried(op: GenericOp, index: number): void {
    if (index < 0) return;
    const { init = [] } = op.operands as { init?: readonly Value[] };
    if (op.results[index]) this.values.add(op.results[index]);
    if (init[index]) this.use(init[index]);
    for (const region of op.regions) {
      const next = terminatorValues(region)[index];
      if (next) this.use(next);
    }
  }
}

function sweep(region: Region, live: Liveness, owner?: GenericOp): Region {
  const kept = owner?.results.map((r) => live.values.has(r)) ?? [];
  const all = kept.every((k) => k);
  const only = <T>(list: readonly T[]): readonly T[] => (all ? list : list.filter((_, i) => kept[i]));
  const ops: GenericOp[] = [];
  for (const op of region.ops) {
    if (isOp(op, 'yield')) {
      ops.push(all ? op : { ...op, operands: { values: only(op.operands.values ?? []) } });
    } else if (isOp(op, 'condition')) ops.push(op);
    else if (op.regions.length > 0) {
      if (live.ops.has(op)) ops.push(sweepInside(op, live));
    } else if (live.ops.has(op)) ops.push(op);
  }
  if (all && ops.length === region.ops.length && ops.every((op, i) => op === region.ops[i])) return region;
  const lead = region.args.length - kept.length;
  const args = owner && lead >= 0 ? [...region.args.slice(0, lead), ...only(region.args.slice(lead))] : region.args;
  return { args, ops };
}

/** An op with regions, without the values that nothing needs. */
function sweepInside(op: GenericOp, live: Liveness): GenericOp {
  const regions = op.regions.map((r) => sweep(r, live, op));
  const results = op.results.filter((r) => live.values.has(r));
  if (results.length === op.results.length && regions.every((r, i) => r === op.regions[i])) return op;
  const { init } = op.operands as { init?: readonly Value[] };
  const operands = init
    ? { ...op.operands, init: init.filter((_, i) => live.values.has(op.results[i]!)) }
    : op.operands;
  return { ...op, operands, results, regions };
}

export const dce: Pass = {
  name: 'dce',
  summary: 'Drop ops whose results nothing uses, and values that loops carry for nothing.',
  run: (kernel: Kernel): Kernel => mapBodies(kernel, (body) => sweep(body, new Liveness(body))),
};
