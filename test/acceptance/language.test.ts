import { describe, expect, test } from '@jest/globals';
import {
  array,
  atomic,
  bf16,
  blockProgram,
  bool,
  cdiv,
  type DType,
  dim,
  dot,
  ds,
  element,
  f16,
  f32,
  f64,
  full,
  gather,
  grid,
  i8,
  i32,
  i64,
  ifElse,
  interpret,
  iota,
  kernel,
  loop,
  maximum,
  minimum,
  run,
  scalar,
  scatter,
  select,
  sequence,
  squeezed,
  u8,
  when,
  whileLoop,
  zeros,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { errorOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

/** What the language offers, each in a small kernel with an answer that is plain to see. */
function language(execute: Run): void {
  const n = dim('n');

  test('element blocks start at any element: a three-point sum', async () => {
    const g = grid({ i: cdiv(n, 4) });
    const k = kernel('stencil', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [n.add(2)]).block([element(6)], [g.i.mul(4)]) },
          outputs: { y: array(f32, [n]).block([4], [g.i]) },
        },
        ({ x, y }) => {
          // Tiles that start apart end apart at a ragged edge, so each is padded before they meet.
          const shifted = (by: number) => x.at(ds(by, 4)).load().pad(0);
          y.store(shifted(0).add(shifted(1)).add(shifted(2)));
        },
      ),
    );
    const { y } = await execute(k, { x: nd.from(f32, [12], range(12)), n: 10 });
    expect(list(y)).toEqual(range(10).map((i) => 3 * i + 3));
  });

  test('a sequential grid axis is a loop inside the program: a running sum in an output block', async () => {
    const [m, c] = [dim('m'), dim('c')];
    const g = grid({ r: m, j: cdiv(c, 4) }, { sequential: ['j'] });
    const k = kernel('accumulate', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [m, c]).block([squeezed, 4], [g.r, g.j]) },
          outputs: { y: array(f32, [m]).block([1], [g.r]) },
          zeroed: ['y'],
        },
        ({ x, y }) => y.store(y.load().add(x.load().sum(0).reshape([1]))),
      ),
    );
    const { y } = await execute(k, { x: nd.from(f32, [3, 10], range(30)) });
    expect(list(y)).toEqual([45, 145, 245]);
  });

  test('an aliased output is read and written in place; the caller’s array stays', async () => {
    const g = grid({ i: cdiv(n, 8) });
    const v = array(i32, [n]).block([8], [g.i]);
    const k = kernel('in_place', {}, () =>
      blockProgram({ grid: g, inputs: { x: v }, outputs: { y: v }, aliases: { y: 'x' } }, ({ x, y }) =>
        y.store(x.load().mul(2).add(1)),
      ),
    );
    const x = nd.from(i32, [11], range(11));
    const { y } = await execute(k, { x });
    expect(list(y)).toEqual(range(11).map((i) => 2 * i + 1));
    expect(list(x)).toEqual(range(11));
  });

  test('a sequence of launches with a temporary', async () => {
    const blocks = cdiv(n, 8);
    const g = grid({ i: blocks });
    const partial = array(f32, [blocks]);
    const k = kernel('two_stage_sum', {}, () =>
      sequence({ temps: { partial } }, [
        blockProgram(
          {
            grid: g,
            inputs: { x: array(f32, [n]).block([8], [g.i]) },
            outputs: { partial: partial.block([1], [g.i]) },
          },
          ({ x, partial: p }) => p.store(x.load().sum(0).reshape([1])),
        ),
        blockProgram(
          { grid: grid({}), inputs: { partial }, outputs: { total: array(f32, [1]) } },
          ({ partial: p, total }) => {
            const sum = loop({ to: cdiv(blocks, 4), carry: zeros(f32, []) }, (j, s) =>
              s.add(
                p
                  .at(ds(j.mul(4), 4))
                  .load()
                  .sum(0),
              ),
            );
            total.store(sum.reshape([1]));
          },
        ),
      ]),
    );
    const { total } = await execute(k, { x: nd.from(f32, [100], range(100)) });
    expect(list(total)).toEqual([4950]);
  });

  test('gather and scatter: a permutation and back', async () => {
    const g = grid({ i: cdiv(n, 8) });
    const whole = array(f32, [n]);
    const block = array(i32, [n]).block([8], [g.i]);
    const k = kernel('permute', {}, () =>
      blockProgram(
        { grid: g, inputs: { x: whole, p: block }, outputs: { y: whole.block([8], [g.i]), z: whole } },
        ({ x, p, y, z }) => {
          const at = p.load();
          const v = gather(x, at);
          y.store(v);
          scatter(z, at, v);
        },
      ),
    );
    const order = range(21).map((i) => (i * 8) % 21);
    const { y, z } = await execute(k, { x: nd.from(f32, [21], range(21)), p: nd.from(i32, [21], order) });
    expect(list(y)).toEqual(order);
    expect(list(z)).toEqual(range(21));
  });

  test.each([i32, f32, f16, bf16] as readonly DType[])(
    'atomics on $name: add, max, min by many programs on few cells',
    async (d) => {
      const g = grid({ i: cdiv(n, 8) });
      const cells = array(d, [4]);
      const k = kernel('cells', {}, () =>
        blockProgram(
          {
            grid: g,
            inputs: { x: array(d, [n]).block([8], [g.i]) },
            outputs: { sum: cells, top: cells, low: cells },
            zeroed: ['sum', 'top', 'low'],
          },
          ({ x, sum, top, low }) => {
            const cell = g.i
              .mul(8)
              .add(iota([8]))
              .mod(4);
            atomic.add(sum.at(cell), x.load());
            atomic.max(top.at(cell), x.load());
            atomic.min(low.at(cell), x.load().neg());
          },
        ),
      );
      const values = range(43).map((i) => i % 10);
      const { sum, top, low } = await execute(k, { x: nd.from(d, [43], values) });
      const group = (c: number): number[] => values.filter((_, i) => i % 4 === c);
      expect(list(sum)).toEqual(range(4).map((c) => group(c).reduce((a, b) => a + b, 0)));
      expect(list(top)).toEqual(range(4).map((c) => Math.max(...group(c))));
      expect(list(low)).toEqual(range(4).map((c) => -Math.max(...group(c))));
    },
  );

  test('branches and while loops: Collatz lengths', async () => {
    const g = grid({ i: n });
    const k = kernel('collatz', {}, () =>
      blockProgram({ grid: g, inputs: {}, outputs: { steps: array(i32, [n]).block([1], [g.i]) } }, ({ steps }) => {
        const start = { x: g.i.add(1), count: full(i32, [], 0) };
        const { count } = whileLoop(
          start,
          ({ x }) => x.ne(1),
          ({ x, count: c }) => ({
            x: ifElse(
              x.rem(2).eq(0),
              () => x.div(2),
              () => x.mul(3).add(1),
            ),
            count: c.add(1),
          }),
        );
        when(g.i.ge(0), () => steps.store(count.reshape([1])));
      }),
    );
    const { steps } = await execute(k, { n: 10 });
    expect(list(steps)).toEqual([0, 1, 7, 2, 5, 8, 16, 3, 19, 6]);
  });

  test('a loop that ends early by what it carries: the first block with a match, and what was seen until then', async () => {
    const k = kernel('search', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(i32, [n]), wanted: scalar(i32) },
          outputs: { at: array(i32, [1]), trips: array(i32, [1]), seen: array(i32, [4]) },
        },
        ({ x, wanted, at, trips, seen }) => {
          const start = { found: full(bool, [], 0), i: full(i32, [], 0), at: full(i32, [], -1), seen: zeros(i32, [4]) };
          const end = whileLoop(
            start,
            ({ found, i }) => found.not().and(i.mul(4).lt(n)),
            ({ i, at: last, seen: sum }) => {
              const block = x
                .at(ds(i.mul(4), 4))
                .load()
                .pad(-1);
              const hit = block.eq(wanted);
              const found = hit.any(0);
              return {
                found,
                i: i.add(1),
                at: select(found, i.mul(4).add(hit.to(i32).argmax(0)), last),
                seen: sum.add(block),
              };
            },
          );
          at.at(0).store(end.at);
          trips.at(0).store(end.i);
          seen.store(end.seen);
        },
      ),
    );
    const x = nd.from(i32, [10], [5, 3, 9, 1, 7, 9, 2, 4, 8, 6]);
    const look = async (wanted: number) => {
      const { at, trips, seen } = await execute(k, { x, wanted });
      return [list(at), list(trips), list(seen)];
    };
    expect(await look(9)).toEqual([[2], [1], [5, 3, 9, 1]]);
    expect(await look(2)).toEqual([[6], [2], [12, 12, 11, 5]]);
    expect(await look(77)).toEqual([[-1], [3], [20, 18, 10, 4]]);
  });

  test('carried tiles may swap, and a branch may give tiles', async () => {
    const g = grid({ i: 2 });
    const k = kernel('swap', {}, () =>
      blockProgram(
        { grid: g, inputs: {}, outputs: { y: array(i32, [2, 5]).block([squeezed, 5], [g.i, 0]) } },
        ({ y }) => {
          const { a, b } = loop({ to: 3, carry: { a: iota([5]), b: iota([5]).mul(10) } }, (_, c) => ({
            a: c.b,
            b: c.a.add(1),
          }));
          y.store(
            ifElse(
              g.i.eq(0),
              () => a,
              () => b,
            ),
          );
        },
      ),
    );
    const { y } = await execute(k, {});
    // (a, b) → (b, a + 1) three times: a = 10 i + 1, b = i + 2.
    expect(list(y)).toEqual([...range(5).map((i) => 10 * i + 1), ...range(5).map((i) => i + 2)]);
  });

  test('scalar arguments of every kind', async () => {
    const g = grid({ i: cdiv(n, 4) });
    const k = kernel('scalars', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { h: scalar(f16), d: scalar(f64), w: scalar(i64), b: scalar(u8), on: scalar(bool) },
          outputs: { y: array(f64, [n]).block([4], [g.i]) },
        },
        ({ h, d, w, b, on, y }) => {
          const sum = h.to(f64).add(d).add(w.to(f64)).add(b.to(f64));
          y.store(select(on, sum, 0).broadcastTo([4]));
        },
      ),
    );
    const { y } = await execute(k, { h: 1.5, d: 0.25, w: -(2n ** 40n), b: 200, on: true, n: 3 });
    expect(list(y)).toEqual(Array(3).fill(1.5 + 0.25 - 2 ** 40 + 200));
  });

  test('an integer dot, batched, with operands of i8', async () => {
    const k = kernel('idot', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { a: array(i8, [2, 3, 5]), b: array(i8, [2, 5, 4]) },
          outputs: { c: array(i32, [2, 3, 4]) },
        },
        ({ a, b, c }) => c.store(dot(a.load(), b.load()) as never),
      ),
    );
    const [a, b] = [nd.random(i8, [2, 3, 5], { seed: 1 }), nd.random(i8, [2, 5, 4], { seed: 2 })];
    const [x, y] = [list(a), list(b)];
    const { c } = await execute(k, { a, b });
    expect(list(c)).toEqual(
      range(24).map((at) => {
        const [t, i, j] = [Math.floor(at / 12), Math.floor(at / 4) % 3, at % 4];
        return range(5).reduce((s, p) => s + x[(t * 3 + i) * 5 + p]! * y[(t * 5 + p) * 4 + j]!, 0);
      }),
    );
  });

  test('an infinity inside a ragged dot spreads by the rules, and nothing beyond its edge does', async () => {
    const [m, depth] = [dim('m'), dim('k')];
    const k = kernel('tail', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { a: array(f32, [m, depth]), b: array(f32, [depth, m]) },
          outputs: { c: array(f32, [m, m]) },
        },
        ({ a, b, c }) => {
          c.at(ds(0, 4), ds(0, 4)).store(dot(a.at(ds(0, 4), ds(0, 8)).load(), b.at(ds(0, 8), ds(0, 4)).load()));
        },
      ),
    );
    const inf = Number.POSITIVE_INFINITY;
    const { c } = await execute(k, {
      a: nd.from(f32, [2, 3], [1, 2, 3, inf, 5, 6]),
      b: nd.from(f32, [3, 2], [1, 0, 0, 1, 1, 1]),
    });
    expect(list(c)).toEqual([4, 5, inf, Number.NaN]);
  });

  test('masks and other; reductions of ragged rows of every kind', async () => {
    const g = grid({ r: 1 });
    const k = kernel('ragged', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [n]) },
          outputs: { y: array(f32, [6]), p: array(i32, [2]), m: array(f32, [8]) },
        },
        ({ x, y, p, m }) => {
          const t = x.at(ds(0, 16)).load();
          const values = [t.sum(0), t.prod(0), t.max(0), t.min(0), t.lt(0).any(0).to(f32), t.lt(100).all(0).to(f32)];
          values.forEach((v, i) => y.at(i).store(v));
          p.at(0).store(t.argmax(0));
          p.at(1).store(t.argmin(0));
          m.store(x.at(ds(0, 8)).load({ mask: iota([8]).lt(2), other: 9 }));
        },
      ),
    );
    const { y, p, m } = await execute(k, { x: nd.from(f32, [9], [-1, -2, -3, -1, -2, -3, -1, -2, -3]) });
    expect(list(y)).toEqual([-18, -216, -1, -3, 1, 1]);
    expect(list(p)).toEqual([0, 2]);
    expect(list(m)).toEqual([-1, -2, 9, 9, 9, 9, 9, 9]);
  });

  test('column reductions, transposes of odd shapes, reshapes that merge axes', async () => {
    const k = kernel('shapes', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [5, 7]) },
          outputs: { c: array(f32, [7]), t: array(f32, [7, 5]), f: array(f32, [35]), q: array(f32, [2, 3, 4]) },
        },
        ({ x, c, t, f, q }) => {
          const v = x.load();
          c.store(v.sum(0));
          t.store(v.transpose());
          f.store(v.reshape([35]));
          q.store(iota([24]).to(f32).reshape([4, 2, 3]).transpose([1, 2, 0]));
        },
      ),
    );
    const x = range(35);
    const { c, t, f, q } = await execute(k, { x: nd.from(f32, [5, 7], x) });
    expect(list(c)).toEqual(range(7).map((j) => range(5).reduce((s, i) => s + x[i * 7 + j]!, 0)));
    expect(list(t)).toEqual(range(35).map((at) => x[(at % 5) * 7 + Math.floor(at / 5)]!));
    expect(list(f)).toEqual(x);
    expect(list(q)).toEqual(range(24).map((at) => (at % 4) * 6 + Math.floor(at / 4)));
  });

  test('a column becomes a row, whatever it is computed from', async () => {
    const k = kernel('columns', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [8, 4]) },
          outputs: { y: array(f32, [6]), z: array(f32, [6]), s: array(f32, [1, 6]) },
        },
        ({ x, y, z, s }) => {
          const column = x.at(ds(1, 6), ds(2, 1)).load();
          y.store(column.reshape([6]));
          z.store(iota([6, 1], 0).reshape([6]).to(f32));
          s.store(
            column
              .mul(2)
              .add(iota([6, 1], 0).to(f32))
              .reshape([1, 6]),
          );
        },
      ),
    );
    const { y, z, s } = await execute(k, { x: nd.from(f32, [8, 4], range(32)) });
    expect(list(y)).toEqual([6, 10, 14, 18, 22, 26]);
    expect(list(z)).toEqual(range(6));
    expect(list(s)).toEqual([12, 21, 30, 39, 48, 57]);
  });

  test('rank 6, and tiles of one element', async () => {
    const s = [2, 1, 3, 1, 2, 2] as const;
    const k = kernel('six', {}, () =>
      blockProgram(
        { grid: grid({}), inputs: { x: array(f32, s) }, outputs: { y: array(f32, s), one: array(f32, [1, 1]) } },
        ({ x, y, one }) => {
          y.store(x.load().mul(2));
          one.store(x.load().reshape([24]).sum(0).reshape([1, 1]));
        },
      ),
    );
    const { y, one } = await execute(k, { x: nd.from(f32, s, range(24)) });
    expect(list(y)).toEqual(range(24).map((i) => 2 * i));
    expect(list(one)).toEqual([276]);
  });

  test('an empty grid launches nothing; an output keeps its zeros', async () => {
    const g = grid({ i: cdiv(n, 4) });
    const k = kernel('none', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(f32, [n]).block([4], [g.i]) },
          outputs: { y: array(f32, [n]).block([4], [g.i]), z: array(f32, [3]) },
        },
        ({ x, y, z }) => {
          y.store(x.load());
          z.store(full(f32, [3], 1));
        },
      ),
    );
    const { y, z } = await execute(k, { x: nd.zeros(f32, [0]) });
    expect({ y: list(y), z: list(z) }).toEqual({ y: [], z: [0, 0, 0] });
  });

  test('a store that depends on a load of the same array, shifted, sees what was there before', async () => {
    const k = kernel('shift', {}, () =>
      blockProgram(
        { grid: grid({}), inputs: { x: array(i32, [17]) }, outputs: { y: array(i32, [17]) }, aliases: { y: 'x' } },
        ({ y }) => {
          const before = y.at(ds(0, 16)).load();
          y.at(ds(1, 16)).store(before);
        },
      ),
    );
    const { y } = await execute(k, { x: nd.from(i32, [17], range(17)) });
    expect(list(y)).toEqual([0, ...range(16)]);
  });

  test('min, max and clamping of tiles against numbers', async () => {
    const k = kernel('clamp', {}, () =>
      blockProgram({ grid: grid({}), inputs: { x: array(f32, [6]) }, outputs: { y: array(f32, [6]) } }, ({ x, y }) =>
        y.store(minimum(maximum(x.load(), -1), 1)),
      ),
    );
    const { y } = await execute(k, { x: nd.from(f32, [6], [-3, -1, 0.5, 2, Number.NaN, Number.POSITIVE_INFINITY]) });
    expect(list(y)).toEqual([-1, -1, 0.5, 1, Number.NaN, 1]);
  });
}

describe('the language in the interpreter', () => language(interpret));
describeTool('mlir', 'the language on the CPU', () => language(run as Run));

describe('what the interpreter finds', () => {
  test('an index out of bounds: op, array, axis, index, program, at the line', async () => {
    const n = dim('n');
    const k = kernel('oob', {}, () => {
      const g = grid({ i: 2 });
      return blockProgram(
        { grid: g, inputs: { x: array(f32, [n]), p: array(i32, [n]) }, outputs: { y: array(f32, [4]) } },
        ({ x, p, y }) => {
          y.store(gather(x, p.at(ds(0, 4)).load()));
        },
      );
    });
    const call = interpret(k, { x: nd.zeros(f32, [4]), p: nd.from(i32, [4], [0, 1, 7, 2]) });
    expect(await errorOf(() => call)).toMatch(
      /^TW5001 language.test.ts:\d+ gather of 'x' is out of bounds: index 7 on axis 0 of extent 4, in program \(i=0\)$/,
    );
  });

  test.each([
    ['a dim that is no multiple', { multipleOf: 16 }, 24, 'a multiple of 16'],
    ['a dim that is too large', { max: 16 }, 32, 'at most 16'],
    ['a dim that is too small', { min: 64 }, 32, 'at least 64'],
  ])('%s breaks the promise', async (_, facts, size, promise) => {
    const n = dim('n', facts);
    const k = kernel('promise', {}, () =>
      blockProgram({ grid: grid({}), inputs: { x: array(f32, [n]) }, outputs: { y: array(f32, [1]) } }, ({ x, y }) =>
        y.store(x.at(ds(0, 1)).load()),
      ),
    );
    expect(await errorOf(() => interpret(k, { x: nd.zeros(f32, [size]) }))).toMatch(
      new RegExp(`^TW4105 .*dim 'n' is ${size}, but the kernel promises ${promise}`),
    );
  });

  test('a grid of more than 2^31 - 1 programs', async () => {
    const n = dim('n');
    const k = kernel('huge', {}, () =>
      blockProgram({ grid: grid({ i: n, j: n }), inputs: {}, outputs: { y: array(f32, [1]) } }, ({ y }) =>
        y.store(zeros(f32, [1])),
      ),
    );
    expect(await errorOf(() => interpret(k, { n: 65536 }))).toMatch(/^TW4106 .*4294967296 programs/);
  });
});
