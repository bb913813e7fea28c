import { array, cdiv, dim, ds, f16, kernel } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';
import { nd } from 'tilewright/testing';

/** A copy to shared memory is used before it is waited for. */
export const bug = kernel('async_missing_wait', { wrong: false }, ({ wrong }) => {
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
      if (!wrong) loaded.wait();
      const v = block.load(); // TW5113
      if (wrong) loaded.wait();
      block.store(v.mul(2));
      plgpu.commitSmem();
      plgpu.copySmemToGmem(block, y.at(rows, columns));
      plgpu.waitSmemToGmem(0);
    },
  );
});

export const inputs = { x: nd.arange(f16, [8, 128]) };
