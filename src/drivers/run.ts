/** The one place that starts processes: argument arrays, no shell, a group of their own, a scrubbed environment. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { type DiagnosticNote, ToolError } from '../diagnostics/diagnostic.js';
import { childEnvironment } from './environment.js';
import { processGroup } from './process-group.js';

export interface RunOptions {
  /** Standard input; none by default. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Milliseconds until the process group is killed. Default two minutes. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  /** Instead of the scrubbed environment. */
  readonly env?: Readonly<Record<string, string>>;
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
  /** It printed more than is kept, and was stopped. */
  readonly overflowed: boolean;
  /** The process could not be started at all. */
  readonly notStarted: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: string;
  readonly milliseconds: number;
}

const defaultTimeout = 120_000;
/** Bytes of each stream. Output beyond this is a tool gone wild, not something to keep. */
const outputLimit = 16_000_000;

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
  const child = execa(path, args, {
    reject: false,
    encoding: 'buffer',
    stripFinalNewline: false,
    env: options.env ?? childEnvironment(),
    extendEnv: false,
    detached: true,
    maxBuffer: outputLimit,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const watch = watchChild(child.pid, options.signal);
  const timer = setTimeout(() => watch.stop('timed out'), options.timeout ?? defaultTimeout);
  // Counted here because execa would stop the tool but wait for what the tool started.
  for (const stream of [child.stdout, child.stderr]) {
    let bytes = 0;
    stream?.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length;
      if (bytes > outputLimit) watch.stop('overflowed');
    });
  }
  const result = await child;
  clearTimeout(timer);
  const stdout = result.stdout ?? new Uint8Array();
  return { tool, argv: [path, ...args], ...outcomeOf(result, watch.end()), stdout };
}

/** Why we stopped a child. */
export type Stop = 'timed out' | 'aborted' | 'overflowed';

/** Follows one child until it has ended: when it began, and whether we stopped it. */
function watchChild(pid: number | undefined, signal: AbortSignal | undefined) {
  const started = performance.now();
  const group = processGroup(pid);
  let stopped: Stop | undefined;
  const stop = (why: Stop): void => {
    stopped ??= why;
    group.stop();
  };
  const abort = (): void => stop('aborted');
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  return {
    stop,
    end(): Watched {
      signal?.removeEventListener('abort', abort);
      group.release();
      return {
        timedOut: stopped === 'timed out',
        aborted: stopped === 'aborted',
        overflowed: stopped === 'overflowed',
        notStarted: pid === undefined,
        milliseconds: performance.now() - started,
      };
    },
  };
}

interface ChildEnd {
  readonly failed: boolean;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly stderr?: Uint8Array | undefined;
}

type Watched = Pick<Outcome, 'timedOut' | 'aborted' | 'overflowed' | 'notStarted' | 'milliseconds'>;

/** One that we stopped did not do its work, even if it then ended in peace. */
function outcomeOf(end: ChildEnd, watched: Watched): Omit<Outcome, 'tool' | 'argv' | 'stdout'> {
  return {
    ...watched,
    ok: !end.failed && !watched.timedOut && !watched.aborted && !watched.overflowed,
    ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
    ...(end.signal === undefined ? {} : { signal: end.signal }),
    stderr: Buffer.from(end.stderr ?? new Uint8Array()).toString('utf8'),
  };
}

/** A process that is talked to by lines in both directions while it runs. */
export interface Channel {
  /** What it says, until its output ends. */
  readonly lines: AsyncIterator<string>;
  send(line: string): void;
  /** Ends it, and whatever it started. */
  stop(why: Stop): void;
  /** How it ended. */
  readonly ended: Promise<Outcome>;
  /** Ends its input and tells how it ended. */
  close(): Promise<Outcome>;
}

/** Starts a process to talk to. By Node's own means: the library that runs tools to their end takes longer to load than this. */
export async function openChannel(
  tool: string,
  path: string,
  args: readonly string[],
  { signal, cwd }: Pick<RunOptions, 'signal' | 'cwd'> = {},
): Promise<Channel> {
  const child = spawn(path, args, { env: childEnvironment(), detached: true, ...(cwd === undefined ? {} : { cwd }) });
  // What it makes is mostly for other tools; while it starts there is time to load what runs them.
  setImmediate(() => void import('execa'));
  // Writing to one that has ended is no error of its own: its end is the answer.
  child.stdin.on('error', () => {});
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < outputLimit) stderr += text;
  });
  const watch = watchChild(child.pid, signal);
  const ended = new Promise<Outcome>((done) => {
    const end = (exitCode: number | null, killer: NodeJS.Signals | null): void => {
      const how = { ...(exitCode === null ? {} : { exitCode }), ...(killer === null ? {} : { signal: killer }) };
      const outcome = outcomeOf({ failed: exitCode !== 0, ...how, stderr: Buffer.from(stderr) }, watch.end());
      done({ tool, argv: [path, ...args], ...outcome, stdout: new Uint8Array() });
    };
    child.on('close', end);
    // One that cannot be started closes with Node's own number for the reason.
    child.on('error', () => {});
  });
  return {
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    send(line) {
      child.stdin.write(`${line}\n`);
    },
    stop: watch.stop,
    ended,
    close() {
      child.stdin.end();
      return ended;
    },
  };
}

/** A process that answers each line by a line. */
export interface Conversation {
  /** Sends a line and waits for the next line of the answer; undefined where the process ended instead. */
  ask(line: string): Promise<string | undefined>;
  /** Ends its input and tells how it ended. */
  close(): Promise<Outcome>;
}

/**
 * Starts a process to ask.
 *
 * @param options `timeout` is that of one answer; lines of which `isAnswer` does not hold are passed over.
 */
export async function converse(
  tool: string,
  path: string,
  args: readonly string[],
  {
    timeout = defaultTimeout,
    signal,
    isAnswer = () => true,
  }: Pick<RunOptions, 'timeout' | 'signal'> & { readonly isAnswer?: (line: string) => boolean } = {},
): Promise<Conversation> {
  const channel = await openChannel(tool, path, args, signal ? { signal } : {});
  return {
    async ask(line) {
      const timer = setTimeout(() => channel.stop('timed out'), timeout);
      channel.send(line);
      let next = await channel.lines.next();
      while (!next.done && !isAnswer(next.value)) next = await channel.lines.next();
      clearTimeout(timer);
      return next.done ? undefined : next.value;
    },
    close: channel.close,
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
  return lines.find((l) => /\berror\b|\bassertion\b.*\bfailed\b/i.test(l)) ?? lines.at(-1) ?? '';
}

export function howItEnded(outcome: Outcome): string {
  if (outcome.aborted) return 'was cancelled';
  if (outcome.timedOut) return `did not end within ${Math.round(outcome.milliseconds / 1000)} s`;
  if (outcome.overflowed) return `printed more than ${outputLimit / 1_000_000} MB and was stopped`;
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
