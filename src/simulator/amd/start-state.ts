/** What the registers of a wave hold when it begins: the agreement between launcher and code object. */

import { globalWindow } from '../memory.js';
import { registers } from './module.js';
import type { Wave } from './wave.js';

export function startWave(wave: Wave): void {
  const { scalar, vector, id, group } = wave;
  const { launch, index } = group;
  const { kernel, target, preloadEntry } = launch.program;
  const directive = (name: string): number => kernel.directives.get(name) ?? 0;
  const { lanes } = target;
  const active = Math.max(0, Math.min(lanes, launch.threads - id * lanes));
  const ones = (n: number): number => (n >= 32 ? -1 : n <= 0 ? 0 : (1 << n) - 1);
  scalar[registers.exec] = ones(active);
  scalar[registers.exec + 1] = ones(active - 32);
  scalar[registers.m0] = -1;
  // Packed ids of the work item: y and z are 0.
  for (let lane = 0; lane < 64; lane++) vector[lane] = id * lanes + lane;

  let next = 0;
  if (directive('user_sgpr_private_segment_buffer')) next += 4;
  if (directive('user_sgpr_dispatch_ptr')) next += 2;
  if (directive('user_sgpr_queue_ptr')) next += 2;
  if (directive('user_sgpr_kernarg_segment_ptr')) {
    scalar[next++] = launch.argumentsAt;
    scalar[next++] = globalWindow;
  }
  if (directive('user_sgpr_dispatch_id')) next += 2;
  if (directive('user_sgpr_private_segment_size')) next += 1;
  wave.pc = 0;
  const preloaded = directive('user_sgpr_kernarg_preload_length');
  // A device that preloads arguments begins behind the code that would load them. Both ways are right.
  if (preloaded > 0 && preloadEntry !== undefined && launch.schedule.order !== 'natural') {
    const from = (launch.argumentsAt >> 2) + directive('user_sgpr_kernarg_preload_offset');
    for (let i = 0; i < preloaded; i++) scalar[next + i] = launch.global.views.i32[from + i]!;
    wave.pc = preloadEntry;
  }
  next = directive('user_sgpr_count');
  for (const [d, axis] of ['x', 'y', 'z'].entries())
    if (directive(`system_sgpr_workgroup_id_${axis}`)) scalar[next++] = index[d]!;
  if (directive('enable_private_segment')) scalar[next++] = 0;
  if (target.generation === 12) {
    const { ttmp } = registers;
    scalar[ttmp + 7] = index[1] | (index[2] << 16);
    scalar[ttmp + 8] = id << 25;
    scalar[ttmp + 9] = index[0];
  }
}
