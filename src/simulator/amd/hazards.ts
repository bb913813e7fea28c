/**
 * Distances that the ISA of CDNA 3 leaves to software ("required software-inserted wait states"): an instruction that
 * comes too early after another reads what was there before. Only what follows in the text is looked at; every distance
 * there is that of a path which exists.
 */

import { type Instruction, registers, vectorRegisters } from './module.js';
import type { Step } from './program.js';

interface Rule {
  /** Wait states between the two. */
  readonly states: number;
  readonly why: string;
  readonly writer: (i: Instruction) => boolean;
  readonly reader: (i: Instruction) => boolean;
  /** Which registers matter: those that both name, or one that the reader uses without a name. */
  readonly of: 'vector' | 'scalar' | readonly number[];
}

const scalarNumber = (index: number): number => vectorRegisters + index;
const isVector = ({ opcode }: Instruction): boolean => opcode.startsWith('v_') && !opcode.startsWith('v_mfma');
const isMemory = ({ opcode }: Instruction): boolean => /^(buffer|global|flat|scratch)_/.test(opcode);
function isTranscendental({ opcode }: Instruction): boolean {
  return /^v_(exp|log|rcp|rcp_iflag|rsq|sqrt|sin|cos)_f(16|32|64)$/.test(opcode);
}
const isMatrix = ({ opcode }: Instruction): boolean => opcode.startsWith('v_mfma_') && !opcode.endsWith('_f64');

/** Passes of a matrix instruction: larger tiles and single precision take longer. */
function passes({ opcode }: Instruction): number {
  const large = opcode.includes('_32x32x');
  const slow = /_f32$/.test(opcode) && !/_xf32$/.test(opcode);
  return (large ? 8 : 4) * (slow ? 2 : 1);
}

const exec = [scalarNumber(registers.exec), scalarNumber(registers.exec + 1)];
const rules: readonly Rule[] = [
  {
    states: 5,
    why: 'a scalar register that the vector unit wrote is read by a memory operation',
    writer: isVector,
    reader: isMemory,
    of: 'scalar',
  },
  {
    states: 4,
    why: '`vcc` that the vector unit wrote is read by v_div_fmas',
    writer: isVector,
    reader: ({ opcode }) => opcode.startsWith('v_div_fmas'),
    of: [scalarNumber(registers.vcc), scalarNumber(registers.vcc + 1)],
  },
  {
    states: 5,
    why: 'EXEC that the vector unit wrote is used by DPP',
    writer: isVector,
    reader: ({ encoding }) => encoding === 'dpp',
    of: exec,
  },
  {
    states: 2,
    why: 'a register that the vector unit wrote is read by DPP',
    writer: isVector,
    reader: ({ encoding }) => encoding === 'dpp',
    of: 'vector',
  },
  {
    states: 2,
    why: 'a scalar register that the vector unit wrote is read by the vector unit',
    writer: isVector,
    reader: (i) => isVector(i) && !/^v_(readlane|writelane)/.test(i.opcode),
    of: 'scalar',
  },
  {
    states: 1,
    why: 'the result of a transcendental instruction is read by another kind',
    writer: isTranscendental,
    reader: (i) => isVector(i) && !isTranscendental(i),
    of: 'vector',
  },
  {
    states: 1,
    why: 'a register that the vector unit wrote is read lane by lane',
    writer: isVector,
    reader: ({ opcode }) => /^v_read(first)?lane/.test(opcode),
    of: 'vector',
  },
];

interface Written {
  readonly at: number;
  readonly by: Instruction;
}

/** Marks the instructions that come too early, with what is wrong. */
export function findHazards(steps: readonly Step[], target: string): void {
  if (target !== 'gfx942' && target !== 'gfx950') return;
  const written = new Map<number, Written>();
  let clock = 0;
  for (const step of steps) {
    const found = new Map<Instruction, string>();
    step.instructions.forEach((i, n) => {
      const { reads, writes } = step.uses[n]!;
      const why = tooEarly(i, reads, written, clock);
      if (why !== undefined) found.set(i, why);
      const pause = i.opcode === 's_nop' && i.operands[0]?.kind === 'constant' ? Number(i.operands[0].value) : 0;
      for (const w of writes) written.set(w, { at: clock, by: i });
      clock += 1 + pause;
      if (i.opcode === 's_branch' || i.opcode === 's_endpgm') written.clear();
    });
    if (found.size > 0) step.hazards = found;
  }
}

function tooEarly(
  i: Instruction,
  reads: readonly number[],
  written: ReadonlyMap<number, Written>,
  clock: number,
): string | undefined {
  const between = ({ at }: Written): number => clock - at - 1;
  for (const rule of rules) {
    if (!rule.reader(i)) continue;
    const own =
      typeof rule.of === 'string' ? reads.filter((r) => r < vectorRegisters === (rule.of === 'vector')) : rule.of;
    for (const register of own) {
      const last = written.get(register);
      if (last && rule.writer(last.by) && between(last) < rule.states)
        return `${rule.why} after ${between(last)} wait states; it takes ${rule.states}`;
    }
  }
  if (!isMatrix(i) && !i.opcode.startsWith('s_'))
    for (const register of reads) {
      const last = written.get(register);
      if (!last || !isMatrix(last.by)) continue;
      const needed = passes(last.by) + 2;
      if (between(last) < needed)
        return `the result of a matrix instruction is read after ${between(last)} wait states; it takes ${needed}`;
    }
  return undefined;
}
