/**
 * Python workers of ours: a process imports its libraries once and runs each job in a forked child, so that a crash costs
 * one job and is an answer. `workers/fork_server.py` is the other side and describes the messages.
 */

import { availableParallelism, constants } from 'node:os';
import { toolCodes } from '../diagnostics/codes/tools.js';
import { ToolError } from '../diagnostics/diagnostic.js';
import { assetPath } from './assets.js';
import { type Channel, causeOf, howItEnded, openChannel, shellQuote } from './run.js';
import { notInstalled, type SetName, setTool } from './toolchain.js';

/** One kind of worker. */
export interface WorkerKind {
  /** Of the tool that it works with, for messages. */
  readonly name: string;
  /** The tool set that holds its interpreter. */
  readonly set: SetName;
  /** Below the package's folder. */
  readonly script: string;
  readonly accepts: (version: string) => boolean;
  readonly wanted: string;
}

/** How a job failed: the handler's own error, no room on the disk, its process died, its time was up, it was aborted. */
export type Failure = 'error' | 'disk' | 'crash' | 'timeout' | 'cancelled';

export interface JobFailed {
  readonly ok: false;
  readonly failure: Failure;
  /** What it was doing. */
  readonly stage: string;
  readonly error: string;
  /** Number of the signal that killed it. */
  readonly signal?: number | null;
  /** What it printed. */
  readonly log: string;
}

/** What a job answered; besides `ok`, what its handler returned. */
export type JobReply<R> = ({ readonly ok: true; readonly log: string } & R) | JobFailed;

export interface JobOptions {
  /** Milliseconds; two minutes by default. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

export interface ForkServer {
  /** Starts the process ahead of its first job; what goes wrong is told by that job. */
  start(): void;
  /** The version of the tool in it, and the interpreter that it runs in. */
  about(): Promise<{ readonly version: string; readonly python: string }>;
  /**
   * Runs a job.
   *
   * @throws ToolError: the worker is missing, of the wrong version, or ended. How the job went is in the reply.
   */
  run<R>(request: Readonly<Record<string, unknown>>, options?: JobOptions): Promise<JobReply<R>>;
}

export interface ForkServerOptions {
  /** Interpreter to use instead of the set's. */
  readonly python?: string | undefined;
  /** Jobs at once; one for each processor by default. */
  readonly jobs?: number | undefined;
}

const defaultTimeout = 120_000;
/** Milliseconds beyond a job's own limit after which the server itself must be stuck. */
const patience = 10_000;
/** Milliseconds within which a server must have imported its libraries. */
const startLimit = 120_000;

/** A server that runs. */
interface Live {
  readonly channel: Channel;
  readonly version: string;
  readonly python: string;
  /** By the number of the job; undefined is told to all when the server has ended. */
  readonly pending: Map<number, (reply: JobReply<unknown> | undefined) => void>;
  ended: boolean;
}

/**
 * Runs `work` with a worker, which is gone afterwards with all its jobs. It starts with its first job; one that has died is
 * started anew by the next.
 */
export async function withForkServer<T>(
  kind: WorkerKind,
  options: ForkServerOptions,
  work: (server: ForkServer) => Promise<T>,
): Promise<T> {
  const scope = new AbortController();
  const started: Promise<Live>[] = [];
  let current: Promise<Live> | undefined;
  const live = (): Promise<Live> => {
    if (current) return current;
    const mine = launch(kind, options, scope.signal);
    current = mine;
    started.push(mine);
    const forget = (): void => {
      if (current === mine) current = undefined;
    };
    // One that could not start, or has ended, is not asked again.
    mine.then((server) => server.channel.ended).then(forget, forget);
    return mine;
  };
  let last = 0;
  try {
    return await work({
      start() {
        live().catch(() => {});
      },
      async about() {
        const { version, python } = await live();
        return { version, python };
      },
      async run<R>(request: Readonly<Record<string, unknown>>, jobOptions: JobOptions = {}) {
        return submit<R>(kind, await live(), ++last, request, jobOptions);
      },
    });
  } finally {
    scope.abort();
    await Promise.allSettled(started.map(async (server) => (await server).channel.ended));
  }
}

async function launch(
  kind: WorkerKind,
  { python, jobs = availableParallelism() }: ForkServerOptions,
  signal: AbortSignal,
): Promise<Live> {
  const path = python ?? (await setTool('python', [kind.set]));
  if (path === undefined) throw notInstalled(kind.set);
  // Isolated: neither the user's packages nor PYTHON… variables reach it.
  const channel = await openChannel(kind.name, path, ['-I', assetPath(kind.script), String(jobs)], { signal });
  const timer = setTimeout(() => channel.stop('timed out'), startLimit);
  const first = await channel.lines.next();
  clearTimeout(timer);
  if (first.done) throw await died(kind, channel);
  const version = parseMessage(first.value)?.version;
  if (typeof version !== 'string') {
    channel.stop('aborted');
    await channel.ended;
    throw new ToolError([
      toolCodes.workerDied({ tool: kind.name, how: 'is another program', cause: first.value.slice(0, 200) }),
    ]);
  }
  if (!kind.accepts(version)) {
    channel.stop('aborted');
    await channel.ended;
    const help = `run: tilewright toolchain install ${kind.set}`;
    throw new ToolError([
      toolCodes.toolVersion({ tool: kind.name, path, got: version, wanted: kind.wanted }, { help }),
    ]);
  }
  const server: Live = { channel, version, python: path, pending: new Map(), ended: false };
  void listen(server);
  return server;
}

function parseMessage(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return typeof message === 'object' && message !== null ? (message as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Hands replies to those who wait for them, until the server has ended. */
async function listen(server: Live): Promise<void> {
  for (;;) {
    const { value, done } = await server.channel.lines.next();
    if (done) break;
    const reply = parseMessage(value) as (JobReply<unknown> & { id: number }) | undefined;
    // Nothing but messages is written there; what is none means that the other side is broken.
    if (!reply) {
      server.channel.stop('aborted');
      continue;
    }
    server.pending.get(reply.id)?.(reply);
    server.pending.delete(reply.id);
  }
  server.ended = true;
  for (const tell of server.pending.values()) tell(undefined);
}

async function submit<R>(
  kind: WorkerKind,
  server: Live,
  id: number,
  request: Readonly<Record<string, unknown>>,
  { timeout = defaultTimeout, signal }: JobOptions,
): Promise<JobReply<R>> {
  if (server.ended) throw await died(kind, server.channel);
  if (signal?.aborted) return { ok: false, failure: 'cancelled', stage: 'start', error: '', log: '' };
  const replied = new Promise<JobReply<unknown> | undefined>((done) => server.pending.set(id, done));
  const cancel = (): void => server.channel.send(JSON.stringify({ cancel: id }));
  signal?.addEventListener('abort', cancel);
  // Jobs wait for a free processor, so the server's own clock counts; this one only watches the server.
  const timer = setTimeout(() => server.channel.stop('timed out'), timeout * server.pending.size + patience);
  server.channel.send(JSON.stringify({ ...request, id, timeoutMs: timeout }));
  const reply = await replied;
  clearTimeout(timer);
  signal?.removeEventListener('abort', cancel);
  if (!reply) throw await died(kind, server.channel);
  return reply as JobReply<R>;
}

async function died({ name }: WorkerKind, channel: Channel): Promise<ToolError> {
  const outcome = await channel.ended;
  const printed = outcome.stderr.trim().split('\n').slice(-12).join('\n');
  const notes = [
    { message: `command: ${outcome.argv.map(shellQuote).join(' ')}` },
    ...(printed ? [{ message: `it printed:\n${printed}` }] : []),
  ];
  return new ToolError([
    toolCodes.workerDied({ tool: name, how: howItEnded(outcome), cause: causeOf(outcome.stderr) }, { notes }),
  ]);
}

/** `SIGABRT` for 6. */
export const signalName = (signal: number | null | undefined): string =>
  Object.entries(constants.signals).find(([, n]) => n === signal)?.[0] ?? 'an unknown signal';
