import type { Kernel } from '../kernel.js';
import { definitionOf, isOp } from '../ops/index.js';
import type { Pass } from '../pass.js';
import type { GenericOp, Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';

/** Whether an op must stay although nothing uses its results. Loads have no effect but reading. */
function hasEffect(op: GenericOp): boolean {
  const { effects, regions } = definitionOf(op);
  return effects.some((e) => e === 'writes' || e === 'atomic') || (effects.includes('control') && regions.length === 0);
}

/** Drops dead ops of a region, from its end; `live` grows by what the kept ones use. */
function sweep(region: Region, live: Set<Value>): Region {
  const kept: GenericOp[] = [];
  for (const op of [...region.ops].reverse()) {
    if (op.regions.length > 0) {
      const regions = op.regions.map((r) => sweep(r, live));
      const acts = regions.some((r) =>
        r.ops.some((o) => (hasEffect(o) ? !isOp(o, 'yield') && !isOp(o, 'condition') : o.regions.length > 0)),
      );
      if (!acts && !op.results.some((r) => live.has(r)) && !isOp(op, 'while')) continue;
      for (const v of operandsOf(op)) live.add(v);
      kept.push(regions.every((r, i) => r === op.regions[i]) ? op : { ...op, regions });
    } else if (hasEffect(op) || op.results.some((r) => live.has(r))) {
      for (const v of operandsOf(op)) live.add(v);
      kept.push(op);
    }
  }
  return kept.length === region.ops.length && kept.every((op, i) => op === region.ops[kept.length - 1 - i])
    ? region
    : { args: region.args, ops: kept.reverse() };
}

export const dce: Pass = {
  name: 'dce',
  summary: 'Drop ops whose results nothing uses.',
  run(kernel: Kernel): Kernel {
    const launches = kernel.launches.map((launch) => {
      const body = sweep(launch.body, new Set());
      return body === launch.body ? launch : { ...launch, body };
    });
    return launches.every((l, i) => l === kernel.launches[i]) ? kernel : { ...kernel, launches };
  },
};
