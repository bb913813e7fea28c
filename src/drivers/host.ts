/** What this machine's processor can do, without asking a tool. */

import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

export interface HostProcessor {
  readonly model: string;
  /** Feature names as Linux lists them, sorted; empty where it cannot be read. */
  readonly features: readonly string[];
  readonly threads: number;
}

export function hostProcessor(): HostProcessor {
  let features: string[] = [];
  try {
    const flags = /^flags\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? '';
    features = flags
      .split(' ')
      .filter((f) => f !== '')
      .sort();
  } catch {
    // Not Linux: the key is the model alone, and code is generated for the baseline.
  }
  return { model: cpus()[0]?.model ?? 'unknown', features, threads: availableParallelism() };
}
