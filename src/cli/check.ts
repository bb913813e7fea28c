import { defineCommand } from './command.js';
import { passFlags } from './flags.js';
import { passHooks } from './pass-printing.js';
import { kernelsOf } from './sources.js';

export const command = defineCommand({
  summary: 'check kernels without running any tool',
  notes:
    'Types, verifier, valid extents, and what the target supports. Prints one line per kernel and target, for GPUs with the back ends that compile it.',
  operands: { synopsis: 'FILE…', min: 1, max: Number.POSITIVE_INFINITY },
  flags: ['kernels', 'defines', 'targets', 'backend', 'xTriton', ...passFlags],
  async run(args, session) {
    const { flags, operands } = args;
    const { checkKernel, supportedBackends } = await import('../api/compile.js');
    const { withDisplayLocations } = await import('../api/source.js');
    const hooks = await passHooks(args, session);
    const { parseOption } = await import('../drivers/triton/options.js');
    const backendOptions = Object.fromEntries(flags.xTriton.map(parseOption));
    const targets = flags.targets.length > 0 ? flags.targets : ['cpu'];
    for (const file of operands)
      for (const { name, kernel } of await kernelsOf(file, flags.kernels, flags.defines))
        for (const target of targets) {
          const { warnings, bill } = await withDisplayLocations(kernel.folder, () =>
            checkKernel(kernel, target, {
              hooks,
              backendOptions,
              ...(flags.backend === undefined ? {} : { backend: flags.backend }),
            }),
          );
          session.reporter.report(warnings);
          const backends = target.startsWith('cpu') ? [] : supportedBackends(kernel, target);
          const by = backends.length > 0 ? ` by ${backends.join(' or ')}` : '';
          await session.print(`${name}: ok for ${target}${by}${bill.length > 0 ? ` (${bill.join('; ')})` : ''}\n`);
        }
    return 0;
  },
});
