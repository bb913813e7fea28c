import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { buildHost, hostArgs, hostCommand, hostTool } from '../../src/drivers/host-compiler.js';
import { inFolder } from '../support/cli.js';
import { withEnvironment } from '../support/environment.js';
import { diagnosticsOf } from '../support/thrown.js';

/** A hipcc that is cc, and prints what old ones print where no AMD GPU is. */
function standIn(folder: string): string {
  const path = join(folder, 'bin/hipcc');
  mkdirSync(join(folder, 'bin'), { recursive: true });
  const script = [
    '#!/bin/sh',
    '[ "$1" = --version ] && echo "HIP version: 5.2.21153-0" && exit 0',
    'printf \'Traceback (most recent call last):\\n  File "rocm_agent_enumerator", line 1\\nFileNotFoundError: kfd\\n\' >&2',
    'exec cc "$@"',
  ];
  writeFileSync(path, `${script.join('\n')}\n`);
  chmodSync(path, 0o755);
  return path;
}

const files = new Map([
  ['k.h', 'int k(void);\n'],
  ['k.c', '#include "k.h"\nint k(void) { return 0; }\n'],
  ['k_main.c', '#include "k.h"\nint main(void) { return k(); }\n'],
]);

describe('compiling launchers for the host', () => {
  test('cc, unless another compiler is named or given flags', () => {
    expect(hostTool({})).toBe('cc');
    expect(hostTool({ toolFlags: { cc: ['-g'], nvcc: [], hipcc: [] } })).toBe('cc');
    expect(hostTool({ toolFlags: { nvcc: ['-O1'] } })).toBe('nvcc');
    expect(hostTool({ tools: { hipcc: '/opt/hipcc' } })).toBe('hipcc');
  });

  test('command lines', () => {
    const line = (...args: Parameters<typeof hostArgs>): string => hostArgs(...args).join(' ');
    expect(line('cc', 'k', 'obj', 'k.o', [])).toBe('-O2 -std=gnu11 -fPIC -c -x c k.c -o k.o');
    expect(line('nvcc', 'k', 'exe', 'k.exe', ['-g'])).toBe(
      '-O2 -cudart none -Xcompiler -fPIC,-std=gnu11 -g -x c k.c k_main.c -o k.exe -ldl -lpthread -lm',
    );
    expect(line('hipcc', 'k', 'so', 'k.so', ['-v'])).toBe(
      '-O2 -fPIC -std=gnu11 -shared -Wl,--as-needed -v -x c k.c -o k.so -ldl -lpthread -lm',
    );
  });

  test('hipcc by flag, HIPCC and ROCM_PATH', () =>
    inFolder(async (folder) => {
      const path = standIn(folder);
      const options = { toolFlags: { hipcc: ['-g0'] } };
      expect((await hostCommand('k', 'obj', 'k.o', { tools: { hipcc: path } }))[0]).toBe(path);
      await withEnvironment({ HIPCC: path }, async () =>
        expect((await hostCommand('k', 'obj', 'k.o', options))[0]).toBe(path),
      );
      await withEnvironment({ HIPCC: undefined, ROCM_PATH: folder }, async () => {
        expect((await hostCommand('k', 'obj', 'k.o', options))[0]).toBe(path);
        const { bytes, record } = await buildHost('k', files, 'exe', options);
        expect(Buffer.from(bytes).toString('latin1', 1, 4)).toBe('ELF');
        expect(record).toMatchObject({ stage: 'exe', tool: 'hipcc' });
      });
    }));

  test('what fails is told without what old hipcc print about missing GPUs', () =>
    inFolder(async (folder) => {
      const options = { tools: { hipcc: standIn(folder) } };
      const broken = new Map([...files, ['k.c', '#error on purpose\n']]);
      const [d] = await diagnosticsOf(() => buildHost('k', broken, 'obj', options));
      expect(d!.code).toBe('TW3001');
      expect(d!.message).toMatch(/#error on purpose/);
      expect(d!.message).not.toMatch(/Traceback|kfd/);
    }));
});
