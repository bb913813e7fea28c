import { describe, test } from '@jest/globals';
import { requiredTools } from '../../src/drivers/environment.js';
import { asSetName, isInstalled } from '../../src/drivers/toolchain.js';

/**
 * Tests that need a tool set. Where it is missing they are skipped, and say so; where it is required
 * (TILEWRIGHT_REQUIRE_TOOLS) they fail.
 */
export async function toolsPresent(set: string): Promise<boolean> {
  return isInstalled(asSetName(set));
}

const required = (set: string): boolean => requiredTools().some((t) => t === set || t === 'all');
const present: Readonly<Record<string, boolean>> = {
  mlir: await toolsPresent('mlir'),
  triton: await toolsPresent('triton'),
  mosaic: await toolsPresent('mosaic'),
  nvcc: await toolsPresent('nvcc'),
  test: await toolsPresent('test'),
};

export function describeTool(set: string, name: string, body: () => void): void {
  if (present[set]) describe(name, body);
  else if (required(set))
    test(name, () => {
      throw new Error(`tool set '${set}' is required but not installed: tilewright toolchain install ${set}`);
    });
  else describe.skip(`${name} (skipped: tool set '${set}' is not installed)`, body);
}
