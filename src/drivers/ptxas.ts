/** From PTX to a cubin, by NVIDIA's assembler. */

import { type FileLoc, fileLoc } from '../diagnostics/location.js';
import type { NvidiaTarget } from '../lowering/gpu-target.js';
import { toolFromEnvironment } from './environment.js';
import type { ToolStage } from './stages.js';
import { findTool, type Tool, type ToolName, type ToolPaths } from './tool.js';

export interface PtxasOptions {
  readonly target: NvidiaTarget;
  readonly lineInfo: boolean;
  /** Lets it contract products and sums that the PTX leaves open. */
  readonly fpFusion: boolean;
  readonly extra?: readonly string[];
}

/** The assembler for a target: what the user names, else the older of two for what it knows, since drivers of old take its code. */
export async function findPtxas({ capability }: NvidiaTarget, paths: ToolPaths = {}): Promise<Tool> {
  const named = paths.ptxas ?? toolFromEnvironment('ptxas');
  return findTool(named === undefined && capability >= 90 ? 'ptxas-blackwell' : 'ptxas', paths);
}

/** The PTX version that goes with a release of the assembler: 88 for 12.9. */
export function ptxVersion(release: string): number {
  const [major = 0, minor = 0] = release.split('.').map(Number);
  if (major >= 13) return 90 + (major - 13) * 10 + minor;
  return 80 + (minor < 6 ? minor : minor - 1);
}

/** The stage `cubin`. What it prints tells registers and spills. */
export function cubinStage(
  tool: ToolName,
  { target, lineInfo, fpFusion, extra = [] }: PtxasOptions,
): ToolStage<ToolName> {
  return {
    stage: 'cubin',
    from: 'ptx',
    tool,
    args: (input, output) => [
      '-v',
      // Suppressing is ignored without the flag that asks for it.
      '-lineinfo',
      ...(lineInfo ? [] : ['-suppress-debug-info']),
      ...(fpFusion ? [] : ['--fmad=false']),
      // 13.x generates wrong code at its default.
      '--regAllocOptLevel=2',
      `--gpu-name=${target.name}`,
      ...extra,
      input,
      '-o',
      output,
    ],
  };
}

/** Where in the user's file the assembler's first error is: by the last `.loc` before the line of PTX that it names. */
export function ptxPlace(printed: string, ptx: string): FileLoc | undefined {
  const line = Number(/, line (\d+); error/.exec(printed)?.[1] ?? 0);
  const before = ptx.split('\n').slice(0, line).join('\n');
  const [, number, at, col] = [...before.matchAll(/^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)/gm)].at(-1) ?? [];
  if (number === undefined) return undefined;
  const file = new RegExp(`^\\s*\\.file\\s+${number}\\s+"([^"]+)"`, 'm').exec(ptx)?.[1];
  return file === undefined ? undefined : fileLoc(file, Number(at), Number(col));
}
