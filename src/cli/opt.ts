import { cliCodes } from '../diagnostics/codes/cli.js';
import { writeOutputs } from '../drivers/files.js';
import { defineCommand } from './command.js';
import { passFlags } from './flags.js';
import { passHooks } from './pass-printing.js';
import { readText } from './sources.js';
import { UsageError } from './usage-error.js';

export const command = defineCommand({
  summary: 'run passes over kernel IR',
  notes: 'FILE is a .kir file, or - for standard input. The result goes to standard output, or to -o FILE.',
  operands: { synopsis: 'FILE.kir', min: 0, max: 1 },
  flags: ['pipeline', 'list', 'output', ...passFlags],
  async run(args, session) {
    const { flags, operands } = args;
    const { passes, passRegistry } = await import('../ir/passes/index.js');
    if (flags.list) {
      for (const { name, summary } of passes) await session.print(`${name.padEnd(18)} ${summary}\n`);
      await session.print(`${'lower'.padEnd(18)} All passes that lead to lowered.kir, in order.\n`);
      return 0;
    }
    const [file] = operands;
    if (file === undefined) throw new UsageError([cliCodes.missingOperand({ command: 'opt', operand: 'FILE.kir' })]);
    const { readKernels } = await import('../api/source.js');
    const { parsePipeline, runPasses } = await import('../ir/pass.js');
    const { printKernel } = await import('../ir/printer.js');
    const pipeline = parsePipeline(flags.pipeline ?? '', passRegistry);
    const hooks = await passHooks(args, session);
    const kernels = readKernels(await readText(file), file === '-' ? '<stdin>' : file, process.cwd());
    const text = kernels.map((k) => printKernel(runPasses(k.kernel, pipeline, hooks))).join('\n');
    if (flags.output === undefined || flags.output === '-') await session.print(text);
    else await writeOutputs([{ path: flags.output, content: text }]);
    return 0;
  },
});
