import { describe, expect, test } from '@jest/globals';
import {
  array,
  assertTrue,
  assume,
  bf16,
  blockProgram,
  bool,
  cdiv,
  type DType,
  debugPrint,
  dim,
  f16,
  f32,
  f64,
  grid,
  type Index,
  i8,
  i32,
  i64,
  interpret,
  iota,
  kernel,
  loop,
  multipleOf,
  run,
  scalar,
  sequence,
  u32,
  when,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { vector } from '../support/kernels.js';
import { diagnosticsOf, errorOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

type Run = (
  kernel: never,
  given: never,
  options: { print: (line: string) => void; threads?: number },
) => Promise<unknown>;
const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

/** What a call prints, sorted: programs come in any order. */
async function linesOf(execute: Run, k: unknown, given: unknown): Promise<string[]> {
  const lines: string[] = [];
  await execute(k as never, given as never, { print: (line) => lines.push(line) });
  return lines.sort();
}

function prints(execute: Run): void {
  test('a line for each valid element of each program, values broadcast to one shape', async () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 2), 'j%s': 1 });
    const k = kernel('tiles', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [n]).block([2], [g.i]) },
          outputs: { y: array(f32, [n]).block([2], [g.i]) },
        },
        ({ x, y }) => {
          const t = x.load();
          debugPrint('100% of {} is {}, "quoted"\\', g.i, t);
          when(g.i.eq(1), () => debugPrint('done'));
          y.store(t);
        },
      ),
    );
    expect(await linesOf(execute, k, { x: nd.from(f32, [3], [0.5, 3, 7]) })).toEqual([
      '(i=0, j%s=0)[0] 100% of 0 is 0.5, "quoted"\\',
      '(i=0, j%s=0)[1] 100% of 0 is 3, "quoted"\\',
      '(i=1, j%s=0) done',
      '(i=1, j%s=0)[0] 100% of 1 is 7, "quoted"\\',
    ]);
  });

  test.each([
    [
      f32,
      [0.1, -0, nan, inf, 1e-10, 16777216, 123456789, 1e20, -1.5],
      ['0.100000001', '-0', 'nan', 'inf', '1.00000001e-10', '16777216', '123456792', '1.00000002e+20', '-1.5'],
    ],
    [f64, [0.1, 1 / 3, -1e300], ['0.10000000000000001', '0.33333333333333331', '-1.0000000000000001e+300']],
    [f16, [0.1, 65504], ['0.0999755859', '65504']],
    [bf16, [3.140625], ['3.140625']],
    [i8, [-128, 127], ['-128', '127']],
    [u32, [4294967295], ['4294967295']],
    [i64, [-(2 ** 53), 5], ['-9007199254740992', '5']],
    [bool, [0, 1], ['false', 'true']],
  ] as readonly (readonly [DType, readonly number[], readonly string[]])[])('numbers of %p', async (d, x, texts) => {
    const k = kernel('numbers', {}, () =>
      blockProgram(
        { grid: grid({}), inputs: { x: array(d, [x.length]) }, outputs: { y: array(d, [x.length]) } },
        (refs) => {
          debugPrint('', refs.x.load());
          refs.y.store(refs.x.load());
        },
      ),
    );
    const lines = await linesOf(execute, k, { x: nd.from(d, [x.length], x) });
    expect(lines).toEqual(texts.map((t, i) => `()[${i}]  ${t}`));
  });

  test('loops, launches and scalars print too', async () => {
    const y = array(i32, [2]);
    const k = kernel('twice', {}, () =>
      sequence({ temps: {} }, [
        blockProgram({ grid: grid({}), inputs: { s: scalar(f32) }, outputs: { y } }, (refs) => {
          loop({ to: 2 }, (i) => debugPrint('trip {} of {}', i, refs.s));
          refs.y.store(iota([2]));
        }),
        blockProgram({ grid: grid({ p: 2 }), inputs: { y }, outputs: { z: array(i32, [2]) } }, (refs) => {
          debugPrint('trip {} of {}', refs.y.at(1).load(), refs.y.at(0).load());
          refs.z.store(refs.y.load());
        }),
      ]),
    );
    expect(await linesOf(execute, k, { s: 2.5 })).toEqual([
      '() trip 0 of 2.5',
      '() trip 1 of 2.5',
      '(p=0) trip 1 of 0',
      '(p=1) trip 1 of 0',
    ]);
  });

  test('an assertion that holds says nothing; one that fails is told at its line', async () => {
    const n = dim('n');
    const g = grid({ i: cdiv(n, 8) });
    const k = kernel('checked', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [n]).block([8], [g.i]) },
          outputs: { y: array(f32, [n]).block([8], [g.i]) },
        },
        ({ x, y }) => {
          assertTrue(x.load().ge(0), 'x is "negative", 100%');
          debugPrint('passed');
          y.store(x.load());
        },
      ),
    );
    const given = (x: readonly number[]): unknown => ({ x: nd.from(f32, [x.length], x) });
    expect(await linesOf(execute, k, given([1, 2, 3]))).toEqual(['(i=0) passed']);
    const lines: string[] = [];
    const failing = given([...Array(10).fill(1), -1]);
    const call = () => execute(k as never, failing as never, { print: (line) => lines.push(line), threads: 1 });
    expect(await errorOf(call)).toMatch(
      /^TW5005 debug.test.ts:\d+ assertion failed: x is "negative", 100%, in program \(i=1\)\[2\]$/,
    );
    expect(lines).toEqual(['(i=0) passed']);
  });
}

describe('prints and checks in the interpreter', () => prints(interpret as never));
describeTool('mlir', 'prints and checks on the CPU', () => prints(run as never));

describe('promises that are broken are reported by the interpreter', () => {
  test.each([
    ['assume', (m: Index) => assume(m.lt(6)), 'what is assumed does not hold'],
    ['multipleOf', (m: Index) => debugPrint('', multipleOf(m, 4)), '6 is not a multiple of 4'],
  ])('%s', async (_, promise, message) => {
    const k = kernel('promising', {}, () =>
      blockProgram({ grid: grid({}), inputs: { m: scalar(i32) }, outputs: { y: array(i32, [1]) } }, ({ m, y }) => {
        promise(m);
        y.at(0).store(m);
      }),
    );
    expect(await errorOf(() => interpret(k, { m: 6 }))).toMatch(
      new RegExp(`^TW5006 debug.test.ts:\\d+ ${message}, in program \\(\\)$`),
    );
  });
});

test.each([
  ['places', () => debugPrint('{} {}', iota([4])), "the text of 'debugPrint' has 2 places for 1 values"],
  [
    'condition',
    () => assertTrue(true as never, ''),
    "'assertTrue' takes a condition that the kernel computes, got true",
  ],
  ['multiple', () => multipleOf(iota([4]) as never, 0), "'multipleOf' takes an integer from 1 up, got 0"],
])('mistakes: %s', async (_, make, message) => {
  const found = await diagnosticsOf(() => vector(() => make()).trace());
  expect(found.map((d) => d.message)).toEqual([message]);
});
