import { array, cdiv, dim, ds, f16, kernel, loop, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** A consumer gives its slot back before it has read it. */
export const bug = kernel('async_consumer_signals_early', { wrong: false }, ({ wrong }) => {
  const n = dim('n', { multipleOf: 8 });
  const mesh = plgpu.mesh({ grid: { i: cdiv(n, 64) }, threads: { wg: 2 } });
  return plgpu.warpgroupProgram(
    {
      mesh,
      inputs: { x: array(f16, [8, n]) },
      outputs: { y: array(f16, [8, n]) },
      scratch: {
        block: plgpu.smem(f16, [8, 64]),
        loaded: plgpu.barrier(),
        free: plgpu.barrier(),
      },
    },
    ({ x, y, block, loaded, free }) => {
      const columns = ds(mesh.i.mul(64), 64);
      const rows = ds(0, 8);
      const steps = 3;
      when(mesh.wg.eq(0), () => {
        loop({ to: steps }, (step) => {
          when(step.gt(0), () => free.wait());
          plgpu.copyGmemToSmem(x.at(rows, columns), block, loaded); // TW5113
        });
      });
      when(mesh.wg.eq(1), () => {
        loop({ to: steps }, () => {
          loaded.wait();
          if (wrong) free.arrive();
          const v = block.load();
          if (!wrong) free.arrive();
          y.at(rows, columns).store(v);
        });
      });
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
