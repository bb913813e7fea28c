import type { Kernel } from '../kernel.js';
import { isOp, isPure } from '../ops/index.js';
import type { Pass } from '../pass.js';
import { mapBodies } from '../rewrite.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';

/** Moves pure ops that depend on nothing of a loop body in front of the loop. Pure ops never trap, so an empty loop is no matter. */
function hoist(region: Region): Region {
  const ops: GenericOp[] = [];
  let changed = false;
  for (const op of region.ops) {
    const regions = op.regions.map(hoist);
    let current = regions.every((r, i) => r === op.regions[i]) ? op : { ...op, regions };
    if (isOp(current, 'for') || isOp(current, 'while')) {
      const loop: GenericOp = current;
      const moved: GenericOp[] = [];
      const bodies = loop.regions.map((body) => {
        const inside = new Set<Value>(body.args);
        const stay = body.ops.filter((o) => {
          if (isPure(o) && operandsOf(o).every((v) => !inside.has(v))) {
            moved.push(o);
            return false;
          }
          o.results.forEach((r) => inside.add(r));
          return true;
        });
        return stay.length === body.ops.length ? body : { args: body.args, ops: stay };
      });
      if (moved.length > 0) {
        for (const o of moved) ops.push(o);
        current = { ...loop, regions: bodies };
      }
    }
    changed ||= current !== op;
    ops.push(current);
  }
  return changed ? { args: region.args, ops } : region;
}

export const licm: Pass = {
  name: 'licm',
  summary: 'Move loop-invariant ops in front of their loop.',
  run: (kernel: Kernel): Kernel => mapBodies(kernel, hoist),
};
