/** From MLIR text to a shared library for the CPU, by mlir-opt, mlir-translate, opt, llc and cc. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InternalError, ToolError } from '../diagnostics/diagnostic.js';
import { placedError } from './mlir-place.js';
import { type Outcome, toolError } from './run.js';
import { runStage, type StageRecord, type ToolStage } from './stages.js';
import { findTool, type Tool, type ToolName, type ToolPaths } from './tool.js';
import { withWorkspace } from './workspace.js';

/** Lowers func, arith, math, scf, vector and llvm to llvm alone. Constants are hoisted before loops are flattened. */
const lowering = [
  'canonicalize',
  'cse',
  'loop-invariant-code-motion',
  'convert-scf-to-cf',
  'convert-math-to-llvm',
  'convert-vector-to-llvm{reassociate-fp-reductions=true}',
  'convert-func-to-llvm',
  'convert-arith-to-llvm',
  'convert-cf-to-llvm',
  'convert-ub-to-llvm',
  'canonicalize',
  'cse',
  'reconcile-unrealized-casts',
];

/** Keeps line numbers: mlir-translate drops locations that have no scope. Must come last. */
const lineInfoPass = 'ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}';

/**
 * LLVM 22's peephole pass folds a masked load into the masked operation that uses it, and a later pass takes the two apart
 * again as a load without the mask: it reads what is not there. Folding elsewhere respects masks.
 */
const withoutPeephole = '-disable-peephole';

// mlir-translate writes no triple; without one, opt and llc work for an unknown machine and lose a factor of 3 to 30.
const triple = '-mtriple=x86_64-unknown-linux-gnu';

export interface CpuTarget {
  /** LLVM's name of the processor; `native` is the one that the tools run on. */
  readonly cpu: string;
}

export interface CpuStageOptions {
  readonly target: CpuTarget;
  readonly lineInfo: boolean;
  /** Further flags by tool, as `-Xmlir-opt` gives them. */
  readonly extra?: Readonly<Partial<Record<ToolName, readonly string[]>>>;
}

/** The stages behind `mlir`, in order. `obj` and `s` both come from `bc`. */
export function cpuStages({ target, lineInfo, extra = {} }: CpuStageOptions): readonly ToolStage<ToolName>[] {
  const passes = `builtin.module(${[...lowering, ...(lineInfo ? [lineInfoPass] : [])].join(',')})`;
  const machine = [triple, `-mcpu=${target.cpu}`];
  const llc = (type: string) => (input: string, output: string) => [
    '-O3',
    ...machine,
    withoutPeephole,
    '-relocation-model=pic',
    `-filetype=${type}`,
    ...(extra.llc ?? []),
    input,
    '-o',
    output,
  ];
  return [
    {
      stage: 'llvm.mlir',
      from: 'mlir',
      tool: 'mlir-opt',
      args: (input, output) => [
        input,
        `--pass-pipeline=${passes}`,
        ...(lineInfo ? ['--mlir-print-debuginfo'] : []),
        ...(extra['mlir-opt'] ?? []),
        '-o',
        output,
      ],
    },
    {
      stage: 'll',
      from: 'llvm.mlir',
      tool: 'mlir-translate',
      args: (input, output) => ['--mlir-to-llvmir', input, '-o', output],
    },
    {
      stage: 'bc',
      from: 'll',
      tool: 'opt',
      args: (input, output) => ['-O3', ...machine, ...(extra.opt ?? []), input, '-o', output],
    },
    { stage: 's', from: 'bc', tool: 'llc', args: llc('asm') },
    { stage: 'obj', from: 'bc', tool: 'llc', args: llc('obj') },
    {
      stage: 'so',
      from: 'obj',
      tool: 'cc',
      args: (input, output) => [
        '-shared',
        '-nostdlib',
        '-Wl,--build-id=none',
        '-Wl,-z,noexecstack',
        ...(extra.cc ?? []),
        '-x',
        'none',
        input,
        '-o',
        output,
        // Named as needed only where a kernel calls a function of it.
        '-Wl,--as-needed',
        '-lm',
      ],
    },
  ];
}

export interface CpuBuild {
  /** By stage. */
  readonly artifacts: ReadonlyMap<string, Uint8Array>;
  readonly records: readonly StageRecord[];
}

export interface CpuBuildOptions extends CpuStageOptions {
  readonly tools?: ToolPaths;
  readonly signal?: AbortSignal;
  /** Per tool, in milliseconds. */
  readonly timeout?: number;
}

/** The stages that lead from `from` to all of `wanted`, in order. */
export function stagesFor(
  from: string,
  wanted: readonly string[],
  options: CpuStageOptions,
): readonly ToolStage<ToolName>[] {
  const all = cpuStages(options);
  const needed = new Set<string>();
  for (let names = wanted.filter((w) => w !== from); names.length > 0; ) {
    const stages = names.map((n) => all.find((s) => s.stage === n));
    for (const s of stages) if (s) needed.add(s.stage);
    names = stages.flatMap((s) => (s && s.from !== from ? [s.from] : []));
  }
  return all.filter((s) => needed.has(s.stage));
}

/**
 * Runs the stages from `from` (with text `input`) to all of `wanted`.
 *
 * @throws ToolError: a tool is missing, of the wrong version, failed, hung or was cancelled.
 */
export async function buildCpu(
  from: string,
  input: Uint8Array,
  wanted: readonly string[],
  options: CpuBuildOptions,
): Promise<CpuBuild> {
  const stages = stagesFor(from, wanted, options);
  const tools = new Map<ToolName, Tool>();
  for (const { tool } of stages) if (!tools.has(tool)) tools.set(tool, await findTool(tool, options.tools));
  return withWorkspace(async (folder) => {
    const artifacts = new Map<string, Uint8Array>([[from, input]]);
    const records: StageRecord[] = [];
    const path = (stage: string): string => join(folder, `kernel.${stage === 'obj' ? 'o' : stage}`);
    await writeFile(path(from), input);
    for (const stage of stages) {
      const source = artifacts.get(stage.from);
      if (!source) throw new InternalError(`stage '${stage.stage}' needs '${stage.from}'`);
      const { bytes, record } = await runStage(
        stage,
        tools.get(stage.tool)!,
        { path: path(stage.from), bytes: source },
        path(stage.stage),
        readFile,
        {
          ...(options.signal ? { signal: options.signal } : {}),
          ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
          explain: (outcome) => mlirError(outcome, folder, source),
        },
      );
      artifacts.set(stage.stage, bytes);
      records.push(record);
    }
    return { artifacts, records };
  });
}

/**
 * An error of an MLIR or LLVM tool, at the place in the user's file that it is about: verifiers name it; parsers name a
 * line of the stage's own text, which ends with the location that the text carries.
 */
function mlirError(outcome: Outcome, folder: string, input: Uint8Array): ToolError {
  const stderr = outcome.stderr.replaceAll(`${folder}/`, '');
  const cleaned = { ...outcome, stderr, argv: outcome.argv.map((a) => a.replaceAll(`${folder}/`, '')) };
  const error = toolError(cleaned);
  const loc = placedError(stderr, input)?.loc;
  if (!loc) return error;
  return new ToolError(
    error.diagnostics.map((d) => ({ ...d, loc })),
    error.failure,
  );
}
