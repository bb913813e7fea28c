import { array, cdiv, dim, ds, f16, f32, kernel, loop, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** The product that still reads a slot is not waited for before the slot is filled. */
export const bug = kernel('wgmma_wait_too_weak', { wrong: false }, ({ wrong }) => {
  const [m, n, k, slots] = [dim('m'), dim('n', { multipleOf: 8 }), dim('k', { multipleOf: 8 }), 3];
  return plgpu.warpgroupProgram(
    {
      mesh: plgpu.mesh({ grid: { m: cdiv(m, 64) } }),
      inputs: { a: array(f16, [m, k]), b: array(f16, [k, n]) },
      outputs: { c: array(f16, [m, n]) },
      scratch: {
        left: plgpu.smem(f16, [slots, 64, 16], { transforms: [plgpu.swizzle(32)] }),
        right: plgpu.smem(f16, [slots, 16, 64], { transforms: [plgpu.swizzle(128)] }),
        result: plgpu.smem(f16, [64, 64]),
        full: plgpu.barrier({ arrivals: 2, count: slots }),
        acc: plgpu.accumulator(f32, [64, 64]),
      },
    },
    ({ a, b, c, left, right, result, full, acc }) => {
      const [rows, columns] = [ds(0, 64), ds(0, 64)];
      const steps = cdiv(k, 16);
      const fill = (step: typeof steps): void =>
        when(step.lt(steps), () => {
          const slot = step.rem(slots);
          const depth = ds(step.mul(16), 16);
          plgpu.copyGmemToSmem(a.at(rows, depth), left.at(slot), full.at(slot)); // TW5113
          plgpu.copyGmemToSmem(b.at(depth, columns), right.at(slot), full.at(slot));
        });
      loop({ to: slots - 1 }, fill);
      loop({ to: steps }, (step) => {
        const slot = step.rem(slots);
        full.at(slot).wait();
        plgpu.wgmma(acc, left.at(slot), right.at(slot));
        plgpu.wgmmaWait(wrong ? 2 : 1);
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

export const inputs = { a: nd.random(f16, [64, 80], { seed: 1 }), b: nd.random(f16, [80, 64], { seed: 2 }) };
