/** Runs a grid: one workgroup after another, the waves of a workgroup in turns. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { type Finding, GlobalChecker } from '../access-checker.js';
import type { Triple } from '../device.js';
import { type GlobalMemory, globalWindow } from '../memory.js';
import { Observer } from '../observer.js';
import type { Profiler } from '../profile.js';
import { inOrder, randomNumbers, type Schedule } from '../schedule.js';
import { registerName } from './instruction.js';
import type { Instruction } from './module.js';
import type { AmdProgram, Step } from './program.js';
import type { Wave } from './wave.js';
import { Workgroup } from './workgroup.js';

export interface AmdLaunchSetup {
  readonly program: AmdProgram;
  readonly global: GlobalMemory;
  /** Where the block of arguments lies in global memory. */
  readonly argumentsAt: number;
  readonly grid: Triple;
  readonly threads: number;
  readonly ldsBytes: number;
  readonly schedule: Schedule;
  readonly checks: boolean;
  readonly maxSteps: number;
  readonly profiler: Profiler | undefined;
}

export class AmdLaunch extends Observer implements AmdLaunchSetup {
  readonly program: AmdProgram;
  readonly global: GlobalMemory;
  readonly argumentsAt: number;
  readonly grid: Triple;
  readonly threads: number;
  readonly ldsBytes: number;
  readonly schedule: Schedule;
  readonly checks: boolean;
  readonly clock = { async: 0 };
  private readonly globalChecker: GlobalChecker<Wave> | undefined;
  private readonly random: () => number;

  constructor(setup: AmdLaunchSetup) {
    super(setup.maxSteps, setup.profiler);
    this.program = setup.program;
    this.global = setup.global;
    this.argumentsAt = setup.argumentsAt;
    this.grid = setup.grid;
    this.threads = setup.threads;
    this.ldsBytes = setup.ldsBytes;
    this.schedule = setup.schedule;
    this.checks = setup.checks;
    this.random = randomNumbers(setup.schedule.seed);
    this.globalChecker = setup.checks
      ? new GlobalChecker(
          this.global.views.u8.length,
          this.report,
          (at) => this.global.describe(at, globalWindow),
          'wave',
        )
      : undefined;
  }

  readonly report = (finding: Finding, what: string, wave: Wave, lane: number | undefined, at?: Instruction): void => {
    const instruction = at ?? wave.instruction;
    this.keep(finding, what, instruction ?? { line: 0 }, () => wave.place(lane, instruction));
  };
  reportUndefined(wave: Wave, { undefinedReads }: Step): void {
    for (const [instruction, r] of undefinedReads ?? []) {
      this.report('uninitialised', `${registerName(r)} is read before anything wrote it`, wave, undefined, instruction);
    }
  }
  reportHazards(wave: Wave, { hazards }: Step): void {
    for (const [instruction, what] of hazards ?? []) this.report('hazard', what, wave, undefined, instruction);
  }
  count(wave: Wave, instructions: number): void {
    this.countSteps(instructions, () => wave.place());
  }

  /** Offset in the arena of an access by address; `what` is for people. */
  globalAt(
    low: number,
    high: number,
    size: number,
    kind: 'load' | 'store' | 'atomic',
    wave: Wave,
    lane: number | undefined,
  ): number {
    const window = high & 0xffff;
    if (!this.global.holds(low, window, size)) {
      const what = `out of bounds: global ${kind === 'load' ? 'read' : kind === 'store' ? 'write' : 'atomic'} of ${size} bytes at ${this.global.describe(low, window)}`;
      wave.fail(simulatorCodes.badAccess, what, lane);
    }
    this.globalChecker?.access(low, size, kind, wave, lane);
    this.noteAccess(wave.instruction, 'global', low, size, kind !== 'load', lane);
    return low;
  }

  run(): void {
    const { grid } = this;
    const group = new Workgroup(this);
    let number = 0;
    for (let z = 0; z < grid[2]; z++)
      for (let y = 0; y < grid[1]; y++)
        for (let x = 0; x < grid[0]; x++) {
          group.start([x, y, z], number++);
          this.runGroup(group);
        }
  }

  private runGroup(group: Workgroup): void {
    const { waves } = group;
    while (waves.some((w) => !w.done)) {
      const before = this.steps;
      for (const wave of inOrder(waves, this.schedule, this.random))
        if (!wave.done && wave.blocked === undefined) wave.run();
      const open = waves.filter((w) => !w.done && w.blocked !== undefined && group.isOpen(w));
      for (const wave of open) group.pass(wave);
      if (this.steps === before && open.length === 0) this.deadlock(waves);
    }
  }

  private deadlock(waves: readonly Wave[]): never {
    const stuck = waves.filter((w) => !w.done);
    const told = stuck.map((w) => `wave ${w.id} ${w.blocked} at line ${w.instruction?.line ?? 0} of the assembly`);
    const { loc, notes } = stuck[0]!.place();
    throw new CompileError([
      simulatorCodes.deadlock(
        { warps: told.length > 8 ? [...told.slice(0, 8), `and ${told.length - 8} more`] : told },
        { loc, notes },
      ),
    ]);
  }
}
