import { array, cdiv, dim, ds, f16, kernel, loop, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** A producer runs two phases ahead of the one who waits. */
export const bug = kernel('async_missed_phase', { wrong: false }, ({ wrong }) => {
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
      when(mesh.wg.eq(0), () => {
        loop({ to: 2 }, () => {
          plgpu.copyGmemToSmem(x.at(rows, columns), block, loaded);
          loaded.wait();
          if (!wrong) free.wait();
        });
        if (wrong) free.arrive();
      });
      when(mesh.wg.eq(1), () => {
        if (wrong) free.wait();
        loop({ to: 2 }, () => {
          loaded.wait(); // TW5008
          if (!wrong) free.arrive();
        });
        y.at(rows, columns).store(block.load());
      });
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
