/** The one place that starts processes: argument arrays, no shell, a time-out, a scrubbed environment. */

import { toolCodes } from '../diagnostics/codes/tools.js';
import { type DiagnosticNote, ToolError } from '../diagnostics/diagnostic.js';
import { childEnvironment } from './environment.js';

export interface RunOptions {
  /** Standard input; none by default. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Milliseconds until the process group is killed. Default two minutes. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Instead of the scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Called with each piece of standard error as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** How a process ended. It never throws: a crash is an answer. */
export interface Outcome {
  readonly tool: string;
  readonly argv: readonly string[];
  readonly ok: boolean;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** The process could not be started at all. */
  readonly notStarted: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  readonly milliseconds: number;
}

const defaultTimeout = 120_000;
/** Output beyond this is a tool gone wild, not something to keep. */
const outputLimit = 512 * 1024 * 1024;

/**
 * Runs a tool to its end.
 *
 * @param tool name for messages.
 * @param path executable.
 */
export async function run(
  tool: string,
  path: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  const { execa } = await import('execa');
  const started = performance.now();
  const child = execa(path, args, {
    reject: false,
    encoding: 'buffer',
    stripFinalNewline: false,
    env: options.env ?? childEnvironment(),
    extendEnv: false,
    timeout: options.timeout ?? defaultTimeout,
    forceKillAfterDelay: 1000,
    maxBuffer: outputLimit,
    cleanup: true,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
  });
  if (options.onStderr)
    child.stderr?.on('data', (chunk: Uint8Array) => options.onStderr!(Buffer.from(chunk).toString('utf8')));
  const result = await child;
  return {
    tool,
    argv: [path, ...args],
    ok: !result.failed,
    ...(result.exitCode === undefined ? {} : { exitCode: result.exitCode }),
    ...(result.signal === undefined ? {} : { signal: result.signal }),
    timedOut: result.timedOut,
    aborted: result.isCanceled,
    notStarted:
      result.exitCode === undefined &&
      result.signal === undefined &&
      !result.timedOut &&
      !result.isCanceled &&
      result.failed,
    stdout: result.stdout ?? new Uint8Array(),
    stderr: Buffer.from(result.stderr ?? new Uint8Array()).toString('utf8'),
    milliseconds: performance.now() - started,
  };
}

/** A process that is talked to line by line while it runs. */
export interface Conversation {
  /** Sends a line and waits for the next line of the answer. */
  ask(line: string): Promise<string>;
  close(): Promise<void>;
}

export async function converse(path: string, args: readonly string[]): Promise<Conversation> {
  const { execa } = await import('execa');
  const child = execa(path, args, {
    reject: false,
    env: childEnvironment(),
    extendEnv: false,
    buffer: false,
    cleanup: true,
  });
  const lines = child.iterable()[Symbol.asyncIterator]();
  return {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      const { value, done } = await lines.next();
      if (done) throw new ToolError([toolCodes.toolFailed({ tool: path, how: 'ended early', cause: '' })]);
      return String(value);
    },
    async close() {
      child.stdin.end();
      await child;
    },
  };
}

/** One argument as a POSIX shell reads it. */
export function shellQuote(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`;
}

/** The line of a tool's output that says what is wrong, as far as it can be told. */
export function causeOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((l) => l.trim())
    .filter((l) => l !== '');
  return lines.find((l) => /\berror\b/i.test(l)) ?? lines.at(-1) ?? '';
}

function howItEnded(outcome: Outcome): string {
  if (outcome.aborted) return 'was cancelled';
  if (outcome.timedOut) return `did not end within ${Math.round(outcome.milliseconds / 1000)} s`;
  if (outcome.notStarted) return 'could not be started';
  return outcome.signal === undefined ? `ended with exit code ${outcome.exitCode}` : `was stopped by ${outcome.signal}`;
}

/** The error of a tool that did not do its work: cause first, then how to run it again, then what it printed. */
export function toolError(outcome: Outcome, notes: readonly DiagnosticNote[] = []): ToolError {
  const { tool, argv, stderr, timedOut, exitCode, signal } = outcome;
  const printed = stderr.trim().split('\n').slice(0, 12).join('\n');
  const diagnostic = toolCodes.toolFailed(
    { tool, how: howItEnded(outcome), cause: causeOf(stderr) },
    {
      notes: [
        ...notes,
        { message: `command: ${argv.map(shellQuote).join(' ')}` },
        ...(printed ? [{ message: `it printed:\n${printed}` }] : []),
      ],
    },
  );
  return new ToolError([diagnostic], {
    tool,
    argv,
    timedOut,
    stderr,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
  });
}
