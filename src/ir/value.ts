import type { Loc } from '../diagnostics/location.js';
import type { Type } from './types.js';

/** The result of an op, an argument of a region or a parameter of a kernel. Identity is the object; the printer gives it a name. */
export interface Value<T extends Type = Type> {
  readonly type: T;
  /** A name from the source, used by the printer where it is free. */
  readonly hint?: string;
}

export function value<T extends Type>(type: T, hint?: string): Value<T> {
  return hint === undefined ? { type } : { type, hint };
}

/** Any op, seen without its definition's types: what generic code (printing, rewriting, analyses) works on. */
export interface GenericOp {
  readonly name: string;
  readonly operands: Readonly<Record<string, Value | readonly Value[] | undefined>>;
  readonly attrs: Readonly<Record<string, unknown>>;
  readonly results: readonly Value[];
  readonly regions: readonly Region[];
  readonly loc: Loc;
}

/** One straight line of ops with arguments; it sees the values of the regions around it. The last op is a terminator, except in a launch. */
export interface Region {
  readonly args: readonly Value[];
  readonly ops: readonly GenericOp[];
}
