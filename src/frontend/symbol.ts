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
import { mistake } from './errors.js';

export interface DimFacts {
  readonly multipleOf?: number;
  readonly min?: number;
  readonly max?: number;
}

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

/** An expression over dims for the host; grid axes have no value there. */
export function hostExtent(symbol: HostSymbol): HostExtent {
  switch (symbol.kind) {
    case 'number':
      return symbol.value;
    case 'dim':
      return argument(symbol.name);
    case 'axis':
      return mistake(
        (c) => frontendCodes.badExtent({ message: `grid axis '${symbol.axis}' has no value on the host` }, c),
        { loc: symbol.loc, help: 'shapes and grid extents are made of numbers and dims' },
      );
    case 'operation':
      return symbolic(symbol.op, hostExtent(symbol.left), hostExtent(symbol.right));
  }
}

/** Whether a symbol depends on one of `axes` of a grid. */
export function usesAxis(symbol: HostSymbol, axes: ReadonlySet<string>): boolean {
  if (symbol.kind === 'axis') return axes.has(symbol.axis);
  return symbol.kind === 'operation' && (usesAxis(symbol.left, axes) || usesAxis(symbol.right, axes));
}

/** Every dim in a symbol, by name. */
export function dimsOf(
  symbol: HostSymbol,
  into: Map<string, Extract<HostSymbol, { kind: 'dim' }>> = new Map(),
): typeof into {
  if (symbol.kind === 'dim') into.set(symbol.name, into.get(symbol.name) ?? symbol);
  if (symbol.kind === 'operation') dimsOf(symbol.right, dimsOf(symbol.left, into));
  return into;
}
