/** Compares what a kernel gives when its programs run in different orders. */

import { sanitizerCodes } from '../diagnostics/codes/sanitizer.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import { isFloat } from '../ir/dtypes.js';
import type * as ir from '../ir/kernel.js';
import { writtenRef } from '../ir/ops/index.js';
import { indexText } from '../ir/sanitizer/access-map.js';
import type { GenericOp } from '../ir/value.js';
import { walk } from '../ir/walk.js';
import { toleranceOf } from './compare.js';
import { type NdArray, toRegisters } from './nd-array.js';

type Outputs = Readonly<Record<string, NdArray>>;

/**
 * @param seeds of the two runs.
 * @throws CompileError: an output differs, by more than another order of summation explains.
 */
export function compareSchedules(
  kernel: ir.Kernel,
  first: Outputs,
  second: Outputs,
  seeds: readonly [number, number],
): void {
  const found: Diagnostic[] = [];
  for (const [name, array] of Object.entries(first)) {
    const [a, b] = [toRegisters(array), toRegisters(second[name]!)];
    const { rtol, atol } = toleranceOf(array.dtype);
    const isSame = (x: number | bigint, y: number | bigint): boolean =>
      Object.is(x, y) ||
      (isFloat(array.dtype) && Math.abs((x as number) - (y as number)) <= atol + rtol * Math.abs(x as number));
    let count = 0;
    let at = -1;
    for (let i = 0; i < a.length; i++)
      if (!isSame(a[i]!, b[i]!)) {
        if (count++ === 0) at = i;
      }
    if (count === 0) continue;
    const param = kernel.params.find((p) => p.name === name)!;
    const writer = writerOf(kernel, param.value);
    found.push(
      sanitizerCodes.schedule(
        { element: `${name}${indexText(array.shape, at)}`, count, first: String(a[at]), second: String(b[at]), seeds },
        {
          loc: writer?.loc ?? param.loc,
          help: `run one of them again: --replay ${seeds[0]}, --replay ${seeds[1]}`,
        },
      ),
    );
  }
  if (found.length > 0) throw new CompileError(found);
}

/** The first op that writes to an array. */
function writerOf(kernel: ir.Kernel, ref: ir.Param['value']): GenericOp | undefined {
  let writer: GenericOp | undefined;
  for (const launch of kernel.launches)
    walk(launch.body, (op) => {
      if (writtenRef(op) === ref) writer ??= op;
    });
  return writer;
}
