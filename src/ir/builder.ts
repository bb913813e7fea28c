/** Building ops: result types come from the table, mistakes are reported, never thrown. */

import { invariant } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import { checkOperands } from './check-op.js';
import type { Report } from './define-op.js';
import { type AttrsFor, type OperandsFor, type OpName, type OpOf, tryDefinition } from './ops/index.js';
import type { Type } from './types.js';
import { type GenericOp, type Region, type Value, value } from './value.js';

export interface BuildOptions {
  /** Result types, for the ops whose definition leaves them to the text. */
  readonly types?: readonly Type[];
  readonly regions?: readonly Region[];
  readonly hints?: readonly (string | undefined)[];
  /** Receives what is wrong with the operands; without it, a mistake is a bug of ours. */
  readonly report?: Report;
}

/** Makes one op. Gives undefined only after `report` was called. */
export function tryCreateOp<N extends OpName>(
  name: N,
  operands: OperandsFor<N>,
  attrs: AttrsFor<N>,
  loc: Loc,
  options: BuildOptions = {},
): OpOf<N> | undefined {
  const definition = tryDefinition(name)!;
  let failed = false;
  const report = (message: string): void => {
    failed = true;
    invariant(options.report, `building '${name}': ${message}`);
    options.report(message);
  };
  // Operands of our own passes are right by construction; a user's may be anything.
  if (options.report) checkOperands(definition, operands as never, report);
  if (failed) return undefined;
  const types =
    'infer' in definition.results
      ? definition.results.infer(operands as never, attrs as never, report)
      : (options.types ?? []);
  if (failed || !types) return undefined;
  const op = {
    name,
    operands,
    attrs,
    results: types.map((type, i) => value(type, options.hints?.[i])),
    regions: options.regions ?? [],
    loc,
  };
  definition.verify?.(op as never, report);
  return failed ? undefined : (op as unknown as OpOf<N>);
}

/** Makes one op from operands that are known to fit. */
export function createOp<N extends OpName>(
  name: N,
  operands: OperandsFor<N>,
  attrs: AttrsFor<N>,
  loc: Loc,
  options: Omit<BuildOptions, 'report'> = {},
): OpOf<N> {
  return tryCreateOp(name, operands, attrs, loc, options)!;
}

/** A region under construction. */
export class RegionBuilder {
  readonly ops: GenericOp[] = [];

  constructor(readonly args: readonly Value[] = []) {}

  /** Appends an op that exists. */
  append<T extends GenericOp>(op: T): T {
    this.ops.push(op);
    return op;
  }

  /** Builds an op, appends it and gives its first result. */
  emit<N extends OpName>(
    name: N,
    operands: OperandsFor<N>,
    attrs: AttrsFor<N>,
    loc: Loc,
    options: Omit<BuildOptions, 'report'> = {},
  ): Value {
    return this.append(createOp(name, operands, attrs, loc, options)).results[0]!;
  }

  finish(): Region {
    return { args: this.args, ops: this.ops };
  }
}
