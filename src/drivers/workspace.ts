import { tmpdir } from 'node:os';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';

/**
 * Runs `work` with a temporary folder that is gone afterwards, whatever happened.
 *
 * @throws ToolError TW3021: the folder cannot be made, or there is no room left to work in.
 */
export async function withWorkspace<T>(work: (folder: string) => Promise<T>, parent = tmpdir()): Promise<T> {
  const unusable = (error: unknown): ToolError =>
    new ToolError([
      toolCodes.workspaceUnusable(
        { folder: parent, why: (error as Error).message },
        { help: 'TMPDIR names another folder' },
      ),
    ]);
  const { path, cleanup } = await makeFolder(parent).catch((error: unknown) => {
    throw unusable(error);
  });
  try {
    return await work(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ENOSPC' || code === 'EDQUOT' ? unusable(error) : error;
  } finally {
    await cleanup();
  }
}

async function makeFolder(parent: string): Promise<{ path: string; cleanup: () => Promise<void> }> {
  // Late, because the package fails to load where TMPDIR does not exist.
  const { dir } = (await import('tmp-promise')).default;
  return dir({ prefix: 'tilewright', tmpdir: parent, unsafeCleanup: true });
}
