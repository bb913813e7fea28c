import { describe, expect, test } from '@jest/globals';
import { fromNumbers, toRegisters } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import { bf16, type DType, f16, f32, f64 } from '../../src/ir/dtypes.js';
import { mathOps } from '../../src/ir/ops/math.js';
import { nd } from '../../src/testing/index.js';
import { elementwiseKernel, plainOp } from '../support/op-kernels.js';
import { describeTool } from '../support/tools.js';

const operandNames = (name: string): string[] => Object.keys(mathOps.find((d) => d.name === name)!.operands);
const names = (count: number): string[] => mathOps.map((d) => d.name).filter((n) => operandNames(n).length === count);

/** Every exponent with several significands of both signs, small numbers, and what is special. */
function sweep(least: number, most: number): Float64Array {
  const next = nd.words(5);
  const list = [0, -0, 1, -1, 0.5, -0.5, 2, Number.NaN, Infinity, -Infinity, Math.PI, 2 ** 53];
  for (let exponent = least; exponent <= most; exponent++)
    for (let i = 0; i < 12; i++) list.push((i % 2 ? -1 : 1) * (1 + next() / 2 ** 32) * 2 ** exponent);
  for (let i = 0; i < 4000; i++) list.push((next() / 2 ** 31 - 1) * 2 ** (i % 8));
  return Float64Array.from(list);
}

/** Distance in units of the last place of the dtype at the expected value. */
function ulps(actual: number, expected: number, bits: number, least: number): number {
  if (Object.is(actual, expected) || actual === expected) return 0;
  if (!Number.isFinite(expected) || !Number.isFinite(actual)) return Infinity;
  const exponent = Math.floor(Math.log2(Math.abs(expected)));
  return Math.abs(actual - expected) / 2 ** Math.max(exponent - bits + 1, least);
}

const precision: Readonly<Record<string, { bits: number; least: number; range: [number, number] }>> = {
  f32: { bits: 24, least: -149, range: [-149, 127] },
  f64: { bits: 53, least: -1074, range: [-1074, 1023] },
  f16: { bits: 11, least: -24, range: [-24, 15] },
  bf16: { bits: 8, least: -133, range: [-133, 127] },
};

const allowed = (name: string): number => (name === 'pow' ? 4 : name === 'fma' || name === 'sqrt' ? 0 : 2);

describeTool('mlir', 'math functions on the CPU', () => {
  describe.each([f32, f64, f16, bf16] as readonly DType[])('$name', (dtype) => {
    const { bits, least, range } = precision[dtype.name]!;
    test.each([1, 2, 3])('of %i operands, against the interpreter', async (count) => {
      const x = fromNumbers(dtype, [sweep(...range).length], sweep(...range));
      const shifted = (by: number): Float64Array => {
        const all = sweep(count === 2 ? -6 : range[0], count === 2 ? 6 : range[1]);
        return Float64Array.from({ length: x.shape[0]! }, (_, i) => all[(i * 7 + by) % all.length]!);
      };
      const inputs = {
        in0: x,
        in1: fromNumbers(dtype, x.shape, shifted(3)),
        in2: fromNumbers(dtype, x.shape, shifted(11)),
      };
      const given = Object.fromEntries(Object.entries(inputs).slice(0, count));
      const ops = Object.fromEntries(names(count).map((n) => [n, { emit: plainOp(n, operandNames(n)), dtype }]));
      const source = elementwiseKernel(
        Array.from({ length: count }, () => dtype),
        ops,
      );
      const expected = await interpretSource(source, given);
      const { outputs } = await runSource(source, given, { lineInfo: false });
      const wrong: string[] = [];
      for (const name of names(count)) {
        const [got, want] = [toRegisters(outputs[name]!), toRegisters(expected[name]!)];
        for (let i = 0; i < want.length; i++) {
          const [a, b] = [Number(got[i]), Number(want[i])];
          const signs = a === 0 && b === 0 && !Object.is(a, b);
          // The interpreter's own results are rounded too: half a unit more.
          if (signs || ulps(a, b, bits, least) > allowed(name) + (dtype === f64 ? 2 : 0))
            wrong.push(
              `${name}(${Object.values(given)
                .map((v) => toRegisters(v)[i])
                .join(', ')}) = ${a}, expected ${b}`,
            );
        }
      }
      expect(wrong.slice(0, 20)).toEqual([]);
    });
  });
});
