/** What `--print-ir-*` and `--time-passes` show of the passes. */

import type { PassHooks } from '../ir/pass.js';
import { printKernel } from '../ir/printer.js';
import type { Arguments } from './arguments.js';
import type { Session } from './command.js';
import type { passFlags } from './flags.js';

/** Hooks that print what the flags ask for. `diff` is loaded by the caller only when it is needed. */
export async function passHooks(
  { flags }: Arguments<(typeof passFlags)[number]>,
  { reporter }: Session,
): Promise<PassHooks> {
  const { printAfter, printAfterAll, printDiff, timePasses } = flags;
  const diff = printDiff ? await import('diff') : undefined;
  return {
    after(pass, before, after, milliseconds) {
      if (timePasses) reporter.say(`${milliseconds.toFixed(2).padStart(9)} ms  ${pass}`);
      if (printAfterAll || printAfter.includes(pass)) reporter.say(`// after ${pass}\n${printKernel(after).trimEnd()}`);
      if (diff) {
        const patch = diff.createTwoFilesPatch('before', 'after', printKernel(before), printKernel(after), '', '');
        reporter.say(before === after ? `// ${pass}: no change` : `// ${pass}\n${patch.trimEnd()}`);
      }
    },
  };
}
