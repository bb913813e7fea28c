/** Value numbers: values that are computed in the same way from the same values have one number. */

import type { AttrSpec } from '../attributes.js';
import { definitionOf, isPure } from '../ops/index.js';
import { printType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf, walk } from '../walk.js';

/** Text of an op's attributes, the same for equal ones. */
export function attrKey(op: GenericOp): string {
  return Object.entries(definitionOf(op).attrs as Record<string, AttrSpec<never, boolean>>)
    .filter(([name]) => op.attrs[name] !== undefined)
    .map(([name, spec]) => `${name}=${spec.print(op.attrs[name] as never)}`)
    .join(',');
}

export class ValueNumbers {
  private readonly numbers = new Map<Value, number>();
  private readonly byKey = new Map<string, number>();
  private next = 0;

  /** Numbers all values of a region and the regions inside it, in program order. */
  constructor(region: Region) {
    walk(region, (op) => {
      for (const inner of op.regions) inner.args.forEach((arg) => this.of(arg));
      if (!isPure(op) || op.results.length !== 1) {
        op.results.forEach((r) => this.of(r));
        return;
      }
      const key = this.keyOf(op);
      const known = this.byKey.get(key);
      if (known === undefined) this.byKey.set(key, this.of(op.results[0]!));
      else this.numbers.set(op.results[0]!, known);
    });
  }

  /** The number of a value; one that was never seen gets its own. */
  of(v: Value): number {
    let number = this.numbers.get(v);
    if (number === undefined) {
      number = this.next++;
      this.numbers.set(v, number);
    }
    return number;
  }

  private keyOf(op: GenericOp): string {
    const operands = operandsOf(op).map((v) => this.of(v));
    if (definitionOf(op).commutative) operands.sort((a, b) => a - b);
    return `${op.name}(${operands.join(',')}){${attrKey(op)}}:${printType(op.results[0]!.type)}`;
  }
}
