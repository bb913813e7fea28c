/** Functions that are called from the C library's mathematics, in double and rounded once from there. */

import { callC } from './c-library.js';
import type { Emitter, Lanes } from './emitter.js';

/** Names of the functions by op: of `double`, with as many parameters as the op has operands. */
export const libm = {
  exp: 'exp',
  exp2: 'exp2',
  expm1: 'expm1',
  log: 'log',
  log2: 'log2',
  log10: 'log10',
  log1p: 'log1p',
  cbrt: 'cbrt',
  sin: 'sin',
  cos: 'cos',
  tan: 'tan',
  asin: 'asin',
  acos: 'acos',
  atan: 'atan',
  sinh: 'sinh',
  cosh: 'cosh',
  tanh: 'tanh',
  asinh: 'asinh',
  acosh: 'acosh',
  atanh: 'atanh',
  erf: 'erf',
  erfc: 'erfc',
  pow: 'pow',
  atan2: 'atan2',
} as const;

export type LibmOp = keyof typeof libm;

/** Calls the function lane by lane. */
export function callLibm(e: Emitter, op: LibmOp, args: readonly Lanes[]): Lanes {
  const [first] = args;
  const doubles = args.map((x) => e.convert('arith.extf', x, 'f64'));
  const { width } = first!;
  const type = `f64 (${args.map(() => 'f64').join(', ')})`;
  const call = (xs: readonly Lanes[]): Lanes => ({
    value: callC(
      e,
      libm[op],
      type,
      xs.map((x) => x.value),
    )!,
    elem: 'f64',
    width: 1,
  });
  if (width === 1) return e.convert('arith.truncf', call(doubles), first!.elem);
  const [all] = e.count(width, 1, [e.float(0, 'f64', width).value], (lane, [made]) => [
    e.insertAt(call(doubles.map((x) => e.extractAt(x, lane))), made!, lane),
  ]);
  return e.convert('arith.truncf', { value: all!, elem: 'f64', width }, first!.elem);
}
