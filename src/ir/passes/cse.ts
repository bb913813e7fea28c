import { attrKey } from '../analyses/value-numbers.js';
import type { Kernel } from '../kernel.js';
import { definitionOf, isPure } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { mapBodies, Rewriter } from '../rewrite.js';
import { printType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';

/** Merges equal pure ops of a region with those before them, in it or around it. */
function merge(body: Region): Region {
  const ids = new Map<Value, number>();
  const id = (v: Value): number => {
    let n = ids.get(v);
    if (n === undefined) {
      n = ids.size;
      ids.set(v, n);
    }
    return n;
  };
  const scopes: Map<string, GenericOp>[] = [];
  const visit = (op: GenericOp, rewriter: Rewriter): void => {
    if (!isPure(op) || op.results.length !== 1) {
      // What combines scalars stays whole: a back end runs it in other places than this.
      const around = definitionOf(op).combines ? scopes.splice(0) : [];
      rewriter.keep(op);
      scopes.push(...around);
      return;
    }
    const operands = operandsOf(op).map((v) => id(rewriter.mapped(v)));
    if (definitionOf(op).commutative) operands.sort((a, b) => a - b);
    const key = `${op.name}(${operands.join(',')}){${attrKey(op)}}:${printType(op.results[0]!.type)}`;
    const known = scopes.map((s) => s.get(key)).find((o) => o !== undefined);
    if (known) rewriter.replace(op, known.results);
    else scopes.at(-1)!.set(key, rewriter.keep(op));
  };
  const scope = { enter: () => scopes.push(new Map()), leave: () => scopes.pop() };
  return new Rewriter('cse', visit, scope).region(body);
}

export const cse: Pass = {
  name: 'cse',
  summary: 'Merge ops that compute the same from the same.',
  run: (kernel: Kernel): Kernel => mapBodies(kernel, merge),
};
