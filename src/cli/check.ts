import { defineCommand } from './command.js';
import { passFlags, passHooks } from './pass-printing.js';
import { kernelsOf } from './sources.js';

export const command = defineCommand({
  summary: 'check kernels without running any tool',
  notes: 'Types, verifier, valid extents, and what the target supports. Prints one line per kernel and target.',
  operands: { synopsis: 'FILE…', min: 1, max: Number.POSITIVE_INFINITY },
  flags: ['kernels', 'defines', 'targets', ...passFlags],
  async run(args, session) {
    const { flags, operands } = args;
    const { lower } = await import('../api/compile.js');
    const { withDisplayLocations } = await import('../api/source.js');
    const hooks = await passHooks(args, session);
    const targets = flags.targets.length > 0 ? flags.targets : ['cpu'];
    for (const file of operands)
      for (const { name, kernel } of await kernelsOf(file, flags.kernels, flags.defines))
        for (const target of targets) {
          const { source, plan } = await withDisplayLocations(kernel.folder, () => lower(kernel, target, hooks));
          session.reporter.report(source.warnings);
          const bill = plan.launches.map(
            (l) => `${l.symbol}: ${(l.scratchBytes / 1024).toFixed(1)} KiB of scratch per thread`,
          );
          await session.print(`${name}: ok for ${target} (${bill.join('; ')})\n`);
        }
    return 0;
  },
});
