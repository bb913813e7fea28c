import { setMaxListeners } from 'node:events';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { CompileError, type Diagnostic, ToolError } from '../diagnostics/diagnostic.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { renderText } from '../diagnostics/render-text.js';
import { type Arguments, parseArguments } from './arguments.js';
import type { Session } from './command.js';
import { commands } from './commands.js';
import { createReporter, type Reporter } from './reporter.js';
import { UsageError } from './usage-error.js';
import { programVersion } from './version.js';

/** What the shell sees; `docs/cli.md` is the contract. */
const exitCodes = { done: 0, failed: 1, usage: 2, tool: 3, internal: 4 } as const;

const columns = (): number => Math.min(process.stdout.columns ?? 100, 100);

/** Rejects when nobody reads any more; `main` then ends quietly. */
const print = (data: string | Uint8Array): Promise<void> =>
  new Promise((done, fail) => {
    process.stdout.write(data, (error) => (error ? fail(error) : done()));
  });

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

/** Checks `-Wno-CODE`. The catalogue is large, so it is loaded only when there is something to check. */
async function silencedCodes(given: readonly string[]): Promise<readonly [ReadonlySet<string>, readonly Diagnostic[]]> {
  const silenced = new Set<string>();
  const problems: Diagnostic[] = [];
  if (given.length === 0) return [silenced, problems];
  const { findCode, nearestCode, parseCode } = await import('../diagnostics/catalogue.js');
  for (const text of given) {
    const entry = findCode(parseCode(text) ?? text);
    if (!entry) {
      const near = nearestCode(text);
      const help = near === undefined ? {} : { help: `did you mean '-Wno-${near}'?` };
      problems.push(cliCodes.unknownCode({ text }, help));
    } else if (entry.severity !== 'warning') problems.push(cliCodes.notAWarning({ code: entry.code }));
    else silenced.add(entry.code);
  }
  return [silenced, problems];
}

function reporterFor({ flags }: Arguments, silenced: ReadonlySet<string>): Reporter {
  const stderr = process.stderr;
  return createReporter({
    format: flags.diagnostics ?? 'text',
    color: flags.color || (stderr.isTTY && stderr.hasColors()),
    warningsAreErrors: flags.warningsAreErrors,
    silenced,
    write: (text) => stderr.write(text),
    version: programVersion,
  });
}

function internalError(error: unknown, verbose: boolean): Diagnostic {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return cliCodes.internal(
    { message },
    {
      notes: verbose && stack !== undefined ? [{ message: stack }] : [],
      help: `please report this with the command line and the kernel${verbose ? '' : '; `-v` shows the stack'}`,
    },
  );
}

/** Runs a command to its exit code: what it throws becomes diagnostics. */
async function exitCodeOf(run: () => Promise<number>, verbose: boolean, session: Session): Promise<number> {
  const { reporter, signal } = session;
  try {
    const exitCode = await run();
    return exitCode === exitCodes.done && reporter.hasErrors ? exitCodes.failed : exitCode;
  } catch (error) {
    if (signal.aborted) return exitCodes.failed;
    if (codeOf(error) === 'EPIPE') return exitCodes.done;
    if (error instanceof UsageError || error instanceof CompileError || error instanceof ToolError) {
      reporter.report(error.diagnostics);
      if (error instanceof UsageError) return exitCodes.usage;
      return error instanceof ToolError ? exitCodes.tool : exitCodes.failed;
    }
    reporter.report([internalError(error, verbose)]);
    return exitCodes.internal;
  }
}

async function unknownCommand(name: string, argv: readonly string[]): Promise<number> {
  const isFlag = name.startsWith('-');
  // Only to learn how diagnostics are wanted; flags of the unknown command are not judged.
  const { arguments: args } = parseArguments(name, { flags: [], operands: { synopsis: '', min: 0, max: 0 } }, argv);
  const reporter = reporterFor(args, new Set());
  const help = didYouMean(name, Object.keys(commands)) ?? '`tilewright --help` lists the commands';
  reporter.report([
    isFlag
      ? cliCodes.unknownFlag({ flag: name, command: undefined }, { help })
      : cliCodes.unknownCommand({ command: name }, { help }),
  ]);
  await reporter.finish();
  return exitCodes.usage;
}

/** @returns the exit code. Does not end the process, so that output still in pipes is not lost. */
async function dispatch(argv: readonly string[], signal: AbortSignal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h') {
    const { programHelp } = await import('./help.js');
    const text = await programHelp(columns());
    if (name !== undefined) await print(text);
    else process.stderr.write(text);
    return name === undefined ? exitCodes.usage : exitCodes.done;
  }
  if (name === '--version') {
    await print(`tilewright ${programVersion()}\n`);
    return exitCodes.done;
  }
  if (!Object.hasOwn(commands, name)) return unknownCommand(name, rest);

  const { command } = await commands[name]!.load();
  const { arguments: args, problems } = parseArguments(name, command, rest);
  if (args.flags.help) {
    const { commandHelp } = await import('./help.js');
    await print(await commandHelp(name, command, columns()));
    return exitCodes.done;
  }
  const [silenced, badCodes] = await silencedCodes(args.flags.noWarnings);
  const session = { reporter: reporterFor(args, silenced), signal, print };
  const run = (): Promise<number> => {
    const usage = [...problems, ...badCodes];
    if (usage.length > 0) throw new UsageError(usage);
    return command.run(args, session);
  };
  const exitCode = await exitCodeOf(run, args.flags.verbose, session);
  await session.reporter.finish();
  return exitCode;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * The program. @param argv arguments behind the script's name.
 * @returns the exit code; after Ctrl-C the process ends by that signal instead, as shells and make expect.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // Each failed write is told to whoever waits for it; without a listener it would end the process besides.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const controller = new AbortController();
  // Every process that runs listens.
  setMaxListeners(0, controller.signal);
  let interruptedBy: NodeJS.Signals | undefined;
  // Once: a second Ctrl-C ends a process that does not come to its end.
  for (const name of signals)
    process.once(name, () => {
      interruptedBy = name;
      controller.abort();
    });
  try {
    return await dispatch(argv, controller.signal);
  } catch (error) {
    if (codeOf(error) === 'EPIPE') return exitCodes.done;
    process.stderr.write(
      renderText(internalError(error, argv.includes('-v')), { color: false, lines: () => undefined }),
    );
    return exitCodes.internal;
  } finally {
    if (interruptedBy) process.kill(process.pid, interruptedBy);
  }
}
