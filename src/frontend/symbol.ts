/** Scalars that exist outside of any trace: dims, grid axes and integer arithmetic on them. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import type { Loc } from '../diagnostics/location.js';
import {
  argument,
  type Extent as HostExtent,
  type SymbolicOperator,
  symbolic,
  symbolicOperators,
} from '../ir/symbolic.js';
import { mistake, noteAt } from './errors.js';

export interface DimFacts {
  readonly multipleOf?: number;
  readonly min?: number;
  readonly max?: number;
}

export type DimSymbol = Extract<HostSymbol, { readonly kind: 'dim' }>;

/** A host scalar; `grid` of an axis is the identity of the grid that declared it. */
export type HostSymbol =
  | { readonly kind: 'dim'; readonly name: string; readonly facts: DimFacts; readonly loc: Loc }
  | { readonly kind: 'axis'; readonly axis: string; readonly grid: object; readonly loc: Loc }
  | { readonly kind: 'number'; readonly value: number; readonly loc: Loc }
  | {
      readonly kind: 'operation';
      readonly op: SymbolicOperator;
      readonly left: HostSymbol;
      readonly right: HostSymbol;
      readonly loc: Loc;
    };

/** Ops on scalars that the host can evaluate too, by their name in the IR. */
export function tryHostOperator(op: string): SymbolicOperator | undefined {
  return symbolicOperators.find((o) => o === op);
}

/** An expression over dims for the host; grid axes have no value there. @param loc the declaration that needs it. */
export function hostExtent(symbol: HostSymbol, loc: Loc): HostExtent {
  switch (symbol.kind) {
    case 'number':
      return symbol.value;
    case 'dim':
      return argument(symbol.name);
    case 'axis':
      return mistake(
        (c) => frontendCodes.badExtent({ message: `grid axis '${symbol.axis}' has no value on the host` }, c),
        {
          loc,
          notes: [noteAt('the axis is declared here', symbol.loc)],
          help: 'shapes and grid extents are made of numbers and dims',
        },
      );
    case 'operation':
      return symbolic(symbol.op, hostExtent(symbol.left, loc), hostExtent(symbol.right, loc));
  }
}

/** Whether a symbol depends on one of `axes` of a grid. */
export function usesAxis(symbol: HostSymbol, axes: ReadonlySet<string>): boolean {
  if (symbol.kind === 'axis') return axes.has(symbol.axis);
  return symbol.kind === 'operation' && (usesAxis(symbol.left, axes) || usesAxis(symbol.right, axes));
}

/** Every dim in a symbol. */
export function dimsOf(symbol: HostSymbol, into: DimSymbol[] = []): readonly DimSymbol[] {
  if (symbol.kind === 'dim') into.push(symbol);
  if (symbol.kind === 'operation') {
    dimsOf(symbol.left, into);
    dimsOf(symbol.right, into);
  }
  return into;
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

/** What two sets of promises say together. */
export function mergeFacts(a: DimFacts, b: DimFacts): DimFacts {
  const both = (key: keyof DimFacts, join: (x: number, y: number) => number): DimFacts => {
    const [x, y] = [a[key], b[key]];
    if (x === undefined && y === undefined) return {};
    return { [key]: x === undefined ? y : y === undefined ? x : join(x, y) };
  };
  return {
    ...both('multipleOf', (x, y) => (x / greatestCommonDivisor(x, y)) * y),
    ...both('min', Math.max),
    ...both('max', Math.min),
  };
}

const infix: Partial<Record<SymbolicOperator, string>> = { add: '+', sub: '-', mul: '*' };

/** `n`, `cdiv(n, 64)`, `i * 64`: as kernel IR prints extents, grid axes by their names. */
export function printSymbol(symbol: HostSymbol): string {
  switch (symbol.kind) {
    case 'number':
      return String(symbol.value);
    case 'dim':
      return symbol.name;
    case 'axis':
      return symbol.axis;
    case 'operation': {
      const [left, right] = [printSymbol(symbol.left), printSymbol(symbol.right)];
      const sign = infix[symbol.op];
      return sign ? `(${left} ${sign} ${right})` : `${symbol.op}(${left}, ${right})`;
    }
  }
}

/** Whether a symbol is provably 0 or more: dims and axes are, and what adds, multiplies and divides such. */
export function neverNegative(symbol: HostSymbol): boolean {
  switch (symbol.kind) {
    case 'number':
      return symbol.value >= 0;
    case 'dim':
    case 'axis':
      return true;
    case 'operation':
      return symbol.op !== 'sub' && neverNegative(symbol.left) && neverNegative(symbol.right);
  }
}
