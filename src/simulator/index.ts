/** Executes device code without a device: functionally, not in time. */

import { simulatorCodes } from '../diagnostics/codes/simulator.js';
import {
  type Buffers,
  bytesOf,
  type DeviceLaunch,
  type LoadedCode,
  type SimulateOptions,
  type SimulationReport,
} from './device.js';
import { loadPtx } from './ptx/load.js';
import { schedules } from './schedule.js';

export { type LoadedAmd, loadAmd } from './amd/load.js';
export type {
  Buffers,
  DeviceArgument,
  DeviceLaunch,
  LoadedCode,
  SimulateOptions,
  SimulationReport,
} from './device.js';
export { formatProfile, type Profile } from './profile.js';
export { type LoadedPtx, loadPtx } from './ptx/load.js';
export { type Schedule, schedules } from './schedule.js';

/** PTX, or code that was loaded. */
const loaded = (source: string | LoadedCode): LoadedCode => (typeof source === 'string' ? loadPtx(source) : source);

/**
 * Runs one launch of device code.
 *
 * @param source PTX, or what `loadPtx` or `loadAmd` made of a text.
 * @param buffers global memory by name; changed in place.
 * @returns what the checks found, and how much was executed.
 * @throws CompileError: an instruction that is not modelled, arguments that do not fit, an access out of bounds or
 * misaligned, a misused barrier, a deadlock, too many steps.
 */
export const simulateCode = (
  source: string | LoadedCode,
  launch: DeviceLaunch,
  buffers: Buffers,
  options: SimulateOptions = {},
): SimulationReport => loaded(source).run(launch, buffers, options);

/**
 * Runs one launch in every schedule and compares the bytes of all buffers.
 *
 * @param buffers changed in place by the first schedule.
 * @returns the report of the first schedule; its findings are those of all, and where a result depends on the schedule.
 * @throws CompileError, as `simulateCode`.
 */
export function simulateSchedules(
  source: string | LoadedCode,
  launch: DeviceLaunch,
  buffers: Buffers,
  options: Omit<SimulateOptions, 'schedule'> = {},
): SimulationReport {
  const code = loaded(source);
  const before = Object.fromEntries(Object.entries(buffers).map(([name, view]) => [name, bytesOf(view).slice()]));
  const [first, ...others] = schedules;
  const report = simulateCode(code, launch, buffers, { ...options, schedule: first! });
  const findings = [...report.findings];
  const known = new Set(findings.map((f) => f.message));
  for (const schedule of others) {
    const copies = Object.fromEntries(Object.entries(before).map(([name, bytes]) => [name, bytes.slice()]));
    const more = simulateCode(code, launch, copies, { ...options, profile: false, schedule });
    for (const finding of more.findings) {
      if (known.has(finding.message)) continue;
      known.add(finding.message);
      findings.push(finding);
    }
    for (const [buffer, bytes] of Object.entries(copies)) {
      const want = bytesOf(buffers[buffer]!);
      const index = bytes.findIndex((b, n) => b !== want[n]);
      if (index >= 0)
        findings.push(simulatorCodes.schedules({ buffer, index, first: first!.name, second: schedule.name }));
    }
  }
  return { ...report, findings };
}
