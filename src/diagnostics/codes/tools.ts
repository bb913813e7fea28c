import { defineCode } from '../diagnostic.js';

/** Tools and what they do to a run (TW3xxx). */
export const toolCodes = {
  toolFailed: defineCode<{ tool: string; how: string; cause: string }>(
    'TW3001',
    'error',
    'a tool failed',
    'A compiler tool ended with an error. For a kernel that `tilewright check` accepts this is a bug in tilewright; the command line in the notes reproduces it.',
    ({ tool, how, cause }) => `${tool} ${how}${cause ? `: ${cause}` : ''}`,
  ),
  toolMissing: defineCode<{ tool: string }>(
    'TW3002',
    'error',
    'a tool is missing',
    'A compiler tool was found in none of the places that are looked at: its flag, the environment, the installed tool sets, PATH.',
    ({ tool }) => `${tool} was not found`,
  ),
  toolVersion: defineCode<{ tool: string; path: string; got: string; wanted: string }>(
    'TW3003',
    'error',
    'a tool has the wrong version',
    'The text of MLIR dialects changes between versions, so each tool must be of the version that tilewright writes for.',
    ({ tool, path, got, wanted }) => `${tool} at ${path} is version ${got}; ${wanted} is needed`,
  ),
  installFailed: defineCode<{ set: string; cause: string }>(
    'TW3010',
    'error',
    'a tool set could not be installed',
    '`tilewright toolchain install` uses uv, venv or pip, whichever the machine has, with pinned hashes. Nothing is left half-installed; running it again starts over.',
    ({ set, cause }) => `tool set '${set}' could not be installed: ${cause}`,
  ),
  unknownSet: defineCode<{ set: string; known: string }>(
    'TW3011',
    'error',
    'an unknown tool set',
    '`tilewright toolchain list` shows the tool sets.',
    ({ set, known }) => `there is no tool set '${set}'; known are ${known}`,
  ),
  pythonMissing: defineCode<{ got: string }>(
    'TW3012',
    'error',
    'no suitable Python',
    'Tool sets are Python wheels; Python 3.11 or newer unpacks them. It is not needed afterwards to run the `mlir` tools.',
    ({ got }) => `Python 3.11 or newer is needed to install tools, ${got}`,
  ),
  cacheUnwritable: defineCode<{ folder: string; why: string }>(
    'TW3020',
    'warning',
    'the cache cannot be written',
    'Everything works without the cache, only slower. `--cache-dir` or TILEWRIGHT_CACHE_DIR choose another folder.',
    ({ folder, why }) => `the cache folder ${folder} cannot be written (${why}); going on without it`,
  ),
  workspaceUnusable: defineCode<{ folder: string; why: string }>(
    'TW3021',
    'error',
    'temporary files cannot be written',
    'Tools read and write files in a temporary folder, which is removed afterwards. TMPDIR chooses where; it must exist, be writable, and have room.',
    ({ folder, why }) => `temporary files cannot be written to ${folder} (${why})`,
  ),
  kernelCrashed: defineCode<{ signal: string; launch: string; where: string }>(
    'TW3030',
    'error',
    'a kernel crashed',
    'The compiled kernel was stopped by the operating system, most often because it left its arrays. `--target interpret` finds the access and its line.',
    ({ signal, launch, where }) => `kernel crashed with ${signal} in ${where} of launch ${launch}`,
  ),
  kernelTimedOut: defineCode<{ seconds: number }>(
    'TW3031',
    'error',
    'a kernel ran too long',
    'The kernel did not end within the time limit and was stopped.',
    ({ seconds }) => `the kernel did not end within ${seconds} s`,
  ),
} as const;
