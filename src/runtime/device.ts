/** Memory, streams and events of a GPU, by its driver's own library. */

import { driverLibraries } from '../drivers/environment.js';
import { LaunchError } from './error.js';
import { type ForeignLibrary, type ForeignValue, openLibrary } from './foreign.js';

/** Memory on a device. Its content is that of the last launch or `write`. */
export interface DeviceBuffer {
  readonly address: bigint;
  readonly bytes: number;
  /** Copies from host memory. @throws LaunchError where it does not fit. */
  write(from: ArrayBufferView): void;
  /** Copies to host memory, when everything that was launched on the default stream has ended. */
  read<T extends ArrayBufferView>(into: T): T;
  free(): void;
}

export interface Stream {
  readonly handle: bigint;
  /** Waits for everything that was launched on it. */
  synchronize(): void;
  destroy(): void;
}

export interface DeviceEvent {
  record(stream?: Stream): void;
  synchronize(): void;
  /** Milliseconds since another event, when both have passed. */
  since(start: DeviceEvent): number;
  destroy(): void;
}

export interface Device {
  readonly api: 'cuda' | 'hip';
  alloc(bytes: number): DeviceBuffer;
  /** A buffer with the content of host memory. */
  upload(from: ArrayBufferView): DeviceBuffer;
  stream(): Stream;
  event(): DeviceEvent;
  synchronize(): void;
}

/** How each call is named, and what it takes besides. */
interface Names {
  readonly alloc: string;
  readonly free: string;
  readonly synchronize: string;
  readonly streamCreate: readonly [string, readonly string[], readonly ForeignValue[]];
  readonly streamSynchronize: string;
  readonly streamDestroy: string;
  readonly eventCreate: readonly [string, readonly string[], readonly ForeignValue[]];
  readonly eventRecord: string;
  readonly eventSynchronize: string;
  readonly eventDestroy: string;
  readonly eventElapsed: string;
}

const namesOf: Readonly<Record<Device['api'], Names>> = {
  cuda: {
    alloc: 'cuMemAlloc_v2',
    free: 'cuMemFree_v2',
    synchronize: 'cuCtxSynchronize',
    streamCreate: ['cuStreamCreate', ['unsigned int'], [0]],
    streamSynchronize: 'cuStreamSynchronize',
    streamDestroy: 'cuStreamDestroy_v2',
    eventCreate: ['cuEventCreate', ['unsigned int'], [0]],
    eventRecord: 'cuEventRecord',
    eventSynchronize: 'cuEventSynchronize',
    eventDestroy: 'cuEventDestroy_v2',
    eventElapsed: 'cuEventElapsedTime',
  },
  hip: {
    alloc: 'hipMalloc',
    free: 'hipFree',
    synchronize: 'hipDeviceSynchronize',
    streamCreate: ['hipStreamCreate', [], []],
    streamSynchronize: 'hipStreamSynchronize',
    streamDestroy: 'hipStreamDestroy',
    eventCreate: ['hipEventCreate', [], []],
    eventRecord: 'hipEventRecord',
    eventSynchronize: 'hipEventSynchronize',
    eventDestroy: 'hipEventDestroy',
    eventElapsed: 'hipEventElapsedTime',
  },
};

const pointer = 'void *';

class Driver implements Device {
  private readonly names: Names;
  private readonly bound = new Map<string, (...args: readonly ForeignValue[]) => void>();

  constructor(
    readonly api: Device['api'],
    private readonly library: ForeignLibrary,
  ) {
    this.names = namesOf[api];
  }

  /** A function of the driver whose result is an error code. */
  private call(name: string, parameters: readonly string[], ...args: readonly ForeignValue[]): void {
    let bound = this.bound.get(name);
    if (!bound) {
      const raw = this.library.function(name, 'int', parameters);
      bound = (...given) => {
        const code = raw(...given) as number;
        if (code !== 0)
          throw new LaunchError(code === 2 ? 'memory' : 'launch', `${name.replace('_v2', '')}: error ${code}`);
      };
      this.bound.set(name, bound);
    }
    bound(...args);
  }

  /** What a function writes through its first parameter. */
  private made(name: string, parameters: readonly string[], ...args: readonly ForeignValue[]): bigint {
    const cell = new BigUint64Array(1);
    this.call(name, [pointer, ...parameters], cell, ...args);
    return cell[0]!;
  }

  /** The first device, with its primary context on this thread. */
  start(): void {
    if (this.api === 'hip') {
      this.call('hipInit', ['unsigned int'], 0);
      const count = new Int32Array(1);
      this.call('hipGetDeviceCount', [pointer], count);
      if (count[0] === 0) throw new LaunchError('no-device', 'there is no AMD GPU');
      return;
    }
    this.call('cuInit', ['unsigned int'], 0);
    const device = new Int32Array(1);
    this.call('cuDeviceGet', [pointer, 'int'], device, 0);
    const context = this.made('cuDevicePrimaryCtxRetain', ['int'], device[0]!);
    this.call('cuCtxSetCurrent', [pointer], context);
  }

  alloc(bytes: number): DeviceBuffer {
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw new LaunchError('argument', `a buffer of ${bytes} bytes`);
    const address = this.made(this.names.alloc, ['size_t'], Math.max(bytes, 1));
    const check = (view: ArrayBufferView): void => {
      if (view.byteLength > bytes)
        throw new LaunchError('argument', `${view.byteLength} bytes do not fit in a buffer of ${bytes}`);
    };
    return {
      address,
      bytes,
      write: (from) => {
        check(from);
        if (this.api === 'cuda')
          this.call('cuMemcpyHtoD_v2', [pointer, pointer, 'size_t'], address, from, from.byteLength);
        else this.call('hipMemcpy', [pointer, pointer, 'size_t', 'int'], address, from, from.byteLength, 1);
      },
      read: (into) => {
        check(into);
        // The direction of hipMemcpy tells which of both is a host address; addresses are plain numbers here.
        if (this.api === 'cuda')
          this.call('cuMemcpyDtoH_v2', [pointer, pointer, 'size_t'], into, address, into.byteLength);
        else this.call('hipMemcpy', [pointer, pointer, 'size_t', 'int'], into, address, into.byteLength, 2);
        return into;
      },
      free: () => this.call(this.names.free, [pointer], address),
    };
  }

  upload(from: ArrayBufferView): DeviceBuffer {
    const buffer = this.alloc(from.byteLength);
    buffer.write(from);
    return buffer;
  }

  stream(): Stream {
    const [name, parameters, args] = this.names.streamCreate;
    const handle = this.made(name, parameters, ...args);
    return {
      handle,
      synchronize: () => this.call(this.names.streamSynchronize, [pointer], handle),
      destroy: () => this.call(this.names.streamDestroy, [pointer], handle),
    };
  }

  event(): DeviceEvent {
    const [name, parameters, args] = this.names.eventCreate;
    const handle = this.made(name, parameters, ...args);
    const handles = this.handles;
    const event: DeviceEvent = {
      record: (stream) => this.call(this.names.eventRecord, [pointer, pointer], handle, stream?.handle ?? null),
      synchronize: () => this.call(this.names.eventSynchronize, [pointer], handle),
      since: (start) => {
        const milliseconds = new Float32Array(1);
        const parameters = [pointer, pointer, pointer];
        this.call(this.names.eventElapsed, parameters, milliseconds, handles.get(start) ?? null, handle);
        return milliseconds[0]!;
      },
      destroy: () => this.call(this.names.eventDestroy, [pointer], handle),
    };
    handles.set(event, handle);
    return event;
  }

  private readonly handles = new WeakMap<DeviceEvent, bigint>();

  synchronize(): void {
    this.call(this.names.synchronize, []);
  }
}

/**
 * The first GPU of this machine.
 *
 * @throws LaunchError `no-driver` or `no-device` where there is none.
 */
export async function openDevice(api: Device['api']): Promise<Device> {
  const driver = new Driver(api, await openLibrary(driverLibraries(api), 'no-driver'));
  try {
    driver.start();
  } catch (error) {
    if (error instanceof LaunchError && error.status === 'launch') throw new LaunchError('no-device', error.message);
    throw error;
  }
  return driver;
}
