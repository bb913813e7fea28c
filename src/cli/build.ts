import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CompileOptions } from '../api/compile.js';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { writeOutputs } from '../drivers/files.js';
import type { Arguments } from './arguments.js';
import { defineCommand, type Session } from './command.js';
import { type ArtifactName, outputPaths, parseDestination, type StageExtension, stageOfPath } from './outputs.js';
import { passFlags, passHooks } from './pass-printing.js';
import { quoteCommand } from './shell-quote.js';
import { kernelsOf, type NamedKernel } from './sources.js';
import { UsageError } from './usage-error.js';

const toolFlags = ['xMlirOpt', 'xCc', 'mlirOpt', 'cc', 'cacheDir', 'noCache', 'noLineInfo'] as const;

/** What the tool and cache flags say. */
export function compileOptions(
  { flags }: Arguments<(typeof toolFlags)[number]>,
  { signal, reporter }: Session,
): CompileOptions {
  return {
    signal,
    lineInfo: !flags.noLineInfo,
    cache: flags.noCache ? false : (flags.cacheDir ?? undefined)!,
    toolFlags: { 'mlir-opt': flags.xMlirOpt, cc: flags.xCc },
    tools: {
      ...(flags.mlirOpt === undefined ? {} : { 'mlir-opt': flags.mlirOpt }),
      ...(flags.cc === undefined ? {} : { cc: flags.cc }),
    },
    onWarning: (warning) => reporter.report([warning]),
  };
}

export const buildFlags = toolFlags;

/** The extension that files of a stage have. */
const extensionOf = (stage: string): string => (stage === 'obj' ? 'o' : stage);

interface Made extends ArtifactName {
  readonly bytes: Uint8Array;
  readonly note: string;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever stands in the way is told when the file is written.
    return false;
  }
}

const sizeOf = (n: number): string =>
  n < 10_000 ? `${n} B` : n < 10_000_000 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;

export const command = defineCommand({
  summary: 'compile kernels to artifacts',
  notes:
    'FILE is a .ts file with kernels, a .kir file, or a stage with --start-from. Without --emit: so and plan.json.',
  operands: { synopsis: 'FILE…', min: 1, max: Number.POSITIVE_INFINITY },
  flags: [
    'kernels',
    'defines',
    'targets',
    'emit',
    'output',
    'saveTemps',
    'dumpDir',
    'dryRun',
    'startFrom',
    ...toolFlags,
    ...passFlags,
  ],
  async run(args, session) {
    const { flags, operands: files } = args;
    const api = await import('../api/compile.js');
    const stages: StageExtension[] = api.cpuStageNames.map((stage) => ({ stage, extension: extensionOf(stage) }));
    const destination = parseDestination(flags.output, isFolder);
    const named = destination.kind === 'file' ? stageOfPath(destination.path, stages) : undefined;
    const emit = flags.emit.length > 0 ? flags.emit : named !== undefined ? [named] : ['so', 'plan.json'];
    const targets = flags.targets.length > 0 ? flags.targets : ['cpu'];
    const options: CompileOptions = { ...compileOptions(args, session), hooks: await passHooks(args, session) };

    const made: Made[] = [];
    for (const file of files) {
      const entered = flags.startFrom ?? (file.endsWith('.ts') ? undefined : api.stageOfFile(file));
      if (entered !== undefined && entered !== 'kir') {
        made.push(...(await resume(file, entered, emit, targets, options, flags.startFrom !== undefined)));
        continue;
      }
      for (const kernel of await kernelsOf(file, flags.kernels, flags.defines))
        for (const target of targets) {
          if (flags.dryRun) {
            await session.print(await commandsOf(kernel, target, emit, options));
            continue;
          }
          if (flags.dumpDir !== undefined)
            await dump(kernel, target, targets.length > 1, flags.dumpDir, options, session);
          if (flags.saveTemps !== undefined) {
            const kept = await temps(kernel, target, options);
            if (flags.saveTemps === true) made.push(...kept);
            else await writeInto(flags.saveTemps, kept);
          }
          made.push(...(await compileOne(kernel, target, emit, options, session)));
        }
    }
    if (flags.dryRun) return 0;
    const paths = outputPaths(destination, made);
    const [first] = paths;
    if (first === '-') await session.print(made[0]!.bytes);
    else
      await writeOutputs(
        made.map(({ bytes }, i) => ({ path: paths[i]!, content: bytes })),
        destination.kind === 'folder',
      );
    if (first !== '-')
      made.forEach(({ bytes, note }, i) => session.reporter.say(`${paths[i]}  ${sizeOf(bytes.length)}  ${note}`));
    return 0;
  },
});

async function writeInto(folder: string, made: readonly Made[]): Promise<void> {
  const paths = outputPaths({ kind: 'folder', path: folder }, made);
  await writeOutputs(
    made.map(({ bytes }, i) => ({ path: paths[i]!, content: bytes })),
    true,
  );
}

async function compileOne(
  { name, kernel }: NamedKernel,
  target: string,
  emit: readonly string[],
  options: CompileOptions,
  { reporter }: Session,
): Promise<Made[]> {
  const { compile } = await import('../api/compile.js');
  const started = performance.now();
  const compiled = await compile(kernel, { ...options, target, emit });
  reporter.report(compiled.warnings);
  const note = compiled.cached ? 'cache hit' : `${Math.round(performance.now() - started)} ms`;
  return emit.map((stage) => ({
    kernel: name,
    target: compiled.target,
    extension: extensionOf(stage),
    bytes: compiled.artifacts.get(stage)!,
    note,
  }));
}

/** `--save-temps`: every stage that tools read or wrote. */
async function temps({ name, kernel }: NamedKernel, target: string, options: CompileOptions): Promise<Made[]> {
  const { compile } = await import('../api/compile.js');
  const kept = ['mlir', 'llvm.mlir', 'll', 'bc', 's', 'obj'];
  const compiled = await compile(kernel, { ...options, target, emit: kept, cache: false });
  return kept.map((stage) => ({
    kernel: name,
    target: compiled.target,
    extension: extensionOf(stage),
    bytes: compiled.artifacts.get(stage)!,
    note: 'kept',
  }));
}

/** `--start-from`: the tools from a stage on. */
async function resume(
  file: string,
  stage: string,
  emit: readonly string[],
  targets: readonly string[],
  options: CompileOptions,
  explicit: boolean,
): Promise<Made[]> {
  const { canStartFrom, cpuStageNames, resumeFrom } = await import('../api/compile.js');
  if (stage !== 'lowered.kir' && !canStartFrom(stage)) {
    const help =
      didYouMean(stage, cpuStageNames) ??
      `stages that can be entered: kir, lowered.kir, ${cpuStageNames.filter(canStartFrom).join(', ')}`;
    throw new UsageError([
      explicit
        ? cliCodes.badValue({ flag: '--start-from', expected: 'a stage that can be entered', got: stage }, { help })
        : cliCodes.badValue({ flag: 'FILE', expected: 'a kernel file or a stage', got: file }, { help }),
    ]);
  }
  const name = file
    .split('/')
    .at(-1)!
    .replace(new RegExp(`\\.(?:[^.]+\\.)?${extensionOf(stage).replaceAll('.', '\\.')}$`), '');
  const made: Made[] = [];
  for (const target of targets) {
    const started = performance.now();
    const wanted = emit.filter((s) => s !== 'plan.json');
    const { artifacts, cached } = await resumeFrom(file, stage, wanted, { ...options, target });
    const note = cached ? 'cache hit' : `${Math.round(performance.now() - started)} ms`;
    for (const s of wanted)
      made.push({ kernel: name, target, extension: extensionOf(s), bytes: artifacts.get(s)!, note });
  }
  return made;
}

async function commandsOf(
  { name, kernel }: NamedKernel,
  target: string,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string> {
  const { toolCommands } = await import('../api/compile.js');
  const lines = await toolCommands(kernel, name, emit, { ...options, target });
  return lines.map((argv) => `${quoteCommand(argv)}\n`).join('');
}

async function dump(
  { name, kernel }: NamedKernel,
  target: string,
  several: boolean,
  folder: string,
  options: CompileOptions,
  { reporter }: Session,
): Promise<void> {
  const { dumpStages } = await import('../api/dump.js');
  const to = several ? join(folder, target.replaceAll(':', '-')) : folder;
  const files = await dumpStages(kernel, name, { ...options, target });
  await writeOutputs(
    files.map(({ file, content }) => ({ path: join(to, file), content })),
    true,
  );
  reporter.say(`stages of '${name}' for ${target} are in ${resolve(to)}`);
}
