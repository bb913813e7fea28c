/** An entry made ready to run: steps, generated code, and the order in which lanes that went different ways go on. */

import * as formats from '../formats.js';
import { checkForm, type InstructionEntry, type Step, type WarpFunction } from './instruction.js';
import { instructions } from './instructions/index.js';
import { LaneCode } from './lane-code.js';
import type { Entry, Instruction, Operand } from './module.js';
import { Symbols, unsupported } from './symbols.js';

/** Instructions of one generated function: longer ones are not optimised. */
const longestRun = 96;

/** Slots of the registers that an instruction uses, and those among them that it writes. */
export type RegisterUse = readonly [slots: readonly number[], written: ReadonlySet<number>];

export interface Program {
  readonly entry: Entry;
  readonly symbols: Symbols;
  readonly steps: readonly Step[];
  /** Of every step: lanes at the lowest run first. */
  readonly rank: Float64Array;
  readonly usesTensorMemory: boolean;
  /** The generated JavaScript, function by function. */
  readonly sources: readonly string[];
  readonly registersOf: (i: Instruction) => RegisterUse;
}

/** The opcode of an instruction in the table: the longest sequence of its parts that has an entry. */
export function opcodeOf({ parts }: Instruction): string | undefined {
  for (let n = parts.length; n > 0; n--) {
    const name = parts.slice(0, n).join('.');
    if (Object.hasOwn(instructions, name)) return name;
  }
  return undefined;
}

export function compileEntry(
  entry: Entry,
  globals: ReadonlyMap<string, number>,
  globalWindow: number,
  checked: boolean,
): Program {
  const symbols = new Symbols(entry, globals, globalWindow);
  const { code } = entry;
  const steps: Step[] = [];
  const sources: string[] = [];
  const stepOf = new Int32Array(code.length + 1);
  const leaders = new Set(code.flatMap((i) => (i.target === undefined ? [] : [i.target])));
  const generated: { step: Extract<Step, { kind: 'run' }>; source: number }[] = [];
  let run: { code: LaneCode; step: Extract<Step, { kind: 'run' }> } | undefined;

  const flush = (): void => {
    if (!run) return;
    generated.push({ step: run.step, source: sources.length });
    sources.push(run.code.finish());
    run = undefined;
  };
  const addLane = (i: Instruction, { lane, memory }: Extract<InstructionEntry, { lane: unknown }>): void => {
    if (run && (run.code.instructions >= longestRun || (memory === 'load' && run.code.stored))) flush();
    if (!run) {
      const step = { kind: 'run', converges: false, instructions: [], run: () => {} } satisfies Step;
      run = { code: new LaneCode(symbols, checked), step };
      steps.push(step);
    }
    run.code.add(i, lane);
    if (memory === 'store') run.code.stored = true;
    run.step.instructions.push(i);
  };

  code.forEach((i, pc) => {
    if (leaders.has(pc)) flush();
    symbols.current = i;
    const opcode = opcodeOf(i);
    const known: InstructionEntry =
      opcode === undefined ? unsupported(i) : (instructions[opcode as keyof typeof instructions] as InstructionEntry);
    checkForm(i, opcode!, known);
    if ('lane' in known) {
      addLane(i, known);
      stepOf[pc] = steps.length - 1;
      return;
    }
    flush();
    stepOf[pc] = steps.length;
    steps.push({ ...known.warp({ symbols, instruction: i }), instructions: [i] });
  });
  flush();
  stepOf[code.length] = steps.length;
  steps.push({ kind: 'exit', converges: false, guard: undefined, instructions: [] });
  for (const step of steps) if (step.kind === 'branch') step.target = stepOf[step.target]!;
  // The text is made of numbers and of the table's own code only: names of the PTX never get into it.
  const functions = new Function('N', `"use strict";return [${sources.join(',\n')}];`)(formats) as WarpFunction[];
  for (const { step, source } of generated) step.run = functions[source]!;
  const uses = new Map<Instruction, RegisterUse>();
  const registersOf = (i: Instruction): RegisterUse => {
    const known = uses.get(i) ?? registerUse(i);
    uses.set(i, known);
    return known;
  };
  const usesTensorMemory = code.some((i) => i.parts[0] === 'tcgen05');
  return { entry, symbols, steps, rank: rankSteps(steps), usesTensorMemory, sources, registersOf };
}

function slotsIn(operand: Operand | undefined): number[] {
  switch (operand?.kind) {
    case 'register':
      return Array.from({ length: operand.words }, (_, w) => operand.slot + w);
    case 'vector':
      return operand.elements.flatMap(slotsIn);
    case 'pair':
      return [...slotsIn(operand.first), ...slotsIn(operand.second)];
    case 'address':
      return [...slotsIn(operand.base), ...operand.coordinates.flatMap(slotsIn)];
    default:
      return [];
  }
}

function registerUse(i: Instruction): RegisterUse {
  const result = i.operands[0];
  const written = result?.kind === 'address' || i.parts[0] === 'st' ? [] : slotsIn(result);
  return [i.operands.flatMap(slotsIn), new Set(written)];
}

/** Steps in reverse post order of their basic blocks: what comes later on every path has a higher rank. */
function rankSteps(steps: readonly Step[]): Float64Array {
  const leaders = new Set([0]);
  steps.forEach((s, i) => {
    if (s.kind !== 'branch') return;
    leaders.add(s.target);
    leaders.add(i + 1);
  });
  const starts = [...leaders].filter((i) => i < steps.length).sort((a, b) => a - b);
  const blockAt = new Map(starts.map((s, i) => [s, i]));
  const endOf = (block: number): number => (starts[block + 1] ?? steps.length) - 1;
  const successors = (block: number): number[] => {
    const last = endOf(block);
    const step = steps[last]!;
    const next = blockAt.get(last + 1);
    const through = (step.kind !== 'branch' && step.kind !== 'exit') || step.guard !== undefined;
    return [
      ...(through && next !== undefined ? [next] : []),
      ...(step.kind === 'branch' ? [blockAt.get(step.target)!] : []),
    ];
  };
  const finished: number[] = [];
  const seen = new Set([0]);
  const stack = [{ block: 0, rest: successors(0) }];
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const next = top.rest.pop();
    if (next === undefined) {
      finished.push(top.block);
      stack.pop();
    } else if (!seen.has(next)) {
      seen.add(next);
      stack.push({ block: next, rest: successors(next) });
    }
  }
  const rank = new Float64Array(steps.length + 1).fill(Number.MAX_SAFE_INTEGER);
  finished.reverse().forEach((block, place) => {
    for (let s = starts[block]!; s <= endOf(block); s++) rank[s] = place * steps.length + (s - starts[block]!);
  });
  return rank;
}
