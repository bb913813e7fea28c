/** Control flow of kernels: bodies are traced once; what goes from one trip to the next is carried by name. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Bool, DType } from '../ir/dtypes.js';
import { i32 } from '../ir/dtypes.js';
import { indexType, printType, sameType, tileType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import type { Extent } from './ref.js';
import { userLoc } from './site.js';
import { type AnyTile, type Index, locOf, type Scalar, Tile, traced, useTile } from './tile.js';
import { needTrace, type Trace, type TracedValue } from './trace.js';

/** Any tile, for carried values. */
// biome-ignore lint/suspicious/noExplicitAny: Tile is invariant in its dtype; any is the only type that all of them meet.
type Carried = Tile<any, any>;

/** One tile, or several by name. */
export type Carry = Carried | { readonly [name: string]: Carried };

const flatten = (carry: Carry): { name: string; tile: AnyTile }[] =>
  carry instanceof Tile
    ? [{ name: 'value', tile: carry }]
    : Object.entries(carry).map(([name, tile]) => ({ name, tile }));

function rebuild<C extends Carry>(like: C, values: readonly TracedValue[]): C {
  const tiles = values.map((v) => traced(v));
  if (like instanceof Tile) return tiles[0]!;
  return Object.fromEntries(Object.keys(like).map((name, i) => [name, tiles[i]!])) as unknown as C;
}

/** Checks that `next` has the names and types of `carry`; gives its tiles in that order. */
function match(carry: Carry, next: unknown, what: string): AnyTile[] {
  if (next instanceof Promise) mistake((c) => frontendCodes.asyncBody({ what }, c));
  const expected = flatten(carry);
  if (typeof next !== 'object' || next === null)
    return mistake((c) =>
      frontendCodes.returnsValue({ what: `${what} must return the carried values, got ${String(next)}` }, c),
    );
  const given = new Map(flatten(next as Carry).map(({ name, tile }) => [name, tile]));
  const extra = [...given.keys()].find((name) => !expected.some((x) => x.name === name));
  if (extra !== undefined)
    mistake((c) => frontendCodes.returnsValue({ what: `${what} returns '${extra}', which is not carried` }, c));
  return expected.map(({ name, tile }) => {
    const got = given.get(name);
    if (!(got instanceof Tile))
      return mistake((c) =>
        frontendCodes.returnsValue({ what: `${what} does not return the carried value '${name}'` }, c),
      );
    if (!sameType(got.type, tile.type))
      mistake(
        (c) => frontendCodes.carryChanges({ name, expected: printType(tile.type), got: printType(got.type) }, c),
        {
          loc: locOf(got),
          notes: [noteAt('it starts here', locOf(tile))],
          help:
            (got.dtype as DType) === tile.dtype
              ? `return a tile of shape [${tile.type.shape.join(', ')}]`
              : `convert with .to(${tile.dtype.name}) before returning it`,
        },
      );
    return got;
  });
}

function asIndex(trace: Trace, x: Extent): never {
  if (typeof x !== 'number') {
    if (!(x instanceof Tile) || x.dtype !== i32 || x.type.shape.length > 0)
      mistake((c) =>
        frontendCodes.badIndex(
          { message: `a loop bound is an i32 scalar, got ${x instanceof Tile ? printType(x.type) : typeof x}` },
          c,
        ),
      );
    return useTile(x);
  }
  if (!Number.isInteger(x))
    mistake((c) => frontendCodes.badIndex({ message: `a loop bound is an integer, got ${x}` }, c));
  return trace.use(trace.emit('constant', {}, { value: x }, { types: [tileType(i32)] })[0]!) as never;
}

export interface LoopRange {
  /** First value of the counter; 0. */
  readonly from?: Extent;
  /** The counter stays below it. */
  readonly to: Extent;
  /** At least 1. */
  readonly step?: number;
  /** How many trips a back end should lay out one after the other. */
  readonly unroll?: number;
}

/**
 * `for (k = from; k < to; k += step)`, traced once.
 *
 * With `carry` the body gets the carried values and returns the next ones, under the same names and types; `loop` gives
 * the last ones (the initial ones where there is no trip).
 */
export function loop(range: LoopRange & { readonly carry?: never }, body: (k: Index) => void): void;
export function loop<C extends Carry>(
  range: LoopRange & { readonly carry: C },
  body: (k: Index, carry: C) => NoInfer<C>,
): C;
export function loop(
  range: LoopRange & { readonly carry?: Carry },
  body: (k: Index, carry: never) => unknown,
): unknown {
  const trace = needTrace('loop');
  const loc = userLoc();
  const { from = 0, to, step = 1, unroll, carry } = range;
  if (!Number.isInteger(step) || step < 1)
    mistake((c) => frontendCodes.badIndex({ message: `the step of a loop is an integer from 1 up, got ${step}` }, c));
  const initial = carry === undefined ? [] : flatten(carry);
  const operands = {
    from: asIndex(trace, from),
    to: asIndex(trace, to),
    step: asIndex(trace, step),
    init: initial.map(({ tile }) => useTile(tile)),
  };
  const args = [{ type: indexType, hint: 'k' }, ...initial.map(({ name, tile }) => ({ type: tile.type, hint: name }))];
  const { region } = trace.region(args, ([k, ...carried]) => {
    const next = body(traced(k!), (carry === undefined ? undefined : rebuild(carry, carried)) as never);
    if (carry === undefined && next !== undefined) {
      if (next instanceof Promise) mistake((c) => frontendCodes.asyncBody({ what: 'a loop body' }, c));
      mistake(
        (c) => frontendCodes.returnsValue({ what: 'this loop carries nothing, but its body returns a value' }, c),
        { loc, help: 'give loop() a `carry`' },
      );
    }
    const values = carry === undefined ? [] : match(carry, next, 'a loop body').map((t) => useTile(t));
    trace.emit('yield', { values }, {}, { loc });
  });
  const results = trace.emit('for', operands, { unroll }, { regions: [region], loc });
  return carry === undefined ? undefined : rebuild(carry, results);
}

/** Repeats `body` while `condition` holds for the carried values. */
export function whileLoop<C extends Carry>(
  carry: C,
  condition: (carry: C) => Scalar<Bool>,
  body: (carry: C) => NoInfer<C>,
): C {
  const trace = needTrace('whileLoop');
  const loc = userLoc();
  const initial = flatten(carry);
  const args = initial.map(({ name, tile }) => ({ type: tile.type, hint: name }));
  const test = trace.region(args, (values) => {
    const holds = condition(rebuild(carry, values));
    trace.emit('condition', { condition: useTile(holds) }, {}, { loc });
  });
  const step = trace.region(args, (values) => {
    const next = match(carry, body(rebuild(carry, values)), 'the body of whileLoop');
    trace.emit('yield', { values: next.map((t) => useTile(t)) }, {}, { loc });
  });
  return rebuild(
    carry,
    trace.emit(
      'while',
      { init: initial.map(({ tile }) => useTile(tile)) },
      {},
      { regions: [test.region, step.region], loc },
    ),
  );
}

/** One of two values, of which only the chosen one is computed. */
export function ifElse<C extends Carry>(
  condition: Scalar<Bool> | boolean,
  then: () => C,
  otherwise: () => NoInfer<C>,
): C {
  if (typeof condition === 'boolean') return condition ? then() : otherwise();
  const trace = needTrace('ifElse');
  const loc = userLoc();
  const holds = useTile(condition);
  const first = trace.region([], () => {
    const value = then();
    trace.emit('yield', { values: flatten(value).map(({ tile }) => useTile(tile)) }, {}, { loc });
    return value;
  });
  const second = trace.region([], () => {
    const values = match(first.result, otherwise(), 'the other branch of ifElse');
    trace.emit('yield', { values: values.map((t) => useTile(t)) }, {}, { loc });
  });
  const types = flatten(first.result).map(({ tile }) => tile.type);
  return rebuild(
    first.result,
    trace.emit('if', { condition: holds }, {}, { types, regions: [first.region, second.region], loc }),
  );
}

/** Runs `body` where the condition holds, for its effects. A JavaScript boolean decides while tracing. */
export function when(condition: Scalar<Bool> | boolean, body: () => void): void {
  if (typeof condition === 'boolean') {
    if (condition) body();
    return;
  }
  const trace = needTrace('when');
  const loc = userLoc();
  const holds = useTile(condition);
  const then = trace.region([], () => {
    body();
    trace.emit('yield', {}, {}, { loc });
  });
  const otherwise = trace.region([], () => {
    trace.emit('yield', {}, {}, { loc });
  });
  trace.emit('if', { condition: holds }, {}, { types: [], regions: [then.region, otherwise.region], loc });
}
