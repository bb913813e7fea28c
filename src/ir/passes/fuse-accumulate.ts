import type { Kernel } from '../kernel.js';
import { isOp, type OpOf } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { mapBodies, Rewriter } from '../rewrite.js';
import { sameType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { countUses, walk } from '../walk.js';

interface Fusion {
  readonly dot: OpOf<'dot'>;
  readonly acc: Value;
}

/** The additions of a body that a dot can take over: it stands in the same region and nothing else uses it. */
function fusionsOf(body: Region): ReadonlyMap<GenericOp, Fusion> {
  const dots = new Map<Value, { readonly dot: OpOf<'dot'>; readonly region: Region }>();
  const uses = countUses(body);
  const fusions = new Map<GenericOp, Fusion>();
  walk(body, (op, region) => {
    if (isOp(op, 'dot') && !op.operands.acc) dots.set(op.results[0]!, { dot: op, region });
    if (!isOp(op, 'add')) return;
    const { left, right } = op.operands;
    for (const [product, acc] of [
      [right, left],
      [left, right],
    ] as const) {
      const found = dots.get(product);
      if (found?.region !== region || uses.get(product) !== 1 || !sameType(acc.type, product.type)) continue;
      fusions.set(op, { dot: found.dot, acc });
      return;
    }
  });
  return fusions;
}

/**
 * `add(acc, dot(a, b))` becomes `dot(a, b, acc)`: the order in which a dot sums is free, so its accumulator may start
 * with `acc`.
 */
export const fuseAccumulate: Pass = {
  name: 'fuse-accumulate',
  summary: 'Let a dot start from the value that it is added to.',
  run: (kernel: Kernel): Kernel =>
    mapBodies(kernel, (body) => {
      const fusions = fusionsOf(body);
      return new Rewriter('fuse-accumulate', (op, rewriter) => {
        const fusion = fusions.get(op);
        if (!fusion) return void rewriter.keep(op);
        const { dot, acc } = fusion;
        const operands = { ...dot.operands, acc };
        const mapped = Object.fromEntries(
          Object.entries(operands).map(([k, v]) => [k, v && rewriter.mapped(v as Value)]),
        );
        rewriter.replace(op, rewriter.emit('dot', mapped as never, dot.attrs, [dot, op]).results);
      }).region(body);
    }),
};
