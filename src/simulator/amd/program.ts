/** A kernel made ready to run: steps, and generated code for what single lanes do. */

import * as formats from '../formats.js';
import { gatherStep } from './dpp.js';
import { findHazards } from './hazards.js';
import {
  checkForm,
  type InstructionEntry,
  type RegisterUse,
  resultsOf,
  useOf,
  type WaveFunction,
} from './instruction.js';
import { instructions } from './instructions/index.js';
import { LaneCode } from './lane-code.js';
import type { AmdKernel, AmdTarget, Instruction, Operand } from './module.js';
import { registers, vectorRegisters } from './module.js';
import * as numbers from './numbers.js';
import { findUndefinedReads } from './undefined-reads.js';
import { unsupported } from './unsupported.js';
import type { MemoryKind, Wave } from './wave.js';

/** Instructions of one generated function: longer ones are not optimised. */
const longestRun = 48;

/** One thing that a wave does at a time. */
export interface Step {
  readonly instructions: Instruction[];
  readonly uses: RegisterUse[];
  run: WaveFunction;
  /** Done by every lane. */
  readonly lanes: boolean;
  /** What counts it, where it is a memory operation. */
  readonly counter: MemoryKind | undefined;
  /** Registers that it reads although no path to it writes them, by instruction. */
  undefinedReads: ReadonlyMap<Instruction, number> | undefined;
  /** Instructions that come too early after another, and what is wrong. */
  hazards: ReadonlyMap<Instruction, string> | undefined;
}

export interface AmdProgram {
  readonly kernel: AmdKernel;
  readonly target: AmdTarget;
  readonly steps: readonly Step[];
  /** Where a device begins that has loaded the arguments into registers. */
  readonly preloadEntry: number | undefined;
  /** The generated JavaScript, function by function. */
  readonly sources: readonly string[];
}

export const entryOf = (i: Instruction): InstructionEntry =>
  Object.hasOwn(instructions, i.opcode)
    ? (instructions[i.opcode as keyof typeof instructions] as InstructionEntry)
    : unsupported(i);

interface OpenRun {
  readonly code: LaneCode;
  readonly step: Step;
}

/** Whether an instruction reads or writes scalar registers in another form than as the masks that the run has made. */
function conflicts({ code }: OpenRun, i: Instruction, entry: InstructionEntry): boolean {
  return i.operands.some((o, n) => {
    if (o.kind !== 'scalar' || !code.hasMask(o.index, o.count)) return false;
    const form = entry.operands?.[n];
    return !((form?.[0] === 'm' || form === 'M') && code.isMask(o));
  });
}

class Compiler {
  readonly steps: Step[] = [];
  readonly sources: string[] = [];
  private readonly generated: { step: Step; source: number; wrap: ((f: WaveFunction) => WaveFunction) | undefined }[] =
    [];
  private run: OpenRun | undefined;

  constructor(private readonly target: AmdTarget) {}

  flush(): void {
    if (!this.run) return;
    this.finish(this.run, undefined);
    this.run = undefined;
  }
  private finish({ code, step }: OpenRun, wrap: ((f: WaveFunction) => WaveFunction) | undefined): void {
    this.generated.push({ step, source: this.sources.length, wrap });
    this.sources.push(code.finish());
  }

  push(i: Instruction, uses: RegisterUse[], run: WaveFunction, lanes: boolean, counter?: MemoryKind): Step {
    this.flush();
    const step: Step = { instructions: [i], uses, run, lanes, counter, undefinedReads: undefined, hazards: undefined };
    this.steps.push(step);
    return step;
  }

  private open(): OpenRun {
    const nothing: WaveFunction = () => {};
    const step: Step = {
      instructions: [],
      uses: [],
      run: nothing,
      lanes: true,
      counter: undefined,
      undefinedReads: undefined,
      hazards: undefined,
    };
    this.steps.push(step);
    return { code: new LaneCode(this.target), step };
  }

  /** Adds instructions of single lanes; all of them read before any of them writes. */
  addLanes(together: readonly Instruction[]): void {
    const entries = together.map(entryOf);
    const { run } = this;
    if (run && (run.code.instructions >= longestRun || together.some((i, n) => conflicts(run, i, entries[n]!))))
      this.flush();
    this.run ??= this.open();
    together.forEach((i, n) => {
      const entry = entries[n]!;
      checkForm(i, entry, this.target);
      if (!('lane' in entry)) return unsupported(i, 'an instruction that no pair can have');
      this.run!.code.add(i, resultsOf(entry), entry.lane);
      this.run!.step.instructions.push(i);
      this.run!.step.uses.push(useOf(i, entry, this.target));
    });
    this.run.code.commit();
    if (this.run.code.wroteMasks.includes(registers.exec)) this.flush();
  }

  /** The first source comes from other lanes: a gather into a register of its own, then the instruction on it. */
  addGathered(i: Instruction, entry: Extract<InstructionEntry, { lane: unknown }>): void {
    this.flush();
    checkForm(i, entry, this.target);
    const results = resultsOf(entry);
    const { gather, instruction } = gatherStep(i, results, this.target);
    const run = this.open();
    run.code.add(instruction, results, entry.lane);
    run.code.commit();
    run.step.instructions.push(i);
    run.step.uses.push(useOf(i, entry, this.target));
    this.finish(run, (f) => (wave) => {
      gather(wave);
      const { scalar, gathered } = wave;
      const [low, high] = [scalar[registers.exec]!, scalar[registers.exec + 1]!];
      scalar[registers.exec] = low & gathered[0]!;
      scalar[registers.exec + 1] = high & gathered[1]!;
      f(wave);
      scalar[registers.exec] = low;
      scalar[registers.exec + 1] = high;
    });
  }

  /** Makes functions of the sources: the text is made of numbers and of the table's own code only. */
  evaluate(): void {
    const functions = new Function('N', `"use strict";return [${this.sources.join(',\n')}];`)({
      ...formats,
      ...numbers,
    }) as WaveFunction[];
    for (const { step, source, wrap } of this.generated)
      step.run = wrap ? wrap(functions[source]!) : functions[source]!;
  }
}

const labelOf = (o: Operand | undefined): string => (o?.kind === 'symbol' ? o.name : '');

export function compileKernel(kernel: AmdKernel, target: AmdTarget): AmdProgram {
  const compiler = new Compiler(target);
  const { code, labels } = kernel;
  const leaders = new Set(labels.values());
  const stepOf = new Int32Array(code.length + 1);
  const branches: { step: Step; label: string; at: Instruction; test: (wave: Wave) => boolean }[] = [];

  code.forEach((i, n) => {
    if (leaders.has(n)) compiler.flush();
    const entry = entryOf(i);
    if ('lane' in entry && i.encoding !== 'dpp') {
      compiler.addLanes(i.second ? [i, i.second] : [i]);
      stepOf[n] = compiler.steps.length - 1;
      return;
    }
    if (i.second) return unsupported(i, 'an instruction that no pair can have');
    if ('lane' in entry) {
      compiler.addGathered(i, entry);
      stepOf[n] = compiler.steps.length - 1;
      return;
    }
    checkForm(i, entry, target);
    compiler.flush();
    stepOf[n] = compiler.steps.length;
    const uses = [useOf(i, entry, target)];
    if ('branch' in entry) {
      const step = compiler.push(i, uses, () => {}, false);
      branches.push({ step, label: labelOf(i.operands[0]), at: i, test: entry.branch(target) });
    } else compiler.push(i, uses, entry.wave({ instruction: i, target }), !i.opcode.startsWith('s_'), entry.kind);
  });
  compiler.flush();
  stepOf[code.length] = compiler.steps.length;
  const end: Instruction | undefined = code.at(-1);
  if (end) compiler.push(end, [{ reads: [], writes: [] }], (wave) => wave.finish(), false);
  compiler.evaluate();

  const targets = new Map<Step, number>();
  for (const { step, label, at, test } of branches) {
    const to = labels.get(label) ?? unsupported(at, `there is no label '${label}'`);
    const target = stepOf[to]!;
    targets.set(step, target);
    step.run = (wave) => {
      if (test(wave)) wave.pc = target;
    };
  }
  const { steps } = compiler;
  const prologue = steps.find((s) => s.instructions[0]?.opcode === 's_branch');
  const preloads = (kernel.directives.get('user_sgpr_kernarg_preload_length') ?? 0) > 0;
  const preloadEntry = preloads && prologue ? targets.get(prologue) : undefined;
  findHazards(steps, target.name);
  findUndefinedReads(steps, targets, initialRegisters(kernel));
  return { kernel, target, steps, preloadEntry, sources: compiler.sources };
}

/** Registers that have a value when a wave begins. */
function initialRegisters({ directives }: AmdKernel): number[] {
  const users = directives.get('user_sgpr_count') ?? 0;
  const system = ['x', 'y', 'z'].filter((axis) => directives.get(`system_sgpr_workgroup_id_${axis}`)).length;
  const scalars = Array.from({ length: users + system + (directives.get('enable_private_segment') ?? 0) }, (_, s) => s);
  const special = [registers.m0, registers.exec, registers.exec + 1];
  const traps = Array.from({ length: 16 }, (_, n) => registers.ttmp + n);
  return [0, ...[...scalars, ...special, ...traps].map((s) => vectorRegisters + s)];
}
