/** Arithmetic of single lanes. */

import type { InstructionEntry, InstructionTable } from '../instruction.js';
import type { LaneCode } from '../lane-code.js';
import { bitsOfType, type Instruction, isSigned, type Operand } from '../module.js';
import { unsupported } from '../symbols.js';

export const typeOf = (i: Instruction): string => i.parts.at(-1)!;
export const has = (i: Instruction, modifier: string): boolean => i.parts.includes(modifier);
export const operand = (i: Instruction, n: number): Operand => i.operands[n]!;

/** An integer result as a register of its width holds it. */
export const narrow = (type: string, e: string): string => {
  const bits = bitsOfType(type);
  if (bits === 16) return isSigned(type) ? `(${e})<<16>>16` : `(${e})&65535`;
  if (bits === 8) return isSigned(type) ? `(${e})<<24>>24` : `(${e})&255`;
  return `(${e})|0`;
};

/** An integer operand as its type reads it. */
export function integer(code: LaneCode, o: Operand, type: string): string {
  const x = code.int(o);
  const bits = bitsOfType(type);
  if (bits === 32) return x;
  if (isSigned(type)) return `(${x}<<${32 - bits}>>${32 - bits})`;
  return `(${x}&${2 ** bits - 1})`;
}

const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
const floatTypes = new Set(['f32', 'f32x2', 'f64', 'f16', 'f16x2', 'bf16', 'bf16x2']);
/** Names of the tables of 16-bit float arithmetic. */
const tables: Readonly<Record<string, string>> = { f16: 'half', f16x2: 'half2', bf16: 'brain', bf16x2: 'brain2' };

const rounding = (i: Instruction): 'rm' | 'rp' | 'rz' | undefined =>
  (['rm', 'rp', 'rz'] as const).find((m) => i.parts.includes(m));

function finish(i: Instruction, e: string): string {
  const flushed = has(i, 'ftz') ? `N.flush(${e})` : e;
  return has(i, 'sat') ? `N.saturate(${flushed})` : flushed;
}

interface FloatOp {
  /** In the tables of the 16-bit floats. */
  readonly name: string;
  /** The exact value of f32 operands as a double, rounded by the caller; or, with `rounded`, the f32 itself. */
  readonly single: (a: string, b: string, c: string) => string;
  readonly directed?: (a: string, b: string, c: string, mode: string) => string;
  readonly double: (a: string, b: string, c: string) => string;
}

/** A float operation in every format. */
function float(code: LaneCode, i: Instruction, op: FloatOp): void {
  const type = typeOf(i);
  const [d, a, b = a!, c = a!] = i.operands as [Operand, Operand];
  const mode = rounding(i);
  if (i.parts.at(-2) === 'f32') {
    // Mixed precision: the last operand is f32, those before it are narrow.
    const value = type === 'f16' ? code.half.bind(code) : type === 'bf16' ? code.brain.bind(code) : unsupported(i);
    if (mode) unsupported(i, `rounding '${mode}'`);
    const three = i.operands.length === 4;
    const last = code.float(i.operands.at(-1)!);
    const [x, y, z] = [value(a!), three ? value(b) : last, last];
    return code.setFloat(d!, finish(i, op.single(x, y, z)));
  }
  if (type === 'f32' || type === 'f32x2') {
    if (mode && !op.directed) unsupported(i, `rounding '${mode}'`);
    const words = type === 'f32' ? [0] : [0, 1];
    const results = words.map((w) => {
      const [x, y, z] = [code.float(a!, w), code.float(b, w), code.float(c, w)];
      return finish(i, mode ? op.directed!(x, y, z, `'${mode}'`) : op.single(x, y, z));
    });
    if (words.length === 1) code.setFloat(d!, results[0]!);
    else for (const [w, name] of results.map((r) => code.hold(r)).entries()) code.setFloat(d!, name, w);
  } else if (type === 'f64') {
    if (mode) unsupported(i, `rounding '${mode}'`);
    code.setDouble(d!, op.double(code.double(a!), code.double(b), code.double(c)));
  } else {
    const table = tables[type] ?? unsupported(i, `type '${type}'`);
    const result = `N.${table}.${op.name}(${code.int(a!)},${code.int(b)},${code.int(c)})`;
    if (has(i, 'sat')) unsupported(i, 'saturation of a 16-bit float');
    code.setInt(d!, has(i, 'relu') ? `N.${table}.max(${result},0,0)` : result);
  }
}

const plain =
  (sign: string): FloatOp['single'] =>
  (a, b) =>
    `fr(${a}${sign}${b})`;
const exact =
  (sign: string): FloatOp['double'] =>
  (a, b) =>
    `${a}${sign}${b}`;
const addition: FloatOp = {
  name: 'add',
  single: plain('+'),
  double: exact('+'),
  directed: (a, b, _, mode) => `N.fmaTo(${a},1,${b},${mode})`,
};
const subtraction: FloatOp = {
  name: 'sub',
  single: plain('-'),
  double: exact('-'),
  directed: (a, b, _, mode) => `N.fmaTo(${b},-1,${a},${mode})`,
};
const multiplication: FloatOp = {
  name: 'mul',
  single: plain('*'),
  double: exact('*'),
  directed: (a, b, _, mode) => `N.roundTo(${a}*${b},0,${mode})`,
};
const fused: FloatOp = {
  name: 'fma',
  single: (a, b, c) => `N.fma(${a},${b},${c})`,
  double: (a, b, c) => `N.fmaDouble(${a},${b},${c})`,
  directed: (a, b, c, mode) => `N.fmaTo(${a},${b},${c},${mode})`,
};
const extreme = (which: 'min' | 'max', nan: boolean): FloatOp => ({
  name: nan ? `${which}NaN` : which,
  single: (a, b) => (nan ? `Math.${which}(${a},${b})` : `N.${which}Number(${a},${b})`),
  double: (a, b) => (nan ? `Math.${which}(${a},${b})` : `N.${which}Number(${a},${b})`),
});

function addWide(
  code: LaneCode,
  d: Operand,
  [al, ah]: readonly [string, string],
  [bl, bh]: readonly [string, string],
): void {
  const low = code.hold(`${al}+${bl}|0`);
  const high = code.hold(`${ah}+${bh}+(${low}>>>0<${al}>>>0?1:0)|0`);
  code.setInt(d, low);
  code.setInt(d, high, 1);
}
const words = (code: LaneCode, o: Operand): readonly [string, string] => [code.int(o), code.int(o, 1)];
const heldWords = (code: LaneCode, low: string, high: string): readonly [string, string] => [
  code.hold(low),
  code.hold(high),
];

function sum(sign: '+' | '-'): (code: LaneCode, i: Instruction) => void {
  return (code, i) => {
    const type = typeOf(i);
    if (floatTypes.has(type)) return float(code, i, sign === '+' ? addition : subtraction);
    const [d, a, b] = i.operands as [Operand, Operand, Operand];
    if (has(i, 'cc')) unsupported(i, 'carry');
    if (has(i, 'sat'))
      return code.setInt(d, `Math.max(-2147483648,Math.min(2147483647,${code.int(a)}${sign}${code.int(b)}))|0`);
    if (type === 'u16x2' || type === 's16x2') {
      const part = (shift: number): string =>
        `((${code.int(a)}>>>${shift})${sign}(${code.int(b)}>>>${shift})&65535)<<${shift}`;
      return code.setInt(d, `${part(0)}|${part(16)}`);
    }
    if (bitsOfType(type) !== 64) return code.setInt(d, narrow(type, `${code.int(a)}${sign}${code.int(b)}`));
    if (sign === '+') return addWide(code, d, words(code, a), words(code, b));
    const [[al, ah], [bl, bh]] = [words(code, a), words(code, b)];
    code.setWords(d, `${al}-${bl}|0`, `${ah}-${bh}-(${al}>>>0<${bl}>>>0?1:0)|0`);
  };
}

/** Product of 32-bit words as two; small constants need no multiplication by parts. */
function productWords(code: LaneCode, a: Operand, b: Operand, signed: boolean): readonly [string, string] {
  const small = (o: Operand): boolean => o.kind === 'immediate' && o.value >= 0n && o.value < 1n << 20n;
  const [x, y] = [code.int(a), code.int(b)];
  const low = `Math.imul(${x},${y})`;
  if (small(a) || small(b)) {
    const [p, q] = signed ? [x, y] : [`(${x}>>>0)`, `(${y}>>>0)`];
    return [low, `Math.floor(${p}*${q}/4294967296)|0`];
  }
  return [low, `N.mulHigh${signed ? 'Signed' : 'Unsigned'}(${x},${y})`];
}

function multiply(code: LaneCode, i: Instruction, added: Operand | undefined): void {
  const type = typeOf(i);
  const [d, a, b] = i.operands as [Operand, Operand, Operand];
  const bits = bitsOfType(type);
  const signed = isSigned(type);
  if (has(i, 'wide')) {
    if (bits === 16) {
      const e = `Math.imul(${integer(code, a, type)},${integer(code, b, type)})`;
      return code.setInt(d, added ? `${e}+${code.int(added)}|0` : e);
    }
    const [low, high] = productWords(code, a, b, signed);
    if (!added) return code.setWords(d, low, high);
    return addWide(code, d, heldWords(code, low, high), words(code, added));
  }
  if (bits === 64) {
    if (has(i, 'hi')) {
      if (added) unsupported(i);
      return code.setWide(d, `${code.wide(a, signed)}*${code.wide(b, signed)}>>64n`);
    }
    const [[al, ah], [bl, bh]] = [words(code, a), words(code, b)];
    const high = `N.mulHighUnsigned(${al},${bl})+Math.imul(${al},${bh})+Math.imul(${ah},${bl})|0`;
    if (!added) return code.setWords(d, `Math.imul(${al},${bl})`, high);
    return addWide(code, d, heldWords(code, `Math.imul(${al},${bl})`, high), words(code, added));
  }
  const [x, y] = [integer(code, a, type), integer(code, b, type)];
  const high = bits === 32 ? `N.mulHigh${signed ? 'Signed' : 'Unsigned'}(${x},${y})` : `Math.imul(${x},${y})>>16`;
  const e = has(i, 'hi') ? high : `Math.imul(${x},${y})`;
  code.setInt(d, narrow(type, added ? `${e}+${code.int(added)}` : e));
}

function divide(code: LaneCode, i: Instruction, sign: '/' | '%'): void {
  const type = typeOf(i);
  const [d, a, b] = i.operands as [Operand, Operand, Operand];
  if (bitsOfType(type) === 64) {
    const name = sign === '/' ? 'divideWide' : 'remainderWide';
    return code.setWide(d, `N.${name}(${code.wide(a, isSigned(type))},${code.wide(b, isSigned(type))})`);
  }
  const unsigned = isSigned(type) ? '' : '>>>0';
  const [x, y] = [`(${integer(code, a, type)}${unsigned})`, `(${integer(code, b, type)}${unsigned})`];
  // Devices give all ones for a division by zero, and the dividend as its remainder.
  code.setInt(d, narrow(type, sign === '/' ? `${y}===0?-1:${x}/${y}` : `${y}===0?${x}:${x}%${y}`));
}

function extremum(which: 'min' | 'max'): (code: LaneCode, i: Instruction) => void {
  return (code, i) => {
    const type = typeOf(i);
    const [d, a, b, c] = i.operands as [Operand, Operand, Operand, Operand?];
    if (floatTypes.has(type)) {
      if (has(i, 'xorsign')) unsupported(i);
      const op = extreme(which, has(i, 'NaN'));
      if (c === undefined) return float(code, i, op);
      if (type !== 'f32') unsupported(i);
      return code.setFloat(d, op.single(op.single(code.float(a), code.float(b), ''), code.float(c), ''));
    }
    if (bitsOfType(type) === 64) {
      const [[al, ah], [bl, bh]] = [words(code, a), words(code, b)];
      const first = code.hold(
        `N.compareWide(${al},${ah},${bl},${bh},${isSigned(type)})${which === 'min' ? '<' : '>'}0`,
      );
      return code.setWords(d, `${first}?${al}:${bl}`, `${first}?${ah}:${bh}`);
    }
    const unsigned = isSigned(type) ? '' : '>>>0';
    const [x, y] = [`${integer(code, a, type)}${unsigned}`, `${integer(code, b, type)}${unsigned}`];
    code.setInt(d, narrow(type, `Math.${which}(${x},${y})`));
  };
}

/** A function of one f32 (and f64, where `double` says so). */
function unary(doc: string, single: (x: string) => string, double?: (x: string) => string): InstructionEntry {
  return {
    doc,
    modifiers: [...roundings, 'approx', 'ftz'],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      const type = typeOf(i);
      if (type === 'f64' && double) return code.setDouble(d, double(code.double(a)));
      const sixteen = { f16: 'Half', bf16: 'Brain' }[type];
      if (sixteen) {
        const x = type === 'f16' ? code.half(a) : code.brain(a);
        return code.setInt(d, `N.to${sixteen}(${single(x)})`);
      }
      if (type === 'f16x2' || type === 'bf16x2') {
        const [values, to] = type === 'f16x2' ? ['N.halfValues', 'N.toHalf'] : ['N.brainValues', 'N.toBrain'];
        const x = code.int(a);
        return code.setInt(d, `${to}(${single(`${values}[${x}&65535]`)})|${to}(${single(`${values}[${x}>>>16]`)})<<16`);
      }
      if (type !== 'f32') unsupported(i, `type '${type}'`);
      const mode = rounding(i);
      if (mode) unsupported(i, `rounding '${mode}'`);
      const x = has(i, 'ftz') ? `N.flush(${code.float(a)})` : code.float(a);
      code.setFloat(d, finish(i, single(x)));
    },
  };
}

const binary = ['register', 'value', 'value'] as const;
const ternary = ['register', 'value', 'value', 'value'] as const;

export const arithmetic = {
  add: { doc: 'sum', modifiers: [...roundings, 'ftz', 'sat'], types: 2, operands: binary, lane: sum('+') },
  sub: { doc: 'difference', modifiers: [...roundings, 'ftz', 'sat'], types: 2, operands: binary, lane: sum('-') },
  mul: {
    doc: 'product; integers: lower, upper or whole (`lo`, `hi`, `wide`)',
    modifiers: [...roundings, 'ftz', 'sat', 'lo', 'hi', 'wide'],
    operands: binary,
    lane: (code, i) => (floatTypes.has(typeOf(i)) ? float(code, i, multiplication) : multiply(code, i, undefined)),
  },
  mad: {
    doc: 'product and sum; floats as fma',
    modifiers: [...roundings, 'ftz', 'sat', 'lo', 'hi', 'wide'],
    operands: ternary,
    lane: (code, i) => (floatTypes.has(typeOf(i)) ? float(code, i, fused) : multiply(code, i, operand(i, 3))),
  },
  fma: {
    doc: 'product and sum with one rounding',
    modifiers: [...roundings, 'ftz', 'sat', 'relu'],
    types: 2,
    operands: ternary,
    lane: (code, i) => float(code, i, fused),
  },
  div: {
    doc: 'quotient; `approx` and `full` are rounded correctly here',
    modifiers: ['rn', 'approx', 'full', 'ftz'],
    operands: binary,
    lane: (code, i) =>
      floatTypes.has(typeOf(i))
        ? float(code, i, { name: 'div', single: plain('/'), double: exact('/') })
        : divide(code, i, '/'),
  },
  rem: {
    doc: 'remainder, with the sign of the dividend',
    modifiers: [],
    operands: binary,
    lane: (code, i) => divide(code, i, '%'),
  },
  min: { doc: 'smaller of two', modifiers: ['ftz', 'NaN'], operands: [...binary, 'value?'], lane: extremum('min') },
  max: { doc: 'larger of two', modifiers: ['ftz', 'NaN'], operands: [...binary, 'value?'], lane: extremum('max') },
  neg: {
    doc: 'negation',
    modifiers: ['ftz'],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      const type = typeOf(i);
      if (type === 'f32') return code.setFloat(d, `-${code.float(a)}`);
      if (type === 'f64') return code.setWords(d, code.int(a), `${code.int(a, 1)}^-2147483648`);
      if (floatTypes.has(type))
        return code.setInt(d, `${code.int(a)}^${type.endsWith('x2') ? '0x80008000|0' : '0x8000'}`);
      if (bitsOfType(type) !== 64) return code.setInt(d, narrow(type, `-${code.int(a)}`));
      code.setWords(d, `-${code.int(a)}|0`, `(${code.int(a)}===0?-${code.int(a, 1)}:~${code.int(a, 1)})|0`);
    },
  },
  abs: {
    doc: 'absolute value',
    modifiers: ['ftz'],
    operands: ['register', 'value'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      const type = typeOf(i);
      if (type === 'f32') return code.setFloat(d, `Math.abs(${code.float(a)})`);
      if (type === 'f64') return code.setWords(d, code.int(a), `${code.int(a, 1)}&2147483647`);
      if (floatTypes.has(type)) return code.setInt(d, `${code.int(a)}&0x7fff7fff`);
      if (bitsOfType(type) === 64) return code.setWide(d, `(x=>x<0n?-x:x)(${code.wide(a, true)})`);
      code.setInt(d, narrow(type, `Math.abs(${integer(code, a, type)})`));
    },
  },
  copysign: {
    doc: 'sign of the first operand, magnitude of the second',
    modifiers: [],
    operands: binary,
    lane: (code, i) => {
      const [d, a, b] = i.operands as [Operand, Operand, Operand];
      if (typeOf(i) === 'f64')
        return code.setWords(d, code.int(b), `${code.int(a, 1)}&-2147483648|${code.int(b, 1)}&2147483647`);
      code.setInt(d, `${code.int(a)}&-2147483648|${code.int(b)}&2147483647`);
    },
  },
  testp: {
    doc: 'class of a float',
    operands: ['predicate', 'value'],
    lane: (code, i) => {
      const [d, a] = i.operands as [Operand, Operand];
      const x = typeOf(i) === 'f64' ? code.double(a) : code.float(a);
      const tests: Readonly<Record<string, string>> = {
        finite: `Number.isFinite(${x})`,
        infinite: `Math.abs(${x})===Infinity`,
        number: `!Number.isNaN(${x})`,
        notanumber: `Number.isNaN(${x})`,
      };
      code.setPredicate(d, tests[i.parts[1]!] ?? unsupported(i));
    },
  },
  ex2: unary('power of two, rounded correctly', (x) => `fr(2**${x})`),
  lg2: unary('logarithm to base 2, rounded correctly', (x) => `fr(Math.log2(${x}))`),
  rcp: unary(
    'reciprocal, rounded correctly',
    (x) => `fr(1/${x})`,
    (x) => `1/${x}`,
  ),
  rsqrt: unary(
    'reciprocal square root, rounded correctly',
    (x) => `fr(1/Math.sqrt(${x}))`,
    (x) => `1/Math.sqrt(${x})`,
  ),
  sqrt: unary(
    'square root',
    (x) => `fr(Math.sqrt(${x}))`,
    (x) => `Math.sqrt(${x})`,
  ),
  sin: unary('sine, rounded correctly', (x) => `fr(Math.sin(${x}))`),
  cos: unary('cosine, rounded correctly', (x) => `fr(Math.cos(${x}))`),
  tanh: unary('hyperbolic tangent, rounded correctly', (x) => `fr(Math.tanh(${x}))`),
} satisfies InstructionTable;
