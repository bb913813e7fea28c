import { f32, i32 } from '../../src/ir/dtypes.js';
import {
  type Buffers,
  type DeviceArgument,
  type DeviceLaunch,
  type SimulateOptions,
  type SimulationReport,
  simulateCode,
  simulateSchedules,
} from '../../src/simulator/index.js';

const registers = [
  '.reg .pred %p<16>;',
  '.reg .b16 %h<32>;',
  '.reg .b32 %r<64>;',
  '.reg .b64 %d<64>;',
  '.reg .f32 %f<64>;',
  '.reg .b128 %q<4>;',
].join(' ');

/** A module with one kernel `k`: pointers to buffers, then what `more` declares, as `%d0`, `%d1`, … by `load`. */
export function ptxModule(buffers: readonly string[], body: string, more = '', target = 'sm_100a'): string {
  const parameters = [...buffers.map((b) => `.param .u64 ${b}`), ...(more === '' ? [] : [more])].join(', ');
  const loads = buffers.map((b, i) => `ld.param.u64 %d${i}, [${b}];`).join('\n');
  return `.version 8.8\n.target ${target}\n.address_size 64\n.visible .entry k(${parameters})\n{\n${registers}\n${loads}\n${body}\nret;\n}\n`;
}

export const arg = {
  buffer: (name: string): DeviceArgument => ({ kind: 'buffer', name }),
  i32: (value: number): DeviceArgument => ({ kind: 'scalar', dtype: i32, value }),
  f32: (value: number): DeviceArgument => ({ kind: 'scalar', dtype: f32, value }),
};

export interface Shape {
  readonly grid?: number;
  readonly block?: number;
  readonly cluster?: number;
  readonly sharedBytes?: number;
  readonly more?: readonly DeviceArgument[];
}

export function launchOf(
  buffers: Buffers,
  { grid = 1, block = 32, cluster = 1, sharedBytes = 0, more = [] }: Shape = {},
): DeviceLaunch {
  return {
    grid: [grid, 1, 1],
    block: [block, 1, 1],
    cluster: [cluster, 1, 1],
    sharedBytes,
    arguments: [...Object.keys(buffers).map(arg.buffer), ...more],
  };
}

/** Runs a kernel whose parameters are the buffers, in order. */
export const runPtx = (
  text: string,
  buffers: Buffers,
  shape: Shape = {},
  options: SimulateOptions = {},
): SimulationReport => simulateCode(text, launchOf(buffers, shape), buffers, options);

/** Runs it in every schedule. */
export const runSchedules = (text: string, buffers: Buffers, shape: Shape = {}): SimulationReport =>
  simulateSchedules(text, launchOf(buffers, shape), buffers);

/** Codes of what a run found. */
export const codesOf = ({ findings }: SimulationReport): string[] => findings.map((f) => f.code);

/** `%d{i}`: address of element `tid` of buffer i, of so many bytes. */
export const elementAddress = (buffer: number, bytes: number): string =>
  `mov.u32 %r63, %tid.x; mad.wide.u32 %d${buffer}, %r63, ${bytes}, %d${buffer};`;
