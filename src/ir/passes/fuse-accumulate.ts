import type { Kernel } from '../kernel.js';
import { isOp, type OpOf } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { rewriteKernel } from '../rewrite.js';
import { sameType } from '../types.js';
import type { GenericOp, Region, Value } from '../value.js';
import { countUses, walk } from '../walk.js';

/** Dots of a region by their result. */
function dotsOf(region: Region): Map<Value, OpOf<'dot'>> {
  const dots = new Map<Value, OpOf<'dot'>>();
  walk(region, (op) => {
    if (isOp(op, 'dot')) dots.set(op.results[0]!, op);
  });
  return dots;
}

/**
 * `add(acc, dot(a, b))` becomes `dot(a, b, acc)`: the order in which a dot sums is free, so its accumulator may start
 * with `acc`.
 */
export const fuseAccumulate: Pass = {
  name: 'fuse-accumulate',
  summary: 'Let a dot start from the value that it is added to.',
  run(kernel: Kernel): Kernel {
    const found = new Map(kernel.launches.map((l) => [l, { dots: dotsOf(l.body), uses: countUses(l.body) }]));
    return rewriteKernel(kernel, 'fuse-accumulate', (op: GenericOp, rewriter, launch) => {
      const { dots, uses } = found.get(launch)!;
      if (isOp(op, 'add')) {
        const { left, right } = op.operands;
        for (const [product, acc] of [
          [right, left],
          [left, right],
        ] as const) {
          const dot = dots.get(product);
          if (!dot || dot.operands.acc || uses.get(product) !== 1 || !sameType(acc.type, product.type)) continue;
          const operands = {
            a: rewriter.mapped(dot.operands.a),
            b: rewriter.mapped(dot.operands.b),
            acc: rewriter.mapped(acc),
          };
          rewriter.replace(op, rewriter.emit('dot', operands as never, dot.attrs, op).results);
          return;
        }
      }
      rewriter.keep(op);
    });
  },
};
