import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { example, inFolder, tilewright } from '../support/cli.js';
import { describeTool } from '../support/tools.js';

const matmul = ['examples/matmul.kernel.ts', '-D', 'dtype=f16'];

describe('--backend', () => {
  test('Mosaic GPU for AMD is refused at the line of the program, before any tool', async () => {
    const args = ['build', ...matmul, '--backend', 'mosaic_gpu', '--target', 'gfx942', '--ptxas', '/none', '-o', '-'];
    const { code, stderr } = await tilewright(args);
    expect(code).toBe(1);
    expect(stderr).toContain(
      'error[TW2032]: Mosaic GPU does not yet support AMD ROCm devices. Use `compilerParams: new pltriton.CompilerParams()` for ROCm.\n  --> examples/matmul.kernel.ts:',
    );
    expect(stderr).toContain('help: use `compilerParams: new pltriton.CompilerParams()`');
  });

  test('a stage of another back end', async () => {
    const { code, stderr } = await tilewright([
      'build',
      ...matmul,
      '--target',
      'sm_90',
      '--emit',
      'mgpu.mlir',
      '-o',
      '-',
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("error[TW2004]: target 'sm_90a' has no stage 'mgpu.mlir'");
  });

  test('one that does not exist', async () => {
    const { code, stderr } = await tilewright(['check', ...matmul, '--backend', 'cuda']);
    expect(code).toBe(2);
    expect(stderr).toContain('cpu or triton or mosaic_gpu');
  });
});

/** A file with a kernel that was ported from Pallas, in a folder of its own. */
const withPorted = (work: (cwd: string) => Promise<void>): Promise<void> =>
  inFolder((cwd) => {
    const source = `import { blockSpec, f32, pallasCall, shapeDtype } from 'tilewright';
export const ported = pallasCall({
  kernel: (x, o) => o.store(x.load()),
  outShape: shapeDtype([256], f32),
  grid: [2],
  inSpecs: [blockSpec([128], (i) => [i])],
  outSpecs: blockSpec([128], (i) => [i]),
})(shapeDtype([256], f32));
`;
    writeFileSync(join(cwd, 'ported.kernel.ts'), source);
    return work(cwd);
  });

test('pallasCall on Mosaic GPU: a warning, an error with -Werror, nothing with -Wno-', () =>
  withPorted(async (cwd) => {
    const check = ['check', 'ported.kernel.ts', '--target', 'sm_90a', '--backend', 'mosaic_gpu'];
    const warned = await tilewright(check, { cwd });
    expect([warned.code, warned.stdout]).toEqual([0, 'kernel: ok for sm_90a by triton or mosaic_gpu\n']);
    expect(warned.stderr).toMatch(
      /^warning\[TW2040\]: pallasCall is deprecated on the Mosaic GPU backend: migrate 'kernel' to plgpu\.warpgroupProgram \(or blockProgram\)\n +--> ported\.kernel\.ts:2:/,
    );
    expect((await tilewright([...check, '-Werror'], { cwd })).code).toBe(1);
    const quiet = await tilewright([...check, '-Wno-TW2040', '-Werror'], { cwd });
    expect([quiet.code, quiet.stderr]).toEqual([0, '']);
  }));

describeTool('mosaic', 'build by Mosaic GPU', () => {
  test(
    'stages, a dump, the way on from each, and the commands',
    () =>
      inFolder(async (cwd) => {
        const file = example('vector-add');
        const how = ['--target', 'sm_90', '--backend', 'mosaic_gpu'];
        const built = await tilewright(
          ['build', file, ...how, '--dump-dir', 'd', '--emit=mgpu.mlir,nvvm.mlir,cubin', '-o', 'o/'],
          { cwd },
        );
        expect([built.code, readdirSync(join(cwd, 'd')).sort()]).toEqual([
          0,
          [
            '00-vector_add.kir',
            '01-vector_add.lowered.kir',
            '02-vector_add.mgpu.mlir',
            '03-vector_add.nvvm.mlir',
            '04-vector_add.ptx',
            '05-vector_add.cubin',
            '06-vector_add.plan.json',
            'manifest.json',
          ],
        ]);
        const image = readFileSync(join(cwd, 'o/vector_add.sm_90a.cubin'));
        for (const stage of ['mgpu.mlir', 'nvvm.mlir']) {
          const on = await tilewright(['build', `o/vector_add.sm_90a.${stage}`, ...how, '-o', 'on.cubin'], { cwd });
          expect([stage, on.code]).toEqual([stage, 0]);
          expect(readFileSync(join(cwd, 'on.cubin'))).toEqual(image);
        }
        const { stdout } = await tilewright(['build', file, ...how, '-###', '-o', 'x.cubin'], { cwd });
        expect(stdout.split('\n').map((line) => /mosaic-worker\.py|--emit=ptx|ptxas\S*/.exec(line)?.[0])).toEqual([
          'mosaic-worker.py',
          '--emit=ptx',
          expect.stringMatching(/^ptxas/),
          undefined,
        ]);
      }),
    60_000,
  );
});
