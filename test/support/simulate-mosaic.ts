/** Runs what Mosaic GPU made of a kernel in the simulator, called as its launch plan says. */

import { bindArguments, type HostValue } from '../../src/api/bind.js';
import type { Compiled } from '../../src/api/compile.js';
import { bytesOf, fromBytes, type NdArray } from '../../src/api/nd-array.js';
import { type AnyKernel, sourceOf } from '../../src/api/source.js';
import { tryDType } from '../../src/ir/dtypes.js';
import type { DevicePlan, PlanSlot } from '../../src/lowering/device-plan.js';
import { type DeviceArgument, type SimulationReport, simulateSchedules } from '../../src/simulator/index.js';

/** Value of an extent of a plan. */
function valueOf(text: string, dims: ReadonlyMap<string, number>): number {
  const names = [...dims.keys()];
  const body = `const cdiv = (a, b) => Math.ceil(a / b); return ${text};`;
  return Number(new Function(...names, body)(...dims.values()));
}

/** Slots by the parameter that they are in: tensor maps lie side by side in one. */
function argumentsOf(
  plan: DevicePlan,
  dims: ReadonlyMap<string, number>,
  scalars: Readonly<Record<string, number>>,
): DeviceArgument[] {
  const all: DeviceArgument[] = [];
  let maps: DeviceArgument[] = [];
  const argument = (slot: PlanSlot): DeviceArgument => {
    switch (slot.kind) {
      case 'pointer':
        return { kind: 'buffer', name: slot.array };
      case 'extent':
        return { kind: 'scalar', dtype: tryDType(slot.type)!, value: valueOf(slot.value, dims) };
      case 'scalar':
        return { kind: 'scalar', dtype: tryDType(slot.dtype)!, value: scalars[slot.name]! };
      case 'tensorMap': {
        const bytes = slot.elementBytes as 1 | 2 | 4 | 8;
        const strides = slot.strides.slice(0, -1).map((s) => valueOf(s, dims) * bytes);
        return {
          kind: 'tensorMap',
          name: slot.array,
          elementBytes: bytes,
          sizes: slot.shape.map((s) => valueOf(s, dims)).reverse(),
          strides: strides.reverse(),
          box: [...slot.box].reverse(),
          swizzle: slot.swizzle,
        };
      }
      case 'scratch':
        return { kind: 'null' };
    }
  };
  for (const slot of plan.params) {
    if (slot.kind === 'tensorMap') {
      if (maps.length === 0) all.push({ kind: 'block', parts: maps });
      maps.push(argument(slot));
    } else {
      maps = [];
      all.push(argument(slot));
    }
  }
  return all;
}

/** Runs all launches of a kernel; gives its outputs. */
export function simulateMosaic(
  kernel: AnyKernel,
  compiled: Compiled,
  given: Readonly<Record<string, HostValue>>,
): { outputs: Record<string, NdArray>; reports: SimulationReport[] } {
  const { kernel: source } = sourceOf(kernel, compiled.target);
  const bound = bindArguments(source, given);
  const buffers = Object.fromEntries([...bound.arrays].map(([name, array]) => [name, bytesOf(array).slice()]));
  const scalars = Object.fromEntries([...bound.scalars].map(([name, value]) => [name, Number(value)]));
  const reports = compiled.plan.launches.map(({ symbol, device }) => {
    const stage = compiled.plan.launches.length === 1 ? 'ptx' : `${symbol}.ptx`;
    const ptx = Buffer.from(compiled.artifacts.get(stage)!).toString('utf8');
    const [x = 1, y = 1, z = 1] = device!.grid.map((extent) => valueOf(extent, bound.dims));
    const launch = {
      grid: [x, y, z] as const,
      block: device!.block,
      sharedBytes: device!.sharedBytes,
      arguments: argumentsOf(device!, bound.dims, scalars),
    };
    return simulateSchedules(ptx, launch, buffers);
  });
  const outputs = Object.fromEntries(
    [...bound.arrays].map(([name, { dtype, shape }]) => [name, fromBytes(dtype, shape, buffers[name]!)]),
  );
  return { outputs, reports };
}
