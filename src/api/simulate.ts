/** Running kernels as the code of a device, in the simulator. */

import { loweringCodes } from '../diagnostics/codes/lowering.js';
import { CompileError, type Diagnostic, invariant } from '../diagnostics/diagnostic.js';
import type { Kernel } from '../frontend/kernel.js';
import type { ParamSpecs } from '../frontend/params.js';
import { type DType, i32, i64, isWide, tryDType } from '../ir/dtypes.js';
import { parseExtent } from '../ir/parser.js';
import { evaluateExtent } from '../ir/symbolic.js';
import type { DevicePlan, PlanSlot } from '../lowering/device-plan.js';
import { gpuTargets } from '../lowering/gpu-target.js';
import type { Buffers, DeviceArgument, DeviceLaunch, SimulateOptions, SimulationReport } from '../simulator/index.js';
import { bindArguments, extentArguments, type HostValue } from './bind.js';
import { artifact, asTarget, type Compiled, type CompileOptions, compile } from './compile.js';
import { bytesOf, type NdArray } from './nd-array.js';
import type { Arguments, Results } from './run.js';
import { type AnyKernel, type KernelSource, withDisplayLocations } from './source.js';

export interface KernelSimulateOptions
  extends Omit<CompileOptions, 'emit'>,
    Pick<SimulateOptions, 'checks' | 'maxSteps' | 'profile'> {
  /** The device: `sm_80`, `sm_90a`, `sm_100a`, `gfx942`, `gfx950`, `gfx1100`, `gfx1201`. */
  readonly target: string;
  /** Runs every schedule and compares; the first one alone, if not told. */
  readonly allSchedules?: boolean;
}

export interface LaunchSimulation extends SimulationReport {
  readonly symbol: string;
}

export interface KernelSimulation {
  readonly outputs: Readonly<Record<string, NdArray>>;
  /** What the checks found, of every launch. */
  readonly findings: readonly Diagnostic[];
  readonly compiled: Compiled;
  /** Of each launch that ran. */
  readonly launches: readonly LaunchSimulation[];
}

export { formatProfile } from '../simulator/profile.js';

/** One launch of a plan for given arguments; undefined where its grid is empty. */
function launchOf(
  plan: DevicePlan,
  args: ReadonlyMap<string, number>,
  scalars: ReadonlyMap<string, number | bigint>,
  scratch: Map<string, Uint8Array>,
  name: string,
): DeviceLaunch | undefined {
  const valueOf = (text: string): number => evaluateExtent(parseExtent(text), args);
  const grid = [0, 1, 2].map((d) => (plan.grid[d] === undefined ? 1 : valueOf(plan.grid[d]))) as [
    number,
    number,
    number,
  ];
  if (grid.some((n) => n === 0)) return undefined;
  const programs = grid[0] * grid[1] * grid[2];
  const argument = (slot: PlanSlot): DeviceArgument => {
    switch (slot.kind) {
      case 'pointer':
        return { kind: 'buffer', name: slot.array };
      case 'scalar': {
        const dtype = tryDType(slot.dtype);
        const value = scalars.get(slot.name);
        invariant(dtype && value !== undefined, `no value for the scalar '${slot.name}'`);
        return { kind: 'scalar', dtype, value: isWide(dtype) ? BigInt(value) : Number(value) };
      }
      case 'extent':
        return slot.type === 'i64'
          ? { kind: 'scalar', dtype: i64 as DType, value: BigInt(valueOf(slot.value)) }
          : { kind: 'scalar', dtype: i32, value: valueOf(slot.value) };
      case 'tensorMap': {
        const [sizes, strides] = [slot.shape.map(valueOf).reverse(), slot.strides.map(valueOf).reverse()];
        return {
          kind: 'tensorMap',
          name: slot.array,
          elementBytes: slot.elementBytes as 1 | 2 | 4 | 8,
          sizes,
          strides: strides.slice(1).map((s) => s * slot.elementBytes),
          box: [...slot.box].reverse(),
          swizzle: slot.swizzle,
        };
      }
      case 'scratch': {
        if (slot.bytesPerProgram === 0) return { kind: 'null' };
        const buffer = `${name}: ${slot.use} scratch`;
        scratch.set(buffer, new Uint8Array(slot.bytesPerProgram * programs));
        return { kind: 'buffer', name: buffer };
      }
    }
  };
  return {
    grid,
    block: plan.block,
    ...(plan.cluster ? { cluster: plan.cluster } : {}),
    sharedBytes: plan.sharedBytes,
    arguments: plan.params.map(argument),
  };
}

/** Compiles a kernel from IR for a device and executes the device's code from the launch plan. */
export async function simulateSource(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  { allSchedules = false, checks, maxSteps, profile = false, ...options }: KernelSimulateOptions,
): Promise<KernelSimulation> {
  const device = asTarget(options.target);
  if (device.kind === 'cpu') {
    const known = gpuTargets.map((t) => `sim:${t.name}`);
    throw new CompileError([loweringCodes.unknownTarget({ target: `sim:${options.target}`, known: known.join(', ') })]);
  }
  const stage = device.vendor === 'amd' ? 'amdgcn' : 'ptx';
  const compiled = await compile(kernel, { ...options, emit: [stage, 'plan.json'] });
  // Loaded when it is asked for: every kernel file loads this package's entry, and few of them are simulated.
  const simulator = await import('../simulator/index.js');
  return withDisplayLocations(kernel.folder, () => {
    const bound = bindArguments(compiled.kernel, given);
    const buffers = new Map([...bound.arrays].map(([name, array]) => [name, bytesOf(array)]));
    const args = extentArguments(bound);
    const findings: Diagnostic[] = [];
    const launches: LaunchSimulation[] = [];
    const limits: SimulateOptions = {
      profile,
      ...(checks === undefined ? {} : { checks }),
      ...(maxSteps === undefined ? {} : { maxSteps }),
    };
    compiled.plan.launches.forEach((launch) => {
      invariant(launch.device, `the plan of '${launch.symbol}' is for no device`);
      const scratch = new Map<string, Uint8Array>();
      const setup = launchOf(launch.device, args, bound.scalars, scratch, launch.symbol);
      if (!setup) return;
      const name = compiled.plan.launches.length === 1 ? stage : `${launch.symbol}.${stage}`;
      const text = Buffer.from(artifact(compiled, name)).toString('utf8');
      const loaded = stage === 'amdgcn' ? simulator.loadAmd(text) : simulator.loadPtx(text);
      const memory: Buffers = Object.fromEntries([...buffers, ...scratch]);
      const report = (allSchedules ? simulator.simulateSchedules : simulator.simulateCode)(
        loaded,
        setup,
        memory,
        limits,
      );
      launches.push({ symbol: launch.symbol, ...report });
      findings.push(...report.findings);
    });
    const named = compiled.kernel.params.filter((p) => p.kind === 'array' && (p.role === 'out' || p.role === 'inout'));
    const outputs = Object.fromEntries(named.map((p) => [p.name, bound.arrays.get(p.name)!]));
    return { outputs, findings, compiled, launches };
  });
}

/**
 * Compiles a kernel for a device and runs the device's code in the simulator: no device is needed.
 *
 * @param given inputs and scalars by name; dims are read off the shapes of the inputs.
 * @returns outputs by name.
 * @throws CompileError: what `compile` throws; an instruction that is not modelled, an access out of bounds, a race or
 * whatever else the checks find. ToolError: a tool is missing or failed.
 */
export async function simulate<P extends ParamSpecs, I, O>(
  kernel: Kernel<P, I, O>,
  given: Arguments<I>,
  options: KernelSimulateOptions,
): Promise<Results<O>> {
  const { outputs, findings } = await simulateSource(kernel as AnyKernel, given, options);
  if (findings.length > 0) throw new CompileError(findings);
  return outputs as Results<O>;
}
