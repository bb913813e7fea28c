/** The one place that reads the environment. Everything else gets what it needs as arguments. */

import { homedir } from 'node:os';
import { join } from 'node:path';

const read = (name: string): string | undefined => process.env[name] || undefined;

/** Folder of everything that tilewright keeps for a user: tool sets, compiled kernels, probe results. */
export function cacheFolder(): string {
  return read('TILEWRIGHT_CACHE_DIR') ?? join(read('XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'tilewright');
}

/** What the server of `--remote-cache` wants to see. It has no flag: command lines are read by others. */
export const remoteCacheToken = (): string | undefined => read('TILEWRIGHT_REMOTE_CACHE_TOKEN');

/** Path of a tool that the user names in the environment: `MLIR_OPT` for `mlir-opt`, `CC` for `cc`. */
export function toolFromEnvironment(tool: string): string | undefined {
  return read(tool.toUpperCase().replaceAll('-', '_'));
}

/** Where a vendor's own installation would have a tool: `CUDA_HOME/bin/nvcc`, `ROCM_PATH/bin/hipcc`. */
export function toolOfInstallation(tool: string): string | undefined {
  const home = { nvcc: read('CUDA_HOME'), hipcc: read('ROCM_PATH') }[tool];
  return home && join(home, 'bin', tool);
}

/** Folders that commands are looked up in. */
export const searchPath = (): string[] => (read('PATH') ?? '').split(':').filter((p) => p !== '');

/** The user's environment, for commands of the user's. */
export const fullEnvironment = (): Record<string, string> => matching(/^/);

/** Whether kernels that leave it open are compiled by Mosaic GPU. */
export const useMosaicGpu = (): boolean => ['1', 'true'].includes(read('TILEWRIGHT_USE_MOSAIC_GPU') ?? '');

/** Tool sets whose absence fails tests instead of skipping them. */
export const requiredTools = (): string[] =>
  (read('TILEWRIGHT_REQUIRE_TOOLS') ?? '').split(',').filter((t) => t !== '');

/** What a tool sees of the environment: enough to run, nothing that changes what it does. */
export function childEnvironment(): Record<string, string> {
  return { LANG: 'C', LC_ALL: 'C', TZ: 'UTC', ...matching(/^(PATH|HOME|TMPDIR|LD_LIBRARY_PATH)$/) };
}

/** The libraries that a driver is looked for as, best first. */
export function driverLibraries(api: 'cuda' | 'hip'): readonly string[] {
  const given = read(`TILEWRIGHT_${api.toUpperCase()}_LIB`);
  if (given !== undefined) return [given];
  return api === 'cuda' ? ['libcuda.so.1'] : ['7', '6', '5'].map((v) => `libamdhip64.so.${v}`).concat('libamdhip64.so');
}

/** What programs that use a GPU see besides: which driver, and which devices. */
export function deviceEnvironment(): Record<string, string> {
  return { ...childEnvironment(), ...matching(/^(TILEWRIGHT_(CUDA|HIP)_LIB|(CUDA|HIP|ROCR|GPU|NVIDIA)_\w+)$/) };
}

/** What a package installer sees besides: how the user reaches the network, and settings of pip, uv and pyenv. */
export function installerEnvironment(): Record<string, string> {
  return {
    ...childEnvironment(),
    ...matching(/^(PIP|UV|PYENV|REQUESTS|CURL|SSL|XDG)_/),
    ...matching(/^(HTTP|HTTPS|ALL|NO)_PROXY$/i),
  };
}

function matching(names: RegExp): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value && names.test(name)) found[name] = value;
  return found;
}
