/**
 * Integer expressions over the run-time arguments that the host knows: dims and integer scalars.
 * The same tree gives array extents, grid sizes and (materialised as ops) index arithmetic inside a kernel.
 */
import { assertNever, invariant } from '../diagnostics/diagnostic.js';
import { printIdentifier } from './identifier.js';
import * as integer from './numerics/integer.js';

export const symbolicOperators = ['add', 'sub', 'mul', 'floor_div', 'mod', 'cdiv', 'min', 'max'] as const;
export type SymbolicOperator = (typeof symbolicOperators)[number];

/** `argument` names a dim or an integer scalar argument of the kernel. */
export type SymbolicExpr =
  | { readonly kind: 'argument'; readonly name: string }
  | { readonly kind: SymbolicOperator; readonly left: Extent; readonly right: Extent };

/** An array extent, a grid size: a number where it is known, an expression where it is not. */
export type Extent = number | SymbolicExpr;

export function argument(name: string): SymbolicExpr {
  return { kind: 'argument', name };
}

/** Meaning of each operator on integers; the device ops of the same names agree with it. */
export function applyOperator(operator: SymbolicOperator, a: number, b: number): number {
  switch (operator) {
    case 'add':
      return a + b;
    case 'sub':
      return a - b;
    case 'mul':
      return a * b;
    case 'floor_div':
      return integer.floorDiv(a, b);
    case 'mod':
      return integer.mod(a, b);
    case 'cdiv':
      return integer.cdiv(a, b);
    case 'min':
      return Math.min(a, b);
    case 'max':
      return Math.max(a, b);
    default:
      return assertNever(operator, 'symbolic operator');
  }
}

/** `left operator right`, folded where both are numbers and where one is the operator's neutral element. */
export function symbolic(operator: SymbolicOperator, left: Extent, right: Extent): Extent {
  if (typeof left === 'number' && typeof right === 'number') return applyOperator(operator, left, right);
  if (right === 0 && (operator === 'add' || operator === 'sub')) return left;
  if (left === 0 && operator === 'add') return right;
  if (right === 1 && (operator === 'mul' || operator === 'floor_div' || operator === 'cdiv')) return left;
  if (left === 1 && operator === 'mul') return right;
  return { kind: operator, left, right };
}

/** Value of `extent` for given arguments. Every argument it names must be present. */
export function evaluateExtent(extent: Extent, args: ReadonlyMap<string, number>): number {
  if (typeof extent === 'number') return extent;
  if (extent.kind === 'argument') {
    const value = args.get(extent.name);
    invariant(value !== undefined, `no value for argument '${extent.name}'`);
    return value;
  }
  return applyOperator(extent.kind, evaluateExtent(extent.left, args), evaluateExtent(extent.right, args));
}

/** Names of all arguments in `extent`, in order of appearance. */
export function argumentsOf(extent: Extent, into: Set<string> = new Set()): Set<string> {
  if (typeof extent === 'number') return into;
  if (extent.kind === 'argument') return into.add(extent.name);
  argumentsOf(extent.left, into);
  return argumentsOf(extent.right, into);
}

const infix: Partial<Record<SymbolicOperator, string>> = { add: '+', sub: '-', mul: '*' };

/** `m`, `64`, `(m + 1)`, `cdiv(m, 64)`. */
export function printExtent(extent: Extent): string {
  if (typeof extent === 'number') return String(extent);
  if (extent.kind === 'argument') return printIdentifier(extent.name);
  const left = printExtent(extent.left);
  const right = printExtent(extent.right);
  const sign = infix[extent.kind];
  return sign ? `(${left} ${sign} ${right})` : `${extent.kind}(${left}, ${right})`;
}

export function sameExtent(a: Extent, b: Extent): boolean {
  return a === b || (typeof a !== 'number' && typeof b !== 'number' && printExtent(a) === printExtent(b));
}
