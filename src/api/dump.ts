/** `--dump-dir`: every stage of a compilation as a file, with the command that goes on from it. */

import { optionFlags } from '../drivers/triton/options.js';
import { asTarget, type CompileOptions, compile, stagesOf } from './compile.js';
import type { AnyKernel, KernelSource } from './source.js';

export interface DumpFile {
  readonly file: string;
  readonly content: Uint8Array;
}

/** How a comment line starts in each stage's text; binary stages and JSON have none. */
const comments: Readonly<Record<string, string>> = {
  kir: '//',
  'lowered.kir': '//',
  mlir: '//',
  'llvm.mlir': '//',
  ll: ';',
  'mgpu.mlir': '//',
  'nvvm.mlir': '//',
  ttir: '//',
  ttgir: '//',
  llir: ';',
  ptx: '//',
  amdgcn: ';',
};

/** What a build from a dump ends with, by the kind of target. */
const ends: Readonly<Record<string, string>> = { cpu: 'so', nvidia: 'cubin', amd: 'hsaco' };

/** What there is to see of a kernel that is interpreted. */
export const irStages: readonly string[] = ['kir', 'lowered.kir'];

/**
 * All stages in order as `NN-stage.ext`, and `manifest.json` with what each tool did. Nothing is read from the cache, so
 * the manifest's times and command lines are real.
 */
export async function dumpStages(
  kernel: AnyKernel | KernelSource,
  name: string,
  options: CompileOptions,
  stages: readonly string[] = stagesOf(kernel, asTarget(options.target ?? 'cpu'), options),
): Promise<DumpFile[]> {
  const compiled = await compile(kernel, { ...options, emit: stages, cache: false });
  const target = asTarget(compiled.target);
  const end = ends[target.kind === 'gpu' ? target.vendor : 'cpu']!;
  const files: DumpFile[] = [];
  const { launches = [] } = compiled;
  for (const [key, bytes] of [...compiled.artifacts].sort(([a], [b]) => order(a) - order(b))) {
    const extension = key === 'obj' ? 'o' : key;
    const file = `${String(order(key)).padStart(2, '0')}-${name.replace(/[^\w.-]/g, '_')}.${extension}`;
    const stage = stages[order(key)]!;
    const sign = comments[stage];
    // Kernel IR carries its options itself.
    const launch = stage.endsWith('kir')
      ? undefined
      : launches.find((l) => key === stage || key.startsWith(`${l.name}.`));
    const flags = launch ? optionFlags(launch.options) : [];
    const command = ['tilewright', 'build', file, `--start-from=${stage}`, '--target', compiled.target, ...flags];
    const head = sign ? `${sign} go on from here: ${[...command, '-o', `kernel.${end}`].join(' ')}\n` : '';
    files.push({ file, content: Buffer.concat([Buffer.from(head), bytes]) });
  }
  const manifest = {
    kernel: compiled.kernel.name,
    target: compiled.target,
    stages: compiled.records.map(({ milliseconds, ...record }) => ({
      ...record,
      ms: Math.round(milliseconds * 10) / 10,
    })),
  };
  files.push({ file: 'manifest.json', content: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) });
  return files;

  /** Place of an artifact's stage among those that were asked for; a launch's own name may stand before it. */
  function order(key: string): number {
    const exact = stages.indexOf(key);
    return exact >= 0 ? exact : stages.findIndex((stage) => key.endsWith(`.${stage}`));
  }
}
