/** Compilation stages: each is named by the extension of what it makes. */

import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { sha256 } from './fingerprint.js';
import { type Outcome, run, toolError } from './run.js';
import type { Tool } from './tool.js';

/** What one stage did, for the manifest of a dump and for `-v`. */
export interface StageRecord {
  readonly stage: string;
  readonly tool: string;
  readonly version: string;
  readonly argv: readonly string[];
  readonly milliseconds: number;
  readonly sha256In: string;
  readonly sha256Out: string;
}

/** A stage run by an outside tool that reads its input from standard input or a file and writes standard output or a file. */
export interface ToolStage<T extends string> {
  /** Extension of what it makes: `llvm.mlir`, `ll`, `obj`. */
  readonly stage: string;
  readonly from: string;
  readonly tool: T;
  /** The command line. `input` and `output` are paths in a temporary folder. */
  readonly args: (input: string, output: string) => readonly string[];
  /** Rewrites what the tool printed, where it carries names of temporary files. */
  readonly clean?: (text: Uint8Array) => Uint8Array;
}

export interface StageOptions {
  readonly signal?: AbortSignal;
  readonly timeout?: number;
  /** Turns a failed tool into an error; the default quotes what it printed. */
  readonly explain?: (outcome: Outcome) => ToolError;
}

/** Runs one stage on a file; gives the bytes it made, a record of it, and what the tool printed besides. */
export async function runStage<T extends string>(
  stage: ToolStage<T>,
  tool: Tool,
  input: { readonly path: string; readonly bytes: Uint8Array },
  output: string,
  read: (path: string) => Promise<Uint8Array>,
  { signal, timeout, explain = toolError }: StageOptions,
): Promise<{ bytes: Uint8Array; record: StageRecord; printed: string }> {
  const args = stage.args(input.path, output);
  const outcome = await run(tool.name, tool.path, args, {
    ...(signal ? { signal } : {}),
    ...(timeout === undefined ? {} : { timeout }),
  });
  if (!outcome.ok) throw explain(outcome);
  const made = await read(output).catch(() => undefined);
  if (!made)
    throw new ToolError([toolCodes.toolFailed({ tool: tool.name, how: 'ended well but wrote nothing', cause: '' })]);
  const bytes = stage.clean?.(made) ?? made;
  return {
    bytes,
    printed: outcome.stderr,
    record: {
      stage: stage.stage,
      tool: tool.name,
      version: tool.version,
      argv: [tool.name, ...stage.args(`in.${stage.from}`, `out.${stage.stage}`)],
      milliseconds: outcome.milliseconds,
      sha256In: sha256(input.bytes),
      sha256Out: sha256(bytes),
    },
  };
}
