/** Arrays of a kernel's inputs from the command line: random ones, and references to compare with. */

import { argumentCodes } from '../diagnostics/codes/arguments.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { type DType, dtypes } from '../ir/dtypes.js';
import type * as ir from '../ir/kernel.js';
import { argumentsOf, evaluateExtent } from '../ir/symbolic.js';
import { random } from './arrays.js';
import type { HostValue } from './bind.js';
import type { NdArray } from './nd-array.js';
import { readNpy, storedAs } from './npy.js';

const arrayInput = (kernel: ir.Kernel, name: string): ir.ArrayParam | undefined =>
  kernel.params.find((p): p is ir.ArrayParam => p.kind === 'array' && (p.role === 'in' ? p.name : p.aliasOf) === name);

/** dtype to read an input's file as: only what `.npy` stores as bit patterns needs to be said. */
export function inputDType(kernel: ir.Kernel, name: string): DType | undefined {
  const dtype = arrayInput(kernel, name)?.value.type.dtype;
  return dtype && isPattern(dtype) ? dtype : undefined;
}

const isPattern = (dtype: DType): boolean => storedAs(dtype) !== dtype;

/** A seeded random array of an input's dtype and shape; every dim of the shape must be known from what is given. */
export function randomInput(
  kernel: ir.Kernel,
  name: string,
  seed: number,
  given: Readonly<Record<string, HostValue>>,
): NdArray {
  const param = arrayInput(kernel, name);
  if (!param)
    throw new CompileError([argumentCodes.unknownArgument({ kernel: kernel.name, name }, { loc: kernel.loc })]);
  const dims = new Map<string, number>();
  for (const [key, value] of Object.entries(given)) if (typeof value !== 'object') dims.set(key, Number(value));
  for (const p of kernel.params) {
    const value = p.kind === 'array' ? given[p.name] : undefined;
    if (p.kind === 'array' && typeof value === 'object')
      p.value.type.shape.forEach((x, axis) => {
        if (typeof x !== 'number' && x.kind === 'argument') dims.set(x.name, value.shape[axis]!);
      });
  }
  const { dtype, shape } = param.value.type;
  const unknown = shape.flatMap((x) => [...argumentsOf(x)]).find((d) => !dims.has(d));
  if (unknown !== undefined)
    throw new CompileError([
      argumentCodes.missingArgument(
        { kernel: kernel.name, name: unknown, expected: 'a dim' },
        { loc: param.loc, help: `a random '${name}' needs its size: --input ${unknown}=1024` },
      ),
    ]);
  return random(
    dtype,
    shape.map((x) => evaluateExtent(x, dims)),
    { seed },
  );
}

/** A reference for an output: of the output's dtype, or float64. */
export async function readReference(path: string, actual: NdArray): Promise<NdArray> {
  const pattern = isPattern(actual.dtype);
  const plain = await readNpy(path).catch((error: unknown) => {
    if (!pattern) throw error;
    return undefined;
  });
  const expected =
    plain && (plain.dtype === dtypes.f64 || plain.dtype === actual.dtype) ? plain : await readNpy(path, actual.dtype);
  const same = expected.shape.length === actual.shape.length && expected.shape.every((n, i) => n === actual.shape[i]);
  if (!same)
    throw new CompileError([
      argumentCodes.wrongKind({
        name: path,
        expected: `shape [${actual.shape.join(', ')}]`,
        got: `[${expected.shape.join(', ')}]`,
      }),
    ]);
  return expected;
}
