/** Runs a grid: cluster after cluster, the warps of a cluster in turns. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { unknownLoc } from '../../diagnostics/location.js';
import { type Finding, GlobalChecker } from '../access-checker.js';
import type { GlobalMemory, Views } from '../memory.js';
import { Observer } from '../observer.js';
import type { MemoryLevel, Profiler } from '../profile.js';
import { inOrder, randomNumbers, type Schedule } from '../schedule.js';
import { Block } from './block.js';
import type { Instruction } from './module.js';
import type { Program } from './program.js';
import type { Warp } from './warp.js';

export type Triple = readonly [number, number, number];

export interface LaunchSetup {
  readonly program: Program;
  readonly global: GlobalMemory;
  readonly parameters: Views;
  readonly grid: Triple;
  readonly cluster: Triple;
  /** Threads of a block. */
  readonly shape: Triple;
  readonly dynamicShared: number;
  readonly schedule: Schedule;
  readonly checks: boolean;
  readonly maxSteps: number;
  readonly profiler: Profiler | undefined;
}

export class Launch extends Observer implements LaunchSetup {
  readonly program: Program;
  readonly global: GlobalMemory;
  readonly parameters: Views;
  readonly grid: Triple;
  readonly cluster: Triple;
  readonly shape: Triple;
  readonly dynamicShared: number;
  readonly schedule: Schedule;
  readonly checks: boolean;
  readonly localBytes: number;
  readonly clock = { async: 0 };
  readonly globalChecker: GlobalChecker<Warp> | undefined;
  /** Whether blocks order their accesses to global memory by acquire and release, which is not followed. */
  readonly synchronises: boolean;
  /** Changes whenever something happened that may let a warp go on. */
  events = 0;
  /** Blocks that have not begun, as cluster launch control may take them. */
  waiting: Triple[] = [];
  private readonly random: () => number;

  constructor(setup: LaunchSetup) {
    super(setup.maxSteps, setup.profiler);
    this.program = setup.program;
    this.global = setup.global;
    this.parameters = setup.parameters;
    this.grid = setup.grid;
    this.cluster = setup.cluster;
    this.shape = setup.shape;
    this.dynamicShared = setup.dynamicShared;
    this.schedule = setup.schedule;
    this.checks = setup.checks;
    this.localBytes = setup.program.symbols.localBytes;
    this.random = randomNumbers(setup.schedule.seed);
    this.globalChecker = setup.checks
      ? new GlobalChecker(this.global.views.u8.length, this.report, (at) => this.global.describe(at, 0x7f))
      : undefined;
    this.synchronises = setup.program.entry.code.some(
      ({ parts }) =>
        (parts[0] === 'ld' && parts.includes('acquire')) ||
        (parts[0] === 'atom' &&
          !parts.includes('relaxed') &&
          parts.some((p) => p.startsWith('acq') || p === 'release')),
    );
  }

  /** Keeps a finding once for each instruction. */
  readonly report = (finding: Finding, what: string, warp: Warp, lane: number | undefined, at?: Instruction): void => {
    const instruction = at ?? warp.instruction;
    this.keep(finding, what, instruction ?? { line: 0 }, () => warp.place(lane, instruction));
  };

  /** Notes an access of the instruction that a warp is at; asynchronous work notes ranges, lanes their addresses. */
  profile(warp: Warp, level: MemoryLevel, address: number, size: number, writes: boolean, lane?: number): void {
    this.noteAccess(warp.instruction, level, address, size, writes, lane);
  }

  count(warp: Warp, instructions: number): void {
    this.countSteps(instructions, () => warp.place());
  }

  run(): void {
    const { cluster, grid } = this;
    for (let z = 0; z < grid[2]; z += cluster[2])
      for (let y = 0; y < grid[1]; y += cluster[1])
        for (let x = 0; x < grid[0]; x += cluster[0]) this.waiting.push([x, y, z]);
    const size = cluster[0] * cluster[1] * cluster[2];
    const blocks = Array.from({ length: size }, () => new Block(this));
    this.waiting.reverse();
    let number = 0;
    for (let origin = this.waiting.pop(); origin; origin = this.waiting.pop()) {
      const [x, y, z] = origin;
      for (const [rank, block] of blocks.entries()) {
        block.rank = rank;
        block.peers = blocks;
        const [dx, dy, dz] = [
          rank % cluster[0],
          Math.floor(rank / cluster[0]) % cluster[1],
          Math.floor(rank / (cluster[0] * cluster[1])),
        ];
        block.inCluster = [dx, dy, dz];
        block.start([x + dx, y + dy, z + dz], number * size + rank);
      }
      number++;
      this.runCluster(blocks);
    }
  }

  private runCluster(blocks: readonly Block[]): void {
    const warps = blocks.flatMap((b) => b.warps);
    for (let idle = 0; ; ) {
      const before = this.events;
      for (const warp of inOrder(warps, this.schedule, this.random))
        if (!warp.done && warp.blocked === undefined) warp.run();
      if (warps.every((w) => w.done)) break;
      if (this.events !== before) {
        idle = 0;
        continue;
      }
      for (const block of blocks) block.retryBarriers();
      const late = blocks.find((b) => b.pending.length > 0);
      if (late) {
        late.pending.shift()!();
        this.events++;
      }
      if (this.events === before && ++idle > 2) this.deadlock(warps);
    }
    for (const block of blocks) for (const job of block.pending) job();
  }

  private deadlock(warps: readonly Warp[]): never {
    const stuck = warps.filter((w) => !w.done);
    const first = stuck[0]!;
    const told = stuck.map(
      (w) => `warp ${w.id} ${w.blocked ?? 'waits'} at line ${w.instruction?.line ?? 0} of the PTX`,
    );
    throw new CompileError([
      simulatorCodes.deadlock(
        { warps: told.length > 8 ? [...told.slice(0, 8), `and ${told.length - 8} more`] : told },
        { loc: first.instruction?.loc ?? unknownLoc, notes: first.notes() },
      ),
    ]);
  }
}
