import { cliCodes } from '../diagnostics/codes/cli.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { defineCommand } from './command.js';
import { sizeText } from './size-text.js';
import { UsageError } from './usage-error.js';

const actions = ['stats', 'prune', 'verify'] as const;
type Action = (typeof actions)[number];

const isAction = (text: string): text is Action => (actions as readonly string[]).includes(text);

export const command = defineCommand({
  summary: 'look at the cache of artifacts, shrink it, check it',
  notes:
    'stats says what it holds; prune takes away what was not used for longest, down to --max-size, and what killed processes left; verify reads every entry, takes away those that are not whole, and ends with 1 where there were any. A cache stays below 2 GiB by itself.',
  operands: { synopsis: 'stats | prune | verify', min: 1, max: 1 },
  flags: ['cacheDir', 'maxSize', 'json'],
  async run({ operands, flags }, session) {
    const action = operands[0]!;
    if (!isAction(action)) {
      const help = didYouMean(action, [...actions]) ?? `one of ${actions.join(', ')}`;
      throw new UsageError([
        cliCodes.badValue({ flag: 'cache', expected: actions.join(' or '), got: action }, { help }),
      ]);
    }
    const { cacheFolder } = await import('../drivers/environment.js');
    const entries = await import('../drivers/cache-entries.js');
    const folder = flags.cacheDir ?? `${cacheFolder()}/artifacts`;
    const tell = (facts: object, text: string): Promise<void> =>
      session.print(flags.json ? `${JSON.stringify({ folder, ...facts })}\n` : `${text}\n`);
    switch (action) {
      case 'stats': {
        const all = await entries.storedEntries(folder);
        const bytes = all.reduce((sum, e) => sum + e.bytes, 0);
        const limit = entries.defaultLimit;
        await tell(
          { entries: all.length, bytes, limit },
          `${folder}: ${all.length} entries, ${sizeText(bytes)} of ${sizeText(limit)}`,
        );
        return 0;
      }
      case 'prune': {
        const pruned = await entries.prune(folder, flags.maxSize ?? entries.defaultLimit);
        await tell(
          pruned,
          `${folder}: ${pruned.entries} entries (${sizeText(pruned.bytes)}) and ${pruned.leftovers} leftovers taken away`,
        );
        return 0;
      }
      case 'verify': {
        const { entries: count, damaged } = await entries.verify(folder);
        await tell(
          { entries: count, damaged },
          [`${folder}: ${count} entries, ${damaged.length} of them damaged and taken away`, ...damaged].join('\n'),
        );
        return damaged.length > 0 ? 1 : 0;
      }
    }
  },
});
