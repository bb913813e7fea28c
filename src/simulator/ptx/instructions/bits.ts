/** Moves, bits, comparisons and selections of single lanes. */

import type { InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { bitsOfType, type Instruction, isSigned, type Operand } from '../module.js';
import { unsupported, windows } from '../symbols.js';
import { has, integer, narrow, operand, typeOf } from './arithmetic.js';

type Emit = (code: LaneCode, i: Instruction) => void;

function logic(sign: '&' | '|' | '^'): Emit {
  return (code, i) => {
    const [d, a, b] = i.operands as [Operand, Operand, Operand];
    const type = typeOf(i);
    if (type === 'pred') {
      const [x, y] = [code.truth(a), code.truth(b)];
      return code.setPredicate(d, sign === '^' ? `${x}!==${y}` : `${x}${sign}${sign}${y}`);
    }
    const low = `${code.int(a)}${sign}${code.int(b)}`;
    if (bitsOfType(type) === 64) return code.setWords(d, low, `${code.int(a, 1)}${sign}${code.int(b, 1)}`);
    code.setInt(d, low);
  };
}

function shift(direction: 'left' | 'right'): Emit {
  return (code, i) => {
    const [d, a, by] = i.operands as [Operand, Operand, Operand];
    const type = typeOf(i);
    const signed = isSigned(type);
    const n = code.int(by);
    if (bitsOfType(type) === 64) {
      const [low, high] = [code.int(a), code.int(a, 1)];
      if (direction === 'left')
        return code.setWords(d, `N.shiftLeftLow(${low},${n})`, `N.shiftLeftHigh(${low},${high},${n})`);
      const name = signed ? 'arithmeticRight' : 'shiftRight';
      return code.setWords(d, `N.${name}Low(${low},${high},${n})`, `N.${name}High(${high},${n})`);
    }
    const x = direction === 'left' ? code.int(a) : integer(code, a, type);
    const sign = direction === 'left' ? '<<' : signed ? '>>' : '>>>';
    const width = bitsOfType(type);
    const constant = by.kind === 'immediate' ? Number(by.value) : undefined;
    if (constant !== undefined && constant >= 0 && constant < width)
      return code.setInt(d, narrow(type, `${x}${sign}${constant}`));
    const beyond = direction === 'right' && signed ? `${x}>>31` : '0';
    code.setInt(d, narrow(type, `${n}>>>0>${width - 1}?${beyond}:${x}${sign}${n}`));
  };
}

const comparisons: Readonly<Record<string, string>> = {
  eq: '===',
  ne: '!==',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  lo: '<',
  ls: '<=',
  hi: '>',
  hs: '>=',
};

/** Truth of a comparison. Ordered ones are false where an operand is NaN, those that end in `u` true. */
function comparison(code: LaneCode, i: Instruction, relation: string, a: Operand, b: Operand, type: string): string {
  const reads: Readonly<Record<string, (o: Operand) => string>> = {
    f32: (o) => (has(i, 'ftz') ? `N.flush(${code.float(o)})` : code.float(o)),
    f64: (o) => code.double(o),
    f16: (o) => code.half(o),
    bf16: (o) => code.brain(o),
  };
  const read = reads[type];
  if (read) {
    const [x, y] = [code.hold(read(a)), code.hold(read(b))];
    const unordered = `(Number.isNaN(${x})||Number.isNaN(${y}))`;
    if (relation === 'num') return `!${unordered}`;
    if (relation === 'nan') return unordered;
    if (relation.length === 3 && relation.endsWith('u'))
      return `(${unordered}||${x}${comparisons[relation.slice(0, 2)] ?? unsupported(i)}${y})`;
    const sign = comparisons[relation] ?? unsupported(i, `comparison '${relation}'`);
    return relation === 'ne' ? `(!${unordered}&&${x}!==${y})` : `(${x}${sign}${y})`;
  }
  const sign = comparisons[relation] ?? unsupported(i, `comparison '${relation}'`);
  const bits = bitsOfType(type);
  const signed = isSigned(type) && !['lo', 'ls', 'hi', 'hs'].includes(relation);
  if (bits === 64)
    return `(N.compareWide(${code.int(a)},${code.int(a, 1)},${code.int(b)},${code.int(b, 1)},${signed})${sign}0)`;
  if (bits === 0 || bits === 1) return unsupported(i, `type '${type}'`);
  const unsigned = signed || ['eq', 'ne'].includes(relation) ? '' : '>>>0';
  return `((${integer(code, a, type)}${unsigned})${sign}(${integer(code, b, type)}${unsigned}))`;
}

function combined(code: LaneCode, i: Instruction, e: string, c: Operand | undefined): string {
  const how = ['and', 'or', 'xor'].find((x) => has(i, x));
  if (how === undefined || c === undefined) return e;
  const other = code.truth(c);
  return how === 'xor' ? `${e}!==${other}` : `${e}${how === 'and' ? '&&' : '||'}${other}`;
}

const setp: Emit = (code, i) => {
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand?];
  const type = typeOf(i);
  if (type === 'f16x2' || type === 'bf16x2') unsupported(i, `type '${type}'`);
  const result = code.hold(comparison(code, i, i.parts[1]!, a, b, type));
  if (d.kind !== 'pair') return code.setPredicate(d, combined(code, i, result, c));
  const [first, second] = [code.hold(combined(code, i, result, c)), code.hold(combined(code, i, `!${result}`, c))];
  code.setPredicate(d.first, first);
  code.setPredicate(d.second, second);
};

const set: Emit = (code, i) => {
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand?];
  const to = i.parts.at(-2)!;
  const result = combined(code, i, comparison(code, i, i.parts[1]!, a, b, typeOf(i)), c);
  if (to === 'f32') code.setFloat(d, `(${result})?1:0`);
  else if (bitsOfType(to) === 32) code.setInt(d, `(${result})?-1:0`);
  else unsupported(i, `type '${to}'`);
};

const move: Emit = (code, i) => {
  const [d, a] = i.operands as [Operand, Operand];
  const type = typeOf(i);
  const bits = bitsOfType(type);
  if (type === 'pred') return code.setPredicate(d, code.truth(a));
  if (a.kind === 'vector') {
    const each = bits / a.elements.length;
    if (each === 64)
      return a.elements.forEach((e, n) => [0, 1].forEach((w) => code.setInt(d, code.hold(code.int(e, w)), 2 * n + w)));
    const parts = a.elements.map((e) => code.hold(code.int(e)));
    for (let w = 0; w < bits / 32; w++) {
      const perWord = 32 / each;
      const mask = each === 32 ? -1 : 2 ** each - 1;
      const bytes = Array.from({ length: perWord }, (_, p) => `(${parts[w * perWord + p]}&${mask})<<${p * each}`);
      code.setInt(d, bytes.join('|'), w);
    }
    if (bits === 16) code.setInt(d, `(${parts[0]}&255)|(${parts[1]}&255)<<8`);
    return;
  }
  if (d.kind === 'vector') {
    const each = bits / d.elements.length;
    const held = Array.from({ length: Math.max(1, bits / 32) }, (_, w) => code.hold(code.int(a, w)));
    d.elements.forEach((e, n) => {
      if (each === 64) [0, 1].forEach((w) => code.setInt(e, held[2 * n + w]!, w));
      else {
        const at = n * each;
        const word = held[at >> 5]!;
        code.setInt(e, each === 32 ? word : `${word}>>>${at & 31}&${2 ** each - 1}`);
      }
    });
    return;
  }
  if (bits === 64) return code.setWords(d, code.int(a), code.int(a, 1));
  if (bits === 128) return [0, 1, 2, 3].map((w) => code.hold(code.int(a, w))).forEach((x, w) => code.setInt(d, x, w));
  code.setInt(d, code.int(a));
};

const select: Emit = (code, i) => {
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand];
  const p = code.truth(c);
  if (bitsOfType(typeOf(i)) === 64)
    return code.setWords(d, `${p}?${code.int(a)}:${code.int(b)}`, `${p}?${code.int(a, 1)}:${code.int(b, 1)}`);
  if (typeOf(i) === 'f32' && a.kind !== 'immediate' && b.kind !== 'immediate')
    return code.setFloat(d, `${p}?${code.float(a)}:${code.float(b)}`);
  code.setInt(d, `${p}?${code.int(a)}:${code.int(b)}`);
};

const permute: Emit = (code, i) => {
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand];
  if (i.parts.length > 2) unsupported(i, 'a mode of prmt');
  code.setInt(d, `N.permuteBytes(${code.int(a)},${code.int(b)},${code.int(c)})`);
};

const funnelShift: Emit = (code, i) => {
  const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand];
  const n = has(i, 'clamp') ? `Math.min(${code.unsigned(c)},32)` : `(${code.int(c)}&31)`;
  const name = i.parts[1] === 'l' ? 'shiftLeftHigh' : 'shiftRightLow';
  code.setInt(d, `N.${name}(${code.int(a)},${code.int(b)},${n})`);
};

/** Relations, and what a result may be combined with. */
const relations = [
  ...Object.keys(comparisons),
  'equ',
  'neu',
  'ltu',
  'leu',
  'gtu',
  'geu',
  'num',
  'nan',
  'ftz',
  'and',
  'or',
  'xor',
];

const binary = ['register', 'any', 'any'] as const;

export const bits = {
  mov: { doc: 'copy; packs and unpacks vectors', modifiers: [], operands: ['any', 'any'], lane: move },
  selp: {
    doc: 'one of two values by a predicate',
    modifiers: [],
    operands: ['register', 'value', 'value', 'predicate'],
    lane: select,
  },
  setp: {
    doc: 'comparison into a predicate',
    modifiers: relations,
    operands: ['register', 'value', 'value', 'predicate?'],
    lane: setp,
  },
  set: {
    doc: 'comparison into a register',
    modifiers: relations,
    types: 2,
    operands: ['register', 'value', 'value', 'predicate?'],
    lane: set,
  },
  and: { doc: 'bitwise and', modifiers: [], operands: binary, lane: logic('&') },
  or: { doc: 'bitwise or', modifiers: [], operands: binary, lane: logic('|') },
  xor: { doc: 'bitwise exclusive or', modifiers: [], operands: binary, lane: logic('^') },
  not: {
    doc: 'bitwise complement',
    modifiers: [],
    operands: ['register', 'any'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      if (typeOf(i) === 'pred') return code.setPredicate(d, `!${code.truth(a)}`);
      if (bitsOfType(typeOf(i)) === 64) return code.setWords(d, `~${code.int(a)}`, `~${code.int(a, 1)}`);
      code.setInt(d, narrow(typeOf(i), `~${code.int(a)}`));
    },
  },
  cnot: {
    doc: '1 for zero, else 0',
    modifiers: [],
    operands: ['register', 'value'],
    lane: (code, i) => code.setInt(operand(i, 0), `${code.int(operand(i, 1))}===0?1:0`),
  },
  shl: { doc: 'shift to the left', modifiers: [], operands: ['register', 'value', 'value'], lane: shift('left') },
  shr: { doc: 'shift to the right', modifiers: [], operands: ['register', 'value', 'value'], lane: shift('right') },
  shf: {
    doc: 'shift of two words',
    modifiers: ['l', 'r', 'wrap', 'clamp'],
    operands: ['register', 'value', 'value', 'value'],
    lane: funnelShift,
  },
  lop3: {
    doc: 'any logic function of three words',
    modifiers: [],
    operands: ['register', 'value', 'value', 'value', 'constant'],
    lane: (code, i) => {
      const [d, a, b, c, t] = i.operands as [Operand, Operand, Operand, Operand, Operand];
      code.setInt(d, `N.logic3(${[a, b, c, t].map((o) => code.int(o)).join(',')})`);
    },
  },
  bfe: {
    doc: 'bit field, extended',
    modifiers: [],
    operands: ['register', 'value', 'value', 'value'],
    lane: (code, i) => {
      const [d, a, p, n] = i.operands as [Operand, Operand, Operand, Operand];
      if (bitsOfType(typeOf(i)) !== 32) unsupported(i);
      code.setInt(d, `N.extractField(${code.int(a)},${code.int(p)},${code.int(n)},${isSigned(typeOf(i))})|0`);
    },
  },
  bfi: {
    doc: 'bit field put into a word',
    modifiers: [],
    operands: ['register', 'value', 'value', 'value', 'value'],
    lane: (code, i) => {
      if (bitsOfType(typeOf(i)) !== 32) unsupported(i);
      const [d, ...rest] = i.operands as [Operand, ...Operand[]];
      code.setInt(d, `N.insertField(${rest.map((o) => code.int(o)).join(',')})`);
    },
  },
  bfind: {
    doc: 'position of the highest set bit',
    modifiers: ['shiftamt'],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const x = code.int(operand(i, 1));
      if (bitsOfType(typeOf(i)) !== 32) unsupported(i);
      const place = `N.highestBit(${isSigned(typeOf(i)) ? `${x}<0?~${x}:${x}` : x})`;
      code.setInt(operand(i, 0), has(i, 'shiftamt') ? `(p=>p<0?-1:31-p)(${place})` : place);
    },
  },
  prmt: {
    doc: 'bytes of two words by a selector',
    modifiers: [],
    operands: ['register', 'value', 'value', 'value'],
    lane: permute,
  },
  popc: {
    doc: 'number of set bits',
    modifiers: [],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const a = operand(i, 1);
      const upper = bitsOfType(typeOf(i)) === 64 ? `+N.countOnes(${code.int(a, 1)})` : '';
      code.setInt(operand(i, 0), `N.countOnes(${code.int(a)})${upper}`);
    },
  },
  clz: {
    doc: 'number of leading zeros',
    modifiers: [],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const a = operand(i, 1);
      const low = `Math.clz32(${code.int(a)})`;
      if (bitsOfType(typeOf(i)) !== 64) return code.setInt(operand(i, 0), low);
      code.setInt(operand(i, 0), `${code.int(a, 1)}===0?32+${low}:Math.clz32(${code.int(a, 1)})`);
    },
  },
  brev: {
    doc: 'bits in reversed order',
    modifiers: [],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const a = operand(i, 1);
      const low = `N.reverseBits(${code.int(a)})`;
      if (bitsOfType(typeOf(i)) === 64) return code.setWords(operand(i, 0), `N.reverseBits(${code.int(a, 1)})`, low);
      code.setInt(operand(i, 0), low);
    },
  },
  cvta: {
    doc: 'address of a memory to a generic one, or back with `to`',
    operands: ['register', 'value'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      const space = i.parts
        .slice(1)
        .map((p) => p.split('::')[0]!)
        .find((p) => ['shared', 'param', 'local', 'global', 'const'].includes(p));
      const window = { shared: windows.shared, param: windows.parameter, local: windows.local }[space ?? ''];
      const upper = has(i, 'to') ? 0 : window;
      if (bitsOfType(typeOf(i)) !== 64) unsupported(i, 'addresses of 32 bits');
      code.setWords(d, code.int(a), window === undefined ? code.int(a, 1) : String(upper));
    },
  },
  isspacep: {
    doc: 'whether a generic address lies in a memory',
    operands: ['predicate', 'value'],
    lane: (code, i) => {
      const window = { shared: windows.shared, local: windows.local, global: 0x7f }[i.parts[1]!.split('::')[0]!];
      code.setPredicate(operand(i, 0), `${code.int(operand(i, 1), 1)}===${window ?? unsupported(i)}`);
    },
  },
  mapa: {
    doc: 'address of the same place in another block of the cluster',
    operands: ['register', 'value', 'value'],
    lane: (code, i) => {
      const [d, a, rank] = i.operands as [Operand, Operand, Operand];
      if (bitsOfType(typeOf(i)) !== 32) unsupported(i, 'addresses of 64 bits');
      code.setInt(d, `${code.int(a)}&0xffffff|${code.int(rank)}+1<<24`);
    },
  },
} satisfies InstructionTable;
