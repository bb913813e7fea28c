/** Atomic operations. */

import {
  brainValues,
  doubleOf,
  floatOf,
  halfValues,
  highOf,
  highWord,
  lowOf,
  lowWord,
  toBrain,
  toHalf,
  wide,
} from '../../formats.js';
import type { Views } from '../../memory.js';
import { act, eachLane, elementsOf, type InstructionTable, placeOf, reader, type Scope } from '../instruction.js';
import { bitsOfType } from '../module.js';
import { unsupported, windows } from '../symbols.js';
import { has, operand, typeOf } from './arithmetic.js';
import { accessKinds, spaceOf } from './memory.js';

const names = ['add', 'min', 'max', 'and', 'or', 'xor', 'exch', 'cas', 'inc', 'dec'] as const;
type Name = (typeof names)[number];

/** The new value of a word of memory. Floats come as numbers, integers as signed words or bigints. */
function combine<T extends number | bigint>(name: Name, old: T, x: T, other: T, unsigned: (v: T) => T): T {
  switch (name) {
    case 'add':
      return ((old as number) + (x as number)) as T;
    case 'min':
      return unsigned(x) < unsigned(old) ? x : old;
    case 'max':
      return unsigned(x) > unsigned(old) ? x : old;
    case 'and':
      return ((old as number) & (x as number)) as T;
    case 'or':
      return ((old as number) | (x as number)) as T;
    case 'xor':
      return ((old as number) ^ (x as number)) as T;
    case 'exch':
      return x;
    case 'cas':
      return old === x ? other : old;
    case 'inc':
      return unsigned(old) >= unsigned(x) ? (0 as T) : (((old as number) + 1) as T);
    case 'dec':
      return Number(old) === 0 || unsigned(old) > unsigned(x) ? x : (((old as number) - 1) as T);
  }
}

/** Reads, changes and writes one element; gives what was there as words. */
type Change = (
  memory: Views,
  at: number,
  name: Name,
  x: readonly number[],
  other: readonly number[],
) => readonly number[];

function halfWord(
  m: Views,
  at: number,
  shift: number,
  x: number,
  values: Float32Array,
  encode: (v: number) => number,
): number {
  const old = m.u16[(at >> 1) + shift]!;
  m.u16[(at >> 1) + shift] = encode(values[old]! + values[x & 0xffff]!);
  return old;
}

const changes: Readonly<Record<string, Change>> = {
  f32: (m, at, name, [x = 0]) => {
    const old = m.i32[at >> 2]!;
    if (name === 'exch') m.i32[at >> 2] = x;
    else m.f32[at >> 2] = combine(name, m.f32[at >> 2]!, floatOf(x), 0, (v) => v);
    return [old];
  },
  f64: (m, at, name, [low = 0, high = 0]) => {
    const old = [m.i32[at >> 2]!, m.i32[(at >> 2) + 1]!] as const;
    const value = combine(name, doubleOf(...old), doubleOf(low, high), 0, (v) => v);
    m.i32[at >> 2] = lowOf(value);
    m.i32[(at >> 2) + 1] = highOf(value);
    return old;
  },
  f16: (m, at, _, [x = 0]) => [halfWord(m, at, 0, x, halfValues, toHalf)],
  bf16: (m, at, _, [x = 0]) => [halfWord(m, at, 0, x, brainValues, toBrain)],
  f16x2: (m, at, _, [x = 0]) => {
    const low = halfWord(m, at, 0, x, halfValues, toHalf);
    return [low | (halfWord(m, at, 1, x >>> 16, halfValues, toHalf) << 16)];
  },
  bf16x2: (m, at, _, [x = 0]) => {
    const low = halfWord(m, at, 0, x, brainValues, toBrain);
    return [low | (halfWord(m, at, 1, x >>> 16, brainValues, toBrain) << 16)];
  },
};
const sixteenBits: Change = (m, at, name, [x = 0], [other = 0]) => {
  const old = m.u16[at >> 1]!;
  m.u16[at >> 1] = combine(name, old, x & 0xffff, other & 0xffff, (v) => v);
  return [old];
};
const words =
  (unsigned: boolean): Change =>
  (m, at, name, [x = 0], [other = 0]) => {
    const old = m.i32[at >> 2]!;
    m.i32[at >> 2] = combine(name, old, x, other, (v) => (unsigned ? v >>> 0 : v));
    return [old];
  };
const pairs =
  (unsigned: boolean): Change =>
  (m, at, name, [xl = 0, xh = 0], [ol = 0, oh = 0]) => {
    const old = [m.i32[at >> 2]!, m.i32[(at >> 2) + 1]!] as const;
    const read = (v: bigint): bigint => (unsigned ? BigInt.asUintN(64, v) : v);
    const value = BigInt.asIntN(64, combineWide(name, wide(...old), wide(xl, xh), wide(ol, oh), read));
    m.i32[at >> 2] = lowWord(value);
    m.i32[(at >> 2) + 1] = highWord(value);
    return old;
  };
const combineWide = (name: Name, old: bigint, x: bigint, other: bigint, read: (v: bigint) => bigint): bigint =>
  name === 'inc' || name === 'dec' ? old : combine(name, old, x, other, read);

function changeOf(type: string): Change | undefined {
  if (Object.hasOwn(changes, type)) return changes[type];
  const unsigned = !type.startsWith('s');
  return { 16: sixteenBits, 32: words(unsigned), 64: pairs(unsigned) }[bitsOfType(type)];
}

function atomic(scope: Scope, returns: boolean) {
  const { instruction: i, symbols } = scope;
  const type = typeOf(i);
  const name = names.find((n) => has(i, n)) ?? unsupported(i);
  const change = changeOf(type) ?? unsupported(i, `type '${type}'`);
  const isFloat = Object.hasOwn(changes, type);
  const allowed: readonly string[] =
    bitsOfType(type) === 16 || type.endsWith('x2') ? ['add'] : ['add', 'exch', 'min', 'max'];
  if (isFloat && !allowed.includes(name)) unsupported(i);
  const first = returns ? 1 : 0;
  const address = operand(i, first);
  if (address.kind !== 'address') unsupported(i);
  const [low, high] = [reader(address, symbols), reader(address, symbols, 1)];
  const elements = elementsOf(operand(i, first + 1));
  const size = bitsOfType(type) / 8;
  const count = size === 8 ? [0, 1] : [0];
  const values = elements.map((e) => count.map((w) => reader(e, symbols, w)));
  const others = count.map((w) => (name === 'cas' ? reader(operand(i, first + 2), symbols, w) : () => 0));
  const results = returns ? elementsOf(operand(i, 0)) : [];
  const places = results.map((r) => (r.kind === 'sink' ? undefined : placeOf(r, symbols)));
  const space = spaceOf(i);
  return act(scope, (warp, mask) =>
    eachLane(mask, (lane) => {
      const { block } = warp;
      const at = low(warp, lane) >>> 0;
      const window = space === 'shared' ? windows.shared : high(warp, lane);
      const offset = block.genericAt(at, window, size * elements.length, accessKinds.atomic, warp, lane);
      const memory = window === windows.shared ? block.peerOf(at, warp).shared : block.memoryOf(window, warp);
      values.forEach((words, e) => {
        const x = words.map((r) => r(warp, lane));
        const old = change(
          memory,
          offset + e * size,
          name,
          x,
          others.map((r) => r(warp, lane)),
        );
        const to = places[e];
        if (to !== undefined) for (const [w, bits] of old.entries()) warp.registers[to + w * 32 + lane] = bits;
      });
    }),
  );
}

export const atomics = {
  atom: {
    doc: 'atomic operation that gives the old value',
    operands: ['any', 'address', 'any', 'value?', 'value?'],
    proxy: 'generic',
    warp: (scope) => atomic(scope, true),
  },
  red: {
    doc: 'atomic operation without a result',
    operands: ['address', 'any', 'value?'],
    proxy: 'generic',
    warp: (scope) => atomic(scope, false),
  },
} satisfies InstructionTable;
