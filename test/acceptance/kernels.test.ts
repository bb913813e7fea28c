import { describe, expect, test } from '@jest/globals';
import { withTritonWorker } from '../../src/drivers/triton/worker.js';
import { caseNames } from '../oracle/call.js';
import { type OracleKernel, oracle } from '../oracle/kernels.js';
import { type Backend, runCall } from '../oracle/matrix.js';
import { describeTool } from '../support/tools.js';

/** The ragged case in every dtype, the others in the first: `npm run test:acceptance` does all of them. */
const callsOf = ({ dtypes }: OracleKernel) =>
  dtypes.flatMap((dtype, i) =>
    caseNames.filter((kind) => i === 0 || kind === 'ragged').map((kind) => [dtype, kind] as const),
  );

function corpus(backend: Backend): void {
  describe.each(oracle)('$id $name', (entry) => {
    test.each(callsOf(entry))('%s, %s', async (dtype, kind) => {
      const { failures } = await runCall(entry, dtype, kind, backend);
      expect(failures).toEqual([]);
    });
  });
}

describe('kernels in the interpreter', () => corpus('interpret'));
describeTool('mlir', 'kernels on the CPU', () => corpus('cpu'));

/** One call each, devices in turn: `npm run test:acceptance -- --backend sim:sm_80,sim:sm_90a,sim:sm_100a,sim:gfx942,…` does all. */
describeTool('triton', 'kernels as the code of a device, in the simulator', () => {
  const devices = ['sim:sm_90a', 'sim:gfx942', 'sim:sm_80', 'sim:gfx1100'] as const;
  test.each(oracle.map((entry, i) => ({ entry, name: entry.name, device: devices[i % 4]! })))(
    '$name on $device',
    ({ entry, device }) =>
      withTritonWorker({}, async (worker) => {
        // The ragged cases of attention take up to half a minute.
        const kind = entry.name.includes('attention') ? 'minimal' : 'ragged';
        const { failures } = await runCall(entry, entry.dtypes[0]!, kind, device, { worker });
        expect(failures).toEqual([]);
      }),
  );
});

/** Other forms of a kernel, in one dtype. */
const forms = [
  ['rmsnorm_fwd_bwd', 'bf16', { deterministic: 'false' }],
  ['layernorm_fwd_bwd', 'f32', { deterministic: 'false' }],
  ['rope', 'f16', { inPlace: 'true' }],
  ['linear_attention_gla_gdn', 'f32', { form: 'recurrent' }],
  ['linear_attention_gla_gdn', 'bf16', { chunk: '32' }],
] as const;

describeTool('mlir', 'other forms of kernels, on the CPU', () => {
  test.each(forms)('%s in %s, %j', async (name, dtype, params) => {
    const entry = oracle.find((o) => o.name === name)!;
    const { failures } = await runCall(entry, dtype, 'ragged', 'cpu', { params });
    expect(failures).toEqual([]);
  });
});
