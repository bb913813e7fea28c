/** Running kernels: by the interpreter, or compiled for this machine's CPU. */

import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { type CpuJob, type CpuLaunch, type CpuRunOptions, runCpu, withCpuSession } from '../drivers/cpu-runner.js';
import { hostProcessor } from '../drivers/host.js';
import type { Kernel } from '../frontend/kernel.js';
import type { ParamSpecs } from '../frontend/params.js';
import type { ArraySpec, ScalarSpec } from '../frontend/spec.js';
import { type DType, isWide } from '../ir/dtypes.js';
import { type InterpretOptions, interpretKernel } from '../ir/interpreter/index.js';
import type * as ir from '../ir/kernel.js';
import { allocateHost, encodeElement } from '../ir/numerics/registers.js';
import { runPasses } from '../ir/pass.js';
import { checksOf } from '../ir/sanitizer/checks.js';
import type { LaunchPlan } from '../lowering/launch-plan.js';
import { type BoundArguments, bindArguments, type HostValue } from './bind.js';
import { artifact, type Compiled, type CompileOptions, compile } from './compile.js';
import { bytesOf, fromBytes, type NdArray } from './nd-array.js';
import { compareSchedules } from './schedules.js';
import { type AnyKernel, defaultTarget, type KernelSource, sourceOf, withDisplayLocations } from './source.js';

/** What a caller passes for a declared input. */
type InputOf<T> =
  T extends ArraySpec<infer D, infer _>
    ? NdArray<D>
    : T extends ScalarSpec<infer _>
      ? number | bigint | boolean
      : never;
type OutputOf<T> = T extends ArraySpec<infer D, infer _> ? NdArray<D> : never;
/** Arguments by name; dims that no input has alone as an extent are passed by name too. */
export type Arguments<I> = { readonly [K in keyof I]: InputOf<I[K]> } & { readonly [dim: string]: HostValue };
export type Results<O> = { readonly [K in keyof O]: OutputOf<O[K]> };

/** The arrays that a call gives back: outputs by name. */
function outputsOf(kernel: ir.Kernel, arrays: ReadonlyMap<string, NdArray>): Record<string, NdArray> {
  const named = kernel.params.filter((p) => p.kind === 'array' && (p.role === 'out' || p.role === 'inout'));
  return Object.fromEntries(named.map((p) => [p.name, arrays.get(p.name)!]));
}

export interface InterpretRunOptions extends InterpretOptions {
  /** Run in this many orders, drawn from `seed` (1 where it is not given) and the numbers behind it, and compare the results. */
  readonly seeds?: number;
}

/** Interprets a kernel from IR: what `interpret` and the command line share. */
export async function interpretSource(
  source: KernelSource,
  given: Readonly<Record<string, HostValue>>,
  options: InterpretRunOptions = {},
): Promise<Record<string, NdArray>> {
  return withDisplayLocations(source.folder, () => {
    runPasses(source.kernel, []);
    const runOnce = (seed: number | undefined): Record<string, NdArray> => {
      const bound = bindArguments(source.kernel, given);
      interpretKernel(source.kernel, bound, seed === undefined ? options : { ...options, seed });
      return outputsOf(source.kernel, bound.arrays);
    };
    const { seeds = 1, seed } = options;
    if (seeds === 1) return runOnce(seed);
    const differences = checksOf(options.sanitize).has('schedule');
    const from = seed ?? 1;
    const first = runOnce(from);
    for (let next = from + 1; next < from + seeds; next++) {
      const other = runOnce(next);
      if (differences) compareSchedules(source.kernel, first, other, [from, next]);
    }
    return first;
  });
}

/**
 * Runs a kernel by the reference meaning of its ops.
 *
 * @param given inputs and scalars by name; dims are read off the shapes of the inputs.
 * @returns outputs by name.
 * @param options `sanitize: true` watches for races, reads of what nothing wrote, unspecified lanes that count and more.
 * @throws CompileError: arguments that do not fit, an access out of bounds, what the sanitizer finds.
 */
export async function interpret<P extends ParamSpecs, I, O>(
  kernel: Kernel<P, I, O>,
  given: Arguments<I>,
  options: InterpretRunOptions = {},
): Promise<Results<O>> {
  return (await interpretSource(sourceOf(kernel as AnyKernel, 'interpret'), given, options)) as Results<O>;
}

export interface RunOptions extends Omit<CompileOptions, 'emit'>, CpuRunOptions {
  /** Worker threads; the number of processors by default. */
  readonly threads?: number;
}

export interface RunReport {
  readonly outputs: Readonly<Record<string, NdArray>>;
  /** Nanoseconds of each repetition. */
  readonly nanoseconds: readonly number[];
  readonly compiled: Compiled;
  readonly bound: BoundArguments;
  readonly warnings: readonly Diagnostic[];
}

/** A scalar in its 8-byte slot: integers sign-extended, floats by their bits. */
function slotOf(dtype: DType, value: number | bigint): bigint {
  if (dtype.cls !== 'float') return BigInt(value);
  const host = allocateHost(dtype, 1);
  encodeElement(dtype, isWide(dtype) ? value : Number(value), host, 0);
  const bytes = new Uint8Array(8);
  bytes.set(new Uint8Array(host.buffer));
  return new DataView(bytes.buffer).getBigUint64(0, true);
}

/** The job of one call: buffers in the order of the array parameters. */
export function cpuJob(
  kernel: ir.Kernel,
  plan: LaunchPlan,
  library: Uint8Array,
  bound: BoundArguments,
  threads: number,
): { job: CpuJob; names: readonly string[] } {
  const arrays = kernel.params.filter((p) => p.kind === 'array');
  const scalars = kernel.params.filter((p) => p.kind === 'scalar');
  const slots = [
    ...kernel.dims.map((d) => BigInt(bound.dims.get(d.name)!)),
    ...scalars.map((s) => slotOf(s.value.type.dtype, bound.scalars.get(s.name)!)),
  ];
  const launches = plan.launches.map(
    (l, i): CpuLaunch => ({
      symbol: l.symbol,
      programs: bound.programs[i]!,
      pointers: arrays.map((_, a) => a),
      scalars: slots,
      scratchBytes: l.scratchBytes,
    }),
  );
  const buffers = arrays.map((p) => {
    const bytes = bytesOf(bound.arrays.get(p.name)!);
    const output = p.role === 'out' || p.role === 'inout';
    return { bytes: bytes.byteLength, output, ...(p.role === 'out' || p.role === 'temp' ? {} : { input: bytes }) };
  });
  return { job: { library, buffers, launches, threads }, names: arrays.map((p) => p.name) };
}

/** Compiles a kernel from IR for this machine's CPU and gives the job of one call. */
async function prepare(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  options: RunOptions,
) {
  const compiled = await compile(kernel, { ...options, target: options.target ?? 'cpu:native', emit: ['so'] });
  const bound = await withDisplayLocations(kernel.folder, () => bindArguments(compiled.kernel, given));
  const threads = options.threads ?? hostProcessor().threads;
  const { job, names } = cpuJob(compiled.kernel, compiled.plan, artifact(compiled, 'so'), bound, threads);
  return { compiled, bound, names, job: options.tools ? { ...job, tools: options.tools } : job };
}

/** Compiles and runs a kernel from IR on this machine's CPU. */
export async function runSource(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  options: RunOptions = {},
): Promise<RunReport> {
  const { compiled, bound, names, job } = await prepare(kernel, given, options);
  const { outputs, nanoseconds } = await withDisplayLocations(kernel.folder, () => runCpu(job, options));
  const arrays = new Map(bound.arrays);
  for (const [i, bytes] of outputs) {
    const { dtype, shape } = bound.arrays.get(names[i]!)!;
    arrays.set(names[i]!, fromBytes(dtype, shape, bytes));
  }
  return { outputs: outputsOf(compiled.kernel, arrays), nanoseconds, compiled, bound, warnings: compiled.warnings };
}

/**
 * Compiles a kernel for this machine's CPU and runs it in a process of its own; a kernel that asks for the interpreter
 * is interpreted unless a target is given.
 *
 * @throws CompileError: the kernel or its arguments are wrong, or it crashed. ToolError: a tool is missing or failed.
 */
export async function run<P extends ParamSpecs, I, O>(
  kernel: Kernel<P, I, O>,
  given: Arguments<I>,
  options: RunOptions = {},
): Promise<Results<O>> {
  if (options.target === undefined && defaultTarget(kernel as AnyKernel) === 'interpret')
    return interpret(kernel, given);
  return (await runSource(kernel as AnyKernel, given, options)).outputs as Results<O>;
}

/** Keeps a compiled kernel and its arrays loaded and times it on demand, for benchmarks that interleave. */
export async function withTimedRun<T>(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  options: RunOptions,
  work: (time: (count: number) => Promise<number[]>) => Promise<T>,
): Promise<T> {
  const { job } = await prepare(kernel, given, options);
  return withCpuSession(job, (session) => work((count) => session.time(count)), options);
}
