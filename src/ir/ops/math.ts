/** Functions of floats that are not exact: powers, logarithms, circular and hyperbolic functions, error function. */

import { defineOp, one, types } from '../define-op.js';
import { f64 } from '../dtypes.js';
import { allocate, roundingOf } from '../numerics/registers.js';
import * as special from '../numerics/special.js';
import { elementCount } from '../types.js';
import { binary, fastAttr, float, sameOperandTypes, unary } from './elementwise.js';
import { raggedElementwise } from './ragged-rules.js';

const within = (ulp: number): string =>
  `Within ${ulp} ulp in f32 (f16 and bf16 through f32); subnormals are kept. \`fast=[approx]\` gives up both.`;

const mathUnary = <const N extends string>(name: N, summary: string, f: (x: number) => number, edges = '') =>
  unary(name, summary, types.float, { number: float(f) }, edges ? `${within(2)} ${edges}` : within(2));

export const mathOps = [
  mathUnary('exp', 'Raise e to a power.', Math.exp),
  mathUnary('exp2', 'Raise 2 to a power.', (x) => 2 ** x),
  mathUnary('expm1', 'Raise e to a power and take 1 off, accurate near 0.', Math.expm1),
  mathUnary('log', 'Take the natural logarithm.', Math.log, 'Negative: NaN; 0: -inf.'),
  mathUnary('log2', 'Take the logarithm to base 2.', Math.log2, 'Negative: NaN; 0: -inf.'),
  mathUnary('log10', 'Take the logarithm to base 10.', Math.log10, 'Negative: NaN; 0: -inf.'),
  mathUnary('log1p', 'Take the natural logarithm of 1 + x, accurate near 0.', Math.log1p, 'Below -1: NaN; -1: -inf.'),
  unary(
    'sqrt',
    'Take the square root.',
    types.float,
    { number: float(Math.sqrt) },
    'Correctly rounded, unless `approx`.',
  ),
  mathUnary('rsqrt', 'Take the reciprocal square root.', (x) => 1 / Math.sqrt(x)),
  mathUnary('cbrt', 'Take the cube root.', Math.cbrt),
  mathUnary('sin', 'Take the sine of an angle in radians.', Math.sin, 'Arguments of any size; infinite: NaN.'),
  mathUnary('cos', 'Take the cosine of an angle in radians.', Math.cos, 'Arguments of any size; infinite: NaN.'),
  mathUnary('tan', 'Take the tangent of an angle in radians.', Math.tan, 'Arguments of any size; infinite: NaN.'),
  mathUnary('asin', 'Take the arc sine, in [-π/2, π/2].', Math.asin, 'Outside [-1, 1]: NaN; the sign of 0 is kept.'),
  mathUnary('acos', 'Take the arc cosine, in [0, π].', Math.acos, 'Outside [-1, 1]: NaN.'),
  mathUnary('atan', 'Take the arc tangent, in [-π/2, π/2].', Math.atan),
  mathUnary('sinh', 'Take the hyperbolic sine.', Math.sinh),
  mathUnary('cosh', 'Take the hyperbolic cosine.', Math.cosh),
  mathUnary('tanh', 'Take the hyperbolic tangent.', Math.tanh),
  mathUnary('asinh', 'Take the inverse hyperbolic sine.', Math.asinh),
  mathUnary('acosh', 'Take the inverse hyperbolic cosine.', Math.acosh, 'Below 1: NaN.'),
  mathUnary('atanh', 'Take the inverse hyperbolic tangent.', Math.atanh, 'Outside [-1, 1]: NaN; ±1: ±inf.'),
  mathUnary('erf', 'Take the error function, 2/√π ∫₀ˣ exp(-t²) dt.', special.erf),
  mathUnary('erfc', 'Take 1 - erf(x), accurate where erf is near 1.', special.erfc),
  binary(
    'pow',
    'Raise to a power.',
    types.float,
    { number: () => special.pow },
    {
      semantics: `${within(4)} A negative base to a power that is no integer: NaN; anything to the power 0, and 1 to any power: 1.`,
    },
  ),
  binary(
    'atan2',
    'Take the angle of the point (x = right, y = left), in [-π, π].',
    types.float,
    { number: () => Math.atan2 },
    { semantics: `${within(2)} Signed zeros and infinities as in IEEE 754: atan2(±0, -0) = ±π.` },
  ),
  defineOp({
    name: 'fma',
    summary: 'Multiply and add, rounding once: a · b + c.',
    semantics: 'f16 and bf16 compute in f32 and round again.',
    operands: { a: one(types.float), b: one(types.float), c: one(types.float) },
    attrs: fastAttr,
    results: {
      infer: ({ a, b, c }, _, report) =>
        sameOperandTypes('fma', a, b, report) && sameOperandTypes('fma', a, c, report) ? [a.type] : undefined,
    },
    elementwise: true,
    ragged: raggedElementwise,
    evaluate: ([a, b, c]) => {
      const { dtype, shape } = a!;
      const n = elementCount(shape);
      const data = allocate(dtype, n) as Float64Array;
      const f = special.fma(dtype === f64 ? 53 : 24);
      const round = roundingOf(dtype) ?? ((x: number) => x);
      const [x, y, z] = [a, b, c].map((t) => t!.data as Float64Array) as [Float64Array, Float64Array, Float64Array];
      for (let i = 0; i < n; i++) data[i] = round(f(x[i]!, y[i]!, z[i]!));
      return [{ dtype, shape, data }];
    },
  }),
] as const;
