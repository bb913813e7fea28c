/** How a compiled launch is called on a device: the part of the launch plan that the compiler has the last word on. */

import { invariant } from '../diagnostics/diagnostic.js';
import { printExtent } from '../ir/symbolic.js';
import type { DeviceLaunch, DeviceParam } from './device-launch.js';
import type { GpuTarget } from './gpu-target.js';

export interface Slot {
  /** Where in the block of parameters, and how long. */
  readonly offset: number;
  readonly bytes: number;
}

/** One parameter of the function, in order. Expressions are text over dims and integer scalars. */
export type PlanSlot = Slot &
  (
    | {
        readonly kind: 'pointer';
        readonly array: string;
        readonly alignment?: number;
        readonly below2GiB?: boolean;
      }
    | { readonly kind: 'scalar'; readonly name: string; readonly dtype: string }
    | { readonly kind: 'extent'; readonly value: string; readonly type: 'i32' | 'i64'; readonly divisibleBy?: number }
    | {
        readonly kind: 'tensorMap';
        readonly array: string;
        /** Of one access; may be smaller than the tile in the kernel. */
        readonly box: readonly number[];
        readonly shape: readonly string[];
        readonly strides: readonly string[];
        /** As the driver numbers swizzles and element types (CUtensorMapSwizzle, CUtensorMapDataType). */
        readonly swizzle: number;
        readonly elementType: number;
        readonly elementBytes: number;
        readonly fp4Padded: boolean;
        /** It lies in one parameter with the map before it. */
        readonly joined?: true;
      }
    /** Memory that the caller allocates, for all programs together; null where `bytesPerProgram` is 0. */
    | {
        readonly kind: 'scratch';
        readonly use: 'global' | 'profile';
        readonly bytesPerProgram: number;
        readonly alignment: number;
      }
  );

export interface DevicePlan {
  readonly image: {
    /** The stage that it is: `cubin`, `hsaco`. */
    readonly stage: string;
    readonly architecture: string;
    readonly bytes: number;
    readonly sha256: string;
  };
  /** Programs along x, y and z; a cluster counts as its programs. */
  readonly grid: readonly string[];
  /** Threads of one program. */
  readonly block: readonly [number, 1, 1];
  readonly cluster?: readonly [number, 1, 1];
  /** Dynamic shared memory. */
  readonly sharedBytes: number;
  readonly params: readonly PlanSlot[];
}

/** A tensor map as the compiler wants it. */
export interface CompiledDescriptor {
  readonly box: readonly number[];
  readonly swizzle: number;
  readonly elementType: number;
  readonly elementBytes: number;
  readonly fp4Padded: boolean;
}

export interface Scratch {
  readonly bytesPerProgram: number;
  readonly alignment: number;
}

/** What the compiler has found out about a launch. */
export interface CompiledLaunch {
  readonly image: DevicePlan['image'];
  readonly threads: number;
  readonly sharedBytes: number;
  readonly clusterPrograms: number;
  readonly globalScratch: Scratch;
  readonly profileScratch: Scratch;
  /** One for each parameter that is a tensor map, in order. */
  readonly descriptors: readonly CompiledDescriptor[];
}

const scalarBytes = (dtype: string): number => {
  if (dtype === 'bool') return 1;
  return Math.ceil(Number(/^(?:bf|f|i|u)(\d+)/.exec(dtype)?.[1] ?? 0) / 8);
};

/** Bytes of a parameter and what its address is a multiple of. */
function sizeOf(param: DeviceParam): readonly [bytes: number, alignment: number] {
  switch (param.kind) {
    case 'pointer':
      return [8, 8];
    case 'tensorMap':
      return [128, 64];
    case 'extent':
      return param.type === 'i64' ? [8, 8] : [4, 4];
    case 'scalar': {
      const bytes = scalarBytes(param.dtype);
      return [bytes, bytes];
    }
  }
}

/** Joins what lowering promised with what the compiler made of it. The two scratch parameters stand behind all others. */
export function planDeviceLaunch(launch: DeviceLaunch, compiled: CompiledLaunch): DevicePlan {
  const descriptors = [...compiled.descriptors];
  let end = 0;
  const place = ([bytes, alignment]: readonly [number, number]): Slot => {
    const offset = Math.ceil(end / alignment) * alignment;
    end = offset + bytes;
    return { offset, bytes };
  };
  const params = launch.params.map((param): PlanSlot => {
    const slot = place(sizeOf(param));
    switch (param.kind) {
      case 'pointer':
      case 'scalar':
        return { ...param, ...slot };
      case 'extent':
        return { ...param, ...slot, value: printExtent(param.value) };
      case 'tensorMap': {
        const described = descriptors.shift();
        invariant(described, `the compiler has no tensor map for '${param.array}'`);
        const [shape, strides] = [param.shape.map(printExtent), param.strides.map(printExtent)];
        return { kind: 'tensorMap', array: param.array, ...slot, shape, strides, ...described };
      }
    }
  });
  const scratch = (use: 'global' | 'profile', of: Scratch): PlanSlot => ({
    kind: 'scratch',
    use,
    ...place([8, 8]),
    ...of,
  });
  const { clusterPrograms: cluster } = compiled;
  return {
    image: compiled.image,
    grid: launch.grid.map((extent, axis) => {
      const text = printExtent(extent);
      return axis === 0 && cluster > 1 ? `(${text} * ${cluster})` : text;
    }),
    block: [compiled.threads, 1, 1],
    ...(cluster > 1 ? { cluster: [cluster, 1, 1] } : {}),
    sharedBytes: compiled.sharedBytes,
    params: [...params, scratch('global', compiled.globalScratch), scratch('profile', compiled.profileScratch)],
  };
}

/** What the text of the compiled function says about its parameters, to be held against the plan. */
export function compiledSlots(text: string, { vendor }: GpuTarget): Slot[] {
  if (vendor === 'amd')
    return [...text.matchAll(/\.offset:\s+(\d+)\n\s+\.size:\s+(\d+)\n\s+\.value_kind:\s+(\w+)/g)]
      .filter(([, , , kind]) => !kind!.startsWith('hidden_'))
      .map(([, offset, bytes]) => ({ offset: Number(offset), bytes: Number(bytes) }));
  const list = /\.entry \w+\(([^)]*)\)/.exec(text)?.[1] ?? '';
  let end = 0;
  return [...list.matchAll(/\.param (?:\.align (\d+) \.b8 [^[\n]+\[(\d+)\]|\.[usfb](\d+) )/g)].map(
    ([, alignment, size, bits]) => {
      const bytes = size === undefined ? Number(bits) / 8 : Number(size);
      const at = alignment === undefined ? bytes : Number(alignment);
      const offset = Math.ceil(end / at) * at;
      end = offset + bytes;
      return { offset, bytes };
    },
  );
}
