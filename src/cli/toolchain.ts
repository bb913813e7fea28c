import { cliCodes } from '../diagnostics/codes/cli.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { defineCommand, type Session } from './command.js';
import { UsageError } from './usage-error.js';

const actions = ['install', 'list', 'path'];

export const command = defineCommand({
  summary: 'install and find pinned tools',
  notes:
    'install [SET…] installs tool sets into the cache folder, without root; list shows them; path SET[:TOOL] prints where one lies.',
  operands: { synopsis: 'install [SET…] | list | path SET[:TOOL]', min: 1, max: Number.POSITIVE_INFINITY },
  flags: [],
  async run({ operands }, session) {
    const [action, ...rest] = operands;
    const drivers = await import('../drivers/toolchain.js');
    switch (action) {
      case 'install':
        return install(rest, session);
      case 'list':
        for (const set of drivers.setNames) {
          const state = (await drivers.isInstalled(set)) ? 'installed' : 'not installed';
          await session.print(`${set.padEnd(8)} ${state.padEnd(14)} ${drivers.toolSets[set].summary}\n`);
        }
        return 0;
      case 'path': {
        const [set = '', tool] = (rest[0] ?? '').split(':');
        const name = drivers.asSetName(set);
        const path = tool === undefined ? await drivers.setFolder(name) : await drivers.setTool(tool, [name]);
        if (path === undefined || !(await drivers.isInstalled(name))) throw drivers.notInstalled(rest[0] ?? '');
        await session.print(`${path}\n`);
        return 0;
      }
      default: {
        const help = didYouMean(action!, actions) ?? `one of ${actions.join(', ')}`;
        throw new UsageError([
          cliCodes.badValue({ flag: 'toolchain', expected: actions.join(' or '), got: action! }, { help }),
        ]);
      }
    }
  },
});

async function install(sets: readonly string[], { reporter, signal }: Session): Promise<number> {
  const { asSetName, installSet, setNames } = await import('../drivers/toolchain.js');
  for (const set of sets.length > 0 ? sets.map(asSetName) : setNames) {
    const { folder, installed } = await installSet(set, { onProgress: (line) => reporter.say(line), signal });
    reporter.say(installed ? `tool set '${set}' is installed in ${folder}` : `tool set '${set}' is there already`);
  }
  return 0;
}
