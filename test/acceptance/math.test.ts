import { describe, expect, test } from '@jest/globals';
import { fromNumbers, toRegisters } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import { bf16, type DType, f16, f32, f64 } from '../../src/ir/dtypes.js';
import { mathOps } from '../../src/ir/ops/math.js';
import { nd } from '../../src/testing/index.js';
import { elementwiseKernel, plainOp } from '../support/op-kernels.js';
import { describeTool } from '../support/tools.js';
import { allowedUlps, exponentsOf, ulps } from '../support/ulps.js';

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

describeTool('mlir', 'math functions on the CPU', () => {
  describe.each([f32, f64, f16, bf16] as readonly DType[])('$name', (dtype) => {
    const range = exponentsOf(dtype);
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
          if (ulps(a, b, dtype) > allowedUlps(name, dtype))
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
