/** Executes device code without a device: functionally, not in time. */

import { simulatorCodes } from '../diagnostics/codes/simulator.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import type { DType } from '../ir/dtypes.js';
import { allocateHost, encodeElement } from '../ir/numerics/registers.js';
import { type Allocation, arenaBytes, GlobalMemory, globalWindow, viewsOf } from './memory.js';
import { type Profile, Profiler } from './profile.js';
import { Launch, type Triple } from './ptx/launch.js';
import type { Entry, PtxModule } from './ptx/module.js';
import { parsePtx } from './ptx/parser.js';
import { compileEntry } from './ptx/program.js';
import { encodeTensorMap, type TensorMap } from './ptx/tensor-map.js';
import { eager, type Schedule, schedules } from './schedule.js';

export { formatProfile, type Profile } from './profile.js';
export { type Schedule, schedules } from './schedule.js';

/** The value of one parameter of the compiled function. */
export type PtxArgument =
  | { readonly kind: 'buffer'; readonly name: string; readonly offset?: number }
  | { readonly kind: 'null' }
  | { readonly kind: 'scalar'; readonly dtype: DType; readonly value: number | bigint }
  /** Passed by value, 128 bytes. The address is that of the buffer. */
  | ({ readonly kind: 'tensorMap'; readonly name: string; readonly offset?: number } & Omit<TensorMap, 'address'>)
  /** One after the other in a parameter by value: the tensor maps of Mosaic GPU. */
  | { readonly kind: 'block'; readonly parts: readonly PtxArgument[] };

export interface PtxLaunch {
  /** The first of the text, if not told. */
  readonly entry?: string;
  /** Blocks along x, y and z; a cluster counts as its blocks. */
  readonly grid: Triple;
  /** Threads of a block. */
  readonly block: Triple;
  readonly cluster?: Triple;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes?: number;
  readonly arguments: readonly PtxArgument[];
}

export interface SimulateOptions {
  /** Asynchronous work as early as possible and warps in order, if not told. */
  readonly schedule?: Schedule;
  /** Whether races, reads of what nobody wrote and missing fences are looked for; they are, if not told. */
  readonly checks?: boolean;
  /** Whether the report has a profile. */
  readonly profile?: boolean;
  /** Instructions of all warps together before the kernel is stopped. */
  readonly maxSteps?: number;
}

export interface SimulationReport {
  /** What the checks found, each once for an instruction. */
  readonly findings: readonly Diagnostic[];
  /** Instructions of all warps, and of their lanes. */
  readonly steps: number;
  readonly laneInstructions: number;
  /** Multiplications of matrix instructions. */
  readonly products: number;
  /** Where it was asked for. */
  readonly profile?: Profile;
}

/** Memory of the device by name; every buffer is changed in place. */
export type Buffers = Readonly<Record<string, ArrayBufferView>>;

const fail = (diagnostic: Diagnostic): never => {
  throw new CompileError([diagnostic]);
};
const bytesOf = (view: ArrayBufferView): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

const defaultMaxSteps = 2 ** 32;
const mostThreads = 1024;
const mostShared = 227 * 1024;
const mostMemory = 2 ** 31;

function checkLaunch(launch: PtxLaunch, cluster: Triple, staticShared: number): void {
  const { grid, block, sharedBytes = 0 } = launch;
  const wrong = (what: string): never => fail(simulatorCodes.badLaunch({ what }));
  for (const [name, triple] of Object.entries({ grid, block, cluster }))
    if (!triple.every((n) => Number.isInteger(n) && n > 0)) wrong(`a ${name} of ${triple.join(' x ')}`);
  const threads = block[0] * block[1] * block[2];
  if (threads > mostThreads) wrong(`a block of ${threads} threads; at most ${mostThreads} are possible`);
  if (staticShared + sharedBytes > mostShared)
    wrong(`${staticShared + sharedBytes} bytes of shared memory; at most ${mostShared} are possible`);
  if (grid.some((n, d) => n % cluster[d]! !== 0))
    wrong(`a grid of ${grid.join(' x ')} in clusters of ${cluster.join(' x ')}`);
}

function entryOf(module: PtxModule, name: string | undefined): Entry {
  const entry = name === undefined ? [...module.entries.values()][0] : module.entries.get(name);
  return entry ?? fail(simulatorCodes.unknownEntry({ entry: name ?? '', known: [...module.entries.keys()] }));
}

/** The bytes of an argument, as the function reads them. */
function argumentBytes(
  argument: PtxArgument,
  addressOf: (name: string, offset: number) => bigint | undefined,
): Uint8Array | string {
  const pointer = (address: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(address).buffer);
  switch (argument.kind) {
    case 'null':
      return pointer(0n);
    case 'scalar': {
      const host = allocateHost(argument.dtype, 1);
      encodeElement(argument.dtype, argument.value, host, 0);
      return new Uint8Array(host.buffer);
    }
    case 'block': {
      const parts = argument.parts.map((part) => argumentBytes(part, addressOf));
      const wrong = parts.find((part) => typeof part === 'string');
      return wrong ?? Uint8Array.from((parts as Uint8Array[]).flatMap((part) => [...part]));
    }
    case 'buffer':
    case 'tensorMap': {
      const address = addressOf(argument.name, argument.offset ?? 0);
      if (address === undefined) return `a buffer '${argument.name}' that does not exist`;
      return argument.kind === 'buffer' ? pointer(address) : encodeTensorMap({ ...argument, address });
    }
  }
}

/** PTX that was read and can be launched any number of times. */
export interface LoadedPtx {
  readonly module: PtxModule;
}

/**
 * Reads PTX.
 *
 * @throws CompileError: the text is no PTX, or of a newer version than the simulator knows.
 */
export const loadPtx = (text: string): LoadedPtx => ({ module: parsePtx(text) });

/**
 * Runs one launch of PTX.
 *
 * @param source PTX, or what `loadPtx` made of it.
 * @param buffers global memory by name; changed in place.
 * @returns what the checks found, and how much was executed.
 * @throws CompileError: an instruction that is not modelled, arguments that do not fit, an access out of bounds or
 * misaligned, a misused barrier, a deadlock, too many steps.
 */
export function simulatePtx(
  source: string | LoadedPtx,
  launch: PtxLaunch,
  buffers: Buffers,
  { schedule = eager, checks = true, profile = false, maxSteps = defaultMaxSteps }: SimulateOptions = {},
): SimulationReport {
  const { module } = typeof source === 'string' ? loadPtx(source) : source;
  const entry = entryOf(module, launch.entry);
  const sizes = [...Object.values(buffers).map((b) => b.byteLength), ...module.globals.map((g) => g.bytes)];
  const needed = arenaBytes(sizes);
  if (needed > mostMemory)
    fail(
      simulatorCodes.badLaunch(
        { what: `${needed} bytes of global memory; at most ${mostMemory} are possible` },
        { help: 'simulate a smaller problem' },
      ),
    );
  const global = new GlobalMemory(needed);
  const placed = new Map<string, Allocation>();
  for (const [name, view] of Object.entries(buffers)) {
    const allocation = global.allocate(name, view.byteLength);
    global.views.u8.set(bytesOf(view), allocation.at);
    placed.set(name, allocation);
  }
  const globals = new Map<string, number>();
  for (const g of module.globals) {
    const { at } = global.allocate(g.name, g.bytes);
    if (g.initial) global.views.u8.set(g.initial, at);
    globals.set(g.name, at);
  }
  const program = compileEntry(entry, globals, globalWindow, checks);
  const cluster = launch.cluster ?? [1, 1, 1];
  checkLaunch(launch, cluster, program.symbols.staticShared);

  const parameters = viewsOf(entry.parameterBytes);
  const given = launch.arguments;
  if (given.length !== entry.parameters.length)
    fail(simulatorCodes.parameters({ entry: entry.name, expected: entry.parameters.length, got: given.length }));
  const addressOf = (name: string, offset: number): bigint | undefined => {
    const allocation = placed.get(name);
    return allocation && (BigInt(globalWindow) << 32n) + BigInt(allocation.at + offset);
  };
  entry.parameters.forEach((p, index) => {
    const bytes = argumentBytes(given[index]!, addressOf);
    const got = typeof bytes === 'string' ? bytes : `${bytes.length} bytes`;
    if (typeof bytes === 'string' || bytes.length !== p.bytes)
      return fail(simulatorCodes.parameter({ entry: entry.name, index, expected: `${p.bytes} bytes`, got }));
    parameters.u8.set(bytes, p.offset);
  });

  const run = new Launch({
    program,
    global,
    parameters,
    grid: launch.grid,
    cluster,
    shape: launch.block,
    dynamicShared: launch.sharedBytes ?? 0,
    schedule,
    checks,
    maxSteps,
    profiler: profile ? new Profiler() : undefined,
  });
  run.run();
  for (const [name, view] of Object.entries(buffers)) {
    const { at, bytes } = placed.get(name)!;
    bytesOf(view).set(global.views.u8.subarray(at, at + bytes));
  }
  const { steps, laneInstructions, products } = run;
  const report = { findings: [...run.findings.values()], steps, laneInstructions, products };
  return run.profiler ? { ...report, profile: run.profiler.finish(products) } : report;
}

/**
 * Runs one launch in every schedule and compares the bytes of all buffers.
 *
 * @param buffers changed in place by the first schedule.
 * @returns the report of the first schedule; its findings are those of all, and where a result depends on the schedule.
 * @throws CompileError, as `simulatePtx`.
 */
export function simulateSchedules(
  source: string | LoadedPtx,
  launch: PtxLaunch,
  buffers: Buffers,
  options: Omit<SimulateOptions, 'schedule'> = {},
): SimulationReport {
  const loaded = typeof source === 'string' ? loadPtx(source) : source;
  const before = Object.fromEntries(Object.entries(buffers).map(([name, view]) => [name, bytesOf(view).slice()]));
  const [first, ...others] = schedules;
  const report = simulatePtx(loaded, launch, buffers, { ...options, schedule: first! });
  const findings = [...report.findings];
  const known = new Set(findings.map((f) => f.message));
  for (const schedule of others) {
    const copies = Object.fromEntries(Object.entries(before).map(([name, bytes]) => [name, bytes.slice()]));
    const more = simulatePtx(loaded, launch, copies, { ...options, profile: false, schedule });
    for (const finding of more.findings) {
      if (known.has(finding.message)) continue;
      known.add(finding.message);
      findings.push(finding);
    }
    for (const [buffer, bytes] of Object.entries(copies)) {
      const want = bytesOf(buffers[buffer]!);
      const index = bytes.findIndex((b, n) => b !== want[n]);
      if (index >= 0)
        findings.push(simulatorCodes.schedules({ buffer, index, first: first!.name, second: schedule.name }));
    }
  }
  return { ...report, findings };
}
