import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Instruction } from './module.js';

/** An instruction that the simulator does not have, or not in this form. */
export function unsupported(i: Instruction, why = 'the simulator does not have this instruction'): never {
  const where = { text: i.text.slice(0, 140), line: i.line, why, language: 'assembly' };
  throw new CompileError([simulatorCodes.unknownInstruction(where, { loc: i.loc })]);
}
