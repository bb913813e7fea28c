/**
 * Launching built kernels from Node: no compiler and no Python at run time. A kernel is the shared library of its launcher
 * (`build --emit so,plan.json`) with the plan of the target that it shall run on.
 */

import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DType, storageBytes } from '../ir/dtypes.js';
import { evaluateExtent } from '../ir/symbolic.js';
import type { LaunchPlan } from '../lowering/launch-plan.js';
import { type CArgument, cArguments } from '../lowering/launcher/c-arguments.js';
import { arrayBytes, asDType, scalarType } from '../lowering/launcher/c-text.js';
import { symbolFor } from '../lowering/symbol.js';
import type { DeviceBuffer, Stream } from './device.js';
import { LaunchError, statusOf } from './error.js';
import { type ForeignFunction, type ForeignValue, openLibrary } from './foreign.js';

export { type Device, type DeviceBuffer, type DeviceEvent, openDevice, type Stream } from './device.js';
export { LaunchError, type LaunchStatus } from './error.js';

/** An argument: a typed array (cpu), a buffer (GPU), or a number for a scalar or a size. */
export type LaunchValue = ArrayBufferView | DeviceBuffer | number | bigint | boolean;

export interface LoadedKernel {
  readonly name: string;
  /** `cpu`, `sm_90a`, `gfx942`: what the plan is for. */
  readonly target: string;
  readonly plan: LaunchPlan;
  /**
   * Launches with arguments by name: arrays, scalars and sizes. On the CPU it returns when the kernel has run, on a GPU when
   * it is in the stream.
   *
   * @throws LaunchError `argument` where one is missing, too short, or breaks a promise; nothing is launched then.
   */
  launch(args: Readonly<Record<string, LaunchValue>>, options?: { readonly stream?: Stream }): void;
  /** Unloads its images; it loads them again when it is launched. */
  unload(): void;
}

export interface LoadOptions {
  /** The launcher's shared library; `NAME.so` beside the plan without it. */
  readonly library?: string;
}

const devices = { cpu: 1, cuda: 2, hip: 3 } as const;
const deviceOf = (target: string): keyof typeof devices =>
  target.startsWith('cpu') ? 'cpu' : target.startsWith('sm_') ? 'cuda' : 'hip';

function readPlan(file: string): LaunchPlan {
  let plan: LaunchPlan;
  try {
    plan = JSON.parse(readFileSync(file, 'utf8')) as LaunchPlan;
  } catch (error) {
    throw new LaunchError('bad-plan', `${file}: ${(error as Error).message}`);
  }
  if (plan?.version !== 1 || !Array.isArray(plan.params) || !Array.isArray(plan.dims))
    throw new LaunchError('bad-plan', `${file} is no launch plan of version 1`);
  return plan;
}

/**
 * Loads a kernel by the plan of one of its targets.
 *
 * @param plan `NAME.TARGET.plan.json`, as `build` writes it; which target it is for decides where the kernel runs.
 * @throws LaunchError: a plan that cannot be read, a library that is missing, no driver, no image for this device.
 */
export async function load(plan: string | URL, { library }: LoadOptions = {}): Promise<LoadedKernel> {
  const file = typeof plan === 'string' ? resolve(plan) : fileURLToPath(plan);
  const read = readPlan(file);
  const suffix = `.${read.target.replaceAll(':', '-')}.plan.json`;
  const name = basename(file).endsWith(suffix) ? basename(file).slice(0, -suffix.length) : read.kernel;
  const opened = await openLibrary([library ?? join(dirname(file), `${name}.so`)], 'load');
  return new Loaded(
    read,
    (symbol, parameters) => opened.function(symbol, 'int', parameters),
    opened.function('tw_last_error', 'const char *', []),
  );
}

/** Writes one argument in the form that C takes. */
type Convert = (args: Readonly<Record<string, LaunchValue>>) => ForeignValue;

class Loaded implements LoadedKernel {
  readonly name: string;
  readonly target: string;
  private readonly call: ForeignFunction;
  private readonly unloadAll: ForeignFunction;
  private readonly converts: readonly Convert[];
  private readonly sizes: readonly ((known: ReadonlyMap<string, number>) => readonly [string, number])[];
  private readonly dims: readonly string[];
  private readonly names: ReadonlySet<string>;

  constructor(
    readonly plan: LaunchPlan,
    bind: (symbol: string, parameters: readonly string[]) => ForeignFunction,
    private readonly lastError: ForeignFunction,
  ) {
    this.name = plan.kernel;
    this.target = plan.target;
    const symbol = symbolFor(plan.kernel);
    const given = cArguments(plan);
    const arrays = new Map(plan.params.flatMap((p) => (p.kind === 'array' ? [[p.name, p] as const] : [])));
    this.call = bind(symbol, ['void *', ...given.map((a) => (a.kind === 'array' ? 'void *' : a.type.trim()))]);
    this.unloadAll = bind(`tw_unload_${symbol}`, []);
    const select = bind(`tw_select_${symbol}`, ['int']);
    const start = bind(`tw_load_${symbol}`, []);
    this.check(select(devices[deviceOf(plan.target)]) as number);
    this.check(start() as number);
    this.dims = plan.dims.map((d) => d.name);
    this.names = new Set(given.map((a) => a.name));
    this.converts = given.map((a) => this.converter(a, a.kind === 'array' ? undefined : this.scalarDType(a)));
    this.sizes = given.flatMap((a) => {
      const array = arrays.get(a.name);
      if (a.kind !== 'array' || !array) return [];
      const bytes = arrayBytes(array.shape, asDType(array.dtype));
      return [(known: ReadonlyMap<string, number>) => [a.name, evaluateExtent(bytes, known)] as const];
    });
  }

  private scalarDType({ kind, name }: CArgument): DType | undefined {
    if (kind === 'dim') return undefined;
    return asDType(this.plan.params.find((p) => p.name === name)!.dtype);
  }

  private check(code: number): void {
    if (code !== 0) throw new LaunchError(statusOf(code), String(this.lastError()));
  }

  private converter({ kind, name, about }: CArgument, dtype: DType | undefined): Convert {
    const fail = (got: LaunchValue | undefined): never => {
      const what = got === undefined ? 'is missing' : `cannot be ${typeof got === 'object' ? 'an array' : String(got)}`;
      throw new LaunchError('argument', `${this.name}: ${name} (${about}) ${what}`);
    };
    if (kind === 'array') {
      const cpu = deviceOf(this.target) === 'cpu';
      return (args) => {
        const value = args[name];
        if (cpu && ArrayBuffer.isView(value)) return value;
        if (!cpu && typeof value === 'object' && 'address' in value) return value.address;
        return fail(value);
      };
    }
    const wide = dtype !== undefined && /64_t$/.test(scalarType(dtype));
    const integer = dtype === undefined || dtype.cls !== 'float' || !/^f(32|64)$/.test(dtype.name);
    return (args) => {
      const value = args[name];
      const plain = typeof value === 'boolean' ? Number(value) : value;
      if (typeof plain !== 'number' && typeof plain !== 'bigint') return fail(value);
      if (integer && typeof plain === 'number' && !Number.isSafeInteger(plain)) return fail(value);
      if (dtype && integer && !fits(dtype, BigInt(plain))) return fail(value);
      return wide || typeof plain === 'number' ? plain : Number(plain);
    };
  }

  launch(args: Readonly<Record<string, LaunchValue>>, { stream }: { readonly stream?: Stream } = {}): void {
    const values = this.converts.map((convert) => convert(args));
    for (const name of Object.keys(args))
      if (!this.names.has(name))
        throw new LaunchError(
          'argument',
          `${this.name} has no argument '${name}'; it takes ${[...this.names].join(', ')}`,
        );
    const known = new Map<string, number>();
    for (const p of this.plan.params)
      if (p.kind === 'scalar' && typeof args[p.name] !== 'object') known.set(p.name, Number(args[p.name]));
    for (const dim of this.dims) known.set(dim, Number(args[dim]));
    for (const size of this.sizes) {
      const [name, needed] = size(known);
      const value = args[name] as ArrayBufferView | DeviceBuffer;
      const has = ArrayBuffer.isView(value) ? value.byteLength : value.bytes;
      if (has < needed)
        throw new LaunchError('argument', `${this.name}: ${name} has ${has} bytes; ${needed} are needed`);
    }
    this.check(this.call(stream?.handle ?? null, ...values) as number);
  }

  unload(): void {
    this.check(this.unloadAll() as number);
  }
}

/** Whether C's type of a scalar has the value. Narrow floats are passed by their bits. */
function fits(dtype: DType, value: bigint): boolean {
  const bits = dtype.cls === 'bool' ? 1 : Math.max(8, storageBytes(dtype) * 8);
  return dtype.cls === 'int' && dtype.signed
    ? BigInt.asIntN(bits, value) === value
    : BigInt.asUintN(bits, value) === value;
}
