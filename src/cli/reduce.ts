import { cliCodes } from '../diagnostics/codes/cli.js';
import { CompileError } from '../diagnostics/diagnostic.js';
import type { Outcome } from '../drivers/run.js';
import type { Kernel } from '../ir/kernel.js';
import { defineCommand } from './command.js';
import { readText } from './sources.js';
import { UsageError } from './usage-error.js';

/** How a command failed, as far as it tells: another failure of a smaller kernel is another bug. */
const symptomOf = ({ exitCode, signal, timedOut, stderr }: Outcome): string =>
  timedOut ? 'time-out' : `${exitCode ?? signal} ${/\b(?:error|warning)\[(TW\d{4})\]/.exec(stderr)?.[1] ?? ''}`;

export const command = defineCommand({
  summary: 'shrink kernel IR that makes a command fail',
  notes:
    'COMMAND is run with FILE.kir in its arguments replaced by smaller and smaller kernels. One stays as long as the command fails in the same way: the same exit code or signal, and the same first diagnostic. The smallest goes to -o, or to FILE.reduced.kir.',
  operands: { synopsis: 'FILE.kir -- COMMAND…', min: 2, max: Number.POSITIVE_INFINITY },
  flags: ['output'],
  async run({ operands, flags }, session) {
    const [file, tool, ...args] = operands as [string, string, ...string[]];
    if (![tool, ...args].includes(file))
      throw new UsageError([
        cliCodes.badValue({
          flag: 'COMMAND',
          expected: `a command that names ${file}`,
          got: [tool, ...args].join(' '),
        }),
      ]);
    const { readKernels } = await import('../api/source.js');
    const { printKernel } = await import('../ir/printer.js');
    const { reduceKernels } = await import('../ir/reduce-kernel.js');
    const { run } = await import('../drivers/run.js');
    const { withWorkspace } = await import('../drivers/workspace.js');
    const { writeOutputs } = await import('../drivers/files.js');
    const { fullEnvironment } = await import('../drivers/environment.js');

    const kernels = readKernels(await readText(file), file, process.cwd()).map((k) => k.kernel);
    const textOf = (list: readonly Kernel[]): string => list.map((k) => printKernel(k)).join('\n');
    return withWorkspace(async (folder) => {
      const candidate = `${folder}/reduced.kir`;
      const attempt = async (list: readonly Kernel[]): Promise<Outcome> => {
        await writeOutputs([{ path: candidate, content: textOf(list) }]);
        const replaced = args.map((a) => (a === file ? candidate : a));
        return run(tool, tool, replaced, { env: fullEnvironment(), signal: session.signal });
      };
      const first = await attempt(kernels);
      if (first.ok)
        throw new CompileError([
          cliCodes.nothingToReduce({ command: [tool, ...args].join(' ') }, { help: 'a command that fails is needed' }),
        ]);
      const symptom = symptomOf(first);
      session.reporter.say(`the command fails (${symptom.trim()}); reducing`);
      const reduced = await reduceKernels(
        kernels,
        async (list) => !session.signal.aborted && symptomOf(await attempt(list)) === symptom,
        (ops) => session.reporter.say(`${ops} ops`),
      );
      const output = flags.output ?? file.replace(/(\.kir)?$/, '.reduced.kir');
      if (output === '-') await session.print(textOf(reduced));
      else {
        await writeOutputs([{ path: output, content: textOf(reduced) }]);
        session.reporter.say(output);
      }
      return 0;
    });
  },
});
