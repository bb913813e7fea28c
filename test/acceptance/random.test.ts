import { describe, expect, test } from '@jest/globals';
import {
  array,
  blockProgram,
  cdiv,
  dim,
  f32,
  grid,
  i64,
  interpret,
  iota,
  kernel,
  random,
  run,
  scalar,
  u32,
} from 'tilewright';
import { nd } from 'tilewright/testing';
import { philox } from '../../src/ir/ops/random.js';
import { describeTool } from '../support/tools.js';

type Run = typeof interpret;
const list = (a: Parameters<typeof nd.toNumbers>[0]): number[] => Array.from(nd.toNumbers(a));
const range = (n: number): number[] => Array.from({ length: n }, (_, i) => i);

function draws(execute: Run): void {
  const n = dim('n');
  const g = grid({ i: cdiv(n, 32) });

  test.each([[1], [100]])('bits and uniform numbers of %i counters, by a seed of 64 bits', async (size) => {
    const k = kernel('bits', {}, () =>
      blockProgram(
        {
          grid: g,
          inputs: { seed: scalar(i64) },
          outputs: { bits: array(u32, [n]).block([32], [g.i]), u: array(f32, [n]).block([32], [g.i]) },
        },
        ({ seed, bits, u }) => {
          const counter = g.i.mul(32).add(iota([32]));
          bits.store(random.bits(seed, counter));
          u.store(random.uniform(seed, counter));
        },
      ),
    );
    const seed = (5n << 32n) + 123456789n;
    const { bits, u } = await execute(k, { seed, n: size });
    const words = range(size).map((i) => philox([i, 0, 0, 0], [123456789, 5])[0]);
    expect(list(bits)).toEqual(words);
    const uniform = words.map((w) => {
      const s = w | 0;
      return Math.fround(Math.fround(s < 0 ? -s - 1 : s) * Math.fround(4.6566127342e-10));
    });
    expect(list(u)).toEqual(uniform);
  });

  test('all words of a wide counter, by a seed of JavaScript', async () => {
    const k = kernel('words', {}, () =>
      blockProgram(
        { grid: grid({}), inputs: { c: array(i64, [4]) }, outputs: { y: array(u32, [4, 4]) } },
        ({ c, y }) => {
          random.words(-2, c.load()).forEach((w, i) => y.at(i).store(w));
        },
      ),
    );
    const { y } = await execute(k, { c: nd.from(i64, [4], [0, 1, 2 ** 32 + 7, -1]) });
    const counters = [
      [0, 0],
      [1, 0],
      [7, 1],
      [0xffffffff, 0xffffffff],
    ];
    const words = counters.map(([low, high]) => philox([low!, high!, 0, 0], [0xfffffffe, 0xffffffff]));
    expect(list(y)).toEqual(range(16).map((at) => words[at % 4]![Math.floor(at / 4)]));
  });
}

describe('random numbers in the interpreter', () => draws(interpret));
describeTool('mlir', 'random numbers on the CPU', () => draws(run as Run));
