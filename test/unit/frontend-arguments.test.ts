import { describe, expect, test } from '@jest/globals';
import {
  atomic,
  cdiv,
  dot,
  ds,
  f16,
  f32,
  full,
  gather,
  ifElse,
  iota,
  loop,
  makeNdArray,
  maximum,
  scatter,
  select,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import { findingOf, vector } from '../support/kernels.js';

/** Wrong on purpose: what JavaScript lets through. */
// biome-ignore lint/suspicious/noExplicitAny: the mistakes here are ones that TypeScript would catch
type Wrong = any;
// biome-ignore lint/suspicious/noExplicitAny: as above
const wrong = (x: unknown): any => x;

const host = makeNdArray(f32, [64]);
const captured = 'TW1026 at %: the kernel uses a host array f32[64] from its surroundings';

/** Rows of a mistake in a body and its finding; `%` in one stands for the word that the caret must point at. */
type Row = readonly [what: string, body: (refs: Wrong, g: Wrong) => unknown, finding: string];
const inBody = (rows: readonly Row[]): void => {
  test.each(rows)('%s', async (_, body, finding) => {
    expect(await findingOf(() => vector(body).trace())).toBe(finding);
  });
};

describe('tiles', () => {
  inBody([
    ['nothing', ({ x }) => x.load().add(), "TW1013 at add: 'add' takes a tile or a number, got undefined"],
    ['text', ({ x }) => x.load().mul('2'), 'TW1013 at mul: \'mul\' takes a tile or a number, got "2"'],
    ['a ref', ({ x, y }) => x.load().sub(y), "TW1013 at sub: 'sub' takes a tile or a number, got the ref 'y'"],
    ['a dtype', ({ x }) => x.load().add(f32), "TW1013 at add: 'add' takes a tile or a number, got the dtype f32"],
    ['a host array', ({ x }) => x.load().add(host), captured.replace('%', 'add')],
    ['a host array as a number', () => full(f32, [4], wrong(host)), captured.replace('%', 'full')],
    ['a dtype that is none', ({ x }) => x.load().to('f16'), 'TW1013 at to: \'to\' takes a dtype, got "f16"'],
    [
      'an option that is none',
      ({ x }) => x.load().to(f16, { saturated: true }),
      "TW1013 at to: 'to' has no option 'saturated'",
    ],
    ['an axis that is text', ({ x }) => x.load().sum('0'), 'TW1016 at sum: axis "0" is not one of f32[64]'],
    [
      'an axis to insert',
      ({ x }) => x.load().expand(2),
      'TW1016 at expand: axis 2 is not one of the axes that f32[64] can get',
    ],
    [
      'a shape that is a number',
      ({ x }) => x.load().reshape(64),
      'TW1023 at reshape: a shape is a list of extents, got 64',
    ],
    [
      'a shape over a dim',
      (_, g) => zeros(f32, wrong([g.i])),
      'TW1023 at zeros: a tile extent must be an integer from 1 up, got i32',
    ],
    ['seven axes', () => zeros(f32, [1, 1, 1, 1, 1, 1, 1]), 'TW1023 at zeros: a tile has at most 6 axes, got 7'],
    [
      'a broadcast to fewer elements',
      ({ x }) => x.load().broadcastTo([3]),
      'TW1013 at broadcastTo: f32[64] does not broadcast to f32[3]',
    ],
    [
      'a permutation of another rank',
      ({ x }) => x.load().transpose([1, 0]),
      'TW1016 at transpose: axis 1 is not one of f32[64]',
    ],
    ['an axis of iota', () => iota([4], 1), 'TW1016 at iota: axis 1 is not one of i32[4]'],
    [
      'maximum of nothing',
      ({ x }) => maximum(x.load(), wrong(null)),
      "TW1013 at maximum: 'max' takes tiles and numbers, got null",
    ],
    ['cdiv of a fraction', () => cdiv(1.5, 2), 'TW1012 at cdiv: 1.5 is not a value of i32: cdiv takes integers'],
    ['cdiv by zero', () => cdiv(1, 0), 'TW1012 at cdiv: 0 is not a value of i32: cdiv by zero'],
    [
      'a condition that is a boolean',
      ({ x }) => select(wrong(true), x.load(), 0),
      "TW1013 at select: 'select' takes a tile of bool as its condition, got true",
    ],
    [
      'a condition of numbers',
      ({ x }) => select(x.load(), x.load(), 0),
      "TW1013 at select: 'select' needs a tile of bool for 'condition', got f32[64]",
    ],
    [
      'two numbers to select',
      ({ x }) => select(x.load().lt(0), wrong(1), wrong(2)),
      "TW1013 at select: 'select' needs a tile on one side, got 2",
    ],
    [
      'a precision that does not exist',
      () => dot(zeros(f32, [4, 4]), zeros(f32, [4, 4]), { precision: wrong('fast') }),
      "TW1013 at dot: the precision of 'dot' is one of 'ieee', 'tf32', 'tf32x3', 'bf16x3', 'bf16x6', got \"fast\"",
    ],
    [
      'an accumulator of another shape',
      () => dot(zeros(f32, [4, 8]), zeros(f32, [8, 4]), { acc: zeros(f32, [4, 8]) }),
      "TW1013 at dot: 'dot' needs an accumulator f32[4, 4], got f32[4, 8]",
    ],
  ]);
});

describe('control flow', () => {
  inBody([
    [
      'a bound that is a tile',
      ({ y }) => loop({ to: y.load() }, () => {}),
      'TW1016 at loop: to of a loop is an i32 scalar, got f32[64]',
    ],
    ['no bound', () => loop(wrong({}), () => {}), 'TW1016 at loop: to of a loop is an i32 scalar, got undefined'],
    [
      'a bound out of range',
      () => loop({ to: 2 ** 31 }, () => {}),
      'TW1012 at loop: 2147483648 is not a value of i32: the range is -2147483648 to 2147483647',
    ],
    [
      'an unroll of zero',
      () => loop({ to: 4, unroll: 0 }, () => {}),
      'TW1016 at loop: unroll of a loop is an integer from 1 up, got 0',
    ],
    [
      'a range option that does not exist',
      () => loop(wrong({ till: 4 }), () => {}),
      "TW1013 at loop: 'loop' has no option 'till'",
    ],
    [
      'no body',
      () => loop({ to: 4 }, wrong(undefined)),
      "TW1013 at loop: 'loop' takes a body: (k) => { … }, got undefined",
    ],
    [
      'a number to carry',
      () => loop({ to: 4, carry: wrong(0) }, (_, x) => x),
      'TW1013 at loop: what is carried is a tile or a record of tiles, got 0',
    ],
    [
      'a number among what is carried',
      () => loop({ to: 4, carry: wrong({ m: 0 }) }, (_, x) => x),
      "TW1013 at loop: carried value 'm' must be a tile, got 0",
    ],
    [
      'a number to go on with',
      ({ x }) => loop({ to: 4, carry: { m: x.load() } }, () => wrong({ m: 0 })),
      "TW1027 at loop: a loop body must return a tile for 'm', got 0",
    ],
    [
      'nothing to go on with',
      ({ x }) => loop({ to: 4, carry: x.load() }, () => wrong(undefined)),
      'TW1027 at loop: a loop body must return the carried values, got undefined',
    ],
    [
      'a while condition of a vector',
      ({ x }) =>
        whileLoop(
          x.load(),
          wrong((v: Wrong) => v.lt(0)),
          (v) => v,
        ),
      "TW1013 at whileLoop: 'condition' needs a bool scalar for 'condition', got bool[64]",
    ],
    [
      'a while condition of JavaScript',
      ({ x }) =>
        whileLoop(
          x.load(),
          wrong(() => true),
          (v) => v,
        ),
      'TW1013 at whileLoop: the condition of whileLoop returns a bool scalar, got true',
    ],
    [
      'a branch that gives nothing',
      ({ x }, g) =>
        ifElse(
          g.i.eq(0),
          () => wrong(undefined),
          () => x.load(),
        ),
      'TW1027 at ifElse: a branch of ifElse must return a value',
    ],
    [
      'a condition that is a number',
      () => when(wrong(1), () => {}),
      "TW1013 at when: 'when' takes a bool scalar or a boolean, got 1",
    ],
    [
      'a condition of many',
      ({ x }) => when(x.load().lt(0), () => {}),
      "TW1013 at when: 'if' needs a bool scalar for 'condition', got bool[64]",
    ],
    [
      'an async branch',
      (_, g) =>
        when(
          g.i.eq(0),
          wrong(async () => {}),
        ),
      'TW1028 at when: the body of when must not be async',
    ],
  ]);
});

describe('refs', () => {
  inBody([
    [
      'arithmetic of JavaScript',
      ({ x }) => x + 1,
      "TW1001 at x: a traced value (the ref 'x') is used as a JavaScript number or in a JavaScript comparison",
    ],
    ['iterating', ({ x }) => [...x], "TW1003 at x: a traced value (the ref 'x') is not iterable"],
    [
      'an index beyond a block',
      ({ x }) => x.at(64).load(),
      "TW1016 at at: 'x' has 64 elements along this axis, got index 64",
    ],
    ['a negative index', ({ x }) => x.at(-1), "TW1016 at at: 'x' is indexed by -1; an index is an integer from 0 up"],
    ['an index that is text', ({ x }) => x.at('0'), 'TW1016 at at: \'x\' is indexed by "0"; an index is an i32 scalar'],
    ['an index that is a host array', ({ x }) => x.at(host), captured.replace('%', 'at')],
    [
      'a float index tile',
      ({ x, y }) => x.at(y.load()),
      "TW1016 at at: 'x' is indexed by f32[64]; an index tile has an integer dtype",
    ],
    [
      'a slice of a traced size',
      ({ x }, g) => x.at(ds(0, g.i)),
      "TW1023 at at: a slice of 'x' needs a size from 1 up, got i32",
    ],
    [
      'loading what a tile indexes',
      ({ x }) => x.at(iota([4])).load(),
      "TW1016 at load: 'x' is indexed by a tile; use gather, scatter or atomic",
    ],
    [
      'a mask in place of the options',
      ({ x, y }) => x.load(y.load().lt(0)),
      "TW1013 at load: the options of 'load' are { mask, other, volatile, cacheModifier, evictionPolicy }, got bool[64]",
    ],
    ['other without a mask', ({ x }) => x.load({ other: 0 }), "TW1013 at load: 'load' has 'other' but no mask"],
    [
      'a mask of another shape',
      ({ x }) => x.load({ mask: iota([4]).lt(2) }),
      "TW1013 at load: 'load' needs a mask of shape [64], got bool[4]",
    ],
    [
      'a mask that is a boolean',
      ({ x }) => x.load({ mask: true }),
      "TW1013 at load: the mask of 'load' is a tile of bool, got true",
    ],
    [
      'a store of nothing',
      ({ z }) => z.store(),
      "TW1013 at store: store to 'z' takes a tile or a number, got undefined",
    ],
    [
      'a store of a ref',
      ({ x, z }) => z.store(x),
      "TW1013 at store: store to 'z' takes a tile or a number, got the ref 'x'",
    ],
    ['gather of a tile', ({ x }) => gather(x.load(), iota([4])), "TW1013 at gather: 'gather' takes a ref, got f32[64]"],
    [
      'scatter of another dtype',
      ({ z }) => scatter(z, iota([4]), wrong(iota([4]))),
      "TW1013 at scatter: 'scatter' needs a value f32[4], got i32[4]",
    ],
    [
      'an atomic of a whole array',
      ({ z }) => atomic.add(z, 1),
      "TW1016 at add: atomic.add of 'z': axis 0 has no index",
    ],
    [
      'a memory order that does not exist',
      ({ z }) => atomic.add(z.at(iota([4])), 1, { order: wrong('seq_cst') }),
      "TW1013 at add: the order of 'atomic.add' is one of 'relaxed', 'acquire', 'release', 'acq_rel', got \"seq_cst\"",
    ],
    ['an argument that is not declared', ({ oot }) => oot, "TW1032 at oot: kernel 'k' declares no 'oot'"],
  ]);
});
