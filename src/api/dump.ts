/** `--dump-dir`: every stage of a compilation as a file, with the command that goes on from it. */

import { type CompileOptions, compile, cpuStageNames, type StageName } from './compile.js';
import type { AnyKernel, KernelSource } from './source.js';

export interface DumpFile {
  readonly file: string;
  readonly content: Uint8Array;
}

/** How a comment line starts in each stage's text; binary stages and JSON have none. */
const comments: Readonly<Partial<Record<StageName, string>>> = {
  kir: '//',
  'lowered.kir': '//',
  mlir: '//',
  'llvm.mlir': '//',
  ll: ';',
  s: '#',
};

/** What there is to see of a kernel that is interpreted. */
export const irStages: readonly StageName[] = ['kir', 'lowered.kir'];

/**
 * All stages in order as `NN-stage.ext`, and `manifest.json` with what each tool did. Nothing is read from the cache, so
 * the manifest's times and command lines are real.
 */
export async function dumpStages(
  kernel: AnyKernel | KernelSource,
  name: string,
  options: CompileOptions,
  stages: readonly StageName[] = cpuStageNames,
): Promise<DumpFile[]> {
  const compiled = await compile(kernel, { ...options, emit: stages, cache: false });
  const files: DumpFile[] = [];
  stages.forEach((stage, i) => {
    const extension = stage === 'obj' ? 'o' : stage;
    const file = `${String(i).padStart(2, '0')}-${name.replace(/[^\w.-]/g, '_')}.${extension}`;
    const sign = comments[stage];
    const head =
      sign && stage !== 's'
        ? `${sign} go on from here: tilewright build ${file} --start-from=${stage} --target ${compiled.target} -o kernel.so\n`
        : '';
    files.push({ file, content: Buffer.concat([Buffer.from(head), compiled.artifacts.get(stage)!]) });
  });
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
}
