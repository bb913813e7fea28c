import { findGpuTarget, type NvidiaTarget } from '../../src/lowering/gpu-target.js';

export function asNvidiaTarget(name: string): NvidiaTarget {
  const target = findGpuTarget(name);
  if (target?.vendor !== 'nvidia') throw new Error(`${name} is none of NVIDIA's`);
  return target;
}
