import { Ranges } from '../analyses/ranges.js';
import type { Kernel } from '../kernel.js';
import { isOp } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { rewriteKernel } from '../rewrite.js';
import { indexType, type TileType } from '../types.js';
import type { Value } from '../value.js';

/** Drops valid extents that are proven to cover their whole axis. */
export const elideMasks: Pass = {
  name: 'elide-masks',
  summary: 'Drop valid extents that divisibility and bounds prove to be full.',
  run(kernel: Kernel): Kernel {
    const known = new Map(kernel.launches.map((l) => [l, new Ranges(kernel, l)]));
    const numbers = new Set<Value>();
    return rewriteKernel(kernel, 'elide-masks', (op, rewriter, launch) => {
      if (isOp(op, 'constant')) numbers.add(op.results[0]!);
      if (!isOp(op, 'load') && !isOp(op, 'store')) return void rewriter.keep(op);
      const { valid = [] } = op.operands;
      const ranges = known.get(launch)!;
      const { shape } = (isOp(op, 'store') ? op.operands.value.type : op.results[0]!.type) as TileType;
      const full = valid.map((v, axis) => ranges.atLeast(v, shape[axis]!));
      if (valid.length > 0 && full.every((f) => f))
        return void rewriter.keep(op, { operands: { ...op.operands, valid: [] } });
      // A block has extents for all of its axes or none, so a full axis says so by a number.
      if (valid.every((v, axis) => !full[axis] || numbers.has(v))) return void rewriter.keep(op);
      const limits = valid.map((v, axis) =>
        full[axis] && !numbers.has(v)
          ? rewriter.emit('constant', {}, { value: shape[axis]! }, op, { types: [indexType] }).results[0]!
          : v,
      );
      rewriter.keep(op, { operands: { ...op.operands, valid: limits } });
    });
  },
};
