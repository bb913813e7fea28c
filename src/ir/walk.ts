/** Generic traversal of ops and regions, by the op table's order of operand groups. */

import { definitionOf } from './ops/index.js';
import type { GenericOp, Region, Value } from './value.js';

/** All operands in the order of the definition's groups. */
export function operandsOf(op: GenericOp): Value[] {
  const all: Value[] = [];
  for (const group of Object.keys(definitionOf(op).operands)) {
    const given = op.operands[group];
    if (Array.isArray(given)) all.push(...given);
    else if (given) all.push(given as Value);
  }
  return all;
}

/** The operands with each value replaced. Groups that were left out stay out. */
export function mapOperands(op: GenericOp, replace: (value: Value) => Value): GenericOp['operands'] {
  const mapped: Record<string, Value | readonly Value[] | undefined> = {};
  for (const [group, given] of Object.entries(op.operands)) {
    mapped[group] = Array.isArray(given) ? given.map(replace) : given && replace(given as Value);
  }
  return mapped;
}

/** Visits every op of a region and of the regions inside, in program order, an op before its regions. */
export function walk(region: Region, visit: (op: GenericOp, parent: Region) => void): void {
  const stack: { region: Region; next: number }[] = [{ region, next: 0 }];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const op = top.region.ops[top.next++];
    if (!op) {
      stack.pop();
      continue;
    }
    visit(op, top.region);
    for (let i = op.regions.length - 1; i >= 0; i--) stack.push({ region: op.regions[i]!, next: 0 });
  }
}

/** How often each value is used in a region, including in the regions inside. */
export function countUses(region: Region): Map<Value, number> {
  const uses = new Map<Value, number>();
  walk(region, (op) => {
    for (const v of operandsOf(op)) uses.set(v, (uses.get(v) ?? 0) + 1);
  });
  return uses;
}
