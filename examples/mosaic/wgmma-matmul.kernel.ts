/** A matrix product with one warpgroup: it fills a ring of slots in shared memory by TMA and multiplies from there. */

import { array, cdiv, dim, ds, f16, f32, kernel, loop, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';

export const wgmmaMatmul = kernel('wgmma_matmul', { bm: 64, bn: 128, bk: 64, slots: 3 }, ({ bm, bn, bk, slots }) => {
  const m = dim('m');
  const [n, k] = [dim('n', { multipleOf: 8 }), dim('k', { multipleOf: 8 })];
  const mesh = plgpu.mesh({ grid: { m: cdiv(m, bm), n: cdiv(n, bn) } });
  const swizzled = { transforms: [plgpu.swizzle(128)] };
  return plgpu.warpgroupProgram(
    {
      mesh,
      inputs: { a: array(f16, [m, k]), b: array(f16, [k, n]) },
      outputs: { c: array(f16, [m, n]) },
      scratch: {
        left: plgpu.smem(f16, [slots, bm, bk], swizzled),
        right: plgpu.smem(f16, [slots, bk, bn], swizzled),
        result: plgpu.smem(f16, [bm, bn], swizzled),
        full: plgpu.barrier({ arrivals: 2, count: slots }),
        acc: plgpu.accumulator(f32, [bm, bn]),
      },
    },
    ({ a, b, c, left, right, result, full, acc }) => {
      const rows = ds(mesh.m.mul(bm), bm);
      const columns = ds(mesh.n.mul(bn), bn);
      const steps = cdiv(k, bk);
      const fill = (step: typeof steps): void =>
        when(step.lt(steps), () => {
          const slot = step.rem(slots);
          const depth = ds(step.mul(bk), bk);
          plgpu.copyGmemToSmem(a.at(rows, depth), left.at(slot), full.at(slot));
          plgpu.copyGmemToSmem(b.at(depth, columns), right.at(slot), full.at(slot));
        });
      loop({ to: slots - 1 }, fill);
      loop({ to: steps }, (step) => {
        const slot = step.rem(slots);
        full.at(slot).wait();
        plgpu.wgmma(acc, left.at(slot), right.at(slot));
        // The product of the step before is done: its slot is free.
        plgpu.wgmmaWait(1);
        fill(step.add(slots - 1));
      });
      plgpu.wgmmaWait(0);
      result.store(acc.load().to(f16));
      plgpu.commitSmem();
      plgpu.copySmemToGmem(result, c.at(rows, columns));
      plgpu.waitSmemToGmem(0);
    },
  );
});
