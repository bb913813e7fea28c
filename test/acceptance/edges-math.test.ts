/** Edges of math functions: one table of cases an op, in the interpreter, by the constant folder and on the CPU. */

import { describe, expect, test } from '@jest/globals';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import type { KernelSource } from '../../src/api/source.js';
import { unknownLoc } from '../../src/diagnostics/location.js';
import { bf16, type DType, f16, f32, f64, i8, i16, i32, i64, isWide, u8, u32, u64 } from '../../src/ir/dtypes.js';
import { elementwiseOps } from '../../src/ir/ops/elementwise.js';
import { mathOps } from '../../src/ir/ops/math.js';
import { runPasses } from '../../src/ir/pass.js';
import { canonicalize } from '../../src/ir/passes/canonicalize.js';
import { dce } from '../../src/ir/passes/dce.js';
import { type TileType, tileType } from '../../src/ir/types.js';
import { walk } from '../../src/ir/walk.js';
import { type Emit, elementwiseKernel, plainOp } from '../support/op-kernels.js';
import { describeTool } from '../support/tools.js';

type Execute = (source: KernelSource, inputs: Record<string, NdArray>) => Promise<Readonly<Record<string, NdArray>>>;
/** Operands, then the result. */
type Case = readonly number[];

const [inf, nan, pi] = [Infinity, Number.NaN, Math.PI];
const odd: readonly Case[] = [
  [0, 0],
  [-0, -0],
  [nan, nan],
];
const oddInfinite: readonly Case[] = [...odd, [inf, inf], [-inf, -inf]];
const logarithm: readonly Case[] = [
  [1, 0],
  [0, -inf],
  [-0, -inf],
  [-1, nan],
  [-inf, nan],
  [inf, inf],
  [nan, nan],
];
const circular: readonly Case[] = [...odd, [inf, nan], [-inf, nan]];

/** What is exact, or the nearest number of any dtype, by op. */
const floatCases: Readonly<Record<string, readonly Case[]>> = {
  exp: [
    [0, 1],
    [-0, 1],
    [inf, inf],
    [-inf, 0],
    [nan, nan],
    [1e4, inf],
    [-1e4, 0],
  ],
  exp2: [
    [0, 1],
    [3, 8],
    [-2, 0.25],
    [inf, inf],
    [-inf, 0],
    [nan, nan],
    [1e4, inf],
    [-1e4, 0],
  ],
  expm1: [...odd, [inf, inf], [-inf, -1], [1e4, inf], [-1e4, -1]],
  log: logarithm,
  log2: [...logarithm, [8, 3], [0.25, -2]],
  log10: [...logarithm, [1000, 3]],
  log1p: [...odd, [-1, -inf], [-2, nan], [inf, inf], [-inf, nan]],
  sqrt: [...odd, [4, 2], [-1, nan], [inf, inf], [-inf, nan]],
  rsqrt: [
    [4, 0.5],
    [0, inf],
    [-0, -inf],
    [-1, nan],
    [inf, 0],
    [nan, nan],
  ],
  cbrt: [...oddInfinite, [-27, -3], [8, 2]],
  sin: circular,
  cos: [
    [0, 1],
    [-0, 1],
    [inf, nan],
    [-inf, nan],
    [nan, nan],
  ],
  tan: circular,
  asin: [...odd, [1, pi / 2], [-1, -pi / 2], [2, nan], [-inf, nan]],
  acos: [
    [1, 0],
    [-1, pi],
    [0, pi / 2],
    [2, nan],
    [inf, nan],
    [nan, nan],
  ],
  atan: [...odd, [inf, pi / 2], [-inf, -pi / 2]],
  sinh: [...oddInfinite, [1e4, inf], [-1e4, -inf]],
  cosh: [
    [0, 1],
    [-0, 1],
    [inf, inf],
    [-inf, inf],
    [1e4, inf],
    [nan, nan],
  ],
  tanh: [...odd, [inf, 1], [-inf, -1], [1e4, 1], [-1e4, -1]],
  asinh: oddInfinite,
  acosh: [
    [1, 0],
    [0.5, nan],
    [-1, nan],
    [inf, inf],
    [-inf, nan],
    [nan, nan],
  ],
  atanh: [...odd, [1, inf], [-1, -inf], [2, nan], [-inf, nan]],
  erf: [...odd, [inf, 1], [-inf, -1], [50, 1], [-50, -1]],
  erfc: [
    [0, 1],
    [-0, 1],
    [inf, 0],
    [-inf, 2],
    [50, 0],
    [-50, 2],
    [nan, nan],
  ],
  pow: [
    [2, 3, 8],
    [-2, 3, -8],
    [-2, 0.5, nan],
    [nan, 0, 1],
    [nan, -0, 1],
    [1, nan, 1],
    [2, nan, nan],
    [nan, 1, nan],
    [0, -1, inf],
    [-0, -1, -inf],
    [-0, -2, inf],
    [-0, 3, -0],
    [0, inf, 0],
    [0.5, inf, 0],
    [0.5, -inf, inf],
    [2, inf, inf],
    [2, -inf, 0],
    [-1, inf, 1],
    [-1, -inf, 1],
    [1, inf, 1],
    [-inf, 3, -inf],
    [-inf, -3, -0],
    [inf, -1, 0],
  ],
  atan2: [
    [0, 1, 0],
    [-0, 1, -0],
    [0, -1, pi],
    [-0, -1, -pi],
    [0, -0, pi],
    [-0, -0, -pi],
    [0, 0, 0],
    [-0, 0, -0],
    [1, 0, pi / 2],
    [-1, -0, -pi / 2],
    [inf, inf, pi / 4],
    [inf, -inf, (3 * pi) / 4],
    [-inf, 1, -pi / 2],
    [1, inf, 0],
    [-1, inf, -0],
    [1, -inf, pi],
    [nan, 1, nan],
    [1, nan, nan],
  ],
  fma: [
    [2, 3, 4, 10],
    [inf, 0, 1, nan],
    [inf, 1, -inf, nan],
    [inf, 1, 1, inf],
    [0, -1, -0, -0],
    [0, -1, 0, 0],
    [1, 1, -1, 0],
    [nan, 1, 1, nan],
    [1, 1, nan, nan],
  ],
};

const bigLargest = (d: DType): bigint => (d.signed ? (1n << BigInt(d.bits - 1)) - 1n : (1n << BigInt(d.bits)) - 1n);

/** Operands, then the result, as exact integers. */
const intCases: Readonly<Record<string, (d: DType) => readonly (readonly bigint[])[]>> = {
  count_leading_zeros: (d) => [
    [0n, BigInt(d.bits)],
    [1n, BigInt(d.bits - 1)],
    [bigLargest(d), d.signed ? 1n : 0n],
    ...(d.signed ? [[-1n, 0n] as const, [-bigLargest(d) - 1n, 0n] as const] : []),
  ],
  population_count: (d) => [
    [0n, 0n],
    [5n, 2n],
    [bigLargest(d), BigInt(d.bits - (d.signed ? 1 : 0))],
    ...(d.signed ? [[-1n, BigInt(d.bits)] as const, [-bigLargest(d) - 1n, 1n] as const] : []),
  ],
  mul_hi: (d) => {
    const top = bigLargest(d);
    const low = d.signed ? -top - 1n : 0n;
    const list = [0n, 1n, 3n, top, top - 1n, low, low + 1n, ...(d.signed ? [-1n, -3n] : [])];
    return list.flatMap((a) => list.map((b) => [a, b, (a * b) >> BigInt(d.bits)]));
  },
};

const groupsOf = (name: string): readonly string[] =>
  Object.keys([...mathOps, ...elementwiseOps].find((d) => d.name === name)!.operands);

/** The op on constants, one case each. */
const onConstants =
  (name: string, dtype: DType, operands: readonly (number | bigint)[]): Emit =>
  (body, [x]) => {
    const type = tileType(dtype, (x!.type as TileType).shape);
    const constant = (value: number | bigint) => body.emit('constant', {}, { value }, unknownLoc, { types: [type] });
    return plainOp(name, groupsOf(name))(body, operands.map(constant));
  };

/** Operands of each case, by op. */
type Operands = Readonly<Record<string, readonly (readonly (number | bigint)[])[]>>;
/** Results of each case, by op. */
type Give = (table: Operands, dtype: DType) => Promise<Readonly<Record<string, (number | bigint)[]>>>;

const folded: Give = async (table, dtype) => {
  const cases = Object.entries(table).flatMap(([name, list]) => list.map((c, i) => [`${name}.${i}`, name, c] as const));
  const ops = Object.fromEntries(cases.map(([out, name, c]) => [out, { emit: onConstants(name, dtype, c), dtype }]));
  const source = elementwiseKernel([dtype], ops);
  const kernel = runPasses(source.kernel, [canonicalize, dce]);
  const left: string[] = [];
  for (const { body } of kernel.launches) walk(body, (op) => left.push(op.name));
  expect(Object.keys(table).filter((name) => left.includes(name))).toEqual([]);
  const one = isWide(dtype) ? 0n : 0;
  const outputs = await interpretSource({ ...source, kernel }, { in0: fromNumbers(dtype, [1], [one]) });
  return Object.fromEntries(
    Object.entries(table).map(([name, list]) => [name, list.map((_, i) => toRegisters(outputs[`${name}.${i}`]!)[0]!)]),
  );
};

/** One kernel for the ops of each number of operands; every op sees the cases of all. */
const executed =
  (execute: Execute): Give =>
  async (table, dtype) => {
    const results: Record<string, (number | bigint)[]> = {};
    for (const count of [1, 2, 3]) {
      const names = Object.keys(table).filter((n) => groupsOf(n).length === count);
      if (names.length === 0) continue;
      const cases = names.flatMap((n) => table[n]!);
      const source = elementwiseKernel(
        Array.from({ length: count }, () => dtype),
        Object.fromEntries(names.map((n) => [n, { emit: plainOp(n, groupsOf(n)), dtype }])),
      );
      const column = (i: number): NdArray =>
        fromNumbers(
          dtype,
          [cases.length],
          cases.map((c) => c[i]!),
        );
      const inputs = Object.fromEntries(Array.from({ length: count }, (_, i) => [`in${i}`, column(i)]));
      const outputs = await execute(source, inputs);
      let start = 0;
      for (const n of names) {
        const all: (number | bigint)[] = [...toRegisters(outputs[n]!)];
        results[n] = all.slice(start, start + table[n]!.length);
        start += table[n]!.length;
      }
    }
    return results;
  };

function edges(give: Give): void {
  const operandsOf = (table: Operands): Operands =>
    Object.fromEntries(Object.entries(table).map(([name, cases]) => [name, cases.map((c) => c.slice(0, -1))]));

  test.each([f32, f64, f16, bf16] as readonly DType[])('$name', async (dtype) => {
    const rounded = (x: number): number => Number(toRegisters(fromNumbers(dtype, [1], [x]))[0]);
    const table = Object.fromEntries(
      Object.entries(floatCases).map(([name, cases]) => [name, cases.map((c) => c.map(rounded))]),
    );
    const got = await give(operandsOf(table), dtype);
    const near = (x: number, y: number): boolean =>
      Object.is(x, y) ||
      (y !== 0 && Number.isFinite(y) && Math.abs(x - y) <= Math.abs(y) * 2 ** (dtype === f64 ? -51 : -22));
    const wrong = Object.entries(table).flatMap(([name, cases]) =>
      cases.flatMap((c, i) => {
        const [x, y] = [Number(got[name]![i]), c.at(-1)!];
        return near(x, y) ? [] : [`${name}(${c.slice(0, -1).join(', ')}) = ${x}, not ${y}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  test.each([i8, i16, i32, i64, u8, u32, u64] as readonly DType[])('$name', async (dtype) => {
    const own = (x: bigint): number | bigint => (isWide(dtype) ? x : Number(x));
    const table: Operands = Object.fromEntries(
      Object.entries(intCases).map(([name, cases]) => [name, cases(dtype).map((c) => c.map(own))]),
    );
    const expected = Object.fromEntries(
      Object.entries(table).map(([name, cases]) => [name, cases.map((c) => c.at(-1))]),
    );
    expect(await give(operandsOf(table), dtype)).toEqual(expected);
  });
}

test('every math op is in the table', () => {
  expect(Object.keys(floatCases).sort()).toEqual(mathOps.map((d) => d.name as string).sort());
});
describe('math edges in the interpreter', () => edges(executed((source, inputs) => interpretSource(source, inputs))));
describe('math edges by the constant folder', () => edges(folded));
describeTool('mlir', 'math edges on the CPU', () =>
  edges(executed(async (source, inputs) => (await runSource(source, inputs, { lineInfo: false })).outputs)),
);
