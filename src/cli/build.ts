import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Compiled, CompileOptions } from '../api/compile.js';
import { cliCodes } from '../diagnostics/codes/cli.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { writeOutputs } from '../drivers/files.js';
import type { ToolPaths } from '../drivers/tool.js';
import { parseOption } from '../drivers/triton/options.js';
import { describeResources } from '../lowering/resource-bill.js';
import type { Target } from '../lowering/target.js';
import type { Arguments } from './arguments.js';
import { defineCommand, type Session } from './command.js';
import { type DepfileOptions, depfileOf } from './depfile.js';
import { type FlagName, passFlags } from './flags.js';
import { buildForHost, hostCommandsOf, hostStageOfPath, hostStagesOf } from './host-build.js';
import { type Destination, outputPaths, parseDestination, type StageExtension, stageOfPath } from './outputs.js';
import { type Made, type Remembered, rememberedBuild } from './remembered.js';
import { quoteCommand } from './shell-quote.js';
import { sizeText } from './size-text.js';
import type { NamedKernel } from './sources.js';
import { UsageError } from './usage-error.js';

const toolFlags = [
  'backend',
  'xMlirOpt',
  'xCc',
  'xPtxas',
  'xNvcc',
  'xHipcc',
  'xTriton',
  'mlirOpt',
  'cc',
  'ptxas',
  'nvcc',
  'hipcc',
  'pythons',
  'cacheDir',
  'noCache',
  'remoteCache',
  'remoteCacheMode',
  'noLineInfo',
] as const;

/** Flags that decide what is made. */
const memorable = [
  'kernels',
  'defines',
  'targets',
  'emit',
  'startFrom',
  'backend',
  'xMlirOpt',
  'xCc',
  'xPtxas',
  'xNvcc',
  'xHipcc',
  'xTriton',
  'mlirOpt',
  'cc',
  'ptxas',
  'nvcc',
  'hipcc',
  'pythons',
  'cacheDir',
  'noLineInfo',
] as const satisfies readonly FlagName[];

/** Flags that want more than artifacts: what was found before does not do. */
const shown = ['saveTemps', 'dumpDir', 'dryRun', 'noCache', ...passFlags] as const satisfies readonly FlagName[];

const toolPaths = ({
  mlirOpt,
  cc,
  ptxas,
  nvcc,
  hipcc,
}: Arguments<'mlirOpt' | 'cc' | 'ptxas' | 'nvcc' | 'hipcc'>['flags']): ToolPaths => ({
  ...(mlirOpt === undefined ? {} : { 'mlir-opt': mlirOpt }),
  ...(cc === undefined ? {} : { cc }),
  ...(ptxas === undefined ? {} : { ptxas }),
  ...(nvcc === undefined ? {} : { nvcc }),
  ...(hipcc === undefined ? {} : { hipcc }),
});

/** What the tool and cache flags say. */
export function compileOptions(
  { flags }: Arguments<(typeof toolFlags)[number]>,
  { signal, reporter }: Session,
): CompileOptions {
  return {
    ...(flags.backend === undefined ? {} : { backend: flags.backend }),
    signal,
    lineInfo: !flags.noLineInfo,
    cache: flags.noCache ? false : (flags.cacheDir ?? undefined)!,
    ...(flags.remoteCache === undefined
      ? {}
      : { remoteCache: { url: flags.remoteCache, mode: flags.remoteCacheMode ?? 'rw' } }),
    toolFlags: {
      'mlir-opt': flags.xMlirOpt,
      cc: flags.xCc,
      ptxas: flags.xPtxas,
      nvcc: flags.xNvcc,
      hipcc: flags.xHipcc,
    },
    backendOptions: Object.fromEntries(flags.xTriton.map(parseOption)),
    pythons: Object.fromEntries(flags.pythons),
    tools: toolPaths(flags),
    onWarning: (warning) => reporter.report([warning]),
  };
}

export const buildFlags = toolFlags;

/** The extension that files of a stage have. */
const extensionOf = (stage: string): string => (stage === 'obj' ? 'o' : stage);

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever stands in the way is told when the file is written.
    return false;
  }
}

const flagNames = [
  'kernels',
  'defines',
  'targets',
  'emit',
  'output',
  'saveTemps',
  'dumpDir',
  'dryRun',
  'startFrom',
  'jobs',
  'depfile',
  'userDepfile',
  'depfilePath',
  'depfileTargets',
  'depfilePhony',
  ...toolFlags,
  ...passFlags,
] as const satisfies readonly FlagName[];
type BuildArguments = Arguments<(typeof flagNames)[number]>;

export const command = defineCommand({
  summary: 'compile kernels to artifacts',
  notes:
    'FILE is a .ts file with kernels, a .kir file, or a stage with --start-from. Without --emit: plan.json and so (cpu), cubin (sm_…) or hsaco (gfx…).',
  operands: { synopsis: 'FILE…', min: 1, max: Number.POSITIVE_INFINITY },
  flags: flagNames,
  async run(args, session) {
    const { flags } = args;
    const destination = parseDestination(flags.output, isFolder);
    const memory = await memoryOf(args, destination);
    const known = await memory?.recall();
    if (known) {
      await writeMade(known.made, destination, session, depfileFor(args, destination, known.sources));
      return 0;
    }
    return withWorkersFor(args, (workers) => build(args, session, destination, memory, workers));
  },
});

/** Makes what a command line asks for. */
async function build(
  args: BuildArguments,
  session: Session,
  destination: Destination,
  memory: Remembered | undefined,
  workers: Workers,
): Promise<number> {
  const { flags, operands: files } = args;
  const { kernelsOf } = await import('./sources.js');
  const { passHooks } = await import('./pass-printing.js');
  const api = await import('../api/compile.js');
  const targets = (flags.targets.length > 0 ? flags.targets : ['cpu']).map(api.asTarget);
  const stages: StageExtension[] = [...new Set(targets.flatMap((t) => api.stageNames(t)))].map((stage) => ({
    stage,
    extension: extensionOf(stage),
  }));
  const targetNames = targets.map((t) => t.name);
  const named =
    destination.kind === 'file'
      ? (hostStageOfPath(destination.path, targetNames) ?? stageOfPath(destination.path, stages))
      : undefined;
  const everything = flags.emit.length > 0 ? flags.emit : named !== undefined ? [named] : undefined;
  const joined = hostStagesOf(everything ?? [], targetNames);
  const asked = everything?.filter((s) => !joined.some((j) => j === s));
  // Of several targets each makes those stages that it has; one that none has is refused by the first.
  const emitFor = (target: Target): readonly string[] =>
    asked?.filter((s) => api.stageNames(target).includes(s) || !stages.some(({ stage }) => stage === s)) ??
    api.defaultEmit(target);
  // What a launcher embeds is compiled for it.
  const dryEmit = (target: Target): readonly string[] =>
    joined.length > 0 ? [...new Set([...emitFor(target), ...api.defaultEmit(target)])] : emitFor(target);
  const options: CompileOptions = {
    ...compileOptions(args, session),
    ...workers,
    hooks: await passHooks(args, session),
  };

  const sources = new Set<string>();
  let closed = true;
  const read = (files: readonly string[], alone: boolean): void => {
    for (const f of files) sources.add(f);
    closed &&= alone;
  };

  /** Everything for one kernel and target; gives what is to be written as outputs. */
  const buildOne = async (kernel: NamedKernel, target: Target, options: CompileOptions): Promise<Made[]> => {
    const kept: Made[] = [];
    if (flags.dumpDir !== undefined)
      await dump(kernel, target.name, targets.length > 1, flags.dumpDir, options, session);
    if (flags.saveTemps !== undefined) {
      const made = await temps(kernel, target, options);
      if (flags.saveTemps === true) kept.push(...made);
      else await writeInto(flags.saveTemps, made);
    }
    return [...kept, ...(await compileOne(kernel, target, emitFor(target), options, session))];
  };

  const work: Promise<Made[]>[] = [];
  const begin = (made: Promise<Made[]>): void => {
    // Told below, with what else goes wrong; until then it has been heard.
    made.catch(() => {});
    work.push(made);
  };
  for (const file of files) {
    const entered = flags.startFrom ?? (file.endsWith('.ts') ? undefined : api.stageOfFile(file));
    if (entered !== undefined && entered !== 'kir') {
      read([resolve(file)], true);
      for (const target of targets) {
        await checkStart(file, entered, target, flags.startFrom !== undefined);
        if (flags.dryRun) await session.print(await resumeCommandsOf(file, entered, target, emitFor(target), options));
        else begin(resume(file, entered, emitFor(target), target, options));
      }
      continue;
    }
    for (const kernel of await kernelsOf(file, flags.kernels, flags.defines, read)) {
      for (const target of targets) {
        if (flags.dryRun) await session.print(await commandsOf(kernel, target, dryEmit(target), options));
        else if (asked?.length !== 0 || flags.dumpDir !== undefined || flags.saveTemps !== undefined)
          begin(buildOne(kernel, target, options));
      }
      if (joined.length === 0) continue;
      if (flags.dryRun) await session.print(await hostCommandsOf(kernel, joined, options));
      else begin(buildForHost(kernel, targetNames, joined, options));
    }
  }
  // All come to their end before the first error is told: nothing runs on behind it.
  await Promise.allSettled(work);
  const made = (await Promise.all(work)).flat();
  if (flags.dryRun) return 0;
  await writeMade(made, destination, session, depfileFor(args, destination, [...sources]));
  if (closed && !session.reporter.hasReported) await memory?.remember(made, [...sources]);
  return 0;
}

/** The memory of a command line that only makes artifacts; undefined for one that also shows or keeps how. */
async function memoryOf(
  { flags, operands }: Arguments<(typeof memorable)[number] | (typeof shown)[number] | 'output'>,
  destination: Destination,
): Promise<Remembered | undefined> {
  const shows = shown.some((name) => {
    const value: unknown = flags[name];
    return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
  });
  const targets = flags.targets.length > 0 ? flags.targets : ['cpu'];
  const host =
    hostStagesOf(flags.emit, targets).length > 0 ||
    (destination.kind === 'file' && hostStageOfPath(destination.path, targets) !== undefined);
  if (shows || host || operands.includes('-')) return undefined;
  const extension =
    destination.kind === 'file'
      ? destination.path
          .split('/')
          .at(-1)!
          .replace(/^[^.]*/, '')
      : '';
  return rememberedBuild({
    files: operands,
    targets,
    flags: { ...Object.fromEntries(memorable.map((name) => [name, flags[name]])), extension },
    tools: toolPaths(flags),
    cache: flags.cacheDir,
  });
}

type Depfile = (outputs: readonly string[]) => { readonly path: string; readonly content: string };

/** Makes the depfile that the command line asks for. */
function depfileFor(
  { flags }: BuildArguments,
  destination: Destination,
  sources: readonly string[],
): Depfile | undefined {
  if (!flags.depfile && !flags.userDepfile && flags.depfilePath === undefined) return undefined;
  const options: DepfileOptions = {
    userOnly: flags.userDepfile && !flags.depfile,
    file: flags.depfilePath,
    targets: flags.depfileTargets,
    phony: flags.depfilePhony,
  };
  const targets = flags.targets.length > 0 ? flags.targets : ['cpu'];
  return (outputs) => depfileOf(options, destination, targets, sources, outputs);
}

/** Writes artifacts where `-o` says, and the depfile with them, and tells of each. */
async function writeMade(
  made: readonly Made[],
  destination: Destination,
  { print, reporter }: Session,
  depfile: Depfile | undefined,
): Promise<void> {
  const paths = outputPaths(destination, made);
  const rules = depfile?.(paths);
  if (paths[0] === '-') {
    await print(made[0]!.bytes);
    return;
  }
  await writeOutputs(
    [
      ...made.map(({ bytes, extension }, i) => ({ path: paths[i]!, content: bytes, executable: extension === 'exe' })),
      ...(rules ? [rules] : []),
    ],
    destination.kind === 'folder',
  );
  for (const [i, { bytes, note, detail }] of made.entries())
    reporter.say(`${paths[i]}  ${sizeText(bytes.length)}  ${note}${detail && `  ${detail}`}`);
}

/** The workers of both back ends for GPUs, which all targets share; each starts when it is first needed. */
type Workers = Pick<CompileOptions, 'worker' | 'mosaicWorker'>;

/** Stages that are there before any tool has run. */
const ownStages = ['kir', 'lowered.kir', 'mlir', 'ttir', 'mgpu.mlir'];

async function withWorkersFor<T>(
  { flags, operands }: BuildArguments,
  work: (workers: Workers) => Promise<T>,
): Promise<T> {
  if (flags.dryRun || !flags.targets.some((t) => !t.startsWith('cpu'))) return work({});
  const { withTritonWorker } = await import('../drivers/triton/worker.js');
  const { withMosaicWorker } = await import('../drivers/mosaic/worker.js');
  const { triton, mosaic } = Object.fromEntries(flags.pythons);
  const { jobs } = flags;
  return withTritonWorker({ python: triton, jobs }, (worker) =>
    withMosaicWorker({ python: mosaic, jobs }, async (mosaicWorker) => {
      const needed = flags.emit.length === 0 || flags.emit.some((stage) => !ownStages.includes(stage));
      // Importing Triton takes as long as all that comes before its first job. What another back end may refuse waits
      // for its gates.
      if (needed && flags.backend !== 'mosaic_gpu' && !(await speaksOfMosaic(operands))) worker.start();
      return work({ worker, mosaicWorker });
    }),
  );
}

async function speaksOfMosaic(files: readonly string[]): Promise<boolean> {
  const { useMosaicGpu } = await import('../drivers/environment.js');
  if (useMosaicGpu()) return true;
  // What cannot be read is told later; nothing needs to start for it.
  const texts = await Promise.all(files.map((f) => readFile(f, 'utf8').catch(() => 'mgpu')));
  return texts.some((text) => /mgpu|mosaic/i.test(text));
}

async function writeInto(folder: string, made: readonly Made[]): Promise<void> {
  const paths = outputPaths({ kind: 'folder', path: folder }, made);
  await writeOutputs(
    made.map(({ bytes }, i) => ({ path: paths[i]!, content: bytes })),
    true,
  );
}

async function compileOne(
  { name, kernel }: NamedKernel,
  target: Target,
  emit: readonly string[],
  options: CompileOptions,
  { reporter }: Session,
): Promise<Made[]> {
  const { compile } = await import('../api/compile.js');
  const started = performance.now();
  const compiled = await compile(kernel, { ...options, target: target.name, emit });
  reporter.report(compiled.warnings);
  const note = compiled.cached ? 'cache hit' : `${Math.round(performance.now() - started)} ms`;
  return madeOf(name, target, compiled, note);
}

/** The artifacts of a kernel; an image is noted with what it takes. */
function madeOf(
  kernel: string,
  target: Target,
  { artifacts, launches = [] }: Pick<Compiled, 'artifacts' | 'launches'>,
  note: string,
): Made[] {
  return [...artifacts].map(([key, bytes]) => {
    const launch = launches.length === 1 ? launches[0] : launches.find((l) => key.startsWith(`${l.name}.`));
    const image = /(?:^|\.)(?:cubin|hsaco)$/.test(key) && target.kind === 'gpu' && launch;
    return {
      kernel,
      target: target.name,
      extension: extensionOf(key),
      bytes,
      note,
      detail: image ? describeResources(launch.resources, target) : '',
    };
  });
}

/** `--save-temps`: every stage that tools read or wrote. */
async function temps({ name, kernel }: NamedKernel, target: Target, options: CompileOptions): Promise<Made[]> {
  const { compile, stagesOf } = await import('../api/compile.js');
  const emit = stagesOf(kernel, target, options).filter((s) => !['kir', 'lowered.kir', 'so', 'plan.json'].includes(s));
  const compiled = await compile(kernel, { ...options, target: target.name, emit, cache: false });
  return madeOf(name, target, compiled, 'kept');
}

async function checkStart(file: string, stage: string, target: Target, explicit: boolean): Promise<void> {
  const { startStages } = await import('../api/compile.js');
  const known = startStages(target);
  if (known.includes(stage)) return;
  const help = didYouMean(stage, known) ?? `stages of ${target.name} that can be entered: ${known.join(', ')}`;
  throw new UsageError([
    explicit
      ? cliCodes.badValue({ flag: '--start-from', expected: 'a stage that can be entered', got: stage }, { help })
      : cliCodes.badValue({ flag: 'FILE', expected: 'a kernel file or a stage', got: file }, { help }),
  ]);
}

/** The kernel's name in the name of a file that a dump or `--emit` wrote. */
const nameOfStage = (file: string, stage: string): string =>
  file
    .split('/')
    .at(-1)!
    .replace(new RegExp(`\\.(?:[^.]+\\.)?${extensionOf(stage).replaceAll('.', '\\.')}$`), '');

/** `--start-from`: the tools from a stage on. */
async function resume(
  file: string,
  stage: string,
  emit: readonly string[],
  target: Target,
  options: CompileOptions,
): Promise<Made[]> {
  const { resumeFrom } = await import('../api/compile.js');
  const started = performance.now();
  const wanted = emit.filter((s) => s !== 'plan.json');
  const resumed = await resumeFrom(file, stage, wanted, { ...options, target: target.name });
  const note = resumed.cached ? 'cache hit' : `${Math.round(performance.now() - started)} ms`;
  return madeOf(nameOfStage(file, stage), target, resumed, note);
}

async function resumeCommandsOf(
  file: string,
  stage: string,
  target: Target,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string> {
  const { resumeCommands } = await import('../api/compile.js');
  const lines = await resumeCommands(stage, nameOfStage(file, stage), emit, { ...options, target: target.name });
  return lines.map((argv) => `${quoteCommand(argv)}\n`).join('');
}

async function commandsOf(
  { name, kernel }: NamedKernel,
  target: Target,
  emit: readonly string[],
  options: CompileOptions,
): Promise<string> {
  const { toolCommands } = await import('../api/compile.js');
  const lines = await toolCommands(kernel, name, emit, { ...options, target: target.name });
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
