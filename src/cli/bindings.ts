/** What `--input`, `--output` and `--expect` give to a kernel's arguments by name. */

import { didYouMean } from '../diagnostics/nearest.js';
import { type AnyDType, dtypeAliases, dtypes, tryDType } from '../ir/dtypes.js';
import { badValue } from './usage-error.js';

/** Where an array comes from or goes to: a path, or `-` for stdin or stdout. */
export interface FileBinding {
  readonly kind: 'file';
  readonly name: string;
  readonly path: string;
}

export type InputBinding =
  | (FileBinding & { readonly dtype: AnyDType | undefined })
  /** A scalar or a dim. Integers that a JS number cannot hold are bigint. */
  | { readonly kind: 'number'; readonly name: string; readonly value: number | bigint }
  | { readonly kind: 'random'; readonly name: string; readonly seed: number };

/** Splits `name=rest` at the first `=`. */
function splitName(flag: string, text: string, expected: string): readonly [name: string, rest: string] {
  const at = text.indexOf('=');
  if (at <= 0 || at === text.length - 1) throw badValue(flag, expected, text);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `-D PARAM=VALUE`; the value stays text, the parameter's declaration says how it reads. */
export function parseDefine(text: string): readonly [name: string, value: string] {
  return splitName('-D', text, 'PARAM=VALUE');
}

function dtypeNamed(flag: string, name: string): AnyDType {
  const dtype = tryDType(name);
  if (dtype) return dtype;
  throw badValue(
    flag,
    'a dtype behind the colon',
    name,
    didYouMean(name, [...Object.keys(dtypes), ...Object.keys(dtypeAliases)]),
  );
}

/** `file.npy` or `file.npy:DTYPE`. A colon elsewhere belongs to the path. */
function splitDtype(flag: string, text: string): { path: string; dtype: AnyDType | undefined } {
  const colon = text.lastIndexOf(':');
  const suffix = text.slice(colon + 1);
  if (colon <= 0 || text.endsWith('.npy') || !/^\w+$/.test(suffix)) return { path: text, dtype: undefined };
  return { path: text.slice(0, colon), dtype: dtypeNamed(flag, suffix) };
}

/** A number as TypeScript writes it, and `inf`, `-inf`, `nan`, `true` (1), `false` (0). Undefined for anything else. */
export function parseNumber(text: string): number | bigint | undefined {
  const words: Readonly<Record<string, number>> = {
    true: 1,
    false: 0,
    nan: Number.NaN,
    inf: Number.POSITIVE_INFINITY,
    infinity: Number.POSITIVE_INFINITY,
  };
  const sign = text.startsWith('-') ? -1 : 1;
  const magnitude = text.replace(/^[+-]/, '').toLowerCase();
  if (Object.hasOwn(words, magnitude)) return sign * words[magnitude]!;
  if (!/^(0x[\da-f]+|0b[01]+|0o[0-7]+|\d+|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/.test(magnitude)) return undefined;
  const value = Number(magnitude);
  if (/^(0x|0b|0o|\d+$)/.test(magnitude) && !Number.isSafeInteger(value)) return BigInt(sign) * BigInt(magnitude);
  return sign * value;
}

/** `name=@file.npy[:DTYPE]`, `name=NUMBER` or `name=random:SEED`. */
export function parseInput(text: string): InputBinding {
  const flag = '--input';
  const expected = 'NAME=@FILE.npy[:DTYPE], NAME=NUMBER or NAME=random:SEED';
  const [name, rest] = splitName(flag, text, expected);
  if (rest === '@') throw badValue(flag, expected, text);
  if (rest.startsWith('@')) return { kind: 'file', name, ...splitDtype(flag, rest.slice(1)) };
  const random = /^random:(.*)$/.exec(rest);
  if (random) {
    const seed = Number(random[1]);
    if (!/^\d+$/.test(random[1]!) || seed > 0xffff_ffff)
      throw badValue(flag, 'a seed from 0 to 4294967295 behind `random:`', random[1]!);
    return { kind: 'random', name, seed };
  }
  const value = parseNumber(rest);
  if (value === undefined) {
    const help = rest.endsWith('.npy') ? `a file is given with '@': ${name}=@${rest}` : undefined;
    throw badValue(flag, expected, text, help);
  }
  return { kind: 'number', name, value };
}

/** `name=@file.npy`, for `--output` and `--expect`. */
export function parseFileBinding(flag: string, text: string): FileBinding {
  const expected = 'NAME=@FILE.npy';
  const [name, rest] = splitName(flag, text, expected);
  if (!rest.startsWith('@') || rest === '@')
    throw badValue(flag, expected, text, rest === '@' ? undefined : `a file is given with '@': ${name}=@${rest}`);
  return { kind: 'file', name, path: rest.slice(1) };
}
