/** Reads the operands of one instruction. */

import type { Operand } from './module.js';

type Find = (name: string) => Operand | undefined;
export type Complain = (what: string) => never;

interface Reader {
  readonly text: string;
  readonly find: Find;
  readonly complain: Complain;
  at: number;
}

const skipSpace = (r: Reader): void => {
  while (/\s/.test(r.text[r.at] ?? '')) r.at++;
};

function take(r: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = r.at;
  const match = pattern.exec(r.text);
  if (match) r.at += match[0].length;
  return match;
}

const singlePattern = /0[fF]([0-9a-fA-F]{8})/y;
const doublePattern = /0[dD]([0-9a-fA-F]{16})/y;
const integerPattern = /(-?)\s*(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?/y;
const namePattern = /[%\w$.]+/y;

function list(r: Reader, end: string | undefined): Operand[] {
  const items: Operand[] = [];
  for (;;) {
    skipSpace(r);
    if (r.at >= r.text.length || r.text[r.at] === end) {
      r.at++;
      return items;
    }
    if (r.text[r.at] === ',') r.at++;
    else items.push(operand(r));
  }
}

function operand(r: Reader): Operand {
  let result = atom(r);
  skipSpace(r);
  if (r.text[r.at] === '|') {
    r.at++;
    result = { kind: 'pair', first: result, second: atom(r) };
  }
  return result;
}

/** Inside of brackets: a base, constants added to it, and coordinates behind a comma. */
function address(r: Reader): Operand {
  const base = atom(r);
  let offset = 0;
  for (skipSpace(r); r.text[r.at] === '+' || r.text[r.at] === '-'; skipSpace(r)) {
    const sign = r.text[r.at++] === '-' ? -1 : 1;
    skipSpace(r);
    const constant = atom(r);
    if (constant.kind !== 'immediate') return r.complain(`an offset that is no constant in '${r.text}'`);
    offset += sign * Number(BigInt.asIntN(64, constant.value));
  }
  const rest = list(r, ']');
  const coordinates = rest.find((o) => o.kind === 'vector');
  return { kind: 'address', base, offset, coordinates: coordinates?.kind === 'vector' ? coordinates.elements : [] };
}

function atom(r: Reader): Operand {
  skipSpace(r);
  const first = r.text[r.at];
  if (first === '{') {
    r.at++;
    return { kind: 'vector', elements: list(r, '}') };
  }
  if (first === '[') {
    r.at++;
    return address(r);
  }
  if (first === '(') {
    r.at++;
    return { kind: 'vector', elements: list(r, ')') };
  }
  if (first === '!') {
    r.at++;
    const inner = atom(r);
    return inner.kind === 'predicate' ? { ...inner, negated: !inner.negated } : r.complain(`'!' of no predicate`);
  }
  const float = take(r, singlePattern) ?? take(r, doublePattern);
  if (float) return { kind: 'immediate', value: BigInt(`0x${float[1]}`), float: true };
  const integer = take(r, integerPattern);
  if (integer) {
    const value = BigInt(integer[2]!);
    return { kind: 'immediate', value: integer[1] ? -value : value, float: false };
  }
  const name = take(r, namePattern)?.[0];
  if (name === undefined) return r.complain(`cannot read '${r.text.slice(r.at, r.at + 40)}' in '${r.text}'`);
  if (name === '_') return { kind: 'sink' };
  const known = r.find(name);
  if (known) return known;
  let offset = 0;
  const added = take(r, /\s*\+\s*(\d+)/y);
  if (added) offset = Number(added[1]);
  return { kind: 'symbol', name, offset };
}

export const readOperands = (text: string, find: Find, complain: Complain): Operand[] =>
  list({ text, find, complain, at: 0 }, undefined);
