import { beforeAll, expect, test } from '@jest/globals';
import { loadAmd, loadPtx, schedules, simulateCode, simulateSchedules } from '../../src/simulator/index.js';
import { describeTool } from '../support/tools.js';
import { compileReferences, type Made, prepare } from '../support/triton-reference.js';

/*
 * Code that Triton's own front end and compiler made, which is right on devices: if the simulators compute with it what
 * the kernels mean, in every schedule and without a finding, they have read the instructions as devices do.
 */

const common = ['vector_add', 'softmax', 'layer_norm', 'histogram', 'scan', 'polynomial', 'attention'];
const jobs = [
  ...['gfx942', 'gfx1100', 'sm_90'].flatMap((target) => [...common, 'matmul:f16'].map((name) => `${target}:${name}`)),
  ...['bf16', 'f32', 'tf32', 'f64', 'i8', 'e4m3fnuz'].map((variant) => `gfx942:matmul:${variant}`),
  ...['f16', 'i8', 'e4m3', 'e5m2'].map((variant) => `gfx950:matmul:${variant}`),
  ...['bf16', 'i8'].map((variant) => `gfx1100:matmul:${variant}`),
  ...['attention', 'matmul:f16', 'layer_norm'].map((name) => `gfx1201:${name}`),
  'gfx942:softmax:wide',
  'gfx942:attention:wide',
  'sm_80:matmul:tf32',
  'sm_80:matmul:bf16',
];

describeTool('triton', "code of Triton's own front end in the simulators, in every schedule", () => {
  let made = new Map<string, Made>();
  beforeAll(async () => {
    made = await compileReferences(jobs);
  }, 120_000);

  test.each(jobs)('%s', (job) => {
    const one = made.get(job)!;
    const { target, variant, launch, memory, wrong } = prepare(job, one);
    const code = target.startsWith('sm_') ? loadPtx(one.text) : loadAmd(one.text);
    // Other elements and addresses of the same kernel: the schedule that is furthest from the first.
    const { findings } =
      variant === 'plain' || variant === 'f16'
        ? simulateSchedules(code, launch, memory)
        : simulateCode(code, launch, memory, { schedule: schedules.find((s) => s.name === 'shuffled')! });
    expect(findings).toEqual([]);
    expect(wrong()).toBeUndefined();
  });
});
