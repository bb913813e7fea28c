import { array, cdiv, dim, ds, f16, kernel, when } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** One warpgroup reads what another stores, without meeting it. */
export const bug = kernel('async_no_sync_between_warpgroups', { wrong: false }, ({ wrong }) => {
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
      },
    },
    ({ x, y, block, loaded }) => {
      const columns = ds(mesh.i.mul(64), 64);
      const rows = ds(0, 8);
      when(mesh.wg.eq(0), () => {
        plgpu.copyGmemToSmem(x.at(rows, columns), block, loaded);
        loaded.wait();
        block.store(block.load().add(1));
        plgpu.commitSmem();
      });
      if (!wrong) plgpu.syncWarpgroups();
      when(mesh.wg.eq(1), () => {
        plgpu.copySmemToGmem(block, y.at(rows, columns)); // TW5113
        plgpu.waitSmemToGmem(0);
      });
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
