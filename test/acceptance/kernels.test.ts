import { describe, expect, test } from '@jest/globals';
import { withTritonWorker } from '../../src/drivers/triton/worker.js';
import { caseNames } from '../oracle/call.js';
import { oracle } from '../oracle/kernels.js';
import { type Backend, runCall } from '../oracle/matrix.js';
import { describeTool } from '../support/tools.js';

function corpus(backend: Backend): void {
  describe.each(oracle)('$id $name', (entry) => {
    test.each(entry.dtypes.flatMap((dtype) => caseNames.map((kind) => [dtype, kind] as const)))(
      '%s, %s',
      async (dtype, kind) => {
        const { failures } = await runCall(entry, dtype, kind, backend);
        expect(failures).toEqual([]);
      },
    );
  });
}

describe('kernels in the interpreter', () => corpus('interpret'));
describeTool('mlir', 'kernels on the CPU', () => corpus('cpu'));

/** One call each, devices in turn: `npm run test:acceptance -- --backend sim:sm_80,sim:sm_90a,sim:sm_100a,sim:gfx942,…` does all. */
describeTool('triton', 'kernels as the code of a device, in the simulator', () => {
  const devices = ['sim:sm_90a', 'sim:gfx942', 'sim:sm_80', 'sim:gfx1100'] as const;
  test.each(oracle.map((entry, i) => ({ entry, name: entry.name, device: devices[i % 4]! })))(
    '$name on $device, ragged',
    ({ entry, device }) =>
      withTritonWorker({}, async (worker) => {
        const { failures } = await runCall(entry, entry.dtypes[0]!, 'ragged', device, { worker });
        expect(failures).toEqual([]);
      }),
  );
});
