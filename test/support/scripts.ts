import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A shell script that stands for a tool; gives its path. */
export function script(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}
