import { describe, expect, test } from '@jest/globals';
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
