/** The one place that reads the environment. Everything else gets what it needs as arguments. */

import { homedir } from 'node:os';
import { join } from 'node:path';

const read = (name: string): string | undefined => process.env[name] || undefined;

/** Folder of everything that tilewright keeps for a user: tool sets, compiled kernels, probe results. */
export function cacheFolder(): string {
  return read('TILEWRIGHT_CACHE_DIR') ?? join(read('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'tilewright');
}

/** Path of a tool that the user names in the environment: `MLIR_OPT` for `mlir-opt`, `CC` for `cc`. */
export function toolFromEnvironment(tool: string): string | undefined {
  return read(tool.toUpperCase().replaceAll('-', '_'));
}

/** Folders that commands are looked up in. */
export const searchPath = (): string[] => (read('PATH') ?? '').split(':').filter((p) => p !== '');

/** Tool sets whose absence fails tests instead of skipping them. */
export const requiredTools = (): string[] =>
  (read('TILEWRIGHT_REQUIRE_TOOLS') ?? '').split(',').filter((t) => t !== '');

/** What a tool sees of the environment: enough to run, nothing that changes what it does. */
export function childEnvironment(): Record<string, string> {
  const kept = [
    'PATH',
    'HOME',
    'TMPDIR',
    'LD_LIBRARY_PATH',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'HTTPS_PROXY',
    'HTTP_PROXY',
    'NO_PROXY',
  ];
  const environment: Record<string, string> = { LANG: 'C', LC_ALL: 'C', TZ: 'UTC' };
  for (const name of kept) {
    const value = read(name);
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

/** What a package installer needs besides: the user's own settings of pip and uv. */
export function installerEnvironment(): Record<string, string> {
  const settings = Object.entries(process.env).filter(([name]) => /^(PIP|UV|PYENV|REQUESTS|CURL)_/.test(name));
  return { ...childEnvironment(), ...(Object.fromEntries(settings) as Record<string, string>) };
}
