/** A matrix product with two kinds of warpgroups: one copies, the others multiply. They hand slots to each other by barriers. */

import { array, cdiv, dim, ds, f16, f32, kernel, loop, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';

export const warpSpecialisedMatmul = kernel(
  'warp_specialised_matmul',
  { bm: 64, bn: 128, bk: 64, slots: 3, workers: 2 },
  ({ bm, bn, bk, slots, workers }) => {
    const m = dim('m');
    const [n, k] = [dim('n', { multipleOf: 8 }), dim('k', { multipleOf: 8 })];
    const mesh = plgpu.mesh({ grid: { m: cdiv(m, bm * workers), n: cdiv(n, bn) }, threads: { wg: workers + 1 } });
    const swizzled = { transforms: [plgpu.swizzle(128)] };
    return plgpu.warpgroupProgram(
      {
        mesh,
        inputs: { a: array(f16, [m, k]), b: array(f16, [k, n]) },
        outputs: { c: array(f16, [m, n]) },
        scratch: {
          left: plgpu.smem(f16, [slots, workers, bm, bk], swizzled),
          right: plgpu.smem(f16, [slots, bk, bn], swizzled),
          result: plgpu.smem(f16, [workers, bm, bn], swizzled),
          full: plgpu.barrier({ arrivals: workers + 1, count: slots }),
          empty: plgpu.barrier({ arrivals: workers, count: slots }),
        },
      },
      ({ a, b, c, left, right, result, full, empty }) => {
        const columns = ds(mesh.n.mul(bn), bn);
        const rowsOf = (worker: typeof mesh.wg | number) => ds(mesh.m.mul(workers).add(worker).mul(bm), bm);
        const steps = cdiv(k, bk);
        when(mesh.wg.eq(workers), () => {
          plgpu.setMaxRegisters(40, 'decrease');
          loop({ to: steps }, (step) => {
            const slot = step.rem(slots);
            const depth = ds(step.mul(bk), bk);
            when(step.ge(slots), () => empty.at(slot).wait());
            for (let worker = 0; worker < workers; worker++)
              plgpu.copyGmemToSmem(a.at(rowsOf(worker), depth), left.at(slot, worker), full.at(slot));
            plgpu.copyGmemToSmem(b.at(depth, columns), right.at(slot), full.at(slot));
          });
        });
        when(mesh.wg.lt(workers), () => {
          plgpu.setMaxRegisters(232, 'increase');
          const sums = plgpu.runScoped({ acc: plgpu.accumulator(f32, [bm, bn]) }, ({ acc }) => {
            loop({ to: steps }, (step) => {
              const slot = step.rem(slots);
              full.at(slot).wait();
              plgpu.wgmma(acc, left.at(slot, mesh.wg), right.at(slot));
              plgpu.wgmmaWait(0);
              empty.at(slot).arrive();
            });
            return acc.load();
          });
          result.at(mesh.wg).store(sums.to(f16));
          plgpu.commitSmem();
          plgpu.copySmemToGmem(result.at(mesh.wg), c.at(rowsOf(mesh.wg), columns));
          plgpu.waitSmemToGmem(0);
        });
      },
    );
  },
);
