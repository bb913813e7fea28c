import type { Arguments, Signature } from './arguments.js';
import type { FlagName } from './flags.js';
import type { Reporter } from './reporter.js';

/** What a command has of the process around it. */
export interface Session {
  readonly reporter: Reporter;
  /** Aborted by Ctrl-C; whoever runs long or has children listens to it. */
  readonly signal: AbortSignal;
  /** Writes data to stdout and waits until it is taken. */
  readonly print: (data: string | Uint8Array) => Promise<void>;
}

export interface Command extends Signature {
  /** One line for the list of commands. */
  readonly summary: string;
  /** More for the end of its help. */
  readonly notes?: string;
  /**
   * @returns the exit code: 0 done, 1 the user's input is wrong or a comparison failed.
   * @throws UsageError, CompileError, ToolError; `main` gives each its exit code.
   */
  readonly run: (args: Arguments, session: Session) => Promise<number>;
}

/** Types `run` by the flags that the command lists: a flag that it does not have cannot be read. */
export function defineCommand<const F extends FlagName>(
  command: Omit<Command, 'flags' | 'run'> & {
    readonly flags: readonly F[];
    readonly run: (args: Arguments<F>, session: Session) => Promise<number>;
  },
): Command {
  return command as Command;
}
