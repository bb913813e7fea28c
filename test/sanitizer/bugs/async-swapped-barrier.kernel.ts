import { array, cdiv, dim, ds, f16, kernel, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** The consumer waits for the barrier that it signals itself. */
export const bug = kernel('async_swapped_barrier', { wrong: false }, ({ wrong }) => {
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
        plgpu.copyGmemToSmem(x.at(rows, columns), block, loaded);
        free.wait();
      });
      when(mesh.wg.eq(1), () => {
        if (wrong) free.arrive();
        (wrong ? free : loaded).wait();
        y.at(rows, columns).store(block.load()); // TW5113
        if (!wrong) free.arrive();
      });
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
