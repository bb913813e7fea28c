/** Programs of ours in C: compiled once for each source and compiler, and kept in the cache folder. */

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolError } from '../diagnostics/diagnostic.js';
import { assetPath } from './assets.js';
import { publishFolder } from './cache.js';
import { cacheFolder } from './environment.js';
import { keyOf } from './fingerprint.js';
import { run, toolError } from './run.js';
import { findTool, type ToolPaths } from './tool.js';

/** The executable of `workers/NAME.c`; where the cache folder cannot be written, one in `workspace`. */
export async function programPath(name: string, tools: ToolPaths, workspace: string): Promise<string> {
  const source = assetPath(`workers/${name}.c`);
  const cc = await findTool('cc', tools);
  const key = keyOf({ source: await readFile(source), cc: cc.path, version: cc.version });
  const folder = join(cacheFolder(), 'runners', key.slice(0, 24));
  const compileInto = async (to: string): Promise<void> => {
    const outcome = await run('cc', cc.path, ['-O2', '-o', join(to, name), source, '-lpthread', '-ldl']);
    if (!outcome.ok) throw toolError(outcome);
  };
  if (existsSync(join(folder, name))) return join(folder, name);
  try {
    await publishFolder(folder, compileInto);
    return join(folder, name);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    await compileInto(workspace);
    return join(workspace, name);
  }
}
