/** Attributes: compile-time constants on an op. A spec says how one kind is written and read back. */

import { type DType, tryDType } from './dtypes.js';

/** An attribute as the parser sees it, before its spec gives it a type. */
export type AttrLiteral =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'bigint'; readonly value: bigint }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'word'; readonly value: string }
  | { readonly kind: 'list'; readonly items: readonly AttrLiteral[] };

export interface AttrSpec<T, Optional extends boolean = false> {
  /** What is expected, for diagnostics: `an integer`, `one of sum, max`. */
  readonly expects: string;
  readonly optional: Optional;
  readonly print: (value: T) => string;
  readonly read: (literal: AttrLiteral) => T | undefined;
}

export type AttrSpecs = Readonly<Record<string, AttrSpec<never, boolean>>>;
type ValueOf<S> = S extends { readonly read: (literal: AttrLiteral) => infer T } ? Exclude<T, undefined> : never;
type OptionalNames<A> = { [K in keyof A]: A[K] extends { readonly optional: true } ? K : never }[keyof A];

/** The attributes that a set of specs describes. */
export type AttrsOf<A> = { readonly [K in Exclude<keyof A, OptionalNames<A>>]: ValueOf<A[K]> } & {
  readonly [K in OptionalNames<A>]?: ValueOf<A[K]> | undefined;
};

/** A scalar constant: `bigint` exactly for the 64-bit integers, `boolean` never (bool is 0 or 1). */
export type ScalarConstant = number | bigint;

export function printScalar(value: ScalarConstant): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (Number.isNaN(value)) return 'nan';
  if (Object.is(value, -0)) return '-0';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  return value === Number.NEGATIVE_INFINITY ? '-inf' : String(value);
}

const specialNumbers: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
};

function readScalar(literal: AttrLiteral): ScalarConstant | undefined {
  if (literal.kind === 'number' || literal.kind === 'bigint') return literal.value;
  return literal.kind === 'word' && Object.hasOwn(specialNumbers, literal.value)
    ? specialNumbers[literal.value]
    : undefined;
}

function readInt(literal: AttrLiteral): number | undefined {
  return literal.kind === 'number' && Number.isSafeInteger(literal.value) ? literal.value : undefined;
}

function readList<T>(literal: AttrLiteral, item: (literal: AttrLiteral) => T | undefined): readonly T[] | undefined {
  if (literal.kind !== 'list') return undefined;
  const items = literal.items.map(item);
  return items.some((x) => x === undefined) ? undefined : (items as T[]);
}

const spec = <T>(
  expects: string,
  print: (value: T) => string,
  read: (literal: AttrLiteral) => T | undefined,
): AttrSpec<T> => ({ expects, optional: false, print, read });

const readWord =
  <const W extends string>(words: readonly W[]) =>
  (literal: AttrLiteral): W | undefined =>
    literal.kind === 'word' ? words.find((w) => w === literal.value) : undefined;

const asWord = (value: string): AttrLiteral => ({ kind: 'word', value });

/** Every literal that a value could have been read from: text is a string or a word. */
function literalsOf(value: unknown): AttrLiteral[] {
  if (typeof value === 'number') return [{ kind: 'number', value }];
  if (typeof value === 'bigint') return [{ kind: 'bigint', value }];
  if (typeof value === 'string') return [{ kind: 'string', value }, asWord(value)];
  if (typeof value === 'boolean') return [asWord(String(value))];
  if (Array.isArray(value)) return [{ kind: 'list', items: value.flatMap((item) => literalsOf(item).slice(-1)) }];
  return typeof value === 'object' && value !== null && 'name' in value ? [asWord(String(value.name))] : [];
}

/** Whether a value that was built, not read, is one that the attribute can have. */
export function acceptsAttr(spec: AttrSpec<never, boolean>, value: unknown): boolean {
  return literalsOf(value).some((literal) => spec.read(literal) !== undefined);
}

export const attr = {
  int: spec<number>('an integer', String, readInt),
  ints: spec<readonly number[]>(
    'a list of integers',
    (v) => `[${v.join(', ')}]`,
    (l) => readList(l, readInt),
  ),
  scalar: spec<ScalarConstant>('a number', printScalar, readScalar),
  text: spec<string>(
    'a string',
    (v) => JSON.stringify(v),
    (l) => (l.kind === 'string' ? l.value : undefined),
  ),
  dtype: spec<DType>(
    'a dtype',
    (v) => v.name,
    (l) => (l.kind === 'word' ? tryDType(l.value) : undefined),
  ),
  flag: spec<boolean>('true or false', String, (l) =>
    l.kind === 'word' && (l.value === 'true' || l.value === 'false') ? l.value === 'true' : undefined,
  ),
  word: <const W extends string>(...words: readonly W[]): AttrSpec<W> =>
    spec<W>(`one of ${words.join(', ')}`, (v) => v, readWord(words)),
  words: <const W extends string>(...words: readonly W[]): AttrSpec<readonly W[]> =>
    spec<readonly W[]>(
      `a list of ${words.join(', ')}`,
      (v) => `[${v.join(', ')}]`,
      (l) => readList(l, readWord(words)),
    ),
  optional: <T>(of: AttrSpec<T>): AttrSpec<T, true> => ({ ...of, optional: true }),
} as const;
