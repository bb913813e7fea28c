import {
  type Buffers,
  loadAmd,
  type SimulateOptions,
  type SimulationReport,
  simulateCode,
  simulateSchedules,
} from '../../src/simulator/index.js';

export interface AmdKernelShape {
  readonly target?: string;
  readonly lds?: number;
  readonly scratch?: number;
}

/** A module with one kernel `k` that takes pointers to so many buffers; its arguments begin at s[0:1], its index is s2. */
export function amdModule(
  buffers: number,
  body: string,
  { target = 'gfx942', lds = 0, scratch = 0 }: AmdKernelShape = {},
): string {
  const wide = target.startsWith('gfx9');
  const args = Array.from(
    { length: buffers },
    (_, i) => `      - .offset:         ${8 * i}\n        .size:           8\n        .value_kind:     global_buffer`,
  );
  const directives = {
    group_segment_fixed_size: lds,
    private_segment_fixed_size: scratch,
    user_sgpr_count: 2,
    user_sgpr_kernarg_segment_ptr: 1,
    system_sgpr_workgroup_id_x: 1,
    ...(wide ? {} : { wavefront_size32: 1 }),
  };
  return [
    `\t.amdgcn_target "amdgcn-amd-amdhsa--${target}"`,
    '\t.text',
    '\t.file 1 "by-hand.ts"',
    '\t.type\tk,@function',
    'k:',
    ...body
      .split(/\n|;(?= )/)
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => (/^\w+:$/.test(line) ? line : `\t${line}`)),
    '\ts_endpgm',
    '\t.section\t.rodata,"a",@progbits',
    '\t.amdhsa_kernel k',
    ...Object.entries(directives).map(([name, value]) => `\t\t.amdhsa_${name} ${value}`),
    '\t.end_amdhsa_kernel',
    '\t.amdgpu_metadata',
    'amdhsa.kernels:',
    `  - .args:${buffers === 0 ? ' []' : ''}`,
    ...args,
    `    .kernarg_segment_size: ${8 * buffers}`,
    '    .name:           k',
    '\t.end_amdgpu_metadata',
    '',
  ].join('\n');
}

export interface AmdShape {
  readonly grid?: number;
  readonly threads?: number;
  readonly sharedBytes?: number;
}
const launchOf = (buffers: Buffers, { grid = 1, threads = 64, sharedBytes = 0 }: AmdShape) => ({
  grid: [grid, 1, 1] as const,
  block: [threads, 1, 1] as const,
  sharedBytes,
  arguments: Object.keys(buffers).map((name) => ({ kind: 'buffer', name }) as const),
});

export const runAmd = (
  text: string,
  buffers: Buffers,
  shape: AmdShape = {},
  options: SimulateOptions = {},
): SimulationReport => simulateCode(loadAmd(text), launchOf(buffers, shape), buffers, options);

export const runAmdSchedules = (text: string, buffers: Buffers, shape: AmdShape = {}): SimulationReport =>
  simulateSchedules(loadAmd(text), launchOf(buffers, shape), buffers);

/** What was found besides distances between instructions, which code by hand does not keep. */
export const besidesHazards = (report: SimulationReport): SimulationReport => ({
  ...report,
  findings: report.findings.filter((f) => f.code !== 'TW6026'),
});
