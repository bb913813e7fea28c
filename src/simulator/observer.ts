/** What a launch of either kind counts and finds while it runs. */

import { simulatorCodes } from '../diagnostics/codes/simulator.js';
import { CompileError, type Diagnostic, type DiagnosticNote } from '../diagnostics/diagnostic.js';
import type { Loc } from '../diagnostics/location.js';
import type { Finding } from './access-checker.js';
import type { SimulationReport } from './device.js';
import type { MemoryLevel, ProfiledInstruction, Profiler } from './profile.js';

/** Where something happened: the line of the kernel, that of the device code, and notes for people. */
export interface Place {
  readonly loc: Loc;
  readonly line: number;
  readonly notes: readonly DiagnosticNote[];
}

/** Findings that a launch keeps. */
const mostFindings = 50;

export class Observer {
  readonly findings = new Map<string, Diagnostic>();
  steps = 0;
  laneInstructions = 0;
  /** Multiplications of matrix instructions. */
  products = 0;

  constructor(
    readonly maxSteps: number,
    readonly profiler: Profiler | undefined,
  ) {}

  summary(): SimulationReport {
    const { steps, laneInstructions, products, profiler } = this;
    const report = { findings: [...this.findings.values()], steps, laneInstructions, products };
    return profiler ? { ...report, profile: profiler.finish(products) } : report;
  }

  /** Notes an access for the profile; asynchronous work notes ranges, lanes their addresses. */
  noteAccess(
    instruction: ProfiledInstruction | undefined,
    level: MemoryLevel,
    address: number,
    size: number,
    writes: boolean,
    lane: number | undefined,
  ): void {
    const { profiler } = this;
    if (!profiler || !instruction) return;
    if (lane === undefined) profiler.range(instruction, level, address, size, writes);
    else profiler.access(instruction, level, address, size, writes);
  }

  /** Keeps a finding once for each instruction. */
  keep(finding: Finding, what: string, { line }: { readonly line: number }, place: () => Place): void {
    const key = `${finding} ${line}`;
    if (this.findings.has(key) || this.findings.size >= mostFindings) return;
    const { loc, notes } = place();
    this.findings.set(key, simulatorCodes[finding]({ what }, { loc, notes }));
  }

  /** Counts instructions, and stops where they are too many. */
  countSteps(instructions: number, place: () => Place): void {
    this.steps += instructions;
    if (this.steps <= this.maxSteps) return;
    const { loc, notes } = place();
    throw new CompileError([simulatorCodes.tooManySteps({ limit: this.maxSteps }, { loc, notes })]);
  }
}
