/** A copy by TMA through shared memory: the least that an explicit program does. */

import { array, cdiv, dim, ds, f16, kernel } from 'tilewright';
import * as plgpu from 'tilewright/mgpu';

export const tmaCopy = kernel('tma_copy', { rows: 64, columns: 64 }, ({ rows, columns }) => {
  const [m, n] = [dim('m'), dim('n', { multipleOf: 8 })];
  const mesh = plgpu.mesh({ grid: { m: cdiv(m, rows), n: cdiv(n, columns) } });
  return plgpu.warpgroupProgram(
    {
      mesh,
      inputs: { x: array(f16, [m, n]) },
      outputs: { y: array(f16, [m, n]) },
      scratch: {
        block: plgpu.smem(f16, [rows, columns], { transforms: [plgpu.swizzle(128)] }),
        loaded: plgpu.barrier(),
      },
    },
    ({ x, y, block, loaded }) => {
      const place = [ds(mesh.m.mul(rows), rows), ds(mesh.n.mul(columns), columns)] as const;
      plgpu.copyGmemToSmem(x.at(...place), block, loaded);
      loaded.wait();
      plgpu.copySmemToGmem(block, y.at(...place));
      plgpu.waitSmemToGmem(0);
    },
  );
});
