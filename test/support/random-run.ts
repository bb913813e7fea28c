/** Running random kernels: their arguments, and what they leave. */

import { bindArguments } from '../../src/api/bind.js';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { runSource } from '../../src/api/run.js';
import { type DType, intRange, isFloat, isWide } from '../../src/ir/dtypes.js';
import { interpretKernel } from '../../src/ir/interpreter/index.js';
import type { Kernel } from '../../src/ir/kernel.js';
import { nd } from '../../src/testing/index.js';

export type Given = Readonly<Record<string, NdArray>>;

/** What a run leaves: outputs by name, and the lines that were printed, which come in any order. */
export interface Outcome {
  readonly arrays: ReadonlyMap<string, NdArray>;
  readonly lines: readonly string[];
}

/** Random elements, among them those that are special. */
export function roughNumbers(dtype: DType, shape: readonly number[], by: number): NdArray {
  const plain = nd.random(dtype, shape, { seed: by, scale: 20 });
  const own = (x: bigint): number | bigint => (isWide(dtype) ? x : Number(x));
  const special: readonly (number | bigint)[] = isFloat(dtype)
    ? [0, -0, Infinity, -Infinity, Number.NaN, 1e-40, 6e-8, 65504, 3e38, 0.5, 1]
    : [...intRange(dtype), 0n, 1n].map(own);
  const next = nd.words(by + 1000);
  const numbers = Array.from(toRegisters(plain) as Float64Array, (x): number | bigint => {
    const which = next() % (4 * special.length);
    return special[which] ?? x;
  });
  return fromNumbers(dtype, shape, numbers);
}

/** The numbers of an array; of 64-bit integers exactly. */
export const numbersOf = (a: NdArray): (number | bigint)[] => Array.from(toRegisters(a) as Float64Array);

/** The kernel by the interpreter, on arguments that it is checked with. */
export function interpreted(kernel: Kernel, given: Given): Outcome {
  const lines: string[] = [];
  const bound = bindArguments(kernel, given);
  interpretKernel(kernel, bound, { print: (line) => lines.push(line) });
  return { arrays: bound.arrays, lines: lines.sort() };
}

/** Several kernels, whose names differ, as the launches of one: compiled once and run in one process. */
export function together(kernels: readonly Kernel[]): Kernel {
  const [head] = kernels;
  return {
    ...head!,
    dims: kernels.flatMap((k) => k.dims),
    params: kernels.flatMap((k) => k.params),
    launches: kernels.flatMap((k) => k.launches),
  };
}

/** The kernel compiled for this machine's CPU. */
export async function onCpu(kernel: Kernel, given: Given, threads: number): Promise<Outcome> {
  const lines: string[] = [];
  const { outputs } = await runSource({ kernel, warnings: [], folder: '.' }, given, {
    cache: false,
    lineInfo: false,
    threads,
    print: (line) => lines.push(line),
  });
  return { arrays: new Map(Object.entries(outputs)), lines: lines.sort() };
}
