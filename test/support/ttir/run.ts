/** A kernel on the evaluator: lowered to Triton IR for a target, executed launch by launch as its plan says. */

import { bindArguments, type HostValue } from '../../../src/api/bind.js';
import { lowerForTriton } from '../../../src/api/compile-triton.js';
import { fromNumbers, type NdArray, toRegisters } from '../../../src/api/nd-array.js';
import type { AnyKernel, KernelSource } from '../../../src/api/source.js';
import { dtypes } from '../../../src/ir/dtypes.js';
import { evaluateExtent } from '../../../src/ir/symbolic.js';
import { findGpuTarget } from '../../../src/lowering/gpu-target.js';
import { memoryElementOf } from '../../../src/lowering/triton/types.js';
import { evaluateTtir } from './evaluate.js';
import { type Buffer, tensor } from './values.js';

export function runTtir(
  kernel: AnyKernel | KernelSource,
  given: Readonly<Record<string, HostValue>>,
  targetName = 'sm_90a',
): Record<string, NdArray> {
  const { lowered, launches } = lowerForTriton(kernel, findGpuTarget(targetName)!);
  const bound = bindArguments(lowered, given);
  const buffers = new Map<string, Buffer>();
  for (const p of lowered.params)
    if (p.kind === 'array') {
      const element = memoryElementOf(p.value.type.dtype);
      // The evaluator holds integers as signed ones, as Triton does.
      const values = Array.from(toRegisters(bound.arrays.get(p.name)!) as ArrayLike<number | bigint>);
      const signed = tensor(element, [values.length], (i) => values[i]!).data;
      buffers.set(p.name, { name: p.name, element, data: signed });
    }
  const numbers = new Map<string, number>([
    ...bound.dims,
    ...[...bound.scalars].map(([n, v]) => [n, Number(v)] as const),
  ]);
  for (const launch of launches) {
    const args = launch.params.map((p) => {
      if (p.kind === 'pointer') return buffers.get(p.array)!;
      if (p.kind === 'scalar') {
        const element = memoryElementOf(dtypes[p.dtype as keyof typeof dtypes]);
        return tensor(p.dtype === 'bool' ? 'i1' : element, [], () => bound.scalars.get(p.name)! as number | bigint);
      }
      if (p.kind === 'extent') return tensor(p.type, [], () => evaluateExtent(p.value, numbers));
      throw new Error('the evaluator has no tensor maps');
    });
    evaluateTtir(
      launch.text,
      launch.grid.map((extent) => evaluateExtent(extent, numbers)),
      args,
    );
  }
  const outputs = lowered.params.filter((p) => p.kind === 'array' && (p.role === 'out' || p.role === 'inout'));
  return Object.fromEntries(
    outputs.map((p) => {
      const { dtype, shape } = bound.arrays.get(p.name)!;
      const { data } = buffers.get(p.name)!;
      const values =
        dtype.cls === 'int' && !dtype.signed
          ? data.map((v) =>
              dtype.bits === 64 ? BigInt.asUintN(64, BigInt(v)) : Number(BigInt.asUintN(dtype.bits, BigInt(v))),
            )
          : data;
      return [p.name, fromNumbers(dtype, shape, values as number[])];
    }),
  );
}
