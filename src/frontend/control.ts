/** Control flow of kernels: bodies are traced once; what goes from one trip to the next is carried by name. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { DiagnosticContext } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { type Bool, i32 } from '../ir/dtypes.js';
import { indexType, printType, sameType } from '../ir/types.js';
import { mistake, noteAt } from './errors.js';
import { checkCallback, checkOptions, describe, isRecord, refuse } from './handle.js';
import { constantValue } from './number.js';
import type { Extent } from './ref.js';
import { userLoc } from './site.js';
import { type AnyTile, asTile, type Index, type Scalar, Tile, traced, useTile } from './tile.js';
import { needTrace, type Trace, type TracedValue } from './trace.js';

/** Any tile, for carried values. */
// biome-ignore lint/suspicious/noExplicitAny: Tile is invariant in its dtype; any is the only type that all of them meet.
type Carried = Tile<any, any>;

/** One tile, or several by name. */
export type Carry = Carried | { readonly [name: string]: Carried };

export interface NamedTile {
  readonly name: string;
  readonly tile: AnyTile;
}

/** Refuses a promise: what an async function does after its first `await` would happen when the trace is over. */
function checkSync(what: string, result: unknown): void {
  if (result instanceof Promise) mistake((c) => frontendCodes.asyncBody({ what }, c));
}

/** The tiles of a carry, in order. */
export function tilesOf(carry: unknown): NamedTile[] {
  if (carry instanceof Tile) return [{ name: 'value', tile: carry }];
  if (!isRecord(carry)) return refuse('what is carried is a tile or a record of tiles', carry, helpFor(carry));
  return Object.entries(carry).map(([name, x]) => ({
    name,
    tile: x instanceof Tile ? x : refuse(`carried value '${name}' must be a tile`, x, helpFor(x)),
  }));
}

const helpFor = (x: unknown): DiagnosticContext =>
  typeof x === 'number' ? { help: `a number has no dtype of its own: full(f32, [], ${x})` } : {};

export function rebuild<C extends Carry>(like: C, values: readonly TracedValue[]): C {
  const tiles = values.map((v) => traced(v));
  if (like instanceof Tile) return tiles[0]!;
  return Object.fromEntries(Object.keys(like).map((name, i) => [name, tiles[i]!])) as unknown as C;
}

/** Checks that `next` has the names and types of what was carried; gives its tiles in that order. */
export function match(expected: readonly NamedTile[], next: unknown, what: string): AnyTile[] {
  checkSync(what, next);
  const wrong = (message: string): never => mistake((c) => frontendCodes.returnsValue({ what: message }, c));
  if (typeof next !== 'object' || next === null)
    return wrong(`${what} must return the carried values, got ${describe(next)}`);
  const given = new Map(next instanceof Tile ? [['value', next]] : Object.entries(next));
  const extra = [...given.keys()].find((name) => !expected.some((x) => x.name === name));
  if (extra !== undefined) wrong(`${what} returns '${extra}', which is not carried`);
  return expected.map(({ name, tile }) => {
    if (!given.has(name)) return wrong(`${what} does not return the carried value '${name}'`);
    const got: unknown = given.get(name);
    if (!(got instanceof Tile)) return wrong(`${what} must return a tile for '${name}', got ${describe(got)}`);
    checkCarried(name, tile, got);
    return got;
  });
}

function checkCarried(name: string, tile: AnyTile, got: AnyTile): void {
  if (sameType(got.type, tile.type)) return;
  mistake((c) => frontendCodes.carryChanges({ name, expected: printType(tile.type), got: printType(got.type) }, c), {
    loc: got.birth,
    notes: [noteAt('it starts here', tile.birth)],
    help:
      got.dtype === tile.dtype
        ? `return a tile of shape [${tile.type.shape.join(', ')}]`
        : `convert with .to(${tile.dtype.name}) before returning it`,
  });
}

/** A loop bound as an i32 scalar of the trace. */
function bound(trace: Trace, loc: Loc, what: string, x: unknown): never {
  const bad = (): never =>
    mistake((c) => frontendCodes.badIndex({ message: `${what} of a loop is an i32 scalar, got ${describe(x)}` }, c));
  if (x instanceof Tile) return sameType(x.type, indexType) ? useTile(x) : bad();
  const value = typeof x === 'number' && Number.isInteger(x) ? constantValue(x, i32) : bad();
  return trace.use(trace.emit('constant', {}, { value }, { types: [indexType], loc })[0]!) as never;
}

export const useAll = (tiles: readonly AnyTile[]): never[] => tiles.map((t) => useTile(t));

const argumentsOf = (carried: readonly NamedTile[]) =>
  carried.map(({ name, tile }) => ({ type: tile.type, hint: name }));

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
  checkOptions('loop', ['from', 'to', 'step', 'unroll', 'carry'], range);
  checkCallback("'loop' takes a body: (k) => { … }", body);
  const { from = 0, to, step = 1, unroll, carry } = range;
  for (const [name, n] of Object.entries({ step, unroll }))
    if (n !== undefined && (!Number.isInteger(n) || n < 1))
      mistake((c) =>
        frontendCodes.badIndex({ message: `${name} of a loop is an integer from 1 up, got ${describe(n)}` }, c),
      );
  const initial = carry === undefined ? [] : tilesOf(carry);
  const bounds = { from, to, step, unroll };
  const results = emitLoop(trace, loc, bounds, initial, (k, carried) => {
    const next = body(k, (carry === undefined ? undefined : rebuild(carry, carried)) as never);
    if (carry !== undefined) return match(initial, next, 'a loop body');
    checkNothing('this loop carries nothing, but its body returns a value', next, loc);
    return [];
  });
  return carry === undefined ? undefined : rebuild(carry, results);
}

/** The programs of a sequential grid axis: a loop at the place of the grid. */
export function loopOverAxis(trace: Trace, to: Extent, loc: Loc, body: (k: Index) => void): void {
  emitLoop(trace, loc, { from: 0, to, step: 1, unroll: undefined }, [], (k) => {
    body(k);
    return [];
  });
}

function emitLoop(
  trace: Trace,
  loc: Loc,
  { from, to, step, unroll }: { readonly [K in keyof LoopRange]-?: LoopRange[K] | undefined },
  initial: readonly NamedTile[],
  body: (k: Index, carried: readonly TracedValue[]) => readonly AnyTile[],
): readonly TracedValue[] {
  const operands = {
    from: bound(trace, loc, 'from', from),
    to: bound(trace, loc, 'to', to),
    step: bound(trace, loc, 'step', step),
    init: useAll(initial.map(({ tile }) => tile)),
  };
  const args = [{ type: indexType, hint: 'k' }, ...argumentsOf(initial)];
  const { region } = trace.region(loc, args, ([k, ...carried]) =>
    trace.emit('yield', { values: useAll(body(traced(k!), carried)) }, {}, { loc }),
  );
  return trace.emit('for', operands, { unroll }, { regions: [region], loc });
}

function checkNothing(message: string, result: unknown, loc: Loc): void {
  checkSync('a loop body', result);
  if (result !== undefined)
    mistake((c) => frontendCodes.returnsValue({ what: message }, c), { loc, help: 'give loop() a `carry`' });
}

/** Repeats `body` while `condition` holds for the carried values. */
export function whileLoop<C extends Carry>(
  carry: C,
  condition: (carry: C) => Scalar<Bool>,
  body: (carry: C) => NoInfer<C>,
): C {
  const trace = needTrace('whileLoop');
  const loc = userLoc();
  checkCallback("'whileLoop' takes a condition: (carry) => …", condition);
  checkCallback("'whileLoop' takes a body: (carry) => …", body);
  const initial = tilesOf(carry);
  const args = argumentsOf(initial);
  const init = useAll(initial.map(({ tile }) => tile));
  const test = trace.region(loc, args, (values) => {
    const holds: unknown = condition(rebuild(carry, values));
    checkSync('the condition of whileLoop', holds);
    const operand = useTile(asTile('the condition of whileLoop returns a bool scalar', holds));
    trace.emit('condition', { condition: operand }, {}, { loc });
  });
  const step = trace.region(loc, args, (values) => {
    const next = match(initial, body(rebuild(carry, values)), 'the body of whileLoop');
    trace.emit('yield', { values: useAll(next) }, {}, { loc });
  });
  return rebuild(carry, trace.emit('while', { init }, {}, { regions: [test.region, step.region], loc }));
}

/** One of two values, of which only the chosen one is computed. */
export function ifElse<C extends Carry>(
  condition: Scalar<Bool> | boolean,
  then: () => C,
  otherwise: () => NoInfer<C>,
): C {
  checkCallback("'ifElse' takes a function for each branch: () => …", then);
  checkCallback("'ifElse' takes a function for each branch: () => …", otherwise);
  if (typeof condition === 'boolean') return condition ? then() : otherwise();
  const trace = needTrace('ifElse');
  const loc = userLoc();
  const holds = useTile(asTile("'ifElse' takes a bool scalar or a boolean", condition));
  const first = trace.region(loc, [], () => {
    const value: unknown = then();
    checkSync('a branch of ifElse', value);
    if (value === undefined)
      mistake((c) => frontendCodes.returnsValue({ what: 'a branch of ifElse must return a value' }, c), {
        loc,
        help: 'use when() for what has effects only',
      });
    const tiles = tilesOf(value);
    trace.emit('yield', { values: useAll(tiles.map(({ tile }) => tile)) }, {}, { loc });
    return { value: value as C, tiles };
  });
  const second = trace.region(loc, [], () => {
    const values = match(first.result.tiles, otherwise(), 'the other branch of ifElse');
    trace.emit('yield', { values: useAll(values) }, {}, { loc });
  });
  const types = first.result.tiles.map(({ tile }) => tile.type);
  const results = trace.emit('if', { condition: holds }, {}, { types, regions: [first.region, second.region], loc });
  return rebuild(first.result.value, results);
}

/** Runs `body` where the condition holds, for its effects. A JavaScript boolean decides while tracing. */
export function when(condition: Scalar<Bool> | boolean, body: () => void): void {
  checkCallback("'when' takes a body: () => { … }", body);
  const run = (): void => checkSync('the body of when', body() as unknown);
  if (typeof condition === 'boolean') {
    if (condition) run();
    return;
  }
  const trace = needTrace('when');
  const loc = userLoc();
  const holds = useTile(asTile("'when' takes a bool scalar or a boolean", condition));
  const then = trace.region(loc, [], () => {
    run();
    trace.emit('yield', {}, {}, { loc });
  });
  const otherwise = trace.region(loc, [], () => {
    trace.emit('yield', {}, {}, { loc });
  });
  trace.emit('if', { condition: holds }, {}, { types: [], regions: [then.region, otherwise.region], loc });
}
