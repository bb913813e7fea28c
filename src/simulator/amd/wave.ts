/** A wave: registers of 32 or 64 lanes, and the memory operations that it has not waited for. */

import { type Code, CompileError } from '../../diagnostics/diagnostic.js';
import { unknownLoc } from '../../diagnostics/location.js';
import type { Accessor } from '../access-checker.js';
import { countOnes } from '../formats.js';
import type { Place } from '../observer.js';
import { halvesOf, registerName, wholeOf } from './instruction.js';
import type { Instruction } from './module.js';
import { registers, scalarRegisters, vectorRegisters } from './module.js';
import type { Step } from './program.js';
import { startWave } from './start-state.js';
import type { Workgroup } from './workgroup.js';

/** What a memory operation is, as the counters tell them apart. */
export type MemoryKind = 'load' | 'store' | 'lds' | 'scalar';
export type Counter = 'vm' | 'vs' | 'lgkm' | 'km';
export type WaitCounts = Readonly<Partial<Record<Counter, number>>>;

/** Which counter counts what, by generation. */
const counters: Readonly<Record<9 | 11 | 12, Readonly<Record<MemoryKind, Counter>>>> = {
  9: { load: 'vm', store: 'vm', lds: 'lgkm', scalar: 'lgkm' },
  11: { load: 'vm', store: 'vs', lds: 'lgkm', scalar: 'lgkm' },
  12: { load: 'vm', store: 'vs', lds: 'lgkm', scalar: 'km' },
};
/** Operations that a counter can hold: one more has to wait for the oldest. */
const mostInFlight: Readonly<Record<Counter, number>> = { vm: 63, vs: 63, lgkm: 15, km: 31 };

interface Job {
  readonly kind: MemoryKind;
  /** Undefined when it is done already, and only not yet waited for. */
  perform: (() => void) | undefined;
  readonly writes: readonly number[];
  readonly number: number;
  /** What issued it. */
  readonly step: Step | undefined;
}

/** Instructions that a wave runs before others get a turn. */
const turn = 1 << 20;
/** What a register holds while a load into it is in flight, and at the start. */
export const poison = 0x7fbadbad;

export class Wave implements Accessor {
  /** Words by register and lane; 64 lanes in either kind of wave. */
  readonly vector = new Int32Array(vectorRegisters * 64);
  readonly floats = new Float32Array(this.vector.buffer);
  readonly scalar = new Int32Array(scalarRegisters);
  readonly scalarFloats = new Float32Array(this.scalar.buffer);
  readonly scratch: Int32Array;
  /** Bytes of scratch memory of a lane. */
  readonly scratchBytes: number;
  scc = 0;
  pc = 0;
  done = false;
  blocked: string | undefined;
  /** Lanes that DPP lets an instruction write. */
  readonly gathered = new Int32Array(2);
  number = 0;
  readonly clock: Int32Array;
  readonly fenced = new Int32Array(0);
  /** Barriers that it has signalled, and that it has passed. */
  signalled = 0;
  passed = 0;
  private queues: Record<Counter, Job[]> = { vm: [], vs: [], lgkm: [], km: [] };
  /** How many operations in flight write each half of a register. */
  private readonly busy = new Uint8Array(2 * (vectorRegisters + scalarRegisters));
  private inFlight = 0;
  private issued = 0;
  private lateStores = 0;
  private current: Step | undefined;

  constructor(
    readonly group: Workgroup,
    readonly id: number,
    waves: number,
  ) {
    this.scratchBytes = group.launch.program.kernel.directives.get('private_segment_fixed_size') ?? 0;
    this.scratch = new Int32Array((this.scratchBytes >> 2) * 64);
    this.clock = new Int32Array(waves + 1);
  }

  get peers(): number {
    return this.group.waves.length;
  }
  get synchronises(): boolean {
    return false;
  }

  start(): void {
    this.vector.fill(poison);
    this.scratch.fill(poison);
    this.scalar.fill(poison);
    this.scc = 0;
    this.done = false;
    this.blocked = undefined;
    this.signalled = this.passed = 0;
    this.queues = { vm: [], vs: [], lgkm: [], km: [] };
    this.busy.fill(0);
    this.inFlight = this.issued = this.lateStores = 0;
    this.clock.fill(0);
    this.clock[this.id] = 1;
    startWave(this);
  }

  isActive(lane: number): boolean {
    return ((this.scalar[registers.exec + (lane >> 5)]! >>> (lane & 31)) & 1) === 1;
  }

  get instruction(): Instruction | undefined {
    return this.current?.instructions[0];
  }
  place(lane?: number, instruction = this.instruction): Place {
    const where = `in workgroup (${this.group.index.join(', ')}), wave ${this.id}${lane === undefined ? '' : `, lane ${lane}`}`;
    const { loc, line } = instruction ?? { loc: unknownLoc, line: 0 };
    const text = instruction ? [{ message: `line ${line} of the assembly: ${instruction.text.slice(0, 120)}` }] : [];
    return { loc, line, notes: [{ message: where }, ...text] };
  }
  fail(code: Code<{ what: string }>, what: string, lane?: number): never {
    throw new CompileError([code({ what }, this.place(lane))]);
  }

  /** Begins a memory operation: done at once or when it is waited for, as the schedule says. */
  issue(kind: MemoryKind, writes: readonly number[], perform: () => void): void {
    const { launch } = this.group;
    const late = (kind === 'store' ? launch.schedule.compute : launch.schedule.loads) === 'late';
    const queue = this.queues[counters[launch.program.target.generation][kind]];
    const job: Job = { kind, perform, writes, number: this.issued++, step: this.current };
    for (const r of writes) for (const half of halvesOf(r)) this.busy[half]!++;
    this.inFlight += writes.length;
    queue.push(job);
    if (!late) this.land(job);
    else if (kind === 'store') this.lateStores++;
    if (queue.length > mostInFlight[counters[launch.program.target.generation][kind]]) this.retire(queue, 0);
  }
  /** Whether registers of a load hold poison until it is waited for. */
  get loadsLate(): boolean {
    return this.group.launch.schedule.loads === 'late';
  }

  /** Fills what a load will write with poison, where the load comes late. */
  spoil(register: number, words: number, active: readonly boolean[] | undefined): void {
    if (!this.loadsLate) return;
    for (let l = 0; l < 64; l++)
      if (active ? active[l] : this.isActive(l))
        for (let w = 0; w < words; w++) this.vector[register + w * 64 + l] = poison;
  }

  private land(job: Job): void {
    const { perform } = job;
    if (!perform) return;
    job.perform = undefined;
    // The wave's own loads see its earlier stores.
    if (job.kind === 'load' && this.lateStores > 0)
      for (const counter of ['vm', 'vs'] as const)
        for (const store of this.queues[counter])
          if (store.kind === 'store' && store.number < job.number) this.land(store);
    if (job.kind === 'store' && this.lateStores > 0) this.lateStores--;
    const { current } = this;
    this.current = job.step;
    perform();
    this.group.settle(this);
    this.current = current;
  }
  private retire(queue: Job[], at: number): void {
    const [job] = queue.splice(at, 1);
    this.land(job!);
    for (const r of job!.writes) for (const half of halvesOf(r)) this.busy[half]!--;
    this.inFlight -= job!.writes.length;
  }

  /** Waits until at most so many operations of each counter are in flight. */
  wait(counts: WaitCounts): void {
    for (const counter of ['vm', 'vs', 'lgkm', 'km'] as const) {
      const most = counts[counter];
      if (most === undefined) continue;
      const queue = this.queues[counter];
      while (queue.length > most) {
        // Scalar loads come back in any order: the others may well be first.
        const other = queue.findIndex((job) => job.kind !== 'scalar');
        this.retire(queue, Math.max(other, 0));
      }
    }
  }
  finish(): void {
    this.wait({ vm: 0, vs: 0, lgkm: 0, km: 0 });
    this.done = true;
  }

  /** Looks for registers that an operation in flight still writes. */
  private checkBusy({ instructions, uses, counter }: Step): void {
    for (const [n, { reads, writes }] of uses.entries()) {
      const used = reads.find((r) => this.isBusy(r)) ?? writes.find((r) => this.isBusy(r) && !this.inOrder(r, counter));
      if (used === undefined) continue;
      const what = `${registerName(used)} is used while a load into it is in flight: a wait is missing`;
      this.group.launch.report('inFlight', what, this, undefined, instructions[n]);
    }
  }
  private isBusy(register: number): boolean {
    return halvesOf(register).some((half) => this.busy[half]! > 0);
  }
  /** Whether all operations in flight that write a register come back before one of the same counter does. */
  private inOrder(register: number, kind: MemoryKind | undefined): boolean {
    if (kind === undefined || kind === 'scalar') return false;
    const counter = counters[this.group.launch.program.target.generation][kind];
    return (['vm', 'vs', 'lgkm', 'km'] as const).every(
      (c) => c === counter || !this.queues[c].some((job) => job.writes.some((w) => wholeOf(w) === wholeOf(register))),
    );
  }

  /** Runs until it blocks, ends, or its turn is over. */
  run(): void {
    const { launch } = this.group;
    const { steps } = launch.program;
    const { checks } = launch;
    this.blocked = undefined;
    for (let left = turn; left > 0 && !this.done && this.blocked === undefined; ) {
      const step = steps[this.pc++]!;
      this.current = step;
      const count = step.instructions.length;
      left -= count;
      launch.count(this, count);
      const { scalar } = this;
      const lanes = step.lanes ? countOnes(scalar[registers.exec]!) + countOnes(scalar[registers.exec + 1]!) : 1;
      if (step.lanes) launch.laneInstructions += count * lanes;
      launch.profiler?.step(step.instructions, lanes);
      if (checks) {
        if (this.inFlight > 0) this.checkBusy(step);
        if (step.undefinedReads) launch.reportUndefined(this, step);
        if (step.hazards) launch.reportHazards(this, step);
      }
      step.run(this);
    }
  }
}
