/** Operands and modifiers of AMD assembly from text. */

import { bitsOf } from '../formats.js';
import { type Modifier, type Operand, registers } from './module.js';

const named: Readonly<Record<string, readonly [index: number, count: number]>> = {
  vcc: [106, 2],
  vcc_lo: [106, 1],
  vcc_hi: [107, 1],
  m0: [124, 1],
  exec: [126, 2],
  exec_lo: [126, 1],
  exec_hi: [127, 1],
  flat_scratch: [102, 2],
  flat_scratch_lo: [102, 1],
  flat_scratch_hi: [103, 1],
};

const plain = { negate: false, absolute: false } as const;

function constant(text: string): Operand | undefined {
  const number = /^(-?)(0x[0-9a-f]+|\d+)$/i.exec(text);
  if (number) {
    const magnitude = BigInt(number[2]!);
    return { kind: 'constant', value: number[1] ? -magnitude : magnitude, float: undefined, ...plain };
  }
  if (!/^-?\d*\.\d+(e[-+]?\d+)?$/i.test(text)) return undefined;
  return { kind: 'constant', value: BigInt(bitsOf(Number(text))), float: Number(text), ...plain };
}

function register(text: string): Operand | undefined {
  const known = named[text];
  if (known) return { kind: 'scalar', index: known[0], count: known[1], ...plain };
  const m = /^(v|a|s|ttmp)(?:(\d+)(?:\.([lh]))?|\[(\d+):(\d+)\])$/.exec(text);
  if (!m) return undefined;
  const [, file, single, part, from, to] = m;
  const first = Number(single ?? from);
  const count = single === undefined ? Number(to) - first + 1 : 1;
  if (file === 's' || file === 'ttmp')
    return { kind: 'scalar', index: first + (file === 'ttmp' ? registers.ttmp : 0), count, ...plain };
  const half = part === undefined ? undefined : part === 'l' ? 'low' : 'high';
  return { kind: 'vector', index: first + (file === 'a' ? 256 : 0), count, half, ...plain };
}

export function readOperand(written: string): Operand {
  let text = written;
  let [negate, absolute] = [false, false];
  const take = (pattern: RegExp): boolean => {
    const inner = pattern.exec(text)?.[1];
    if (inner !== undefined) text = inner;
    return inner !== undefined;
  };
  if (take(/^-(?=[vsat|]|abs|vcc|m0|exec)(.*)$/) || take(/^neg\((.*)\)$/)) negate = true;
  if (take(/^\|(.*)\|$/) || take(/^abs\((.*)\)$/)) absolute = true;
  take(/^lit\((.*)\)$/);
  if (text === 'off' || text === 'null') return { kind: 'none' };
  const value = register(text) ?? constant(text) ?? { kind: 'symbol', name: text };
  if ((!negate && !absolute) || value.kind === 'symbol' || value.kind === 'none') return value;
  return { ...value, negate, absolute };
}

/** Pieces of a text at a separator that stands outside of brackets. */
function pieces(text: string, separator: RegExp): string[] {
  const found: string[] = [];
  let [depth, from] = [0, 0];
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (c === '[' || c === '(') depth++;
    else if (c === ']' || c === ')') depth--;
    else if (depth === 0 && separator.test(c)) {
      found.push(text.slice(from, i));
      from = i + 1;
    }
  }
  found.push(text.slice(from));
  return found.map((p) => p.trim()).filter((p) => p !== '');
}

const isNumber = (text: string): boolean => /^-?(0x[0-9a-f]+|\d+)$/i.test(text);

function modifierValue(text: string): Modifier {
  if (text.startsWith('[')) return text.slice(1, -1).split(',').map(Number);
  return isNumber(text) ? Number(text) : text;
}

/** Splits what stands behind an opcode: operands between commas, modifiers behind blanks. */
export function readOperands(rest: string): { operands: Operand[]; modifiers: Record<string, Modifier> } {
  const operands: Operand[] = [];
  const modifiers: Record<string, Modifier> = {};
  for (const piece of pieces(rest, /,/))
    pieces(piece, /\s/).forEach((word, place) => {
      const valued = /^([a-z_]\w*):(.+)$/.exec(word) ?? /^((?!neg|abs|lit)[a-z_]\w*)\((.*)\)$/.exec(word);
      if (valued) modifiers[valued[1]!] = modifierValue(valued[2]!);
      else if (place === 0) operands.push(readOperand(word));
      else modifiers[word] = true;
    });
  return { operands, modifiers };
}
