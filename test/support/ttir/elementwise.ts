/** Elementwise ops of the evaluator. */

import { erf, erfc, fma, pow } from '../../../src/ir/numerics/special.js';
import { settle, unsigned, widthOf } from './values.js';

type Number_ = number | bigint;
type Rule = (element: string, ...args: readonly Number_[]) => Number_;

/** On integers: `small` on those up to 32 bits, whose result may still have to wrap. */
const big =
  (f: (a: bigint, b: bigint) => bigint, small: (a: number, b: number) => number): Rule =>
  (_, a, b) =>
    typeof a === 'number' && typeof b === 'number' ? small(a, b) : f(BigInt(a!), BigInt(b!));
const bigUnsigned =
  (f: (a: bigint, b: bigint) => bigint): Rule =>
  (e, a, b) =>
    f(unsigned(e, a!), unsigned(e, b!));
const num =
  (f: (...x: number[]) => number): Rule =>
  (_, ...args) =>
    f(...args.map(Number));

const trap = (): never => {
  throw new Error('division by zero, or of the least integer by -1');
};
/** Division as the hardware has it: what it leaves undefined must not be asked for. */
const divide =
  (f: (a: bigint, b: bigint) => bigint): Rule =>
  (e, a, b) =>
    BigInt(b!) === 0n || (BigInt(b!) === -1n && BigInt(a!) === -(1n << BigInt(widthOf(e) - 1)))
      ? trap()
      : f(BigInt(a!), BigInt(b!));

const ignoringNaN = (pick: (a: number, b: number) => number): Rule =>
  num((a, b) => (Number.isNaN(a) ? b! : Number.isNaN(b) ? a! : pick(a!, b!)));

const shiftable =
  (f: (a: bigint, n: bigint) => bigint, sign: boolean): Rule =>
  (e, a, b) => {
    const n = unsigned(e, b!);
    if (n >= BigInt(widthOf(e))) throw new Error(`shift of ${e} by ${n}`);
    return f(sign ? BigInt(a!) : unsigned(e, a!), n);
  };

export const binaryRules: Readonly<Record<string, Rule>> = {
  'arith.addf': (_, a, b) => (a as number) + (b as number),
  'arith.subf': (_, a, b) => (a as number) - (b as number),
  'arith.mulf': (_, a, b) => (a as number) * (b as number),
  'arith.divf': num((a, b) => a! / b!),
  'tt.precise_divf': num((a, b) => a! / b!),
  'arith.maximumf': num(Math.max),
  'arith.minimumf': num(Math.min),
  'arith.maxnumf': ignoringNaN(Math.max),
  'arith.minnumf': ignoringNaN(Math.min),
  'arith.addi': big(
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  'arith.subi': big(
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  'arith.muli': big((a, b) => a * b, Math.imul),
  'arith.divsi': divide((a, b) => a / b),
  'arith.remsi': divide((a, b) => a % b),
  'arith.divui': (e, a, b) => (BigInt(b!) === 0n ? trap() : unsigned(e, a!) / unsigned(e, b!)),
  'arith.remui': (e, a, b) => (BigInt(b!) === 0n ? trap() : unsigned(e, a!) % unsigned(e, b!)),
  'arith.andi': big(
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  'arith.ori': big(
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  'arith.xori': big(
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
  'arith.shli': shiftable((a, n) => a << n, false),
  'arith.shrui': shiftable((a, n) => a >> n, false),
  'arith.shrsi': shiftable((a, n) => a >> n, true),
  'arith.maxsi': big((a, b) => (a > b ? a : b), Math.max),
  'arith.minsi': big((a, b) => (a < b ? a : b), Math.min),
  'arith.maxui': bigUnsigned((a, b) => (a > b ? a : b)),
  'arith.minui': bigUnsigned((a, b) => (a < b ? a : b)),
  'tt.mulhiui': (e, a, b) => (unsigned(e, a!) * unsigned(e, b!)) >> BigInt(widthOf(e)),
  'arith.negf': num((x) => -x!),
  'math.absf': num((x) => Math.abs(x!)),
  'math.floor': num((x) => Math.floor(x!)),
  'math.ceil': num((x) => Math.ceil(x!)),
  'math.sqrt': num((x) => Math.sqrt(x!)),
  'tt.precise_sqrt': num((x) => Math.sqrt(x!)),
  'math.exp': num((x) => Math.exp(x!)),
  'math.exp2': num((x) => 2 ** x!),
  'math.log': num((x) => Math.log(x!)),
  'math.log2': num((x) => Math.log2(x!)),
  'math.fma': (e, a, b, c) => fma(e === 'f64' ? 53 : 24)(Number(a), Number(b), Number(c)),
};

const rint = (x: number): number => {
  const r = Math.round(x);
  const even = Math.abs(x - Math.trunc(x)) === 0.5 && r % 2 !== 0 ? r - 1 : r;
  return even === 0 ? (x < 0 || Object.is(x, -0) ? -0 : 0) : even;
};

const libraryFunctions: Readonly<Record<string, (...x: number[]) => number>> = {
  ...Object.fromEntries(
    (
      [
        'exp',
        'expm1',
        'log',
        'log2',
        'log10',
        'log1p',
        'cbrt',
        'sin',
        'cos',
        'tan',
        'asin',
        'acos',
        'atan',
        'sinh',
        'cosh',
        'tanh',
        'asinh',
        'acosh',
        'atanh',
        'atan2',
      ] as const
    ).map((n) => [n, Math[n] as (...x: number[]) => number]),
  ),
  exp2: (x) => 2 ** x!,
  rsqrt: (x) => 1 / Math.sqrt(x!),
  erf: (x) => erf(x!),
  erfc: (x) => erfc(x!),
  pow: (x, y) => pow(x!, y!),
  rint: (x) => rint(x!),
};

/** A function of either vendor's library by its symbol. */
export function libraryFunction(symbol: string): (...x: number[]) => number {
  const name = /^__nv_(\w+?)f?$/.exec(symbol)?.[1] ?? /^__ocml_(\w+)_f\d+$/.exec(symbol)?.[1];
  const found = libraryFunctions[name ?? ''] ?? libraryFunctions[symbol.replace('__nv_', '')];
  if (!found) throw new Error(`no library function ${symbol}`);
  return found;
}

const unordered = (a: number, b: number): boolean => Number.isNaN(a) || Number.isNaN(b);

export function compareFloat(predicate: string, a: number, b: number): boolean {
  const kind = predicate.slice(1);
  if (predicate === 'uno') return unordered(a, b);
  if (predicate === 'ord') return !unordered(a, b);
  const holds = { eq: a === b, ne: a !== b, gt: a > b, ge: a >= b, lt: a < b, le: a <= b }[kind as 'eq'];
  return unordered(a, b) ? predicate[0] === 'u' : holds;
}

export function compareInt(predicate: string, element: string, a: Number_, b: Number_): boolean {
  const [x, y] = predicate[0] === 'u' ? [unsigned(element, a), unsigned(element, b)] : [BigInt(a), BigInt(b)];
  const kind = predicate.replace(/^[su](?=[gl])/, '');
  return { eq: x === y, ne: x !== y, gt: x > y, ge: x >= y, lt: x < y, le: x <= y }[kind as 'eq'];
}

/** `arith` conversions by name. */
export function convert(name: string, from: string, to: string, x: Number_): Number_ {
  switch (name) {
    case 'arith.extui':
      return settle(to, unsigned(from, x));
    case 'arith.uitofp':
      return settle(to, Number(unsigned(from, x)));
    case 'arith.fptosi':
    case 'arith.fptoui':
      return settle(to, BigInt(Math.trunc(Number(x))));
    case 'arith.sitofp':
      return settle(to, Number(x));
    default:
      return settle(to, x);
  }
}
