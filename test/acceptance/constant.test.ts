/** Constants of every dtype, at the ends of what it holds: printed, parsed, interpreted, compiled. */

import { describe, expect, test } from '@jest/globals';
import { fromNumbers, type NdArray, toRegisters } from '../../src/api/nd-array.js';
import { interpretSource, runSource } from '../../src/api/run.js';
import { type KernelSource, readKernels } from '../../src/api/source.js';
import { type AnyDType, dtypes, intRange, isFloat, isWide } from '../../src/ir/dtypes.js';
import { printKernel } from '../../src/ir/printer.js';
import { describeTool } from '../support/tools.js';

const floats = [
  0,
  -0,
  1,
  -1.5,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  // The largest of each dtype, its smallest normal and its smallest subnormal.
  ...[6, 240, 448, 57344, 65504, 3.3895313892515355e38, 3.4028234663852886e38, 2 ** 127, Number.MAX_VALUE],
  ...[-10, -17, -6, -7, -14, -15, -126, -127, -1022, -1, -8, -9, -16, -24, -133, -149, -1074].map((e) => 2 ** e),
];

/** Of a list of numbers, those that the dtype holds. */
function valuesOf(dtype: AnyDType): (number | bigint)[] {
  if (dtype.cls === 'bool') return [0, 1];
  if (!isFloat(dtype)) {
    const [low, high] = intRange(dtype);
    const all = [...new Set([low, low + 1n, 0n, 1n, high - 1n, high, -1n])].filter((x) => x >= low && x <= high);
    return isWide(dtype) ? all : all.map(Number);
  }
  const held = (x: number): boolean => Object.is(toRegisters(fromNumbers(dtype, [2], [x, x]))[0], x);
  return floats.filter(held);
}

const literal = (x: number | bigint): string => {
  if (typeof x === 'bigint') return `${x}n`;
  if (Object.is(x, -0)) return '-0';
  return Number.isFinite(x) ? String(x) : Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf';
};

const kernelOf = (dtype: AnyDType, values: readonly (number | bigint)[]): string => `kernel @constants {
  out %y: ref<gmem ${dtype.name}[${values.length}, 2]>
  launch @constants grid() {
    %zero = constant {value = 0} : i32
${values
  .map(
    (x, i) => `    %row${i} = constant {value = ${i}} : i32
    %c${i} = constant {value = ${literal(x)}} : ${dtype.name}[1, 2]
    store %y, %c${i} index(%row${i}, %zero)`,
  )
  .join('\n')}
  }
}
`;

const sourceOf = (text: string): KernelSource => readKernels(text, 'constants.kir', '.')[0]!;
const every = Object.values(dtypes).map((dtype) => ({ name: dtype.name, dtype: dtype as AnyDType }));

/** The bytes, in which NaN and the sign of zero count. */
const bytesOf = ({ data }: NdArray): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('hex');

const expected = (dtype: AnyDType, values: readonly (number | bigint)[]): string =>
  bytesOf(
    fromNumbers(
      dtype,
      [values.length, 2],
      values.flatMap((x) => [x, x]),
    ),
  );

describe.each(every)('constants of $name', ({ dtype }) => {
  const values = valuesOf(dtype);
  const text = kernelOf(dtype, values);

  test('there are some', () => expect(values.length).toBeGreaterThanOrEqual(2));

  test('print as they are parsed', () => {
    const printed = printKernel(sourceOf(text).kernel, { locs: false });
    expect(printKernel(sourceOf(printed).kernel, { locs: false })).toBe(printed);
    for (const x of values) expect(printed).toContain(`{value = ${literal(x)}}`);
  });

  test('are what they say in the interpreter', async () => {
    const { y } = await interpretSource(sourceOf(text), {});
    expect(bytesOf(y!)).toBe(expected(dtype, values));
  });
});

describeTool('mlir', 'constants on the CPU', () => {
  test.each(every)('of $name are what they say', async ({ dtype }) => {
    const values = valuesOf(dtype);
    const { outputs } = await runSource(sourceOf(kernelOf(dtype, values)), {}, { lineInfo: false });
    expect(bytesOf(outputs.y!)).toBe(expected(dtype, values));
  });
});
