import type { Command } from './command.js';

interface CommandEntry {
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** The commands in the order of help. Only the one that runs is loaded. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  explain: { load: () => import('./explain.js') },
};
