/** What launches of both kinds of device code share: arguments, memory, options and reports. */

import { simulatorCodes } from '../diagnostics/codes/simulator.js';
import { CompileError, type Diagnostic } from '../diagnostics/diagnostic.js';
import type { DType } from '../ir/dtypes.js';
import { allocateHost, encodeElement } from '../ir/numerics/registers.js';
import { type Allocation, arenaBytes, GlobalMemory, globalWindow } from './memory.js';
import type { Profile } from './profile.js';
import { encodeTensorMap, type TensorMap } from './ptx/tensor-map.js';
import type { Schedule } from './schedule.js';

export type Triple = readonly [number, number, number];

/** The value of one parameter of the compiled function. */
export type DeviceArgument =
  | { readonly kind: 'buffer'; readonly name: string; readonly offset?: number }
  | { readonly kind: 'null' }
  | { readonly kind: 'scalar'; readonly dtype: DType; readonly value: number | bigint }
  /** Passed by value, 128 bytes. The address is that of the buffer. */
  | ({ readonly kind: 'tensorMap'; readonly name: string; readonly offset?: number } & Omit<TensorMap, 'address'>)
  /** One after the other in a parameter by value: the tensor maps of Mosaic GPU. */
  | { readonly kind: 'block'; readonly parts: readonly DeviceArgument[] };

export interface DeviceLaunch {
  /** The first of the text, if not told. */
  readonly entry?: string;
  /** Blocks along x, y and z; a cluster counts as its blocks. */
  readonly grid: Triple;
  /** Threads of a block. */
  readonly block: Triple;
  readonly cluster?: Triple;
  /** Dynamic shared memory of a block. */
  readonly sharedBytes?: number;
  readonly arguments: readonly DeviceArgument[];
}

export interface SimulateOptions {
  /** Asynchronous work as early as possible and warps in order, if not told. */
  readonly schedule?: Schedule;
  /** Whether races, reads of what nobody wrote and missing fences and waits are looked for; they are, if not told. */
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

export const fail = (diagnostic: Diagnostic): never => {
  throw new CompileError([diagnostic]);
};
export const bytesOf = (view: ArrayBufferView): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

export const defaultMaxSteps = 2 ** 32;
const mostThreads = 1024;
const mostMemory = 2 ** 31;

/** Refuses what no device accepts. */
export function checkLaunch(launch: DeviceLaunch, sharedBytes: number, mostShared: number): void {
  const { grid, block, cluster = [1, 1, 1] } = launch;
  const wrong = (what: string): never => fail(simulatorCodes.badLaunch({ what }));
  for (const [name, triple] of Object.entries({ grid, block, cluster }))
    if (!triple.every((n) => Number.isInteger(n) && n > 0)) wrong(`a ${name} of ${triple.join(' x ')}`);
  const threads = block[0] * block[1] * block[2];
  if (threads > mostThreads) wrong(`a block of ${threads} threads; at most ${mostThreads} are possible`);
  if (sharedBytes > mostShared) wrong(`${sharedBytes} bytes of shared memory; at most ${mostShared} are possible`);
  if (grid.some((n, d) => n % cluster[d]! !== 0))
    wrong(`a grid of ${grid.join(' x ')} in clusters of ${cluster.join(' x ')}`);
}

/** Buffers in the memory of a device, and what else the code needs there. */
export class DeviceMemory {
  readonly global: GlobalMemory;
  private readonly placed = new Map<string, Allocation>();

  constructor(
    private readonly buffers: Buffers,
    more: readonly number[],
  ) {
    const needed = arenaBytes([...Object.values(buffers).map((b) => b.byteLength), ...more]);
    if (needed > mostMemory)
      fail(
        simulatorCodes.badLaunch(
          { what: `${needed} bytes of global memory; at most ${mostMemory} are possible` },
          { help: 'simulate a smaller problem' },
        ),
      );
    this.global = new GlobalMemory(needed);
    for (const [name, view] of Object.entries(buffers)) {
      const allocation = this.global.allocate(name, view.byteLength);
      this.global.views.u8.set(bytesOf(view), allocation.at);
      this.placed.set(name, allocation);
    }
  }

  /** Copies the buffers back. */
  copyBack(): void {
    for (const [name, view] of Object.entries(this.buffers)) {
      const { at, bytes } = this.placed.get(name)!;
      bytesOf(view).set(this.global.views.u8.subarray(at, at + bytes));
    }
  }

  private addressOf(name: string, offset: number): bigint | undefined {
    const allocation = this.placed.get(name);
    return allocation && (BigInt(globalWindow) << 32n) + BigInt(allocation.at + offset);
  }

  /** The bytes of an argument, as the function reads them; in words where there are none. */
  argumentBytes(argument: DeviceArgument): Uint8Array | string {
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
        const parts = argument.parts.map((part) => this.argumentBytes(part));
        const wrong = parts.find((part) => typeof part === 'string');
        return wrong ?? Uint8Array.from((parts as Uint8Array[]).flatMap((part) => [...part]));
      }
      case 'buffer':
      case 'tensorMap': {
        const address = this.addressOf(argument.name, argument.offset ?? 0);
        if (address === undefined) return `a buffer '${argument.name}' that does not exist`;
        return argument.kind === 'buffer' ? pointer(address) : encodeTensorMap({ ...argument, address });
      }
    }
  }

  /** Writes the arguments of a function, each at its place. */
  writeArguments(
    entry: string,
    parameters: readonly { readonly offset: number; readonly bytes: number }[],
    given: readonly DeviceArgument[],
    into: Uint8Array,
  ): void {
    if (given.length !== parameters.length)
      fail(simulatorCodes.parameters({ entry, expected: parameters.length, got: given.length }));
    parameters.forEach((p, index) => {
      const bytes = this.argumentBytes(given[index]!);
      const got = typeof bytes === 'string' ? bytes : `${bytes.length} bytes`;
      if (typeof bytes === 'string' || bytes.length !== p.bytes)
        return fail(simulatorCodes.parameter({ entry, index, expected: `${p.bytes} bytes`, got }));
      into.set(bytes, p.offset);
    });
  }
}

/** Device code that was read and can be launched any number of times. */
export interface LoadedCode {
  /** Runs one launch; buffers are changed in place. */
  readonly run: (launch: DeviceLaunch, buffers: Buffers, options: SimulateOptions) => SimulationReport;
}

/** The entry of that name, or the first. */
export function entryOf<T>(entries: ReadonlyMap<string, T>, name: string | undefined): T {
  const entry = name === undefined ? [...entries.values()][0] : entries.get(name);
  return entry ?? fail(simulatorCodes.unknownEntry({ entry: name ?? '', known: [...entries.keys()] }));
}
