import type { Command } from './command.js';

interface CommandEntry {
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** The commands in the order of help. Only the one that runs is loaded. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  build: { load: () => import('./build.js') },
  run: { load: () => import('./run.js') },
  check: { load: () => import('./check.js') },
  opt: { load: () => import('./opt.js') },
  pack: { load: () => import('./pack.js') },
  reduce: { load: () => import('./reduce.js') },
  toolchain: { load: () => import('./toolchain.js') },
  cache: { load: () => import('./cache.js') },
  doctor: { load: () => import('./doctor.js') },
  explain: { load: () => import('./explain.js') },
};
