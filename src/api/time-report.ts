import type * as ir from '../ir/kernel.js';
import { evaluateExtent } from '../ir/symbolic.js';
import { arrayBytes, type BoundArguments, extentArguments } from './bind.js';

/** `median of 20 runs: 1.234 ms, 25.1 GB/s, 102 GFLOP/s`; rates from the kernel's cost estimate, bytes else from its arrays. */
export function timeReport(kernel: ir.Kernel, bound: BoundArguments, nanoseconds: readonly number[]): string {
  const sorted = [...nanoseconds].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)]!;
  const args = extentArguments(bound);
  const bytes =
    kernel.cost?.bytesAccessed === undefined
      ? [...bound.arrays.values()].reduce((sum, a) => sum + arrayBytes(a), 0)
      : evaluateExtent(kernel.cost.bytesAccessed, args);
  const flops = kernel.cost?.flops === undefined ? undefined : evaluateExtent(kernel.cost.flops, args);
  const parts = [`${(median / 1e6).toFixed(3)} ms`, `${(bytes / median).toFixed(2)} GB/s`];
  if (flops !== undefined) parts.push(`${(flops / median).toFixed(1)} GFLOP/s`);
  return `median of ${nanoseconds.length} runs: ${parts.join(', ')}`;
}
