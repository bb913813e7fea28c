/** Smaller kernels to try in place of one that shows a bug: delta debugging (Zeller and Hildebrandt, 2002) over ops. */

import { isWide } from './dtypes.js';
import type { Kernel, Launch } from './kernel.js';
import { definitionOf, isOp } from './ops/index.js';
import { runPasses } from './pass.js';
import { passRegistry } from './passes/index.js';
import { printKernel } from './printer.js';
import { mapBodies, Rewriter } from './rewrite.js';
import { sameType, type TileType } from './types.js';
import type { GenericOp, Region } from './value.js';
import { verifyKernel } from './verifier.js';
import { operandsOf, walk } from './walk.js';

/** Whether kernels still show what they are reduced for. */
export type Interesting = (kernels: readonly Kernel[]) => Promise<boolean>;

/** Ops that may go: all but the ends of regions. */
function removableOps(kernels: readonly Kernel[]): GenericOp[] {
  const ops: GenericOp[] = [];
  for (const { launches } of kernels)
    for (const { body } of launches)
      walk(body, (op) => {
        if (!definitionOf(op).terminator) ops.push(op);
      });
  return ops;
}

/** The kernel without some ops. What used their results gets an operand of the same type, a loop's first values, or zeros. */
function without(kernel: Kernel, gone: ReadonlySet<GenericOp>): Kernel {
  return mapBodies(kernel, (body) => {
    const rewriter = new Rewriter('reduce', (op, r) => {
      if (!gone.has(op)) {
        r.keep(op);
        return;
      }
      const loop = isOp(op, 'for') || isOp(op, 'while') ? (op.operands.init ?? []) : [];
      const standIns = op.results.map((result, i) => {
        const given = loop[i] ?? operandsOf(op).find((v) => sameType(v.type, result.type));
        if (given) return r.mapped(given);
        const type = result.type as TileType;
        return r.emit('constant', {}, { value: isWide(type.dtype) ? 0n : 0 }, op, { types: [type] }).results[0]!;
      });
      r.replace(op, standIns);
    });
    return rewriter.region(body);
  });
}

/** What a kernel declares and no longer uses. */
function withoutUnused(kernel: Kernel): Kernel {
  const used = new Set<unknown>();
  for (const { body } of kernel.launches)
    walk(body, (op) => {
      for (const v of operandsOf(op)) used.add(v);
    });
  const params = kernel.params.filter((p) => used.has(p.value));
  // Ops, and extents of arrays, of grids and in costs name dims.
  const text = printKernel({ ...kernel, params, dims: [] }, { locs: false });
  const mentioned = (name: string): boolean => text.split(/[^\w]+/).includes(name) || text.includes(`"${name}"`);
  return { ...kernel, params, dims: kernel.dims.filter((d) => mentioned(d.name)) };
}

/** The region of a branch in place of it. */
function inlined(kernel: Kernel, branch: GenericOp, region: Region): Kernel {
  return mapBodies(kernel, (body) => {
    const rewriter: Rewriter = new Rewriter('reduce', (op, r) => {
      if (op !== branch) {
        r.keep(op);
        return;
      }
      for (const inner of region.ops) {
        if (!isOp(inner, 'yield')) r.keep(inner);
        else
          r.replace(
            branch,
            (inner.operands.values ?? []).map((v) => r.mapped(v)),
          );
      }
    });
    return rewriter.region(body);
  });
}

const isValid = (kernels: readonly Kernel[]): boolean => {
  try {
    return kernels.every((k) => verifyKernel(k).length === 0);
  } catch {
    return false;
  }
};

/**
 * Makes kernels smaller for as long as they stay interesting.
 *
 * @param tell hears of each step forward: how many ops are left.
 * @returns the smallest that was found; the given ones where nothing can go.
 */
export async function reduceKernels(
  kernels: readonly Kernel[],
  interesting: Interesting,
  tell: (ops: number) => void = () => {},
): Promise<readonly Kernel[]> {
  let best = kernels;
  const size = (list: readonly Kernel[]): number => list.map((k) => printKernel(k, { locs: false })).join('').length;
  const take = async (candidate: readonly Kernel[]): Promise<boolean> => {
    if (size(candidate) >= size(best) || !isValid(candidate) || !(await interesting(candidate))) return false;
    best = candidate;
    tell(removableOps(best).length);
    return true;
  };

  for (let before = Number.POSITIVE_INFINITY; size(best) < before; ) {
    before = size(best);
    for (let i = best.length - 1; i >= 0 && best.length > 1; i--) await take(best.toSpliced(i, 1));
    for (let k = 0; k < best.length; k++)
      for (let i = best[k]!.launches.length - 1; i >= 0 && best[k]!.launches.length > 1; i--) {
        const launches: readonly Launch[] = best[k]!.launches.toSpliced(i, 1);
        await take(best.with(k, { ...best[k]!, launches }));
      }
    for (let chunk = removableOps(best).length; chunk >= 1; chunk = Math.floor(chunk / 2))
      for (let end = removableOps(best).length; end > 0; end -= chunk) {
        const gone = new Set(removableOps(best).slice(Math.max(0, end - chunk), end));
        await take(best.map((kernel) => without(kernel, gone)));
      }
    for (const op of removableOps(best).filter((o) => isOp(o, 'if')))
      for (const region of op.regions) if (await take(best.map((kernel) => inlined(kernel, op, region)))) break;
    await take(best.map((kernel) => runPasses(kernel, passRegistry.get('dce')!)));
    for (let k = 0; k < best.length; k++)
      for (let i = 0; i < best[k]!.launches.length; i++) {
        const { launches } = best[k]!;
        await take(best.with(k, { ...best[k]!, launches: launches.with(i, { ...launches[i]!, grid: [] }) }));
      }
    await take(best.map(withoutUnused));
  }
  return best;
}
