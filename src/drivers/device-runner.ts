/** Runs programs that use this machine's GPU, each in a process of its own. */

import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { programPath } from './c-program.js';
import { deviceEnvironment } from './environment.js';
import { causeOf, howItEnded, type RunOptions, run } from './run.js';
import type { ToolPaths } from './tool.js';
import { withWorkspace } from './workspace.js';

export type DeviceApi = 'cuda' | 'hip';

/**
 * What the first device is: `sm_90`, `gfx942`.
 *
 * @throws ToolError TW3050 where there is no driver or no device.
 */
export async function probeDevice(api: DeviceApi, tools: ToolPaths = {}): Promise<string> {
  return withWorkspace(async (workspace) => {
    const probe = await programPath('device-probe', tools, workspace);
    const outcome = await run('device-probe', probe, [api], { env: deviceEnvironment(), timeout: 60_000 });
    const found = Buffer.from(outcome.stdout).toString('utf8').trim();
    if (outcome.ok && found !== '') return found;
    const cause = outcome.stderr.trim() || howItEnded(outcome);
    const help = '`--target cpu`, `interpret` and `sim:sm_90a` or `sim:gfx942` need no GPU';
    throw new ToolError([toolCodes.noDevice({ target: api, cause }, { help })]);
  });
}

/** Runs a launcher's program; gives what it printed. @throws ToolError TW3051. */
export async function runDeviceProgram(
  target: string,
  path: string,
  args: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'signal' | 'timeout'> = {},
): Promise<string> {
  const outcome = await run(target, path, args, { ...options, env: deviceEnvironment() });
  if (outcome.ok) return Buffer.from(outcome.stdout).toString('utf8');
  const cause = causeOf(outcome.stderr) || howItEnded(outcome);
  throw new ToolError([toolCodes.deviceFailed({ target, cause })]);
}
