import { describe, expect, test } from '@jest/globals';
import type { CompileError } from '../../src/diagnostics/diagnostic.js';
import { optionFlags, parseOption, resolveOptions } from '../../src/drivers/triton/options.js';
import { CompilerParams } from '../../src/frontend/triton.js';
import { findGpuTarget } from '../../src/lowering/gpu-target.js';

const target = (name: string) => findGpuTarget(name)!;
const refusal = (given: Record<string, string | number | boolean>, name: string): string => {
  try {
    resolveOptions(given, target(name));
  } catch (error) {
    const [d] = (error as CompileError).diagnostics;
    return `${d!.code} ${d!.message}${d!.help === undefined ? '' : ` (${d!.help})`}`;
  }
  return 'accepted';
};

describe('options of Triton', () => {
  test('all that change the result are explicit', () => {
    expect(resolveOptions({}, target('sm_90a'))).toEqual({
      num_warps: 4,
      num_stages: 3,
      num_ctas: 1,
      enable_fp_fusion: false,
      enable_reflect_ftz: false,
    });
    expect(resolveOptions({}, target('gfx942'))).toEqual({
      num_warps: 4,
      num_stages: 2,
      num_ctas: 1,
      enable_fp_fusion: false,
      waves_per_eu: 0,
      matrix_instr_nonkdim: 0,
      kpack: 1,
      allow_flush_denorm: false,
    });
  });

  test('names of CompilerParams and of Triton mean the same; the order does not matter', () => {
    const a = resolveOptions({ numWarps: 8, maxnreg: 128 }, target('sm_80'));
    expect(a).toEqual(resolveOptions({ maxnreg: 128, num_warps: 8 }, target('sm_80')));
    expect(JSON.stringify(a)).toBe(JSON.stringify(resolveOptions({ maxnreg: 128, num_warps: 8 }, target('sm_80'))));
  });

  test('what only the other vendor has is passed over', () => {
    const given = { numWarps: 8, wavesPerEu: 2, kpack: 2, maxnreg: 64 };
    expect(resolveOptions(given, target('sm_90a'))).toMatchObject({ num_warps: 8, maxnreg: 64 });
    expect(resolveOptions(given, target('sm_90a'))).not.toHaveProperty('kpack');
    expect(resolveOptions(given, target('gfx942'))).toMatchObject({ waves_per_eu: 2, kpack: 2 });
  });

  test.each([
    [{ numWarp: 8 }, 'sm_90a', "TW2010 back end triton has no option 'numWarp' (did you mean 'numWarps'?)"],
    [{ num_warp: 8 }, 'sm_90a', "TW2010 back end triton has no option 'num_warp' (did you mean 'num_warps'?)"],
    [{ numWarps: 3 }, 'sm_90a', "TW2011 option 'numWarps' for 'sm_90a': expected a power of two up to 32, got 3"],
    [{ numWarps: 32 }, 'gfx942', "TW2011 option 'numWarps' for 'gfx942': expected a power of two up to 16, got 32"],
    [{ numWarps: 32 }, 'gfx1100', 'accepted'],
    [{ numWarps: 'many' }, 'sm_80', "TW2011 option 'numWarps' for 'sm_80': expected a power of two up to 32, got many"],
    [{ numStages: 0 }, 'sm_80', "TW2011 option 'numStages' for 'sm_80': expected a whole number from 1 to 16, got 0"],
    [{ numCtas: 2 }, 'sm_80', "TW2011 option 'numCtas' for 'sm_80': expected 1: this target has no clusters, got 2"],
    [{ numCtas: 4 }, 'sm_90a', 'accepted'],
    [{ numCtas: 2 }, 'gfx950', "TW2011 option 'numCtas' for 'gfx950': expected 1: this target has no clusters, got 2"],
    [{ maxnreg: 300 }, 'sm_80', "TW2011 option 'maxnreg' for 'sm_80': expected a whole number from 16 to 255, got 300"],
    [{ kpack: 2 }, 'gfx950', "TW2011 option 'kpack' for 'gfx950': expected 1 on gfx950, got 2"],
    [
      { matrixInstrNonkdim: 8 },
      'gfx942',
      "TW2011 option 'matrixInstrNonkdim' for 'gfx942': expected 0 (the compiler chooses), 4, 16 or 32, got 8",
    ],
    [{ enableFpFusion: 1 }, 'sm_80', "TW2011 option 'enableFpFusion' for 'sm_80': expected true or false, got 1"],
  ])('%j for %s', (given, name, expected) => {
    expect(refusal(given as never, name)).toBe(expected);
  });

  test('everything that CompilerParams takes is known', () => {
    const params = new CompilerParams({
      numWarps: 8,
      numStages: 2,
      numCtas: 1,
      maxnreg: 128,
      enableFpFusion: true,
      wavesPerEu: 2,
      matrixInstrNonkdim: 16,
      kpack: 1,
    });
    for (const name of ['sm_90a', 'gfx942']) expect(refusal(params.options, name)).toBe('accepted');
  });

  test('the command line writes and reads them', () => {
    expect(['num_warps=8', 'enable_fp_fusion=True', 'launch=', 'wgp_cu_mode=cu', 'x'].map(parseOption)).toEqual([
      ['num_warps', 8],
      ['enable_fp_fusion', true],
      ['launch', ''],
      ['wgp_cu_mode', 'cu'],
      ['x', true],
    ]);
    const options = resolveOptions({ numWarps: 8 }, target('gfx942'));
    const flags = optionFlags(options).filter((f) => f !== '-Xtriton');
    expect(resolveOptions(Object.fromEntries(flags.map(parseOption)), target('gfx942'))).toEqual(options);
  });
});
