import { array, cdiv, dim, ds, f16, kernel } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** What was stored to shared memory is copied out without a fence. */
export const bug = kernel('async_missing_fence', { wrong: false }, ({ wrong }) => {
  const n = dim('n', { multipleOf: 8 });
  const mesh = plgpu.mesh({ grid: { i: cdiv(n, 64) } });
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
      plgpu.copyGmemToSmem(x.at(rows, columns), block, loaded);
      loaded.wait();
      block.store(block.load().mul(2));
      if (!wrong) plgpu.commitSmem();
      plgpu.copySmemToGmem(block, y.at(rows, columns)); // TW5114
      plgpu.waitSmemToGmem(0);
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
