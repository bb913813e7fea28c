import { describe, expect, test } from '@jest/globals';
import {
  array,
  bf16,
  blockProgram,
  bool,
  type DType,
  dim,
  ds,
  f16,
  f32,
  f64,
  grid,
  i8,
  i32,
  i64,
  interpret,
  iota,
  kernel,
  maximum,
  reduce,
  run,
  scan,
  select,
  type Tile,
  u8,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { errorOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

/** `y = f(x)` on one ragged tile of `[rows, columns]`, of an array `[m, n]`; the result has the input's shape. */
async function onRagged(
  execute: Run,
  [from, to]: readonly [DType, DType],
  [m, n]: readonly [number, number],
  block: readonly [number, number],
  x: readonly number[],
  f: (t: Tile<DType, 2>) => unknown,
): Promise<number[]> {
  const [rows, columns] = [dim('m'), dim('n')];
  const k = kernel('ragged', {}, () =>
    blockProgram(
      {
        grid: grid({}),
        inputs: { x: array(from, [rows, columns]) },
        outputs: { y: array(to, [rows, columns]) },
      },
      (refs) =>
        refs.y
          .at(ds(0, block[0]), ds(0, block[1]))
          .store(f(refs.x.at(ds(0, block[0]), ds(0, block[1])).load()) as never),
    ),
  );
  const { y } = await execute(k, { x: nd.from(from, [m, n], x) } as never);
  return list(y as never);
}

/** A row-by-row running combination, in either direction. */
function running(x: readonly number[], n: number, step: (a: number, b: number) => number, reverse = false): number[] {
  const y = [...x];
  for (let row = 0; row < x.length; row += n)
    for (let i = 1; i < n; i++) {
      const [at, before] = reverse ? [row + n - 1 - i, row + n - i] : [row + i, row + i - 1];
      y[at] = step(y[before]!, x[at]!);
    }
  return y;
}

function combinations(execute: Run): void {
  test.each([
    ['one element', [1, 1], [1, 1]],
    ['one column', [5, 1], [8, 1]],
    ['less than a vector', [2, 3], [2, 4]],
    ['odd extents', [3, 37], [3, 37]],
    ['a ragged tail', [3, 37], [4, 64]],
    ['nothing valid in most rows', [1, 5], [16, 8]],
    ['no columns', [2, 0], [2, 4]],
    ['no rows', [0, 3], [2, 4]],
  ] as const)('running sums along rows and columns, both ways: %s', async (_, shape, block) => {
    const [m, n] = shape;
    const x = range(m * n).map((i) => ((i * 7) % 11) - 5);
    const transposed = (v: readonly number[], rows: number): number[] =>
      range(v.length).map((i) => v[(i % rows) * (v.length / rows) + Math.floor(i / rows)]!);
    const add = (a: number, b: number): number => a + b;
    for (const reverse of [false, true]) {
      const along = (axis: 0 | 1) => (t: Tile<DType, 2>) => t.cumsum(axis, { reverse });
      expect(await onRagged(execute, [f32, f32], shape, block, x, along(1))).toEqual(running(x, n, add, reverse));
      const columns = transposed(running(transposed(x, m), m, add, reverse), n);
      expect(await onRagged(execute, [f32, f32], shape, block, x, along(0))).toEqual(columns);
    }
  });

  test('running maximum, minimum and product; NaN stays, -0 is below 0', async () => {
    const x = [-0, 0, -0, 3, 1, nan, 9, -inf];
    const on = (f: (t: Tile<DType, 2>) => unknown): Promise<number[]> =>
      onRagged(execute, [f32, f32], [1, 8], [1, 16], x, f);
    expect(await on((t) => t.cummax(1))).toEqual([-0, 0, 0, 3, 3, nan, nan, nan]);
    expect(await on((t) => t.cummin(1))).toEqual([-0, -0, -0, -0, -0, nan, nan, nan]);
    expect(await on((t) => t.cummax(1, { reverse: true }))).toEqual([nan, nan, nan, nan, nan, nan, 9, -inf]);
    const p = await onRagged(execute, [f32, f32], [1, 5], [1, 8], [1, -2, 3, -4, 5], (t) => t.cumprod(1));
    expect(p).toEqual([1, -2, -6, 24, 120]);
  });

  test('narrow floats are summed in f32 and rounded as they are given; integers widen and wrap', async () => {
    const small = range(600).map(() => 1);
    const sums = range(600).map((i) => i + 1);
    // bf16 has 8 bits: summed in bf16, it would stop at 256.
    const rounded = nd.toNumbers(nd.from(bf16, [600], sums));
    expect(await onRagged(execute, [bf16, bf16], [1, 600], [1, 1024], small, (t) => t.cumsum(1))).toEqual([...rounded]);
    const bytes = range(40).map(() => 100);
    expect(await onRagged(execute, [i8, i32], [1, 40], [1, 64], bytes, (t) => t.cumsum(1))).toEqual(
      range(40).map((i) => 100 * (i + 1)),
    );
    const wide = await onRagged(execute, [i32, i64], [1, 3], [1, 4], [2 ** 31 - 1, 1, 5], (t) =>
      t.cumsum(1, { dtype: i64 }),
    );
    expect(wide).toEqual([2 ** 31 - 1, 2 ** 31, 2 ** 31 + 5]);
    const wrapped = await onRagged(execute, [i32, i32], [1, 3], [1, 4], [2 ** 31 - 1, 1, 5], (t) => t.cumsum(1));
    expect(wrapped).toEqual([2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 5]);
    expect(await onRagged(execute, [bool, i32], [1, 4], [1, 8], [1, 0, 1, 1], (t) => t.cumsum(1))).toEqual([
      1, 1, 2, 3,
    ]);
  });

  test('segmented sums: one scan of two operands', async () => {
    const [m, n] = [3, 53];
    const x = range(m * n).map((i) => (i % 9) - 4);
    const starts = range(m * n).map((i) => (i % 7 === 3 ? 1 : 0));
    const [rows, columns] = [dim('m'), dim('n')];
    const k = kernel('segments', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [rows, columns]), start: array(bool, [rows, columns]) },
          outputs: { y: array(f32, [rows, columns]), z: array(f32, [rows, columns]) },
        },
        (refs) => {
          const at = [ds(0, 4), ds(0, 64)] as const;
          const tiles = { sum: refs.x.at(...at).load(), start: refs.start.at(...at).load() };
          const segmented = (reverse: boolean) =>
            scan(tiles, 1, (a, b) => ({ sum: select(b.start, b.sum, a.sum.add(b.sum)), start: a.start.or(b.start) }), {
              reverse,
            }).sum;
          refs.y.at(...at).store(segmented(false));
          refs.z.at(...at).store(segmented(true));
        },
      ),
    );
    const { y, z } = await execute(k, { x: nd.from(f32, [m, n], x), start: nd.from(bool, [m, n], starts) });
    const expected = (reverse: boolean): number[] => {
      const out = [...x];
      for (let row = 0; row < m; row++)
        for (let i = 1; i < n; i++) {
          const at = row * n + (reverse ? n - 1 - i : i);
          if (!starts[at]) out[at] = out[at + (reverse ? 1 : -1)]! + x[at]!;
        }
      return out;
    };
    expect(list(y)).toEqual(expected(false));
    expect(list(z)).toEqual(expected(true));
  });

  test('an operator that does not commute: the first argument is of what comes first', async () => {
    // Composition of x → a x + b: f2 ∘ f1.
    const n = dim('n');
    const k = kernel('affine', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { a: array(i32, [n]), b: array(i32, [n]) },
          outputs: { y: array(i32, [n]), z: array(i32, [n]) },
        },
        (refs) => {
          const maps = { a: refs.a.at(ds(0, 32)).load(), b: refs.b.at(ds(0, 32)).load() };
          const composed = (reverse: boolean) =>
            scan(maps, 0, (f, g) => ({ a: f.a.mul(g.a), b: g.a.mul(f.b).add(g.b) }), { reverse }).b;
          refs.y.at(ds(0, 32)).store(composed(false));
          refs.z.at(ds(0, 32)).store(composed(true));
        },
      ),
    );
    const [a, b] = [range(21).map((i) => (i % 3) - 1), range(21).map((i) => i)];
    const { y, z } = await execute(k, { a: nd.from(i32, [21], a), b: nd.from(i32, [21], b) });
    const composed = (order: readonly number[]): number[] => {
      const out: number[] = Array(21).fill(0);
      let last = 0;
      for (const i of order) {
        last = a[i]! * last + b[i]!;
        out[i] = last;
      }
      return out;
    };
    expect(list(y)).toEqual(composed(range(21)));
    expect(list(z)).toEqual(composed(range(21).reverse()));
  });

  test.each([
    ['one element', 1, 1],
    ['a vector and a rest', 13, 13],
    ['ragged', 13, 64],
    ['long', 300, 512],
  ])('reductions by a function, along rows and columns: %s', async (_, n, block) => {
    const size = dim('n');
    const k = kernel('both', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [2, size]), t: array(f32, [size, 2]), v: array(f32, [size]) },
          outputs: { top: array(f32, [2]), at: array(i32, [2]), down: array(i32, [2]), one: array(f32, [1]) },
        },
        (refs) => {
          const better = (a: { v: Tile<typeof f32, 0>; i: Tile<typeof i32, 0> }, b: typeof a) => {
            const take = b.v.gt(a.v).or(b.v.eq(a.v).and(b.i.lt(a.i)));
            return { v: select(take, b.v, a.v), i: select(take, b.i, a.i) };
          };
          const rows = reduce({ v: refs.x.at(ds(0, 2), ds(0, block)).load(), i: iota([2, block], 1) }, 1, better);
          refs.top.store(rows.v);
          refs.at.store(rows.i);
          const columns = reduce({ v: refs.t.at(ds(0, block), ds(0, 2)).load(), i: iota([block, 2], 0) }, 0, better);
          refs.down.store(columns.i);
          refs.one.at(0).store(reduce(refs.v.at(ds(0, block)).load(), 0, (a, b) => maximum(a, b).add(0)));
        },
      ),
    );
    const x = range(2 * n).map((i) => ((i * 37) % 101) - 200);
    const t = range(2 * n).map((i) => x[(i % 2) * n + Math.floor(i / 2)]!);
    const { top, at, down, one } = await execute(k, {
      x: nd.from(f32, [2, n], x),
      t: nd.from(f32, [n, 2], t),
      v: nd.from(f32, [n], x.slice(0, n)),
    });
    const rows = [x.slice(0, n), x.slice(n)];
    expect(list(top)).toEqual(rows.map((r) => Math.max(...r)));
    expect(list(at)).toEqual(rows.map((r) => r.indexOf(Math.max(...r))));
    expect(list(down)).toEqual(list(at));
    expect(list(one)).toEqual([Math.max(...rows[0]!)]);
  });

  test('every reduction: NaN, equal elements, kept axes, dtypes', async () => {
    const n = dim('n');
    const k = kernel('reductions', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [n]), e: array(f32, [n]), b: array(u8, [n]), h: array(f16, [n]) },
          outputs: {
            f: array(f32, [6]),
            p: array(i32, [4]),
            w: array(i64, [1, 1]),
            half: array(f16, [2]),
            d: array(f64, [1]),
          },
        },
        (refs) => {
          const at = ds(0, 16);
          const [x, e, b, h] = [refs.x.at(at).load(), refs.e.at(at).load(), refs.b.at(at).load(), refs.h.at(at).load()];
          [x.max(0), x.min(0), x.maxNum(0), x.minNum(0), e.prod(0), h.sum(0, { dtype: f32 })].forEach((v, i) => {
            refs.f.at(i).store(v as never);
          });
          [x.argmax(0), e.argmax(0), e.argmin(0), b.sum(0)].forEach((v, i) => {
            refs.p.at(i).store(v as never);
          });
          refs.w.store(b.reshape([1, 16]).pad(0).sum(1, { keepDims: true, dtype: i64 }));
          refs.half.at(0).store(h.sum(0));
          refs.half.at(1).store(h.prod(0));
          refs.d.at(0).store(
            x
              .minNum(0)
              .to(f64)
              .add(e.sum(0, { dtype: f64 })),
          );
        },
      ),
    );
    const run = execute(k, {
      x: nd.from(f32, [5], [1, nan, 7, -3, nan]),
      e: nd.from(f32, [5], [2, 4, 4, 1, 1]),
      b: nd.from(u8, [5], [200, 200, 200, 200, 200]),
      h: nd.from(f16, [5], [2048, 1, 1, 1, 1]),
    });
    const { f, p, w, half, d } = await run;
    expect(list(f)).toEqual([nan, nan, 7, -3, 32, 2052]);
    expect(list(p)).toEqual([1, 1, 3, 1000]);
    expect(list(w)).toEqual([1000]);
    expect(list(half)).toEqual([2052, 2048]);
    expect(list(d)).toEqual([9]);
  });
}

describe('scans and reductions in the interpreter', () => combinations(interpret));
describeTool('mlir', 'scans and reductions on the CPU', () => combinations(run as Run));

test.each([
  ['argmax', (t: Tile<typeof f32, 1>) => t.argmax(0)],
  ['reduce_with', (t: Tile<typeof f32, 1>) => reduce(t, 0, (a, b) => a.mul(b)).to(i32)],
])('%s of nothing is refused', async (name, f) => {
  const n = dim('n');
  const k = kernel('nothing', {}, () =>
    blockProgram({ grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(i32, [1]) } }, ({ x, y }) =>
      y.at(0).store(f(x.at(ds(0, 8)).load())),
    ),
  );
  expect(await errorOf(() => interpret(k, { x: nd.zeros(f32, [0]) }))).toMatch(
    new RegExp(`^TW5004 combine.test.ts:\\d+ '${name}' of no elements in program \\(\\)`),
  );
});
