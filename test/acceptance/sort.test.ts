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
  kernel,
  run,
  sort,
  topK,
  u8,
  u32,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { vector } from '../support/kernels.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

/** Positions of a line in order: stable, NaN last. */
function order(line: readonly number[], descending: boolean): number[] {
  const sign = descending ? -1 : 1;
  return range(line.length).sort((m, n) => {
    const [a, b] = [line[m]!, line[n]!];
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a < b ? -sign : a > b ? sign : 0;
  });
}

async function sorted(
  execute: Run,
  d: DType,
  [m, n]: readonly [number, number],
  [rows, columns]: readonly [number, number],
  axis: 0 | 1,
  descending: boolean,
  x: readonly number[],
) {
  const [h, w] = [dim('h'), dim('w')];
  const k = kernel('sorted', {}, () =>
    blockProgram(
      {
        grid: grid({}),
        inputs: { x: array(d, [h, w]) },
        outputs: { y: array(d, [h, w]), p: array(i32, [h, w]) },
      },
      (refs) => {
        const at = [ds(0, rows), ds(0, columns)] as const;
        const { values, positions } = sort(refs.x.at(...at).load(), axis, { descending });
        refs.y.at(...at).store(values as never);
        refs.p.at(...at).store(positions as never);
      },
    ),
  );
  const { y, p } = (await execute(k as never, { x: nd.from(d, [m, n], x) } as never)) as never as Record<string, never>;
  return { values: list(y!), positions: list(p!) };
}

function sorting(execute: Run): void {
  const shapes = [
    ['one element', [1, 1], [1, 1]],
    ['odd extents', [3, 37], [3, 37]],
    ['a ragged tail', [3, 37], [4, 64]],
    ['nothing but a tail', [1, 1], [8, 8]],
    ['no columns', [2, 0], [2, 4]],
  ] as const;
  test.each(shapes)('values and positions along both axes, both ways: %s', async (_, shape, block) => {
    const [m, n] = shape;
    const x = range(m * n).map((i) => ((i * 29) % 17) - 8);
    for (const axis of [0, 1] as const)
      for (const descending of [false, true]) {
        const got = await sorted(execute, f32, shape, block, axis, descending, x);
        const at = (o: number, i: number): number => (axis === 1 ? o * n + i : i * n + o);
        const [lines, length] = axis === 1 ? [m, n] : [n, m];
        const [values, positions]: [number[], number[]] = [[], []];
        for (let o = 0; o < lines; o++) {
          const line = range(length).map((i) => x[at(o, i)]!);
          order(line, descending).forEach((p, i) => {
            values[at(o, i)] = line[p]!;
            positions[at(o, i)] = p;
          });
        }
        expect(got).toEqual({ values, positions });
      }
  });

  test.each([i8, u8, i32, u32, i64, f16, bf16, f64, bool] as readonly DType[])(
    '$name, from one end to the other',
    async (d) => {
      const x = d === bool ? [1, 0, 1, 1, 0] : d.signed ? [5, -3, 127, -128, -3] : [5, 255, 0, 128, 5];
      for (const descending of [false, true]) {
        const positions = order(x, descending);
        const values = positions.map((p) => x[p]!);
        expect(await sorted(execute, d, [1, 5], [1, 8], 1, descending, x)).toEqual({ values, positions });
      }
    },
  );

  test('NaN comes last in both directions, -0 and 0 keep their order', async () => {
    const x = [nan, 0, -0, inf, nan, -inf, 0, 1];
    const up = await sorted(execute, f32, [1, 8], [1, 16], 1, false, x);
    expect(up).toEqual({ values: [-inf, 0, -0, 0, 1, inf, nan, nan], positions: [5, 1, 2, 6, 7, 3, 0, 4] });
    const down = await sorted(execute, f32, [1, 8], [1, 16], 1, true, x);
    expect(down).toEqual({ values: [inf, 1, 0, -0, 0, -inf, nan, nan], positions: [3, 7, 1, 2, 6, 5, 0, 4] });
  });

  test('the first k, of a ragged tile that may have fewer', async () => {
    const n = dim('n');
    const k = kernel('top', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [2, n]), z: array(i32, [n]) },
          outputs: { y: array(f32, [2, 5]), p: array(i32, [2, 5]), low: array(i32, [3]), s: array(f32, [2]) },
        },
        ({ x, z, y, p, low, s }) => {
          const top = topK(x.at(ds(0, 2), ds(0, 64)).load(), 5, 1);
          y.store(top.values);
          p.store(top.positions);
          s.store(topK(x.at(ds(0, 2), ds(0, 64)).load(), 2, 1, { smallest: true }).values.sum(1));
          low.store(topK(z.at(ds(0, 64)).load(), 3, 0, { smallest: true }).values);
        },
      ),
    );
    const x = range(40).map((i) => (i * 7) % 20);
    const first = await execute(k, { x: nd.from(f32, [2, 20], x), z: nd.from(i32, [20], x.slice(0, 20)) });
    expect(list(first.y)).toEqual([19, 18, 17, 16, 15, 19, 18, 17, 16, 15]);
    expect(list(first.p)).toEqual([0, 20].flatMap((o) => [19, 18, 17, 16, 15].map((v) => x.indexOf(v, o) - o)));
    expect(list(first.low)).toEqual([0, 1, 2]);
    expect(list(first.s)).toEqual([1, 1]);
    const fewer = await execute(k, { x: nd.from(f32, [2, 2], [1, 2, nan, 3]), z: nd.from(i32, [2], [7, 2 ** 31 - 1]) });
    expect(list(fewer.y)).toEqual([2, 1, nan, nan, nan, 3, nan, nan, nan, nan]);
    expect(list(fewer.p)).toEqual([1, 0, 2, 3, 4, 1, 0, 2, 3, 4]);
    expect(list(fewer.low)).toEqual([7, 2 ** 31 - 1, 2 ** 31 - 1]);
    const none = await execute(k, { x: nd.zeros(f32, [2, 0]), z: nd.zeros(i32, [0]) });
    expect(list(none.y)).toEqual(Array(10).fill(nan));
    expect(list(none.p)).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  });
}

describe('sorting in the interpreter', () => sorting(interpret));
describeTool('mlir', 'sorting on the CPU', () => sorting(run as Run));

test('more than there is cannot be kept', async () => {
  const found = await diagnosticsOf(() => vector(({ x }) => topK(x.load(), 65, 0)).trace());
  expect(found.map((d) => d.message)).toEqual(["'sort' cannot keep 65 of 64 elements"]);
});
