/** What TMA wants of arrays: rows that begin at multiples of 16 bytes. */

import { backendCodes } from '../../diagnostics/codes/backend.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { storageBytes } from '../../ir/dtypes.js';
import type { ArrayParam } from '../../ir/kernel.js';
import { argumentsOf } from '../../ir/symbolic.js';
import type { GenericOp } from '../../ir/value.js';
import { extentMultiple, unpromised } from './facts.js';
import type { Program } from './program.js';

const strideBytes = 16;

/** @throws CompileError TW2042 where rows of an array may begin where TMA cannot. */
export function checkStrides(program: Program, param: ArrayParam, op: GenericOp): void {
  const { dtype, shape } = param.value.type;
  const multiple = strideBytes / storageBytes(dtype);
  const inner = shape.at(-1)!;
  if (extentMultiple(inner, program.kernel) % multiple === 0) return;
  const dims = unpromised(inner, program.kernel, multiple);
  const names = dims.length > 0 ? dims : [...argumentsOf(inner)];
  throw new CompileError([
    backendCodes.strideUnpromised(
      { array: param.name, multiple, dtype: dtype.name },
      {
        loc: op.loc,
        notes: program.kernel.dims
          .filter((d) => names.includes(d.name))
          .map((d) => ({ message: `dim '${d.name}' is declared here`, loc: d.loc })),
        help:
          names.length > 0
            ? `add \`multipleOf: ${multiple}\` to dim ${names.map((n) => `'${n}'`).join(' and ')}, or compile with the Triton back end`
            : `make its last extent a multiple of ${multiple}, or compile with the Triton back end`,
      },
    ),
  ]);
}
