import { expect, test } from '@jest/globals';
import { f32, iota, reduce, scan, select, zeros } from 'tilewright';
import { bodyOf, vector } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';

test('a scan of several operands is one op with a region on scalars, named as the operands are', () => {
  const k = vector(({ x, z }) => {
    const { sum } = scan({ sum: x.load(), start: iota([64]).rem(8).eq(0) }, 0, (a, b) => ({
      start: a.start.or(b.start),
      sum: select(b.start, b.sum, a.sum.add(b.sum)),
    }));
    z.store(sum);
  });
  const lines = bodyOf(k);
  const start = lines.findIndex((line) => line.includes('scan_with'));
  expect(lines.slice(start, start + 6)).toEqual([
    expect.stringMatching(
      /^%\d+, %\d+ = scan_with inputs\(%\d+, %\d+\) \{axis = 0\} : f32\[64\], bool\[64\] \(%sum: f32, %start: bool, %sum_1: f32, %start_1: bool\) \{$/,
    ),
    expect.stringMatching(/^ {2}%(\d+) = or %start, %start_1 : bool$/),
    expect.stringMatching(/^ {2}%(\d+) = add %sum, %sum_1 : f32$/),
    expect.stringMatching(/^ {2}%(\d+) = select %start_1, %sum_1, %\d+ : f32$/),
    expect.stringMatching(/^ {2}yield values\(%\d+, %\d+\)$/),
    '}',
  ]);
});

// biome-ignore lint/suspicious/noExplicitAny: mistakes that TypeScript would catch
const mistakes: [string, (refs: any) => unknown, string][] = [
  [
    'no function',
    ({ x }) => scan(x.load(), 0, undefined as never),
    "'scan' takes a function that combines two: (a, b) => …, got undefined",
  ],
  [
    'an axis too many',
    ({ x }) => reduce(x.load(), 1 as never, ((a: never) => a) as never),
    'axis 1 is not one of f32[64]',
  ],
  [
    'no tile',
    () => reduce(5 as never, 0 as never, (a: never) => a),
    "'reduce' takes a tile or a record of tiles, got 5",
  ],
  [
    'another dtype',
    ({ x }) => reduce(x.load(), 0, ((a: never) => (a as { lt(n: number): never }).lt(0)) as never),
    "carried value 'value' changes from f32 to bool",
  ],
  [
    'a part that is missing',
    ({ x }) => scan({ s: x.load(), t: x.load() }, 0, ((a: { s: never }) => ({ s: a.s })) as never),
    "the function of 'scan' does not return the carried value 't'",
  ],
  [
    'shapes that differ',
    ({ x }) => scan({ s: x.load(), t: zeros(f32, [32]) }, 0, (a) => a),
    "'scan_with' needs inputs of one shape, got f32[64] and f32[32]",
  ],
  [
    'memory in the function',
    ({ x, y, z }) =>
      z.store(
        scan(x.load(), 0 as never, ((a: never) => (a as { add(t: unknown): never }).add(y.at(0).load())) as never),
      ),
    "the function of 'scan' does elementwise arithmetic only, not 'load'",
  ],
];

test.each(mistakes)('mistakes: %s', async (_, make, message) => {
  const found = await diagnosticsOf(() => vector((refs) => make(refs)).trace());
  expect(found.map((d) => d.message)).toContain(message);
});
