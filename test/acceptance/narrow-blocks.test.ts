/** Narrow dtypes in blocks: odd blocks that share bytes, columns, scalars, reductions and products. */

import { describe, expect, test } from '@jest/globals';
import {
  array,
  blockProgram,
  type DType,
  dot,
  f8e4m3fn,
  f8e5m2,
  f8e5m2fnuz,
  f32,
  grid,
  i4,
  i32,
  interpret,
  kernel,
  run,
  u4,
} from 'tilewright';
import { type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { nd } from '../../src/testing/index.js';
import { describeTool } from '../support/tools.js';

type Execute = (k: never, inputs: never) => Promise<unknown>;

async function result(execute: Execute, k: unknown, inputs: Record<string, NdArray>): Promise<number[]> {
  const { y } = (await execute(k as never, inputs as never)) as { y: NdArray };
  return Array.from(toRegisters(y), Number);
}

function blocks(execute: Execute): void {
  test.each([i4, u4] as readonly DType[])('programs that share a byte of $name', async (d) => {
    const n = 995;
    const k = kernel('blocks', {}, () => {
      const g = grid({ i: 199 });
      const vector = array(d, [n]).block([5], [g.i]);
      return blockProgram({ grid: g, inputs: { x: vector }, outputs: { y: vector } }, ({ x, y }) =>
        y.store(x.load().add(1) as never),
      );
    });
    const list = Array.from({ length: n }, (_, i) => (i * 5) & 15);
    const x = nd.from(d, [n], list);
    const wrap = (v: number): number => (d.signed ? (v << 28) >> 28 : v & 15);
    expect(await result(execute, k, { x })).toEqual(list.map((v) => wrap(v + 1)));
  });

  test.each([i4, f8e5m2fnuz] as readonly DType[])('columns and transposes of $name', async (d) => {
    const [m, n] = [7, 5];
    const k = kernel('columns', {}, () =>
      blockProgram(
        {
          grid: grid({ i: 1 }),
          inputs: { x: array(d, [m, n]).block([m, n], [0, 0]) },
          outputs: { y: array(d, [n, m]).block([n, m], [0, 0]) },
        },
        ({ x, y }) => y.store(x.load().transpose() as never),
      ),
    );
    const list = Array.from({ length: m * n }, (_, i) => (i % 15) - 7);
    const x = nd.from(d, [m, n], list);
    const expected = Array.from({ length: m * n }, (_, i) => list[(i % m) * n + Math.floor(i / m)]);
    expect(await result(execute, k, { x })).toEqual(expected);
  });

  test.each([f8e4m3fn, f8e5m2, i4] as readonly DType[])('sums and products of matrices of $name', async (d) => {
    const acc = d === i4 ? i32 : f32;
    const k = kernel('products', {}, () =>
      blockProgram(
        {
          grid: grid({ i: 1 }),
          inputs: { x: array(d, [8, 16]).block([8, 16], [0, 0]) },
          outputs: { y: array(acc, [8, 8]).block([8, 8], [0, 0]), z: array(d, [8]).block([8], [0]) },
        },
        ({ x, y, z }) => {
          const t = x.load();
          y.store(dot(t.to(d === i4 ? i32 : d), t.transpose().to(d === i4 ? i32 : d)) as never);
          z.store(t.max(1) as never);
        },
      ),
    );
    const list = Array.from({ length: 128 }, (_, i) => ((i * 7) % 15) - 7);
    const outputs = (await execute(k as never, { x: nd.from(d, [8, 16], list) } as never)) as Record<string, NdArray>;
    const row = (i: number): number[] => list.slice(16 * i, 16 * i + 16);
    const products = Array.from({ length: 64 }, (_, i) =>
      row(i >> 3).reduce((sum, v, j) => sum + v * row(i & 7)[j]!, 0),
    );
    expect(Array.from(toRegisters(outputs.y!), Number)).toEqual(products);
    expect(Array.from(toRegisters(outputs.z!), Number)).toEqual(
      Array.from({ length: 8 }, (_, i) => Math.max(...row(i))),
    );
  });
}

describe('blocks of narrow dtypes in the interpreter', () => blocks(interpret as never));
describeTool('mlir', 'blocks of narrow dtypes on the CPU', () => blocks(run as never));
