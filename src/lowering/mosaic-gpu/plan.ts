/** How a kernel of Mosaic GPU is called: what lowering planned, with what the lowered module says of its parameters. */

import { InternalError, invariant } from '../../diagnostics/diagnostic.js';
import { storageBytes, tryDType } from '../../ir/dtypes.js';
import { printExtent, symbolic } from '../../ir/symbolic.js';
import type { DevicePlan, PlanSlot } from '../device-plan.js';
import type { MosaicLaunch } from './index.js';
import { tensorMapView } from './tensor-map.js';

/** What the lowered module says. A slot is an index into the launch's parameters. */
export interface LoweredKernel {
  /** The function's name in the image. */
  readonly symbol: string;
  readonly threads: number;
  readonly sharedBytes: number;
  readonly params: readonly (
    | { readonly kind: 'pointer'; readonly slot: number }
    | { readonly kind: 'scalar'; readonly slot: number; readonly type: string }
    | { readonly kind: 'tensorMaps'; readonly bytes: number }
  )[];
  readonly tensorMaps: readonly {
    readonly slot: number;
    readonly offset: number;
    readonly elementType: number;
    readonly swizzle: number;
    readonly box: readonly number[];
  }[];
}

const bytesOfMap = 128;

/** CUDA's numbers of swizzles by their bytes. */
const swizzles: Readonly<Record<number, number>> = { 16: 0, 32: 1, 64: 2, 128: 3 };

export function planMosaicLaunch(launch: MosaicLaunch, lowered: LoweredKernel, image: DevicePlan['image']): DevicePlan {
  let end = 0;
  const place = (bytes: number, alignment: number): { offset: number; bytes: number } => {
    const offset = Math.ceil(end / alignment) * alignment;
    end = offset + bytes;
    return { offset, bytes };
  };
  const params = lowered.params.flatMap((param): PlanSlot[] => {
    if (param.kind === 'tensorMaps') {
      const start = place(param.bytes, 64).offset;
      return [...lowered.tensorMaps]
        .sort((a, b) => a.offset - b.offset)
        .map((map, i) => {
          const array = launch.arrays[map.slot];
          invariant(array, `a tensor map of slot ${map.slot}`);
          invariant(
            map.box.length === array.shape.length,
            `a tensor map of rank ${map.box.length} over '${array.name}', whose bounds it would not keep`,
          );
          return {
            kind: 'tensorMap',
            array: array.name,
            offset: start + map.offset,
            bytes: bytesOfMap,
            box: map.box,
            shape: array.shape.map(printExtent),
            strides: array.shape.map((_, axis) =>
              printExtent(array.shape.slice(axis + 1).reduce((product, extent) => symbolic('mul', product, extent), 1)),
            ),
            swizzle: swizzles[map.swizzle] ?? 0,
            elementType: tensorMapView(map.elementType),
            elementBytes: storageBytes(array.dtype),
            fp4Padded: false,
            ...(i > 0 ? { joined: true } : {}),
          };
        });
    }
    const slot = launch.params[param.slot];
    invariant(slot, `a parameter of slot ${param.slot}`);
    switch (slot.kind) {
      case 'pointer':
        return [{ ...slot, ...place(8, 8) }];
      case 'extent':
        return [{ ...slot, ...place(4, 4), value: printExtent(slot.value) }];
      case 'scalar': {
        const bytes = storageBytes(tryDType(slot.dtype)!);
        return [{ ...slot, ...place(bytes, bytes) }];
      }
      case 'tensorMap':
        throw new InternalError('Mosaic GPU makes its tensor maps itself');
    }
  });
  return {
    image,
    grid: launch.grid.map(printExtent),
    block: [lowered.threads, 1, 1],
    sharedBytes: lowered.sharedBytes,
    params,
  };
}
