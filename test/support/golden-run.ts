/**
 * Runs a golden kernel on the numbers that its directives give:
 *
 *   // DIM: n = 3
 *   // IN: x = 1 2 3        also the first content of an output; zeros otherwise
 *   // OUT: y = 2 4 6
 */

import { fromNumbers, makeNdArray, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { type Buffer, interpretKernel } from '../../src/ir/interpreter/index.js';
import type { ArrayParam, Kernel } from '../../src/ir/kernel.js';
import { evaluateExtent } from '../../src/ir/symbolic.js';

const special: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, '-inf': -Infinity };

const numbersIn = (text: string): number[] =>
  text
    .trim()
    .split(/\s+/)
    .map((x) => special[x] ?? Number(x));

const assignments = (text: string, name: string): Map<string, number[]> =>
  new Map(
    [...text.matchAll(new RegExp(`^\\s*// ${name}: (\\w+) = (.*)$`, 'gm'))].map((m) => [m[1]!, numbersIn(m[2]!)]),
  );

/** What the outputs must hold, by name. */
export const expectedOutputs = (text: string): Record<string, number[]> => Object.fromEntries(assignments(text, 'OUT'));

/** What the interpreter leaves in those outputs. */
export function interpretGolden(kernel: Kernel, text: string): Record<string, number[]> {
  const dims = new Map([...assignments(text, 'DIM')].map(([name, [n]]) => [name, n!]));
  const given = assignments(text, 'IN');
  const arrays = new Map(
    kernel.params
      .filter((p): p is ArrayParam => p.kind === 'array')
      .map(({ name, value: { type } }): [string, NdArray] => {
        const shape = type.shape.map((extent) => evaluateExtent(extent, dims));
        const numbers = given.get(name);
        return [name, numbers ? fromNumbers(type.dtype, shape, numbers) : makeNdArray(type.dtype, shape)];
      }),
  );
  interpretKernel(kernel, { dims, scalars: new Map(), arrays: arrays as ReadonlyMap<string, Omit<Buffer, 'name'>> });
  return Object.fromEntries(
    Object.keys(expectedOutputs(text)).map((name) => [name, Array.from(toRegisters(arrays.get(name)!), Number)]),
  );
}
