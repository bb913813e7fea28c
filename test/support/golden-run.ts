/**
 * Runs a golden kernel on the numbers that its directives give:
 *
 *   // DIM: n = 3
 *   // IN: x = 1 2 3        also the first content of an output; zeros otherwise
 *   // OUT: y = 2 4 6
 */

import { fromNumbers, makeNdArray, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { runSource } from '../../src/api/run.js';
import { type Buffer, interpretKernel } from '../../src/ir/interpreter/index.js';
import type { ArrayParam, Kernel } from '../../src/ir/kernel.js';
import { evaluateExtent } from '../../src/ir/symbolic.js';

/** One kernel of a golden file. */
export interface Case {
  readonly text: string;
  /** Line of the file that the case starts on, from 0. */
  readonly start: number;
}

/** Cases of a golden file, behind its `RUN` line: `// -----` splits them. */
export function casesOf(text: string): Case[] {
  const lines = text.split('\n');
  const cases: Case[] = [];
  let start = 0;
  lines.forEach((line, i) => {
    if (line.trim() !== '// -----') return;
    cases.push({ text: lines.slice(start, i).join('\n'), start });
    start = i + 1;
  });
  return [...cases, { text: lines.slice(start).join('\n'), start }];
}

const special: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, '-inf': -Infinity };

const numbersIn = (text: string): number[] =>
  text
    .split(/\s+/)
    .filter((x) => x !== '')
    .map((x) => special[x] ?? Number(x));

const assignments = (text: string, name: string): Map<string, number[]> =>
  new Map(
    [...text.matchAll(new RegExp(`^\\s*// ${name}: (\\w+) = (.*)$`, 'gm'))].map((m) => [m[1]!, numbersIn(m[2]!)]),
  );

/** What the outputs must hold, by name. */
export const expectedOutputs = (text: string): Record<string, number[]> => Object.fromEntries(assignments(text, 'OUT'));

/** What the arguments hold before the kernel runs, and the dims. */
function argumentsOf(
  kernel: Kernel,
  text: string,
): { readonly dims: ReadonlyMap<string, number>; readonly arrays: ReadonlyMap<string, NdArray> } {
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
  return { dims, arrays };
}

const outputsOf = (text: string, arrays: Readonly<Record<string, NdArray>>): Record<string, number[]> =>
  Object.fromEntries(
    Object.keys(expectedOutputs(text)).map((name) => [name, Array.from(toRegisters(arrays[name]!), Number)]),
  );

/** What the interpreter leaves in those outputs. */
export function interpretGolden(kernel: Kernel, text: string): Record<string, number[]> {
  const { dims, arrays } = argumentsOf(kernel, text);
  interpretKernel(kernel, { dims, scalars: new Map(), arrays: arrays as ReadonlyMap<string, Omit<Buffer, 'name'>> });
  return outputsOf(text, Object.fromEntries(arrays));
}

/** What compiled code leaves in them; undefined where the case gives an output its first content, which callers cannot. */
export async function runGolden(kernel: Kernel, text: string): Promise<Record<string, number[]> | undefined> {
  const { dims, arrays } = argumentsOf(kernel, text);
  const callable = new Set(kernel.params.flatMap((p) => (p.kind === 'array' && p.role === 'in' ? [p.name] : [])));
  if ([...assignments(text, 'IN').keys()].some((name) => !callable.has(name))) return undefined;
  const sizes = [...dims].filter(([name]) => kernel.dims.some((d) => d.name === name));
  const given = Object.fromEntries<NdArray | number>([...sizes, ...[...arrays].filter(([name]) => callable.has(name))]);
  const { outputs } = await runSource({ kernel, warnings: [], folder: '.' }, given, { lineInfo: false });
  return outputsOf(text, outputs);
}
