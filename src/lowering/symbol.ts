/** Symbols of compiled functions: made from names that may be any text. */

import { libm } from './cpu/libm.js';

/** Words that a C or C++ compiler would not take as a function's name, or takes for one of its own. */
const reserved = new Set(
  (
    'alignas alignof asm auto bool break case catch char class const constexpr continue default delete do double else enum explicit export extern ' +
    'false float for friend goto if inline int long main mutable namespace new nullptr operator private protected public register restrict return ' +
    'short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while ' +
    Object.values(libm).join(' ')
  ).split(' '),
);

/** A C identifier for any name: other characters become `_` and their code, a leading digit or a keyword gets `k_` in front. */
export function symbolFor(name: string): string {
  const plain =
    [...name].map((c) => (/[A-Za-z0-9_]/.test(c) ? c : `_${c.codePointAt(0)!.toString(16)}`)).join('') || '_';
  return /^\d/.test(plain) || plain.startsWith('__') || reserved.has(plain) ? `k_${plain}` : plain;
}

/** Symbols for several names; what collides gets a number. */
export function symbolsFor(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const base = symbolFor(name);
    let symbol = base;
    for (let n = 2; taken.has(symbol); n++) symbol = `${base}_${n}`;
    taken.add(symbol);
    return symbol;
  });
}
