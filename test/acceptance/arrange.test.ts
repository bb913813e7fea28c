import { describe, expect, test } from '@jest/globals';
import {
  array,
  bf16,
  blockProgram,
  bool,
  concatenate,
  type DType,
  dim,
  ds,
  extract,
  f32,
  flip,
  full,
  grid,
  i8,
  i32,
  i64,
  insert,
  interpret,
  iota,
  join,
  kernel,
  loop,
  run,
  slice,
  split,
  takeAlong,
  zeros,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { vector } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function arrangements(execute: Run): void {
  test.each([
    [f32, 1],
    [f32, 37],
    [bf16, 16],
    [i8, 5],
    [bool, 19],
  ] as readonly (readonly [DType, number])[])('join and split: %p of %i columns', async (d, n) => {
    const k = kernel('zip', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(d, [3, n]) },
          outputs: { y: array(d, [3, n, 2]), a: array(d, [3, n]), b: array(d, [3, n]), s: array(d, [2]) },
        },
        ({ x, y, a, b, s }) => {
          const t = x.load();
          const joined = join(t, flip(t, 0));
          y.store(joined);
          const [left, right] = split(joined);
          a.store(left);
          b.store(right);
          const first = extract(t, [0, 0]);
          const [one, two] = split(join(first, extract(t, [2, n - 1])));
          s.at(0).store(two);
          s.at(1).store(one);
        },
      ),
    );
    const values = range(3 * n).map((i) => (d === bool ? ((i * i) % 3) & 1 : i));
    const { y, a, b, s } = (await execute(k as never, { x: nd.from(d, [3, n], values) } as never)) as never;
    const flipped = range(3 * n).map((i) => values[(2 - Math.floor(i / n)) * n + (i % n)]!);
    expect(list(y)).toEqual(values.flatMap((v, i) => [v, flipped[i]!]));
    expect(list(a)).toEqual(values);
    expect(list(b)).toEqual(flipped);
    expect(list(s)).toEqual([values.at(-1), values[0]]);
  });

  test('concatenation along each axis; reversal of rows and columns', async () => {
    const k = kernel('rows', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [2, 5]) },
          outputs: { r: array(f32, [3, 5]), c: array(f32, [2, 11]), f: array(f32, [2, 5]), v: array(f32, [6]) },
        },
        ({ x, r, c, f, v }) => {
          const t = x.load();
          r.store(concatenate([t, full(f32, [1, 5], 9)], 0));
          c.store(concatenate([t, full(f32, [2, 1], -1), t.mul(2)], 1));
          f.store(flip(t, 1));
          v.store(concatenate([extract(t, [1, 2]).reshape([1]), slice(t, [0, 0], [1, 5]).reshape([5])], 0));
        },
      ),
    );
    const { r, c, f, v } = await execute(k, { x: nd.from(f32, [2, 5], range(10)) });
    expect(list(r)).toEqual([...range(10), 9, 9, 9, 9, 9]);
    expect(list(c)).toEqual([0, 1, 2, 3, 4, -1, 0, 2, 4, 6, 8, 5, 6, 7, 8, 9, -1, 10, 12, 14, 16, 18]);
    expect(list(f)).toEqual([4, 3, 2, 1, 0, 9, 8, 7, 6, 5]);
    expect(list(v)).toEqual([7, 0, 1, 2, 3, 4]);
  });

  test('slices and insertions that begin where the kernel computes; out of range they are moved inside', async () => {
    const k = kernel('window', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [4, 20]), at: array(i32, [6]) },
          outputs: { y: array(f32, [6, 2, 7]), z: array(f32, [4, 20]) },
        },
        ({ x, at, y, z }) => {
          const t = x.load().add(1);
          const start = (i: number) => at.at(i).load();
          for (let i = 0; i < 6; i++) y.at(i).store(slice(t, [start(i), start(i)], [2, 7]));
          // Each trip moves the first column to where it stands.
          z.store(loop({ to: 3, carry: t }, (i, v) => insert(v, slice(v, [0, 0], [4, 1]).mul(10), [0, i.mul(19)])));
        },
      ),
    );
    const starts = [0, 1, 2, -5, 13, 1000];
    const { y, z } = await execute(k, { x: nd.from(f32, [4, 20], range(80)), at: nd.from(i32, [6], starts) });
    const clamp = (s: number, last: number): number => Math.min(Math.max(s, 0), last);
    expect(list(y)).toEqual(
      starts.flatMap((s) => range(14).map((i) => (clamp(s, 2) + Math.floor(i / 7)) * 20 + clamp(s, 13) + (i % 7) + 1)),
    );
    const expected = range(80).map((i) => i + 1);
    for (let row = 0; row < 80; row += 20) {
      expected[row]! *= 10;
      expected[row + 19] = expected[row]! * 10;
    }
    expect(list(z)).toEqual(expected);
  });

  test('a choice along an axis by a ragged index tile', async () => {
    const n = dim('n');
    const k = kernel('choose', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [6, 9]), p: array(i64, [6, n]), q: array(i32, [n, 9]) },
          outputs: { y: array(f32, [6, n]), z: array(f32, [n, 9]), b: array(bool, [6, n]) },
        },
        ({ x, p, q, y, z, b }) => {
          const t = x.load();
          const index = p.at(ds(0, 6), ds(0, 32)).load();
          y.at(ds(0, 6), ds(0, 32)).store(takeAlong(t, index, 1));
          b.at(ds(0, 6), ds(0, 32)).store(takeAlong(t.gt(26), index, 1));
          z.at(ds(0, 32), ds(0, 9)).store(takeAlong(t, q.at(ds(0, 32), ds(0, 9)).load(), 0));
        },
      ),
    );
    const p = range(6 * 21).map((i) => ((i * 5) % 13) - 2);
    const q = range(21 * 9).map((i) => ((i * 5) % 9) - 2);
    const { y, z, b } = await execute(k, {
      x: nd.from(f32, [6, 9], range(54)),
      p: nd.from(i64, [6, 21], p),
      q: nd.from(i32, [21, 9], q),
    });
    const clamp = (s: number, last: number): number => Math.min(Math.max(s, 0), last);
    expect(list(y)).toEqual(p.map((at, i) => Math.floor(i / 21) * 9 + clamp(at, 8)));
    expect(list(z)).toEqual(q.map((at, i) => clamp(at, 5) * 9 + (i % 9)));
    expect(list(b)).toEqual(list(y).map((v) => (v > 26 ? 1 : 0)));
  });

  test('parts of ragged tiles along their full axis, and insertion over a ragged one', async () => {
    const n = dim('n');
    const k = kernel('parts', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [n, 4]) },
          outputs: { y: array(f32, [n, 2]), s: array(f32, [4]) },
        },
        ({ x, y, s }) => {
          const t = x.at(ds(0, 8), ds(0, 4)).load();
          y.at(ds(0, 8), ds(0, 2)).store(slice(t, [0, 1], [8, 2]));
          s.store(insert(zeros(f32, [8, 4]), slice(t, [0, 2], [8, 2]), [0, 0]).sum(0));
        },
      ),
    );
    const { y, s } = await execute(k, { x: nd.from(f32, [3, 4], range(12)) });
    expect(list(y)).toEqual([1, 2, 5, 6, 9, 10]);
    expect(list(s)).toEqual([2 + 6 + 10, 3 + 7 + 11, 0, 0]);
  });
}

describe('arrangements in the interpreter', () => arrangements(interpret));
describeTool('mlir', 'arrangements on the CPU', () => arrangements(run as Run));

test.each([
  ['slice', () => slice(iota([8]), [6], [4]), "'slice' of i32[4] from 6 on reaches out of axis 0 of i32[8]"],
  ['extract', () => extract(iota([8]), [-1]), "'slice' of i32[1] from -1 on reaches out of axis 0 of i32[8]"],
  ['starts', () => slice(iota([8]), [] as never, [4]), "'slice' takes a start for each axis of i32[8], got a list"],
  ['axis', () => flip(iota([8]), 1 as never), 'axis 1 is not one of i32[8]'],
  ['split', () => split(iota([8])), "'split' needs a tile whose last axis has extent 2, got i32[8]"],
  ['list', () => concatenate(iota([8]) as never, 0), "'concatenate' takes a list of tiles, got i32[8]"],
])('mistakes: %s', async (_, make, message) => {
  const found = await diagnosticsOf(() => vector(() => make()).trace());
  expect(found.map((d) => d.message)).toEqual([message]);
});
