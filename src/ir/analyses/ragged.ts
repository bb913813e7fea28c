/**
 * Which tiles are valid only up to a run-time extent, and up to which: along each axis the i32 value that holds the
 * extent, or undefined where the whole axis is valid.
 */

import { irCodes } from '../../diagnostics/codes/ir.js';
import type { Diagnostic, DiagnosticNote } from '../../diagnostics/diagnostic.js';
import type { RaggedContext, ValidExtents } from '../define-op.js';
import type { Launch } from '../kernel.js';
import { terminatorValues } from '../ops/control.js';
import { definitionOf, isOp, isPure } from '../ops/index.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';
import { ValueNumbers } from './value-numbers.js';

export type Extents = ValidExtents<Value>;

const isBounded = (extents: Extents): boolean => extents.some((e) => e !== undefined);

/**
 * The valid extents of every tile of a launch. A value that a loop carries has the extents that its body returns: where
 * the initial value is full it is narrowed to them. The result of an `if` has those of both branches together.
 */
export class RaggedAnalysis {
  /** What does not fit: extents of two origins that meet, ops that take no ragged tile, extents that escape. */
  readonly diagnostics: Diagnostic[] = [];
  private readonly extents = new Map<Value, Extents>();
  /** What carried values have been narrowed to, by loop; the rounds of the analysis only ever add to it. */
  private readonly carried = new Map<GenericOp, Extents[]>();
  private readonly escapes = new Map<GenericOp, readonly GenericOp[]>();
  private readonly constants = new Map<Value, number>();
  private readonly makers = new Map<Value, GenericOp>();
  /** Place of each op and value in program order, and where the regions of an op end. */
  private readonly order = new Map<GenericOp | Value, number>();
  private readonly ends = new Map<GenericOp, number>();
  private readonly numbers: ValueNumbers;
  private narrowed = false;

  constructor(launch: Launch) {
    this.numbers = new ValueNumbers(launch.body);
    this.place(launch.body, 0);
    do {
      this.narrowed = false;
      this.diagnostics.length = 0;
      this.region(launch.body);
    } while (this.narrowed);
  }

  /** Extents of a tile; all undefined where it is full. */
  of(v: Value): Extents {
    return this.extents.get(v) ?? (v.type.kind === 'tile' ? v.type.shape.map(() => undefined) : []);
  }

  isRagged(v: Value): boolean {
    return this.extents.has(v);
  }

  /** Whether two extents are one: both none, or the same computation. */
  same(a: Value | undefined, b: Value | undefined): boolean {
    return a === b || (a !== undefined && b !== undefined && this.numbers.of(a) === this.numbers.of(b));
  }

  /** Whether two tiles are valid up to the same extents. */
  sameExtents(a: Value, b: Value): boolean {
    const [x, y] = [this.of(a), this.of(b)];
    return x.length === y.length && x.every((e, axis) => this.same(e, y[axis]));
  }

  /** Whether a loop carries values that are ragged only because its body returns them so. */
  narrows(op: GenericOp): boolean {
    return this.carried.has(op);
  }

  /**
   * The ops inside of a loop or branch that compute the extents of what it carries or gives, in program order. All are
   * pure and depend on nothing else inside, so they mean the same in front of it, which is where those extents count.
   */
  escaping(op: GenericOp): readonly GenericOp[] {
    return this.escapes.get(op) ?? [];
  }

  private place(region: Region, from: number): number {
    let next = from;
    for (const arg of region.args) this.order.set(arg, next++);
    for (const op of region.ops) {
      this.order.set(op, next);
      for (const r of op.results) {
        this.order.set(r, next);
        this.makers.set(r, op);
      }
      if (isOp(op, 'constant')) this.constants.set(op.results[0]!, Number(op.attrs.value));
      next++;
      for (const inner of op.regions) next = this.place(inner, next);
      this.ends.set(op, next);
    }
    return next;
  }

  private isInside(v: Value, op: GenericOp): boolean {
    const at = this.order.get(v) ?? -1;
    return at > this.order.get(op)! && at < this.ends.get(op)!;
  }

  private set(v: Value, extents: Extents): void {
    const shape = v.type.kind === 'tile' ? v.type.shape : [];
    // A constant extent that covers the axis is no bound.
    const bounds = extents.map((e, axis) =>
      e !== undefined && (this.constants.get(e) ?? -1) >= shape[axis]! ? undefined : e,
    );
    if (isBounded(bounds)) this.extents.set(v, bounds);
    else this.extents.delete(v);
  }

  private region(region: Region): void {
    for (const op of region.ops) this.op(op);
  }

  private op(op: GenericOp): void {
    if (isOp(op, 'for')) return this.loop(op, op.operands.init ?? [], [op.regions[0]!.args.slice(1)]);
    if (isOp(op, 'while'))
      return this.loop(
        op,
        op.operands.init ?? [],
        op.regions.map((r) => r.args),
      );
    if (isOp(op, 'if')) return this.branches(op);
    const extents = definitionOf(op).ragged(op as never, this.contextOf(op));
    op.results.forEach((r, i) => {
      if (extents[i]) this.set(r, extents[i]);
    });
  }

  private contextOf(op: GenericOp): RaggedContext<Value> {
    return {
      extentsOf: (v) => this.of(v),
      stated: (v) => v,
      meet: (a, b) => {
        if (a === undefined || b === undefined || this.same(a, b)) return a ?? b;
        this.mismatch(
          op,
          a,
          b,
          'make one operand full with .pad(value), or load both blocks at the same place of arrays of the same extent',
        );
        return a;
      },
      refuse: (message) => this.diagnostics.push(irCodes.raggedRefused({ message }, { loc: op.loc })),
    };
  }

  private mismatch(op: GenericOp, a: Value | undefined, b: Value | undefined, help: string): void {
    const notes: DiagnosticNote[] = [];
    for (const [extent, message] of [
      [a, 'one is valid up to this extent'],
      [b, 'the other up to this one'],
    ] as const) {
      const maker = extent && this.makers.get(extent);
      if (maker) notes.push({ message, loc: maker.loc });
    }
    this.diagnostics.push(irCodes.raggedMismatch({ op: op.name }, { loc: op.loc, notes, help }));
  }

  private loop(op: GenericOp, init: readonly Value[], args: readonly (readonly Value[])[]): void {
    const current = this.carried.get(op) ?? init.map((v) => this.of(v));
    for (const group of args) group.forEach((arg, i) => this.set(arg, current[i]!));
    for (const region of op.regions) this.region(region);
    const returned = terminatorValues(op.regions.at(-1)!).map((v) => this.of(v));
    const next = current.map((extents, i) => extents.map((e, axis) => e ?? returned[i]?.[axis]));
    if (next.some((extents, i) => extents.some((e, axis) => e !== current[i]![axis]))) {
      this.carried.set(op, next);
      this.narrowed = true;
    }
    next.forEach((extents, i) =>
      extents.forEach((e, axis) => {
        const got = returned[i]?.[axis];
        if (got !== undefined && !this.computation(got, op))
          this.diagnostics.push(
            irCodes.raggedRefused(
              { message: 'a carried value is valid up to an extent that changes from trip to trip' },
              {
                loc: op.loc,
                notes: this.madeAt(got),
                help: 'make it full with .pad(value), or reduce along that axis, before returning it',
              },
            ),
          );
        else if (!this.same(e, got))
          this.mismatch(op, e, got, 'start the loop with a value of the same extent, or pad(…) what the body returns');
      }),
    );
    this.give(op, next);
  }

  private branches(op: GenericOp): void {
    for (const region of op.regions) this.region(region);
    const [then, otherwise] = op.regions.map((r) => terminatorValues(r).map((v) => this.of(v)));
    const context = this.contextOf(op);
    const met = op.results.map((_, i) => then![i]!.map((e, axis) => context.meet(e, otherwise![i]![axis])));
    for (const e of met.flat())
      if (e !== undefined && !this.computation(e, op))
        this.diagnostics.push(
          irCodes.raggedRefused(
            { message: 'a branch gives a value that is valid up to an extent known only inside of it' },
            { loc: op.loc, notes: this.madeAt(e), help: 'make it full with .pad(value) before the branch ends' },
          ),
        );
    this.give(op, met);
  }

  private madeAt(extent: Value): DiagnosticNote[] {
    const maker = this.makers.get(extent);
    return maker ? [{ message: 'the extent is computed here', loc: maker.loc }] : [];
  }

  /** Gives results their extents and notes what computes those. */
  private give(op: GenericOp, extents: readonly Extents[]): void {
    op.results.forEach((r, i) => this.set(r, extents[i]!));
    const ops = new Set(extents.flat().flatMap((e) => (e === undefined ? [] : (this.computation(e, op) ?? []))));
    this.escapes.set(
      op,
      [...ops].sort((a, b) => this.order.get(a)! - this.order.get(b)!),
    );
  }

  /** The ops inside of `op` that compute a value; undefined where it may differ from trip to trip or is read from memory. */
  private computation(v: Value, op: GenericOp): GenericOp[] | undefined {
    const found = new Set<GenericOp>();
    const open = [v];
    for (let next = open.pop(); next; next = open.pop()) {
      if (!this.isInside(next, op)) continue;
      const maker = this.makers.get(next);
      if (!maker || !isPure(maker)) return undefined;
      if (found.has(maker)) continue;
      found.add(maker);
      open.push(...operandsOf(maker));
    }
    return [...found];
  }
}
