/** Runs a kernel by the reference meaning of its ops. */

import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Kernel } from '../kernel.js';
import { allocate, allocateHost, decodeElements, encodeElement } from '../numerics/registers.js';
import { checksOf } from '../sanitizer/checks.js';
import { Findings } from '../sanitizer/findings.js';
import { Sanitizer } from '../sanitizer/index.js';
import type { TileValue } from '../tile-value.js';
import type { Value } from '../value.js';
import type { RuntimeValue } from './engine.js';
import { LaunchRun } from './launch.js';
import type { Buffer } from './memory.js';
import type { InterpreterArguments, InterpretOptions } from './options.js';

export type { CheckName } from '../sanitizer/checks.js';
export type { Buffer } from './memory.js';
export type { InterpreterArguments, InterpretOptions } from './options.js';

/**
 * Runs all launches of `kernel` in order; arrays are read and written in place.
 *
 * @throws CompileError with TW5xxx codes: an access out of bounds, too many steps, and all that the checks of
 *   `sanitize` find, when the run is over.
 */
export function interpretKernel(kernel: Kernel, args: InterpreterArguments, options: InterpretOptions = {}): void {
  const params = bindParams(kernel, args);
  const extents = new Map([...[...args.scalars].map(([k, v]) => [k, Number(v)] as const), ...args.dims]);
  const findings = new Findings();
  const checks = checksOf(options.sanitize);
  const trapNaN = options.trapNaN ?? false;
  const sanitizer =
    checks.size > 0 || trapNaN
      ? new Sanitizer(kernel, params as Map<Value, Buffer>, { checks, trapNaN }, findings)
      : undefined;
  try {
    for (const launch of kernel.launches) new LaunchRun(launch, params, args, extents, options, sanitizer).run();
    sanitizer?.finish();
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    throw new CompileError([...findings.diagnostics(), ...error.diagnostics]);
  }
  if (!findings.isEmpty) throw new CompileError(findings.diagnostics());
}

function bindParams(kernel: Kernel, args: InterpreterArguments): Map<Value, RuntimeValue> {
  const params = new Map<Value, RuntimeValue>();
  for (const param of kernel.params) {
    if (param.kind === 'array') params.set(param.value, { name: param.name, ...args.arrays.get(param.name)! });
    else {
      const { dtype } = param.value.type;
      // By way of memory, as a compiled kernel gets it: a number that the dtype does not hold is rounded.
      const slot = allocateHost(dtype, 1);
      encodeElement(dtype, args.scalars.get(param.name)!, slot, 0);
      const data = allocate(dtype, 1);
      decodeElements(dtype, slot, 0, 1, 1, data, 0);
      params.set(param.value, { dtype, shape: [], data } satisfies TileValue);
    }
  }
  return params;
}
