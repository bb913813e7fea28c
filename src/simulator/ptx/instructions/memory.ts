/** Loads and stores of single lanes. */

import type { InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { bitsOfType, type Instruction, isSigned, type Operand } from '../module.js';
import { unsupported } from '../symbols.js';
import { typeOf } from './arithmetic.js';

/** What an access does, as the checks number it. */
export const accessKinds = { load: 0, store: 1, atomic: 2 } as const;

export type Space = 'global' | 'shared' | 'param' | 'local' | 'generic';

export function spaceOf(i: Instruction): Space {
  for (const part of i.parts.slice(1)) {
    const space = part.split('::')[0]!;
    if (space === 'shared' || space === 'param' || space === 'local' || space === 'global') return space;
    if (space === 'const') return 'global';
  }
  return 'generic';
}

/** Lower and upper word of an address operand, as expressions of numbers; the lower one is unsigned. */
function addressOf(code: LaneCode, o: Operand): readonly [string, string] {
  if (o.kind !== 'address') return code.symbols.refuse('an operand that is no address');
  const { base, offset } = o;
  if (base.kind === 'symbol')
    return [String((code.symbols.address(base) + offset) >>> 0), String(code.symbols.window(base.name))];
  if (base.kind === 'register' && base.words > 1) {
    if (offset === 0) return [code.unsigned(base), code.int(base, 1)];
    const sum = code.hold(`${code.unsigned(base)}+(${offset})`);
    return [`${sum}>>>0`, `${code.int(base, 1)}+Math.floor(${sum}/4294967296)|0`];
  }
  return [`${code.int(base)}+(${offset})>>>0`, '0'];
}

/** Names the memory M and the offset o of an access of `size` bytes. */
function place(
  code: LaneCode,
  i: Instruction,
  address: Operand,
  size: number,
  kind: 'load' | 'store',
): readonly [memory: string, offset: string] {
  const space = spaceOf(i);
  const [low, high] = addressOf(code, address);
  const [a, h] = [code.hold(low), code.hold(high)];
  const o = `o${a}`;
  const M = `M${a}`;
  const call = `(${a},${h},${size},${accessKinds[kind]},W,l)`;
  code.declare(`let ${o}=0,${M}=B.shared;`);
  code.effect(`W.at=${code.instructions - 1};`);
  switch (space) {
    case 'shared':
      code.effect(`${o}=B.sharedAt${call};if(${a}>>>24)${M}=B.peerOf(${a},W).shared;`);
      break;
    case 'global':
      code.effect(`${M}=B.global.views;${o}=B.globalAt${call};`);
      break;
    case 'param':
      code.effect(`${M}=B.parameters;${o}=B.parameterAt${call};`);
      break;
    case 'local':
      code.effect(`${M}=W.local;${o}=W.localAt${call};`);
      break;
    case 'generic':
      code.effect(`${M}=B.memoryOf(${h},W);${o}=B.genericAt${call};`);
  }
  return [M, o];
}

const elementsOf = (o: Operand): readonly Operand[] => (o.kind === 'vector' ? o.elements : [o]);

function typed(i: Instruction): { bits: number; type: string } {
  const type = typeOf(i);
  const bits = bitsOfType(type);
  if (bits < 8) unsupported(i, `type '${type}'`);
  return { bits, type };
}

function load(code: LaneCode, i: Instruction): void {
  const { bits, type } = typed(i);
  const elements = elementsOf(i.operands[0]!);
  const [M, o] = place(code, i, i.operands[1]!, (bits / 8) * elements.length, 'load');
  elements.forEach((e, n) => {
    const at = n === 0 ? o : `${o}+${(n * bits) / 8}`;
    if (bits >= 64) for (let w = 0; w < bits / 32; w++) code.setInt(e, `${M}.i32[(${at}>>2)+${w}]`, w);
    else if (e.kind === 'register' && e.words > 1) {
      // A register may be wider than what is loaded: the rest is zeros, or the sign.
      const array = bits === 32 ? 'i32' : `${isSigned(type) ? 'i' : 'u'}${bits}`;
      const low = code.hold(`${M}.${array}[(${at})>>${Math.log2(bits / 8)}]`);
      code.setInt(e, low);
      for (let w = 1; w < e.words; w++) code.setInt(e, isSigned(type) ? `${low}>>31` : '0', w);
    } else if (type === 'f32') code.setFloat(e, `${M}.f32[${at}>>2]`);
    else if (bits === 32) code.setInt(e, `${M}.i32[${at}>>2]`);
    else code.setInt(e, `${M}.${isSigned(type) ? 'i' : 'u'}${bits}[${bits === 16 ? `(${at})>>1` : at}]`);
  });
}

function store(code: LaneCode, i: Instruction): void {
  const { bits, type } = typed(i);
  const elements = elementsOf(i.operands[1]!);
  const values = elements.map((e) =>
    bits >= 64
      ? Array.from({ length: bits / 32 }, (_, w) => code.int(e, w))
      : [type === 'f32' && e.kind === 'register' ? code.float(e) : code.int(e)],
  );
  const [M, o] = place(code, i, i.operands[0]!, (bits / 8) * elements.length, 'store');
  values.forEach((words, n) => {
    const at = n === 0 ? o : `${o}+${(n * bits) / 8}`;
    if (bits >= 64) for (const [w, x] of words.entries()) code.effect(`${M}.i32[(${at}>>2)+${w}]=${x};`);
    else if (type === 'f32' && elements[n]!.kind === 'register') code.effect(`${M}.f32[${at}>>2]=${words[0]};`);
    else if (bits === 32) code.effect(`${M}.i32[${at}>>2]=${words[0]};`);
    else code.effect(`${M}.u${bits}[${bits === 16 ? `(${at})>>1` : at}]=${words[0]};`);
  });
}

export const memory = {
  ld: {
    doc: 'load, also of vectors',
    operands: ['any', 'address', 'value?'],
    proxy: 'generic',
    memory: 'load',
    lane: load,
  },
  ldu: {
    doc: 'load through the read-only cache',
    operands: ['any', 'address'],
    proxy: 'generic',
    memory: 'load',
    lane: load,
  },
  st: {
    doc: 'store, also of vectors',
    operands: ['address', 'any', 'value?'],
    proxy: 'generic',
    memory: 'store',
    lane: store,
  },
} satisfies InstructionTable;
