/**
 * Golden files of the CPU back end: comment lines with the target and a kernel, then the MLIR that it becomes.
 *
 *   // TARGET: cpu          what the code is for (and `LOCS` behind it to see the locations)
 *   // kernel @name { … }   the kernel, each line behind `// `
 *
 * BLESS=1 rewrites what follows. Where the tools are installed, every file is compiled by them too.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { buildCpu } from '../../../src/drivers/mlir.js';
import { parseModule } from '../../../src/ir/parser.js';
import { runPasses } from '../../../src/ir/pass.js';
import { loweringPipeline } from '../../../src/ir/passes/index.js';
import { verifyKernel } from '../../../src/ir/verifier.js';
import { lowerToCpu } from '../../../src/lowering/cpu/index.js';
import { renderMlir } from '../../../src/lowering/render.js';
import { asCpuTarget, parseTarget } from '../../../src/lowering/target.js';
import { describeTool } from '../../support/tools.js';

const folder = import.meta.dirname;
const files = readdirSync(folder)
  .filter((f) => f.endsWith('.mlir'))
  .sort();

/** Features that make `cpu:native` the same on every host. */
const avx512 = ['avx2', 'avx512f', 'avx512vl', 'avx512bw', 'avx512dq'];

function read(file: string): { header: string; expected: string; kernel: string; target: string; locs: boolean } {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const end = lines.findIndex((l) => !l.startsWith('//'));
  const header = lines.slice(0, end);
  const [, target, locs] = /^\/\/ TARGET: (\S+)( LOCS)?$/.exec(header[0]!)!;
  return {
    header: `${header.join('\n')}\n`,
    expected: lines.slice(end).join('\n'),
    kernel: header
      .slice(1)
      .map((l) => l.slice(3))
      .join('\n'),
    target: target!,
    locs: locs !== undefined,
  };
}

function lower(kernel: string, targetName: string, locs: boolean): string {
  const { module, diagnostics } = parseModule(kernel, 'case.kir');
  expect(diagnostics).toEqual([]);
  const [parsed] = module!.kernels;
  expect(verifyKernel(parsed!)).toEqual([]);
  const target = asCpuTarget(parseTarget(targetName, avx512));
  const symbols = parsed!.launches.map((l) => l.name);
  const lowered = lowerToCpu(runPasses(parsed!, loweringPipeline), { target: target.name, unit: target.unit, symbols });
  return renderMlir(lowered.module, { locs });
}

describe('MLIR for the CPU', () => {
  test.each(files)('%s', (file) => {
    const { header, expected, kernel, target, locs } = read(file);
    const printed = lower(kernel, target, locs);
    if (process.env.BLESS === '1') writeFileSync(join(folder, file), header + printed);
    else expect(printed).toBe(expected);
  });
});

describeTool('mlir', 'the tools take', () => {
  test.each(files)('%s', async (file) => {
    const { kernel, target } = read(file);
    const cpu = target === 'cpu' ? 'x86-64-v3' : 'x86-64-v4';
    const text = new TextEncoder().encode(lower(kernel, target, true));
    const { artifacts } = await buildCpu('mlir', text, ['obj'], { target: { cpu }, lineInfo: true });
    expect(artifacts.get('obj')!.length).toBeGreaterThan(0);
  });
});
