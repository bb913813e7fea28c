/** AMD assembly to a module. There is no grammar of each opcode: the instruction table judges the operands. */

import { simulatorCodes } from '../../diagnostics/codes/simulator.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { type Loc, unknownLoc } from '../../diagnostics/location.js';
import type { AmdKernel, AmdModule, AmdTarget, Instruction, KernelArgument } from './module.js';
import { opcodeOf } from './names.js';
import { readOperands } from './operands.js';

const language = 'assembly';
const complain = (what: string, line: number): never => {
  throw new CompileError([simulatorCodes.syntax({ what, line, language })]);
};

function targetOf(name: string, line: number): AmdTarget {
  if (/^gfx9(0a|42|50)$/.test(name)) return { name, generation: 9, lanes: 64, fp8: name === 'gfx950' ? 'ocp' : 'fnuz' };
  if (/^gfx11\d\d$/.test(name)) return { name, generation: 11, lanes: 32, fp8: 'ocp' };
  if (/^gfx120\d$/.test(name)) return { name, generation: 12, lanes: 32, fp8: 'ocp' };
  return complain(`there is no simulated '${name}'`, line);
}

interface OpenKernel {
  readonly name: string;
  readonly code: Instruction[];
  readonly labels: Map<string, number>;
}

function instructionOf(text: string, line: number, loc: Loc): Instruction {
  const one = (part: string): Instruction => {
    const [, mnemonic, rest = ''] = /^([a-z]\w*)(?:\s+(.*))?$/.exec(part) ?? complain(`cannot read '${part}'`, line);
    const name = opcodeOf(mnemonic!);
    return { ...name, parts: [name.opcode], ...readOperands(rest), text, line, loc, second: undefined };
  };
  const [first, second] = text.split(' :: ');
  return { ...one(first!), second: second === undefined ? undefined : one(second) };
}

/** The arguments of each kernel, from the metadata at the end. */
function readMetadata(text: string): Map<string, { arguments: KernelArgument[]; bytes: number }> {
  const kernels = new Map<string, { arguments: KernelArgument[]; bytes: number }>();
  const metadata = /\.amdgpu_metadata\n([\s\S]*?)\.end_amdgpu_metadata/.exec(text)?.[1] ?? '';
  for (const kernel of metadata.split(/^ {2}- /m).slice(1)) {
    const field = (name: string): string | undefined =>
      new RegExp(`^ {2,4}\\.${name}:\\s+(\\S+)`, 'm').exec(` ${kernel}`)?.[1];
    const list = /\.args:\n((?: {6}.*\n)*)/.exec(kernel)?.[1] ?? '';
    const args = list
      .split(/^ {6}- /m)
      .filter((a) => a.trim() !== '')
      .map((a): KernelArgument => {
        const of = (name: string): string => new RegExp(`\\.${name}:\\s+(\\S+)`).exec(a)?.[1] ?? '';
        return { offset: Number(of('offset')), bytes: Number(of('size')), kind: of('value_kind') };
      });
    const name = field('name');
    if (name !== undefined) kernels.set(name, { arguments: args, bytes: Number(field('kernarg_segment_size') ?? 0) });
  }
  return kernels;
}

export function parseAmd(text: string): AmdModule {
  const files = new Map<string, string>();
  const described = new Map<string, Map<string, number>>();
  const open: OpenKernel[] = [];
  let target: AmdTarget | undefined;
  let [inCode, loc]: [boolean, Loc] = [false, unknownLoc];
  let directives: Map<string, number> | undefined;
  const functions = new Set([...text.matchAll(/^\s*\.type\s+(\S+),@function/gm)].map((m) => m[1]!));

  for (const [index, raw] of text.split('\n').entries()) {
    const line = index + 1;
    const statement = raw.replace(/;.*/, '').trim();
    if (statement === '') continue;
    const label = /^([A-Za-z_.$][\w.$]*):$/.exec(statement);
    if (label) {
      if (functions.has(label[1]!)) open.push({ name: label[1]!, code: [], labels: new Map() });
      const current = open.at(-1);
      current?.labels.set(label[1]!, current.code.length);
      continue;
    }
    if (statement.startsWith('.')) {
      const [word, ...more] = statement.split(/\s+/);
      if (word === '.amdgcn_target') target = targetOf(/-(gfx\w+)/.exec(statement)?.[1] ?? '', line);
      else if (word === '.text' || word === '.section') inCode = word === '.text';
      else if (word === '.amdgpu_metadata') inCode = false;
      else if (word === '.file') {
        const m = /^\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"/.exec(statement);
        if (m) files.set(m[1]!, m[2]!);
      } else if (word === '.loc') {
        const file = files.get(more[0]!);
        // Line 0 marks code that belongs to no line.
        if (more[1] !== '0')
          loc =
            file === undefined
              ? unknownLoc
              : { kind: 'file', file, line: Number(more[1]), col: Math.max(1, Number(more[2])) };
      } else if (word === '.amdhsa_kernel') {
        directives = new Map();
        described.set(more[0]!, directives);
      } else if (word!.startsWith('.amdhsa_')) directives?.set(word!.slice('.amdhsa_'.length), Number(more[0]));
      continue;
    }
    if (!inCode) continue;
    const current = open.at(-1) ?? complain('an instruction outside of every function', line);
    current.code.push(instructionOf(statement.replace(/\s+/g, ' '), line, loc));
  }
  if (!target) return complain('it names no target', 1);
  const metadata = readMetadata(text);
  const kernels = open
    .filter(({ name }) => described.has(name))
    .map(({ name, code, labels }): [string, AmdKernel] => {
      const found = metadata.get(name) ?? complain(`the metadata do not have '${name}'`, 1);
      const kernel = { name, arguments: found.arguments, argumentBytes: found.bytes };
      return [name, { ...kernel, directives: described.get(name)!, code, labels }];
    });
  return { target, kernels: new Map(kernels) };
}
