/**
 * Which tiles are valid only up to a run-time extent, and up to which: along each axis the i32 value that holds the
 * extent, or undefined where the whole axis is valid.
 */

import { irCodes } from '../../diagnostics/codes/ir.js';
import type { Diagnostic } from '../../diagnostics/diagnostic.js';
import type { RaggedContext, ValidExtents } from '../define-op.js';
import type { Launch } from '../kernel.js';
import { terminatorValues } from '../ops/control.js';
import { definitionOf, isOp, isPure } from '../ops/index.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';
import { ValueNumbers } from './value-numbers.js';

export type Extents = ValidExtents<Value>;

/** A loop body is looked at again until its carried extents settle; they only ever become narrower. */
const maxRounds = 8;

export class RaggedAnalysis {
  readonly diagnostics: Diagnostic[] = [];
  private readonly extents = new Map<Value, Extents>();
  private readonly constants = new Map<Value, number>();
  private readonly numbers: ValueNumbers;
  /** Region that defines each value, to see what escapes. */
  private readonly home = new Map<Value, Region>();
  private readonly makers = new Map<Value, GenericOp>();
  private quiet = false;

  constructor(launch: Launch) {
    this.numbers = new ValueNumbers(launch.body);
    this.region(launch.body);
  }

  /** Extents of a tile; all undefined where it is full. */
  of(v: Value): Extents {
    return this.extents.get(v) ?? (v.type.kind === 'tile' ? v.type.shape.map(() => undefined) : []);
  }

  isRagged(v: Value): boolean {
    return this.extents.get(v)?.some((e) => e !== undefined) ?? false;
  }

  /** Whether two extents are one: the same computation. */
  same(a: Value, b: Value): boolean {
    return this.numbers.of(a) === this.numbers.of(b);
  }

  private set(v: Value, extents: Extents): void {
    if (extents.some((e) => e !== undefined)) this.extents.set(v, extents);
    else this.extents.delete(v);
  }

  private report(diagnostic: Diagnostic): void {
    if (!this.quiet) this.diagnostics.push(diagnostic);
  }

  private region(region: Region): void {
    for (const arg of region.args) this.home.set(arg, region);
    for (const op of region.ops) {
      for (const r of op.results) {
        this.home.set(r, region);
        this.makers.set(r, op);
      }
      this.op(op);
    }
  }

  private op(op: GenericOp): void {
    if (isOp(op, 'constant')) {
      const [result] = op.results;
      if (result!.type.kind === 'tile' && result!.type.shape.length === 0)
        this.constants.set(result!, Number(op.attrs.value));
    }
    if (isOp(op, 'for')) return this.loop(op, op.operands.init ?? [], op.regions, op.regions[0]!.args.slice(1));
    if (isOp(op, 'while')) return this.loop(op, op.operands.init ?? [], op.regions, op.regions[1]!.args);
    if (isOp(op, 'if')) return this.branches(op);
    const extents = definitionOf(op).ragged(op as never, this.contextOf(op));
    op.results.forEach((r, i) => {
      if (extents[i]) this.set(r, this.bounded(r, extents[i]));
    });
  }

  /** A constant extent that covers the axis is no bound. */
  private bounded(v: Value, extents: Extents): Extents {
    const shape = v.type.kind === 'tile' ? v.type.shape : [];
    return extents.map((e, axis) => (e !== undefined && (this.constants.get(e) ?? -1) >= shape[axis]! ? undefined : e));
  }

  private contextOf(op: GenericOp): RaggedContext<Value> {
    return {
      extentsOf: (v) => this.of(v),
      stated: (v) => v,
      meet: (a, b) => {
        if (a === undefined || b === undefined || this.same(a, b)) return a ?? b;
        this.report(
          irCodes.raggedMismatch(
            { op: op.name },
            {
              loc: op.loc,
              help: 'make one operand full with .pad(value), or load both blocks at the same place of arrays of the same extent',
            },
          ),
        );
        return a;
      },
      refuse: (message) => this.report(irCodes.raggedRefused({ message }, { loc: op.loc })),
    };
  }

  /** Carried values have the extents that the body returns; a full initial value is narrowed to them. */
  private loop(op: GenericOp, init: readonly Value[], regions: readonly Region[], carried: readonly Value[]): void {
    const body = regions.at(-1)!;
    const bind = (extents: readonly Extents[]): void => {
      for (const args of [carried, regions.length > 1 ? regions[0]!.args : []])
        args.forEach((arg, i) => this.set(arg, extents[i]!));
    };
    let current = init.map((v) => this.of(v));
    const wasQuiet = this.quiet;
    for (let round = 0; round < maxRounds; round++) {
      bind(current);
      this.quiet = true;
      regions.forEach((r) => this.region(r));
      this.quiet = wasQuiet;
      const next = terminatorValues(body).map((v) => this.of(v));
      const settled = current.every((e, i) =>
        e.every((x, axis) =>
          x === undefined
            ? next[i]![axis] === undefined
            : next[i]![axis] !== undefined && this.same(x, next[i]![axis]!),
        ),
      );
      if (settled) break;
      current = current.map((e, i) => e.map((x, axis) => x ?? next[i]![axis]));
    }
    bind(current);
    regions.forEach((r) => this.region(r));
    terminatorValues(body).forEach((v, i) => this.checkCarried(op, body, v, current[i]!));
    op.results.forEach((r, i) => this.set(r, current[i]!));
  }

  private checkCarried(op: GenericOp, body: Region, v: Value, expected: Extents): void {
    const got = this.of(v);
    got.forEach((e, axis) => {
      const want = expected[axis];
      if (e !== undefined && this.varies(e, body))
        this.report(
          irCodes.raggedRefused(
            { message: 'a carried value is valid up to an extent that changes from trip to trip' },
            { loc: op.loc, help: 'make it full with .pad(value), or reduce along that axis, before returning it' },
          ),
        );
      else if (
        (e === undefined) !== (want === undefined) ||
        (e !== undefined && want !== undefined && !this.same(e, want))
      )
        this.report(
          irCodes.raggedMismatch(
            { op: op.name },
            { loc: op.loc, help: 'start the loop with a value of the same extent, or pad(…) what the body returns' },
          ),
        );
    });
  }

  /** Whether a value may change from trip to trip: it is made inside of the body, of something that does. */
  private varies(v: Value, body: Region): boolean {
    const home = this.home.get(v);
    const inside = home === body || (home !== undefined && body.ops.some((op) => op.regions.includes(home)));
    if (!inside) return false;
    const maker = this.makers.get(v);
    return !maker || !isPure(maker) || operandsOf(maker).some((operand) => this.varies(operand, body));
  }

  private branches(op: GenericOp): void {
    op.regions.forEach((r) => this.region(r));
    const [then, otherwise] = op.regions.map((r) => terminatorValues(r).map((v) => this.of(v)));
    const context = this.contextOf(op);
    op.results.forEach((r, i) =>
      this.set(
        r,
        then![i]!.map((e, axis) => context.meet(e, otherwise![i]![axis])),
      ),
    );
  }
}
