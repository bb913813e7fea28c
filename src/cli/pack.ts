import { join } from 'node:path';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import { buildFlags, compileOptions } from './build.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

export const command = defineCommand({
  summary: 'make a bundle to run on a machine with a GPU',
  notes:
    'For each kernel: a program with the images of all targets and of the CPU, inputs, expected outputs, tolerances; and run.sh, which runs all of them, compares, times and writes results.json. The bundle needs a driver and libc only. Sizes and inputs that --input does not give are chosen.',
  operands: { synopsis: 'FILE…', min: 1, max: Number.POSITIVE_INFINITY },
  flags: ['kernels', 'defines', 'targets', 'inputs', 'output', ...buildFlags],
  async run(args, session) {
    const { flags, operands } = args;
    if (flags.output === undefined || flags.output === '-')
      throw new UsageError([cliCodes.badValue({ flag: '-o', expected: 'a folder', got: flags.output ?? 'nothing' })]);
    const { kernelsOf } = await import('./sources.js');
    const { packKernel, packPrograms } = await import('../api/pack.js');
    const { readNpy } = await import('../api/npy.js');
    const { writeOutputs } = await import('../drivers/files.js');
    const { withTritonWorker } = await import('../drivers/triton/worker.js');
    const { withMosaicWorker } = await import('../drivers/mosaic/worker.js');
    const options = compileOptions(args, session);
    const given: Record<string, Parameters<typeof packKernel>[3][string]> = {};
    for (const b of flags.inputs)
      if (b.kind === 'number') given[b.name] = b.value;
      else if (b.kind === 'file') given[b.name] = await readNpy(b.path, b.dtype);
      else
        throw new UsageError([
          cliCodes.badValue({ flag: '--input', expected: 'a number or @FILE.npy', got: `${b.name}=random:${b.seed}` }),
        ]);
    const files = await packPrograms();
    const taken = new Set<string>();
    let left = 0;
    await withTritonWorker({ python: options.pythons?.triton }, (worker) =>
      withMosaicWorker({ python: options.pythons?.mosaic }, async (mosaicWorker) => {
        for (const file of operands)
          for (const { name, kernel } of await kernelsOf(file, flags.kernels, flags.defines)) {
            if (taken.has(name))
              throw new UsageError([
                cliCodes.sameOutput({
                  path: join(flags.output!, name),
                  first: `kernel '${name}'`,
                  second: `'${name}' of ${file}`,
                }),
              ]);
            taken.add(name);
            const packed = await packKernel(kernel, name, flags.targets, given, {
              ...options,
              worker,
              mosaicWorker,
            }).catch((error: unknown) => {
              // What the interpreter finds is that chosen inputs do not fit together; the others are packed.
              const found = error instanceof CompileError && error.diagnostics.every((d) => d.code.startsWith('TW5'));
              if (!found) throw error;
              session.reporter.report(error.diagnostics);
              return undefined;
            });
            if (!packed) {
              session.reporter.say(`${name} is left out: its inputs must be given by --input`);
              left++;
              continue;
            }
            files.push(...packed);
            session.reporter.say(`${join(flags.output!, name)}  ${['cpu', ...flags.targets].join(', ')}`);
          }
      }),
    );
    await writeOutputs(
      files.map((f) => ({ ...f, path: join(flags.output!, f.path) })),
      true,
    );
    session.reporter.say(`run it with ${join(flags.output, 'run.sh')} cuda, hip or cpu`);
    return left > 0 ? 1 : 0;
  },
});
