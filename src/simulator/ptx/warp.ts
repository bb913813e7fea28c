/** A warp: registers of 32 lanes, the groups of lanes that went different ways, and asynchronous work it has not waited for. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { type Code, CompileError, type DiagnosticNote } from '../../diagnostics/diagnostic.js';
import { unknownLoc } from '../../diagnostics/location.js';
import { countOnes } from '../formats.js';
import { type Views, viewsOf } from '../memory.js';
import type { Place } from '../observer.js';
import type { Block } from './block.js';
import { firstLane, guarded, type Step } from './instruction.js';
import { accessKinds } from './instructions/memory.js';
import type { Instruction } from './module.js';
import { windows } from './symbols.js';

/** Work that is done at the latest when its group is waited for. */
export interface Job {
  readonly perform: () => void;
  /** Done when the wait is over: the checker's view of it. */
  readonly settle?: () => void;
}

export interface MatrixGroup {
  jobs: (() => void)[];
  readonly clock: Int32Array | undefined;
}

interface Group {
  readonly pc: number;
  mask: number;
  /** Lanes that found a barrier's phase not over. */
  stalled: boolean;
}

/** Instructions that a warp runs before others get a turn. */
const turn = 1 << 20;

export class Warp {
  readonly registers: Int32Array;
  readonly floats: Float32Array;
  readonly predicates: Int32Array;
  readonly local: Views;
  private readonly localStride: number;
  /** Coordinates of the threads in their block, by axis and lane. */
  readonly threads: readonly Int32Array[];
  private readonly full: number;
  /** In the cluster, and in the launch. */
  id = 0;
  number = 0;
  pc = 0;
  mask = 0;
  /** Which instruction of the step, where generated code does several. */
  at = 0;
  steps = 0;
  done = false;
  /** What it waits for, for people. */
  blocked: string | undefined;
  /** What has happened before, by warp; the last entry is asynchronous work. */
  readonly clock: Int32Array;
  /** Ordinary writes that a proxy fence has made visible. */
  readonly fenced: Int32Array;
  copies: { open: Job[]; groups: Job[][] } = { open: [], groups: [] };
  bulk: { open: Job[]; groups: Job[][] } = { open: [], groups: [] };
  matrix: { open: (() => void)[]; groups: MatrixGroup[] } = { open: [], groups: [] };
  /** Registers of matrix instructions that were not waited for, when the launch is checked. */
  busy = new Map<number, 'read' | 'written'>();
  private groups: Group[] = [];

  constructor(
    readonly block: Block,
    readonly index: number,
  ) {
    const { program, shape, localBytes } = block.launch;
    this.registers = new Int32Array(program.entry.words * 32);
    this.floats = new Float32Array(this.registers.buffer);
    this.predicates = new Int32Array(program.entry.predicates);
    this.localStride = Math.ceil(localBytes / 16) * 16;
    this.local = viewsOf(this.localStride * 32);
    const axes = [0, 1, 2].map(() => new Int32Array(32));
    let full = 0;
    for (let lane = 0; lane < 32; lane++) {
      const t = index * 32 + lane;
      if (t < shape[0] * shape[1] * shape[2]) full |= 1 << lane;
      axes[0]![lane] = t % shape[0];
      axes[1]![lane] = Math.floor(t / shape[0]) % shape[1];
      axes[2]![lane] = Math.floor(t / (shape[0] * shape[1]));
    }
    this.threads = axes;
    this.full = full;
    this.clock = new Int32Array(block.clusterWarps + 1);
    this.fenced = new Int32Array(block.clusterWarps + 1);
  }

  start(): void {
    this.registers.fill(-1);
    this.predicates.fill(0);
    this.local.u8.fill(0xff);
    this.pc = 0;
    this.mask = this.full;
    this.groups = [];
    this.done = false;
    this.blocked = undefined;
    this.copies = { open: [], groups: [] };
    this.bulk = { open: [], groups: [] };
    this.matrix = { open: [], groups: [] };
    this.busy.clear();
    this.clock.fill(0);
    this.fenced.fill(0);
    this.clock[this.id] = 1;
  }

  get peers(): number {
    return this.block.warps.length;
  }
  get synchronises(): boolean {
    return this.block.launch.synchronises;
  }

  get instruction(): Instruction | undefined {
    return this.block.launch.program.steps[this.pc]?.instructions[this.at];
  }

  /** Where in the launch, and at which instruction, for the notes of a diagnostic. */
  notes(lane?: number, instruction = this.instruction): DiagnosticNote[] {
    const block = `block (${this.block.index.join(', ')})`;
    const at = lane === undefined ? '' : `, thread (${this.threads.map((axis) => axis[lane]).join(', ')})`;
    return [
      { message: `in ${block}, warp ${this.index}${at}` },
      ...(instruction ? [{ message: `line ${instruction.line} of the PTX: ${instruction.text.slice(0, 120)}` }] : []),
    ];
  }

  place(lane?: number, instruction = this.instruction): Place {
    const { loc, line } = instruction ?? { loc: unknownLoc, line: 0 };
    return { loc, line, notes: this.notes(lane, instruction) };
  }

  fail(code: Code<{ what: string }>, what: string, lane?: number): never {
    throw new CompileError([code({ what }, this.place(lane))]);
  }

  misuse(what: string, lane?: number): never {
    return this.fail(simulatorCodes.misuse, what, lane);
  }

  /** Offset of an access to the thread's own memory, which is laid out lane by lane. */
  localAt(address: number, window: number, size: number, kind: number, _warp: Warp, lane: number): number {
    const { localBytes } = this.block.launch;
    if ((window !== 0 && window !== windows.local) || address + size > localBytes)
      this.fail(simulatorCodes.badAccess, `local access of ${size} bytes at offset ${address} of ${localBytes}`, lane);
    const at = lane * this.localStride + address;
    this.block.launch.profile(this, 'local', at, size, kind !== accessKinds.load, lane);
    return at;
  }

  /**
   * Chooses the lanes that run next: groups at one instruction merge, and the one that comes first in the order of the
   * blocks goes on. One that others must still reach, or that spins on a barrier, waits for the rest.
   */
  private select(): boolean {
    const { steps, rank } = this.block.launch.program;
    const { groups } = this;
    if (this.mask !== 0) groups.push({ pc: this.pc, mask: this.mask, stalled: false });
    groups.sort((a, b) => rank[a.pc]! - rank[b.pc]!);
    for (let i = groups.length - 1; i > 0; i--) {
      const [before, group] = [groups[i - 1]!, groups[i]!];
      if (before.pc !== group.pc) continue;
      before.mask |= group.mask;
      before.stalled &&= group.stalled;
      groups.splice(i, 1);
    }
    let next = groups.findIndex((g) => !g.stalled && !steps[g.pc]!.converges);
    if (next < 0 && groups.some((g) => g.stalled)) {
      for (const g of groups) g.stalled = false;
      this.mask = 0;
      return false;
    }
    if (next < 0) next = 0;
    const [chosen] = groups.splice(next, 1);
    this.pc = chosen!.pc;
    this.mask = chosen!.mask;
    return true;
  }

  /** Runs until it blocks, ends, or its turn is over. */
  run(): void {
    const { launch } = this.block;
    const { steps } = launch.program;
    for (let left = turn; left > 0; ) {
      if (this.groups.length > 0 && !this.select()) return;
      const step = steps[this.pc]!;
      const count = step.instructions.length || 1;
      left -= count;
      this.steps += count;
      launch.count(this, count);
      const { mask } = this;
      this.at = 0;
      const lanes = mask === -1 ? 32 : countOnes(mask);
      launch.laneInstructions += count * lanes;
      launch.profiler?.step(step.instructions, lanes);
      if (this.busy.size > 0) this.block.checkRegisters(this, step);
      switch (step.kind) {
        case 'run':
          step.run(this, mask);
          this.pc++;
          this.settleStores();
          break;
        case 'branch':
          this.branch(step, mask);
          break;
        case 'try': {
          const over = step.run(this, mask);
          this.pc++;
          if (over) break;
          if (this.groups.length === 0) return;
          this.groups.push({ pc: this.pc, mask, stalled: true });
          this.mask = 0;
          break;
        }
        case 'hold':
          if (!step.run(this, mask)) return;
          this.pc++;
          break;
        case 'barrier': {
          const lane = firstLane(mask);
          const [id, threads] = [step.barrier(this, lane), step.threads(this, lane)];
          if (step.waits) this.blocked = step.scope === 'cluster' ? 'waits for its cluster' : `waits at barrier ${id}`;
          const open = this.block.arrive(step.scope, id, threads, this, step.waits);
          this.pc++;
          if (step.waits && !open) return;
          break;
        }
        case 'exit': {
          const leaving = guarded(this, mask, step.guard);
          this.mask = mask & ~leaving;
          if (this.mask === 0 && this.groups.length === 0) return this.end();
          this.pc++;
        }
      }
    }
  }

  private settleStores(): void {
    for (const { checker } of this.block.peers) checker?.settle(this);
  }

  private branch(step: Extract<Step, { kind: 'branch' }>, mask: number): void {
    const taken = guarded(this, mask, step.guard);
    if (taken === mask) this.pc = step.target;
    else {
      if (taken !== 0) {
        this.groups.push({ pc: step.target, mask: taken, stalled: false });
        this.mask = mask & ~taken;
      }
      this.pc++;
    }
  }

  private end(): void {
    const { block } = this;
    if (this.bulk.open.length > 0 || this.bulk.groups.some((g) => g.length > 0))
      block.report(
        'unfinished',
        'the kernel ends with copies out of shared memory that were not waited for',
        this,
        undefined,
      );
    for (const group of this.matrix.groups) for (const job of group.jobs) job();
    for (const { groups, open } of [this.copies, this.bulk]) for (const group of [...groups, open]) finish(group);
    this.done = true;
    block.launch.events++;
  }
}

/** Does what a group still has to do. */
export function finish(group: readonly Job[]): void {
  for (const job of group) {
    job.perform();
    job.settle?.();
  }
}
