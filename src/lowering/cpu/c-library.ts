/** Calls of the C library. */

import { type MlirValue, mlirOp, mlirString } from '../mlir.js';
import type { Emitter } from './emitter.js';

/** Default visibility, which the generic form asks for. */
export const hidden = { visibility_: '0 : i64' };

/**
 * Declares the function in the module and calls it.
 *
 * @param type as LLVM writes it: `double (double)`.
 * @returns its result; undefined of a function that gives nothing.
 */
export function callC(e: Emitter, name: string, type: string, operands: readonly MlirValue[]): MlirValue | undefined {
  e.symbols.set(
    name,
    mlirOp('llvm.func', {
      properties: {
        sym_name: mlirString(name),
        function_type: `!llvm.func<${type}>`,
        linkage: '#llvm.linkage<external>',
        ...hidden,
      },
      regions: [{ args: [], ops: [] }],
    }),
  );
  const result = type.slice(0, type.indexOf(' '));
  const [value] = e.ops('llvm.call', {
    operands,
    types: result === 'void' ? [] : [result],
    properties: {
      callee: `@${name}`,
      op_bundle_sizes: 'array<i32>',
      operandSegmentSizes: `array<i32: ${operands.length}, 0>`,
      ...(type.includes('...') ? { var_callee_type: `!llvm.func<${type}>` } : {}),
    },
  });
  return value;
}
