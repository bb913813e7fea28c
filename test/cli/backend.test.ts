import { describe, expect, test } from '@jest/globals';
import { tilewright } from '../support/cli.js';

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
