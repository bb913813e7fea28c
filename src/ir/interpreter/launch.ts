/** Runs the programs of one launch: one after the other, or taking turns. */

import { interpreterCodes } from '../../diagnostics/codes/interpreter.js';
import { sanitizerCodes } from '../../diagnostics/codes/sanitizer.js';
import { CompileError, type Diagnostic, type DiagnosticNote } from '../../diagnostics/diagnostic.js';
import { type Loc, primaryLoc } from '../../diagnostics/location.js';
import { RaggedAnalysis } from '../analyses/ragged.js';
import type { Launch } from '../kernel.js';
import { blockMap } from '../sanitizer/access-map.js';
import type { Sanitizer } from '../sanitizer/index.js';
import { evaluateExtent } from '../symbolic.js';
import type { Value } from '../value.js';
import { type ProgramContext, type RuntimeValue, Thread } from './engine.js';
import type { Buffer } from './memory.js';
import type { InterpreterArguments, InterpretOptions } from './options.js';
import { mayWait, randomNumbers, residentPrograms, startOrder } from './schedule.js';
import { shownValues, tileText } from './show.js';
import { Block, type Faults } from './warpgroups.js';

/** Ops that each program may execute while all of them only wait. */
const patience = 20_000;
/** Ops of a turn, where programs take turns without a seed. */
const turnLength = 64;

interface Resident {
  readonly thread: Thread;
  readonly shown: string;
  steps: number;
}

export class LaunchRun {
  private readonly axes: readonly { readonly name: string; readonly size: number }[];
  private readonly grid: ReadonlyMap<string, number>;
  private readonly programs: number;
  private readonly ragged: RaggedAnalysis;
  private readonly shows: ReadonlyMap<Value, string>;

  constructor(
    private readonly launch: Launch,
    private readonly params: ReadonlyMap<Value, RuntimeValue>,
    private readonly args: InterpreterArguments,
    extents: ReadonlyMap<string, number>,
    private readonly options: InterpretOptions,
    private readonly sanitizer: Sanitizer | undefined,
  ) {
    this.axes = launch.grid.map(({ name, extent }) => ({ name, size: Math.max(0, evaluateExtent(extent, extents)) }));
    this.grid = new Map(this.axes.map(({ name, size }) => [name, size]));
    this.programs = this.axes.reduce((n, { size }) => n * size, 1);
    this.ragged = new RaggedAnalysis(launch);
    this.shows = shownValues(launch, options.show ?? []);
  }

  run(): void {
    const { maxPrograms: limit = 2 ** 22, seed } = this.options;
    if (this.programs > limit)
      fail(
        sanitizerCodes.tooLarge(
          { programs: this.programs, limit },
          {
            loc: this.launch.loc,
            help: 'run it on the CPU (--target cpu), at a smaller size, or raise --max-programs',
          },
        ),
      );
    this.sanitizer?.beginLaunch(
      this.launch,
      this.programs,
      (ref) => this.params.get(ref) as Buffer | undefined,
      (program) => this.nameOf(this.idsOf(program)),
    );
    if (this.launch.warpgroups) this.runBlocks(this.launch.warpgroups.count, seed);
    else if (seed !== undefined || mayWait(this.launch)) this.takeTurns(seed);
    else this.oneAfterTheOther();
  }

  private oneAfterTheOther(): void {
    const { maxSteps = 1e8, cancelled, progress } = this.options;
    for (let program = 0; program < this.programs && !cancelled?.(); program++) {
      const { thread, shown } = this.begin(program);
      for (let steps = 0; !thread.done; steps++) {
        if (steps === maxSteps) this.stopLongRun(thread, shown);
        thread.step();
      }
      progress?.(program + 1, this.programs);
    }
  }

  /** A few programs at a time run a few ops each, in turn or as the seed says. */
  private takeTurns(seed: number | undefined): void {
    const { maxSteps = 1e8, cancelled, progress } = this.options;
    const random = seed === undefined ? undefined : randomNumbers(seed);
    const program = startOrder(this.programs, random);
    const residents: Resident[] = [];
    let started = 0;
    let quiet = 0;
    for (let turn = 0; !cancelled?.(); turn++) {
      while (residents.length < residentPrograms && started < this.programs)
        residents.push(this.begin(program(started++)));
      if (residents.length === 0) return;
      const chosen = random ? random(residents.length) : turn % residents.length;
      const resident = residents[chosen]!;
      const { thread, shown } = resident;
      const before = thread.progress;
      const length = random ? 1 + random(16) : turnLength;
      for (let i = 0; i < length && !thread.done; i++, resident.steps++) {
        if (resident.steps === maxSteps) this.stopLongRun(thread, shown);
        thread.step();
      }
      quiet = thread.done || thread.progress !== before || !thread.loop ? 0 : quiet + length;
      if (thread.done) {
        residents.splice(chosen, 1);
        progress?.(started - residents.length, this.programs);
      }
      if (quiet > patience * residents.length && mayWait(this.launch)) this.stopDeadlock(residents);
    }
  }

  /** Explicit programs, block by block. Their warpgroups take turns; copies land as late as can be, or as the seed says. */
  private runBlocks(count: number, seed: number | undefined): void {
    const { maxSteps = 1e8, cancelled, progress } = this.options;
    const random = seed === undefined ? undefined : randomNumbers(seed);
    const order = startOrder(this.programs, random);
    for (let at = 0; at < this.programs && !cancelled?.(); at++) {
      const program = order(at);
      const ids = this.idsOf(program);
      const shown = this.nameOf(ids);
      const { sanitizer } = this;
      const block = new Block(
        count,
        sanitizer && ((wg, event) => sanitizer.asynchronous(event, wg, { number: program, shown })),
      );
      const faults = Array.from({ length: count }, (_, wg) => this.faultsOf(wg, shown));
      const residents = faults.map((own, number): Resident => {
        const context = {
          ...this.contextOf(program, ids, shown),
          program: { number: program, shown, warpgroup: number },
          warpgroup: { number, block, faults: own },
        };
        return { thread: new Thread(this.launch.body, this.params, context, this.ragged), shown, steps: 0 };
      });
      for (let turn = 0; ; turn++) {
        const able = residents.filter(({ thread }, wg) => !thread.done && !block.waitOf(wg));
        const { pending } = block;
        if (random && pending > 0 && random(able.length + 1) === able.length) {
          block.advance(random(pending));
          continue;
        }
        if (able.length === 0) {
          if (residents.every(({ thread }) => thread.done)) break;
          if (block.landOne()) continue;
          this.stopWaiting(residents, block, shown);
        }
        const resident = able[random ? random(able.length) : turn % able.length]!;
        const number = residents.indexOf(resident);
        for (
          let i = random ? 1 + random(16) : turnLength;
          i > 0 && !resident.thread.done && !block.waitOf(number);
          i--
        ) {
          if (resident.steps++ === maxSteps) this.stopLongRun(resident.thread, shown);
          resident.thread.step();
        }
      }
      block.finish((wg) => faults[wg]!);
      progress?.(at + 1, this.programs);
    }
  }

  private warpgroupName(warpgroup: number, program: string): string {
    return `warpgroup ${this.launch.warpgroups!.name}=${warpgroup} of program ${program}`;
  }

  private faultsOf(number: number, shown: string): Faults {
    const warpgroup = this.warpgroupName(number, shown);
    return {
      missed: (op, barrier, waited, completed) =>
        fail(interpreterCodes.phaseMissed({ barrier, waited, completed, warpgroup }, { loc: op.loc })),
      overrun: (op, barrier, arrivals) =>
        fail(
          interpreterCodes.barrierOverrun(
            { barrier, arrivals, warpgroup },
            { loc: op.loc, help: 'count every copy and every arrive of a phase in `arrivals`' },
          ),
        ),
      unfinished: (op, what, count) =>
        fail(
          interpreterCodes.unfinished(
            { what, count, warpgroup },
            { loc: op.loc, help: 'wait for the barrier, waitSmemToGmem(0) or wgmmaWait(0) before the end' },
          ),
        ),
      noBarrier: (op, barrier, index, extent) =>
        fail(
          interpreterCodes.outOfBounds(
            { access: op.name, ref: barrier, axis: 0, index, extent, program: shown },
            { loc: op.loc },
          ),
        ),
      outOfBounds: (op, access, axis, index) => {
        const { name, shape } = access.buffer;
        const notes: DiagnosticNote[] = [{ message: blockMap(access) }];
        fail(
          interpreterCodes.outOfBounds(
            { access: op.name, ref: name, axis, index, extent: shape[axis]!, program: shown },
            { loc: op.loc, notes },
          ),
        );
      },
    };
  }

  /** No warpgroup of a block can go on, and nothing is on its way. */
  private stopWaiting(residents: readonly Resident[], block: Block, shown: string): never {
    const waits = residents.flatMap(({ thread }, wg) => {
      const op = thread.done ? undefined : block.waitOf(wg);
      return op ? [{ op, text: `${this.warpgroupName(wg, shown)} waits at '${op.name}'` }] : [];
    });
    fail(
      sanitizerCodes.deadlock(
        { waits: waits.map(({ text }) => text) },
        {
          loc: waits[0]?.op.loc ?? this.launch.loc,
          notes: waits.slice(1).map(({ op, text }) => ({ message: text, loc: op.loc })),
          help: 'each wait needs a phase: all arrivals that its barrier counts, and the bytes of their copies',
        },
      ),
    );
  }

  private idsOf(program: number): Map<string, number> {
    let rest = program;
    const ids = new Map<string, number>();
    for (const { name, size } of [...this.axes].reverse()) {
      ids.set(name, rest % size);
      rest = Math.floor(rest / size);
    }
    return ids;
  }

  private nameOf(ids: ReadonlyMap<string, number>): string {
    return `(${this.axes.map(({ name }) => `${name}=${ids.get(name)}`).join(', ')})`;
  }

  private begin(program: number): Resident {
    const ids = this.idsOf(program);
    const shown = this.nameOf(ids);
    const thread = new Thread(this.launch.body, this.params, this.contextOf(program, ids, shown), this.ragged);
    return { thread, shown, steps: 0 };
  }

  private contextOf(number: number, ids: ReadonlyMap<string, number>, shown: string): ProgramContext {
    const { print = console.log } = this.options;
    return {
      dims: this.args.dims,
      ids,
      grid: this.grid,
      program: { number, shown },
      observer: this.sanitizer,
      ...(this.shows.size > 0
        ? {
            shows: {
              values: this.shows,
              take: (value, tile) => print(`${shown} ${tileText(this.shows.get(value)!, tile)}`),
            },
          }
        : {}),
      outOfBounds: (op, access, axis, index) => {
        const { name, shape } = access.buffer;
        const notes: DiagnosticNote[] = 'start' in access ? [{ message: blockMap(access) }] : [];
        fail(
          interpreterCodes.outOfBounds(
            { access: op.name, ref: name, axis, index, extent: shape[axis]!, program: shown },
            { loc: op.loc, notes },
          ),
        );
      },
      emptyReduction: (op, name) =>
        fail(
          interpreterCodes.emptyReduction(
            { op: name, program: shown },
            { loc: op.loc, help: 'make the tile full with .pad(value), or skip such blocks with when()' },
          ),
        ),
      failedAssertion: (op, message, place) =>
        fail(interpreterCodes.assertionFailed({ message, program: `${shown}${place}` }, { loc: op.loc })),
      brokenPromise: (op, promise) =>
        fail(interpreterCodes.brokenPromise({ promise, program: shown }, { loc: op.loc })),
      print: (text) => print(`${shown}${text}`),
      badStep: (op, step) => fail(interpreterCodes.badStep({ step, program: shown }, { loc: op.loc })),
    };
  }

  private stopLongRun(thread: Thread, program: string): never {
    const { loop, nextOp } = thread;
    const notes: DiagnosticNote[] = loop && nextOp ? [{ message: 'it was about to run this', loc: nextOp.loc }] : [];
    fail(
      interpreterCodes.tooManySteps(
        { limit: this.options.maxSteps ?? 1e8, program },
        {
          loc: loop?.loc ?? nextOp?.loc ?? this.launch.loc,
          notes,
          help: 'raise --max-steps if the kernel is meant to run this long',
        },
      ),
    );
  }

  private stopDeadlock(residents: readonly Resident[]): never {
    const locOf = ({ thread }: Resident): Loc => thread.loop?.loc ?? this.launch.loc;
    const first = locOf(residents[0]!);
    const place = (loc: Loc): string => {
      const at = primaryLoc(loc);
      return at ? ` at line ${at.line}` : '';
    };
    const shownFirst = residents.slice(0, 8);
    const rest = residents.length - shownFirst.length;
    const waits = shownFirst.map(
      (resident) => `program ${resident.shown} waits in the loop${place(locOf(resident))} after ${resident.steps} ops`,
    );
    fail(
      sanitizerCodes.deadlock(
        { waits: rest > 0 ? [...waits, `${rest} more wait`] : waits },
        {
          loc: first,
          notes: shownFirst
            .filter((resident) => locOf(resident) !== first)
            .map((resident) => ({ message: `program ${resident.shown} waits here`, loc: locOf(resident) })),
          help: 'a wait needs a program that ends it, among those that run at the same time',
        },
      ),
    );
  }
}

function fail(found: Diagnostic): never {
  throw new CompileError([found]);
}
