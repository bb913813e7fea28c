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
  f16,
  f32,
  f64,
  full,
  gather,
  grid,
  i8,
  i16,
  i32,
  i64,
  interpret,
  iota,
  kernel,
  run,
  u8,
  u32,
  u64,
  whileLoop,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);
const { NaN: nan, POSITIVE_INFINITY: inf } = Number;

function atomics(execute: Run): void {
  test.each([i8, i16, i32, i64, u8, u32, u64, f16, bf16, f32, f64] as readonly DType[])(
    'every kind on $name; the old values are given; a ragged tail does nothing',
    async (d) => {
      const n = dim('n');
      const g = grid({ i: cdiv(n, 8) });
      const cells = array(d, [n]);
      const ints = d.cls === 'int';
      const k = kernel('kinds', {}, () =>
        blockProgram(
          {
            grid: g,
            inputs: { x: array(d, [n]).block([8], [g.i]), start: cells },
            outputs: { a: cells, s: cells, hi: cells, lo: cells, x_: cells, was: cells.block([8], [g.i]) },
            aliases: { a: 'start' },
            zeroed: ['s', 'hi', 'lo', 'x_'],
          },
          ({ x, a, s, hi, lo, x_, was }) => {
            const at = g.i.mul(8).add(iota([8]));
            was.store(atomic.add(a.at(at), x.load()));
            atomic.sub(s.at(at), x.load(), { order: 'acq_rel', scope: 'block' });
            atomic.sub(s.at(at), 1, { mask: at.lt(n) });
            atomic.max(hi.at(at), x.load());
            atomic.min(lo.at(at), x.load());
            if (ints) {
              atomic.or(x_.at(at), x.load());
              atomic.xor(x_.at(at), 5, { mask: at.lt(n) });
              atomic.and(x_.at(at), 7, { mask: at.lt(n) });
            } else atomic.exchange(x_.at(at), x.load());
          },
        ),
      );
      const x = range(13).map((i) => (d.signed ? i - 6 : i));
      const start = range(13).map((i) => i % 4);
      const out = (await execute(
        k as never,
        { x: nd.from(d, [13], x), start: nd.from(d, [13], start) } as never,
      )) as never as Record<string, never>;
      const wrap = (v: number): number => (d.signed ? v : Number(BigInt.asUintN(d.bits, BigInt(v))));
      expect(list(out.a!)).toEqual(x.map((v, i) => v + start[i]!));
      expect(list(out.was!)).toEqual(start);
      expect(list(out.s!)).toEqual(x.map((v) => wrap(-v - 1)));
      expect(list(out.hi!)).toEqual(x.map((v) => Math.max(v, 0)));
      expect(list(out.lo!)).toEqual(x.map((v) => Math.min(v, 0)));
      expect(list(out.x_!)).toEqual(ints ? x.map((v) => (v ^ 5) & 7) : x);
    },
  );

  test('maximum and minimum of floats: -0 is below 0, NaN wins', async () => {
    const k = kernel('edges', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(f32, [6]), a0: array(f32, [6]), b0: array(f32, [6]) },
          outputs: { a: array(f32, [6]), b: array(f32, [6]) },
          aliases: { a: 'a0', b: 'b0' },
        },
        ({ x, a, b }) => {
          atomic.max(a.at(iota([6])), x.load());
          atomic.min(b.at(iota([6])), x.load());
        },
      ),
    );
    const x = nd.from(f32, [6], [0, -0, nan, 1, -inf, nan]);
    const old = nd.from(f32, [6], [-0, 0, 1, nan, 3, nan]);
    const { a, b } = await execute(k, { x, a0: old, b0: old });
    expect(list(a)).toEqual([0, 0, nan, nan, 3, nan]);
    expect(list(b)).toEqual([-0, -0, nan, nan, -inf, nan]);
  });

  test.each([i32, i64, f16, bf16, f32, u8] as readonly DType[])('compare and swap on $name goes by bits', async (d) => {
    const k = kernel('cas', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(d, [5]), c: array(d, [5]), v: array(d, [5]) },
          outputs: { y: array(d, [5]), was: array(d, [5]) },
          aliases: { y: 'x' },
        },
        ({ c, v, y, was }) =>
          was.store(atomic.cas(y.at(iota([5])), c.load(), v.load(), { mask: iota([5]).lt(4) }).mul(1)),
      ),
    );
    const float = d.cls === 'float';
    const x = float ? [1, 2, nan, -0, 7] : [1, 2, 3, 4, 7];
    const c = float ? [1, 5, nan, 0, 7] : [1, 5, 3, 0, 7];
    const { y, was } = (await execute(
      k as never,
      {
        x: nd.from(d, [5], x),
        c: nd.from(d, [5], c),
        v: nd.from(d, [5], [9, 9, 9, 9, 9]),
      } as never,
    )) as never as Record<string, never>;
    expect(list(y!)).toEqual(float ? [9, 2, 9, -0, 7] : [9, 2, 9, 4, 7]);
    expect(list(was!).slice(0, 4)).toEqual(x.slice(0, 4));
  });

  test('a lock of compare and swap around a plain update, by many programs', async () => {
    const k = kernel('lock', {}, () =>
      blockProgram(
        {
          grid: grid({ i: 50 }),
          inputs: {},
          outputs: { lock: array(i32, [1]), total: array(i32, [1]) },
          zeroed: ['lock', 'total'],
        },
        ({ lock, total }) => {
          const taken = () => atomic.cas(lock.at(0), full(i32, [], 0), 1, { order: 'acquire' });
          whileLoop(taken(), (was) => was.ne(0), taken);
          total.store(total.load().add(1));
          atomic.exchange(lock.at(0), 0, { order: 'release' });
        },
      ),
    );
    const { total } = await execute(k, {});
    expect(list(total)).toEqual([50]);
  });

  test('tickets: an old value that is a scalar says where to read and write', async () => {
    const n = dim('n');
    const g = grid({ i: n });
    const k = kernel('tickets', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { x: array(i32, [n]) },
          outputs: { next: array(i32, [1]), y: array(i32, [n]) },
          zeroed: ['next'],
        },
        ({ x, next, y }) => {
          const ticket = atomic.add(next.at(0), full(i32, [], 1));
          y.at(ticket).store(gather(x, ticket).mul(2));
        },
      ),
    );
    const { y } = await execute(k, { x: nd.from(i32, [20], range(20)) });
    expect(list(y)).toEqual(range(20).map((i) => 2 * i));
  });

  test('bits of bool', async () => {
    const k = kernel('flags', {}, () =>
      blockProgram(
        {
          grid: grid({}),
          inputs: { x: array(bool, [4]), z: array(bool, [4]) },
          outputs: { y: array(bool, [4]) },
          aliases: { y: 'z' },
        },
        ({ x, y }) => {
          atomic.xor(y.at(iota([4])), x.load());
          atomic.or(y.at(iota([1])), 1);
        },
      ),
    );
    const { y } = await execute(k, { x: nd.from(bool, [4], [1, 1, 0, 0]), z: nd.from(bool, [4], [0, 1, 0, 1]) });
    expect(list(y)).toEqual([1, 0, 0, 1]);
  });
}

describe('atomics in the interpreter', () => atomics(interpret));
describeTool('mlir', 'atomics on the CPU', () => atomics(run as Run));
