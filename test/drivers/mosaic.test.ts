import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ForkServer } from '../../src/drivers/fork-server.js';
import { buildMosaic, type MosaicBuild, type MosaicJob } from '../../src/drivers/mosaic/stages.js';
import { withMosaicWorker } from '../../src/drivers/mosaic/worker.js';
import { inFolder } from '../support/cli.js';
import { asNvidiaTarget } from '../support/gpu.js';
import { diagnosticsOf } from '../support/thrown.js';
import { describeTool } from '../support/tools.js';

const source = readFileSync(fileURLToPath(new URL('../support/mgpu/exp-matmul.mgpu.mlir', import.meta.url)), 'utf8');
const text = (build: MosaicBuild, stage: 'nvvm.mlir' | 'ptx'): string =>
  Buffer.from(build.artifacts.get(stage)!).toString('utf8');

describeTool('mosaic', 'the Mosaic GPU worker and the tools behind it', () => {
  let worker: ForkServer;
  let done: () => void = () => {};
  let scope: Promise<unknown> = Promise.resolve();
  beforeAll(async () => {
    await new Promise<void>((ready) => {
      scope = withMosaicWorker({}, (w) => {
        worker = w;
        ready();
        return new Promise<void>((end) => {
          done = end;
        });
      });
    });
  });
  afterAll(async () => {
    done();
    await scope;
  });

  const job = (input: string, more: Partial<MosaicJob> = {}): MosaicJob => ({
    from: 'mgpu.mlir',
    input: Buffer.from(input),
    wanted: ['nvvm.mlir', 'ptx', 'cubin'],
    target: asNvidiaTarget('sm_90a'),
    lineInfo: true,
    ...more,
  });

  test('text to a cubin: TMA and wgmma, and what the launch needs', async () => {
    const build = await buildMosaic(worker, job(source));
    expect(text(build, 'nvvm.mlir')).not.toContain('"mosaic_gpu.');
    expect(text(build, 'ptx')).toMatch(/wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.f16\.f16/);
    expect(text(build, 'ptx')).toMatch(/cp\.async\.bulk\.tensor\.\dd\.shared::cluster/);
    expect(Buffer.from(build.artifacts.get('cubin')!).subarray(1, 4).toString()).toBe('ELF');
    expect(build.metadata).toMatchObject({
      symbol: 'mm_mosaic_gpu_kernel',
      threads: 128,
      sharedBytes: 57352,
      cluster: null,
      params: [{ kind: 'tensorMaps', bytes: 384 }],
    });
    // One swizzle wide: a box of the array's own rank, clipped at its true bounds.
    expect(build.metadata!.tensorMaps[0]).toEqual({ slot: 0, offset: 0, elementType: 5, swizzle: 128, box: [64, 64] });
    expect(build.resources).toMatchObject({ threads: 128, sharedBytes: 57352, spills: 0 });
    expect(build.records.map((r) => r.tool)).toEqual(
      ['mosaic', 'mlir-opt', 'mlir-opt', 'mlir-translate', 'llvm-link', 'opt', 'llc', 'ptxas-blackwell'].filter(
        (t) => t !== 'llvm-link' || build.records.some((r) => r.tool === t),
      ),
    );
  });

  test('the same bytes again, and for Blackwell from the lowered module', async () => {
    const first = await buildMosaic(worker, job(source));
    const again = await buildMosaic(worker, job(source));
    for (const stage of ['nvvm.mlir', 'ptx', 'cubin'] as const)
      expect(again.artifacts.get(stage)).toEqual(first.artifacts.get(stage));
    const on = job('', { from: 'nvvm.mlir', input: first.artifacts.get('nvvm.mlir')!, wanted: ['cubin'] });
    expect((await buildMosaic(worker, on)).artifacts.get('cubin')).toEqual(first.artifacts.get('cubin'));
  });

  const errorOf = async (input: string): Promise<string> => {
    const [d] = await diagnosticsOf(() => buildMosaic(worker, job(input, { wanted: ['nvvm.mlir'] })));
    const at = d!.loc.kind === 'file' ? ` at ${d!.loc.file}:${d!.loc.line}:${d!.loc.col}` : '';
    return `${d!.code}${at}: ${d!.message}`;
  };
  /** The module with another op in place of the exponential, at a line of the user's. */
  const instead = (op: string): string =>
    source.replace('math.exp %d : vector<64x128xf32>', `${op} : vector<64x128xf32> loc("kernel.ts":12:7)`);

  test('what the parser, the verifier and the lowering refuse, at the user’s line', async () => {
    const unknown = source.replace('"mosaic_gpu.optimization_barrier"(%z)', '"mosaic_gpu.barrierx"(%z)');
    expect(await errorOf(unknown)).toMatch(/^TW3\d\d\d.*unregistered operation 'mosaic_gpu.barrierx'/);
    expect(await errorOf(instead('math.atanh2 %d'))).toMatch(/^TW3\d\d\d at kernel\.ts:12:7: .*math\.atanh2/);
    expect(await errorOf(instead('math.clampf %d to [%z, %z]'))).toMatch(
      /^TW3\d\d\d at kernel\.ts:12:7: .*Mosaic GPU has no layout rule for math\.clampf/,
    );
    expect((await buildMosaic(worker, job(instead('math.sqrt %d'), { wanted: ['ptx'] }))).metadata).toBeDefined();
  });

  test('a module that says nothing of a kernel costs that job only', async () => {
    expect(await errorOf('module {}')).toMatch(/^TW3/);
    expect((await buildMosaic(worker, job(source, { wanted: ['nvvm.mlir'] }))).metadata?.threads).toBe(128);
  });
});

test('a worker of another version of JAX, and one that ends midway, are errors of their own', () =>
  inFolder(async (folder) => {
    const python = (name: string, lines: readonly string[]): string => {
      const path = join(folder, name);
      writeFileSync(path, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
      return path;
    };
    const errorOf = async (path: string): Promise<string> => {
      const target = asNvidiaTarget('sm_90a');
      const job: MosaicJob = {
        from: 'mgpu.mlir',
        input: Buffer.from(source),
        wanted: ['nvvm.mlir'],
        target,
        lineInfo: true,
      };
      const [d] = await diagnosticsOf(() => withMosaicWorker({ python: path }, (w) => buildMosaic(w, job)));
      return `${d!.code} ${d!.message}`;
    };
    const hello = (version: string): string => `echo '{"ready": true, "version": "${version}"}'`;
    const other = await errorOf(python('other', [hello('0.11.1'), 'cat']));
    expect(other).toMatch(/0\.11\.1.*JAX 0\.10\.2|JAX 0\.10\.2.*0\.11\.1/);
    const gone = await errorOf(python('gone', [hello('0.10.2'), 'read request', 'exit 7']));
    expect(gone).toMatch(/^TW3042 the worker of mosaic ended with exit code 7/);
  }));
