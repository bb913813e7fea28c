/**
 * What is known of i32 scalars before a kernel runs: bounds and divisibility, from the promises on dims, the sizes of
 * grid axes, the bounds of loops, and arithmetic. Arithmetic that could wrap is known by its divisibility alone.
 */

import { assertNever } from '../../diagnostics/diagnostic.js';
import { intRange, isInt } from '../dtypes.js';
import type { Dim, Kernel, Launch } from '../kernel.js';
import { isOp } from '../ops/index.js';
import type { Extent, SymbolicOperator } from '../symbolic.js';
import { indexType, sameType } from '../types.js';
import type { GenericOp, Value } from '../value.js';
import { walk } from '../walk.js';
import {
  type Affine,
  constantForm,
  divisorOf,
  gcd,
  isNonNegative,
  keyOf,
  plus,
  rangeOf,
  times,
  tryConstant,
  type Unknown,
  unknownForm,
} from './affine.js';

const lowest = -(2 ** 31);
const highest = 2 ** 31 - 1;

/** What a bound on a value may leave out. */
type Facts = Partial<Omit<Unknown, 'id'>>;

export class Ranges {
  private readonly forms = new Map<Value, Affine>();
  /** Unknowns that are computed in one way from the same forms are one. */
  private readonly known = new Map<string, Affine>();
  private readonly dims: ReadonlyMap<string, Dim>;
  private count = 0;

  constructor(
    kernel: Kernel,
    private readonly launch: Launch,
  ) {
    this.dims = new Map(kernel.dims.map((d) => [d.name, d]));
    for (const { kind, name, value } of kernel.params)
      if (kind === 'scalar' && sameType(value.type, indexType)) this.forms.set(value, this.argument(name));
    const assumed = launch.body.ops.flatMap((op) => (isOp(op, 'assume') ? [op.operands.condition] : []));
    walk(launch.body, (op) => this.visit(op));
    if (assumed.length === 0) return;
    // What the launch assumes holds in all of it, also for what was computed before.
    for (const condition of assumed) this.assume(condition);
    walk(launch.body, (op) => this.visit(op));
  }

  private readonly makers = new Map<Value, GenericOp>();
  /** Bounds that the kernel promises of a value, beside those of its computation. */
  private readonly promised = new Map<Value, { readonly low: number; readonly high: number }>();

  private assume(condition: Value): void {
    const op = this.makers.get(condition);
    const { left, right } = (op?.operands ?? {}) as { left?: Value; right?: Value };
    if (!op || !left || !right) return;
    if (isOp(op, 'and')) for (const part of [left, right]) this.assume(part);
    if (!sameType(left.type, indexType)) return;
    if (isOp(op, 'lt')) this.promise(left, right, 1);
    if (isOp(op, 'le') || isOp(op, 'eq')) this.promise(left, right, 0);
    if (isOp(op, 'gt')) this.promise(right, left, 1);
    if (isOp(op, 'ge') || isOp(op, 'eq')) this.promise(right, left, 0);
  }

  /** `smaller + by` is at most `larger`. */
  private promise(smaller: Value, larger: Value, by: number): void {
    const [low, high] = [this.of(smaller).low + by, this.of(larger).high - by];
    const add = (v: Value, facts: { readonly low?: number; readonly high?: number }): void => {
      const known = this.promised.get(v) ?? { low: lowest, high: highest };
      this.promised.set(v, {
        low: Math.max(known.low, facts.low ?? lowest),
        high: Math.min(known.high, facts.high ?? highest),
      });
    };
    add(smaller, { high });
    add(larger, { low });
  }

  /** A form with what is promised of it: the same number, of which more is known. */
  private narrowed(form: Affine, low: number, high: number, multipleOf: number): Affine {
    const known = rangeOf(form);
    const divisor = divisorOf(form);
    if (low <= known.low && high >= known.high && divisor % multipleOf === 0) return form;
    return this.named(`${keyOf(form)} from ${low} to ${high} by ${multipleOf}`, () => ({
      low: Math.max(low, known.low),
      high: Math.min(high, known.high),
      multipleOf: (divisor / gcd(divisor, multipleOf) || 1) * multipleOf,
      atLeast: [form],
      atMost: [form],
    }));
  }

  /** Least and greatest value of an i32 scalar. */
  of(v: Value): { readonly low: number; readonly high: number } {
    const { low, high } = rangeOf(this.form(v));
    return { low: Math.max(lowest, Math.ceil(low)), high: Math.min(highest, Math.floor(high)) };
  }

  /** The largest number that is known to divide an i32 scalar; 0 where it is always 0. */
  multipleOf(v: Value): number {
    return divisorOf(this.form(v));
  }

  /** Whether an i32 scalar is proven to be at least `n` wherever it is computed. */
  atLeast(v: Value, n: number): boolean {
    const rest = plus(this.form(v), constantForm(n), -1);
    return rest !== undefined && isNonNegative(rest);
  }

  private form(v: Value): Affine {
    let form = this.forms.get(v);
    if (!form) {
      form = this.unknown({});
      this.forms.set(v, form);
    }
    return form;
  }

  private visit(op: GenericOp): void {
    if (isOp(op, 'for')) {
      const { from, to, step } = op.operands;
      this.forms.set(op.regions[0]!.args[0]!, this.counter(this.form(from), this.form(to), this.form(step)));
    }
    const [result] = op.results;
    if (!result || op.results.length !== 1) return;
    this.makers.set(result, op);
    if (!sameType(result.type, indexType)) return;
    const form = this.result(op);
    const promised = this.promised.get(result);
    this.forms.set(result, promised ? this.narrowed(form, promised.low, promised.high, 1) : form);
  }

  private unknown({ low = lowest, high = highest, multipleOf = 1, atLeast = [], atMost = [] }: Facts): Affine {
    return unknownForm({ id: this.count++, low, high, multipleOf, atLeast, atMost });
  }

  /** The unknown that `key` names, made when it is first asked for. */
  private named(key: string, facts: () => Facts): Affine {
    let form = this.known.get(key);
    if (!form) {
      form = this.unknown(facts());
      this.known.set(key, form);
    }
    return form;
  }

  private argument(name: string): Affine {
    return this.named(`argument ${name}`, () => {
      const dim = this.dims.get(name);
      return dim ? { low: dim.min ?? 0, high: dim.max ?? highest, multipleOf: dim.multipleOf ?? 1 } : {};
    });
  }

  /** A counter stays below `to`, by as much as both are known to be multiples of. */
  private counter(from: Affine, to: Affine, step: Affine): Affine {
    const multipleOf = gcd(divisorOf(from), divisorOf(step)) || 1;
    const last = plus(to, constantForm(gcd(multipleOf, divisorOf(to))), -1);
    return this.unknown({
      low: rangeOf(from).low,
      high: rangeOf(to).high - 1,
      multipleOf,
      atLeast: [from],
      atMost: last ? [last] : [],
    });
  }

  private programId(axis: string): Affine {
    return this.named(`program ${axis}`, () => {
      const size = this.gridSize(axis);
      const last = plus(size, constantForm(1), -1);
      return { low: 0, high: rangeOf(size).high - 1, atMost: last ? [last] : [] };
    });
  }

  private gridSize(axis: string): Affine {
    const extent = this.launch.grid.find((a) => a.name === axis)?.extent;
    return extent === undefined ? this.unknown({ low: 1 }) : this.extent(extent);
  }

  /** An expression that the host computes: never wraps. */
  private extent(extent: Extent): Affine {
    if (typeof extent === 'number') return constantForm(extent);
    if (extent.kind === 'argument') return this.argument(extent.name);
    return this.computed(extent.kind, this.extent(extent.left), this.extent(extent.right));
  }

  private result(op: GenericOp): Affine {
    if (isOp(op, 'constant')) return constantForm(op.attrs.value as number);
    if (isOp(op, 'dim')) return this.argument(op.attrs.name);
    if (isOp(op, 'program_id')) return this.programId(op.attrs.axis);
    if (isOp(op, 'num_programs')) return this.gridSize(op.attrs.axis);
    if (isOp(op, 'cast')) {
      const { dtype } = op.operands.input.type;
      const [low, high] = isInt(dtype) && dtype.bits < 32 ? intRange(dtype) : [lowest, highest];
      return this.unknown({ low: Number(low), high: Number(high) });
    }
    if (isOp(op, 'multiple_of')) return this.narrowed(this.form(op.operands.input), lowest, highest, op.attrs.multiple);
    if (isOp(op, 'select')) return this.either(this.form(op.operands.on_true), this.form(op.operands.on_false));
    const { left, right } = op.operands as { left?: Value; right?: Value };
    const operator = operatorOf(op, left && rangeOf(this.form(left)).low >= 0);
    if (!operator || !left || !right) return this.unknown({});
    return this.wrapped(this.computed(operator, this.form(left), this.form(right)));
  }

  /** A form as 32-bit arithmetic gives it: itself where it fits, else what wrapping leaves of it. */
  private wrapped(form: Affine): Affine {
    const { low, high } = rangeOf(form);
    if (low >= lowest && high <= highest) return form;
    return this.named(`wrapped ${keyOf(form)}`, () => ({ multipleOf: gcd(divisorOf(form), 2 ** 32) || 1 }));
  }

  private either(a: Affine, b: Affine): Affine {
    const [x, y] = [rangeOf(a), rangeOf(b)];
    return this.unknown({
      low: Math.min(x.low, y.low),
      high: Math.max(x.high, y.high),
      multipleOf: gcd(divisorOf(a), divisorOf(b)) || 1,
    });
  }

  private computed(operator: SymbolicOperator, a: Affine, b: Affine): Affine {
    switch (operator) {
      case 'add':
        return plus(a, b) ?? this.opaque(operator, a, b);
      case 'sub':
        return plus(a, b, -1) ?? this.opaque(operator, a, b);
      case 'mul':
        return this.product(a, b);
      case 'floor_div':
      case 'cdiv':
        return this.quotient(operator, a, b);
      case 'mod':
        return this.remainder(a, b);
      case 'min':
        return this.least(a, b);
      case 'max':
        return this.greatest(a, b);
      default:
        return assertNever(operator, 'symbolic operator');
    }
  }

  private opaque(operator: string, a: Affine, b: Affine, facts: Facts = { low: -Infinity, high: Infinity }): Affine {
    return this.named(`${operator} ${keyOf(a)} ${keyOf(b)}`, () => facts);
  }

  private product(a: Affine, b: Affine): Affine {
    const [x, y] = [tryConstant(a), tryConstant(b)];
    const linear = y !== undefined ? times(a, y) : x !== undefined ? times(b, x) : undefined;
    if (linear) return linear;
    const [p, q] = [rangeOf(a), rangeOf(b)];
    const corners = [p.low * q.low, p.low * q.high, p.high * q.low, p.high * q.high].map((n) =>
      Number.isNaN(n) ? 0 : n,
    );
    const multipleOf = divisorOf(a) * divisorOf(b);
    return this.opaque('mul', a, b, {
      low: Math.min(...corners),
      high: Math.max(...corners),
      multipleOf: Number.isSafeInteger(multipleOf) ? multipleOf || 1 : 1,
    });
  }

  private quotient(operator: 'floor_div' | 'cdiv', a: Affine, b: Affine): Affine {
    const by = tryConstant(b);
    if (by === undefined || by < 1) return this.opaque(operator, a, b);
    const exact = times(a, 1, by);
    if (exact && divisorOf(a) % by === 0) return exact;
    const up = operator === 'cdiv';
    const slack = plus(a, constantForm(up ? by - 1 : 1 - by));
    const other = slack && times(slack, 1, by);
    const { low, high } = rangeOf(a);
    const round = up ? Math.ceil : Math.floor;
    return this.opaque(operator, a, b, {
      low: round(low / by),
      high: round(high / by),
      atLeast: [up ? exact : other].filter((f) => f !== undefined),
      atMost: [up ? other : exact].filter((f) => f !== undefined),
    });
  }

  private remainder(a: Affine, b: Affine): Affine {
    const by = tryConstant(b);
    if (by === undefined || by < 1) return this.opaque('mod', a, b);
    if (divisorOf(a) % by === 0) return constantForm(0);
    const { low, high } = rangeOf(a);
    if (low >= 0 && high < by) return a;
    return this.opaque('mod', a, b, {
      low: 0,
      high: by - 1,
      multipleOf: gcd(divisorOf(a), by),
      atMost: low >= 0 ? [a] : [],
    });
  }

  private isAtMost(a: Affine, b: Affine): boolean {
    const rest = plus(b, a, -1);
    return rest !== undefined && isNonNegative(rest);
  }

  private least(a: Affine, b: Affine): Affine {
    if (this.isAtMost(a, b)) return a;
    if (this.isAtMost(b, a)) return b;
    const [x, y] = [rangeOf(a), rangeOf(b)];
    return this.opaque('min', a, b, {
      low: Math.min(x.low, y.low),
      high: Math.min(x.high, y.high),
      multipleOf: gcd(divisorOf(a), divisorOf(b)) || 1,
      atMost: [a, b],
    });
  }

  private greatest(a: Affine, b: Affine): Affine {
    if (this.isAtMost(a, b)) return b;
    if (this.isAtMost(b, a)) return a;
    const [x, y] = [rangeOf(a), rangeOf(b)];
    return this.opaque('max', a, b, {
      low: Math.max(x.low, y.low),
      high: Math.max(x.high, y.high),
      multipleOf: gcd(divisorOf(a), divisorOf(b)) || 1,
      atLeast: [a, b],
    });
  }
}

/** The symbolic operator that an op computes; division toward zero is one downward where the dividend is not negative. */
function operatorOf(op: GenericOp, isDividendPositive: boolean | undefined): SymbolicOperator | undefined {
  switch (op.name) {
    case 'add':
    case 'sub':
    case 'mul':
    case 'floor_div':
    case 'mod':
    case 'cdiv':
    case 'min':
    case 'max':
      return op.name;
    case 'div':
      return isDividendPositive ? 'floor_div' : undefined;
    case 'rem':
      return isDividendPositive ? 'mod' : undefined;
    default:
      return undefined;
  }
}
