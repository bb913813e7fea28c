/** Parameters of kernels: compile-time constants with defaults, read from `-D NAME=VALUE` by the type of the default. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { nearest } from '../diagnostics/nearest.js';
import { type DType, tryDType } from '../ir/dtypes.js';
import { mistake } from './errors.js';

/** A default and the values that a tuner may try. */
export class Choice<T> {
  constructor(
    readonly initial: T,
    readonly values: readonly T[],
  ) {}
}

/** A parameter with a space of values; the default is `initial`, or the first. */
export const choice = <T>(values: readonly T[], initial: NoInfer<T> = values[0]!): Choice<T> =>
  new Choice(initial, values);

/** A dtype parameter: one of these, the first by default. */
export const dtypes = <const L extends readonly [DType, ...DType[]]>(...list: L): Choice<L[number]> =>
  new Choice<L[number]>(list[0], list);

export type ParamSpec = number | boolean | string | DType | Choice<unknown>;
export type ParamSpecs = Readonly<Record<string, ParamSpec>>;

/** The values that a setup function gets. */
export type Params<P> = {
  readonly [K in keyof P]: P[K] extends Choice<infer T>
    ? T
    : P[K] extends number
      ? number
      : P[K] extends boolean
        ? boolean
        : P[K] extends string
          ? string
          : P[K];
};

const overrides = Symbol('overrides');
type Overridden = { readonly [overrides]?: Readonly<Record<string, Readonly<Record<string, unknown>>>> };

/** Defaults that differ by target: `perTarget({ gfx942: { bm: 64 } }, { bm: 128 })`. */
export function perTarget<P extends ParamSpecs>(targets: Readonly<Record<string, Partial<Params<P>>>>, defaults: P): P {
  return Object.defineProperty({ ...defaults }, overrides, { value: targets }) as P;
}

/** Values for a target: defaults, then the target's own, then what the user gave. */
export function resolveParams(
  specs: ParamSpecs,
  target: string | undefined,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const targets = (specs as Overridden)[overrides] ?? {};
  const own = target === undefined ? {} : (targets[target] ?? targets[target.split(':')[0]!] ?? {});
  const values: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) values[name] = given[name] ?? own[name] ?? defaultOf(spec);
  return values;
}

const defaultOf = (spec: ParamSpec): unknown => (spec instanceof Choice ? spec.initial : spec);

const isDType = (v: unknown): v is DType => typeof v === 'object' && v !== null && 'bits' in v && 'cls' in v;

const show = (v: unknown): string => (isDType(v) ? v.name : JSON.stringify(v));

/** Checks names and kinds of given values; dtypes must be among the declared ones. */
export function checkParams(kernel: string, specs: ParamSpecs, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    const spec = specOf(kernel, specs, name);
    if (value === undefined) continue;
    const base = defaultOf(spec);
    const allowed = spec instanceof Choice && isDType(base) ? spec.values : undefined;
    const fits = isDType(base) ? isDType(value) && (!allowed || allowed.includes(value)) : typeof value === typeof base;
    if (!fits || (typeof value === 'number' && !Number.isFinite(value)))
      mistake((c) =>
        frontendCodes.badParam(
          { name, expected: allowed ? `one of ${allowed.map(show).join(', ')}` : expectation(base), got: show(value) },
          c,
        ),
      );
  }
}

function specOf(kernel: string, specs: ParamSpecs, name: string): ParamSpec {
  if (Object.hasOwn(specs, name)) return specs[name]!;
  const near = nearest(name, Object.keys(specs));
  return mistake((c) => frontendCodes.unknownParam({ name, kernel }, c), {
    help: near ? `did you mean '${near}'?` : `its parameters are ${Object.keys(specs).join(', ') || 'none'}`,
  });
}

const expectation = (base: unknown): string =>
  isDType(base)
    ? 'a dtype'
    : typeof base === 'string'
      ? 'text'
      : typeof base === 'boolean'
        ? 'true or false'
        : `a ${typeof base}`;

/** A parameter's value from the text of `-D NAME=TEXT`. */
export function parseParam(kernel: string, specs: ParamSpecs, name: string, text: string): unknown {
  const base = defaultOf(specOf(kernel, specs, name));
  const refuse = (): never =>
    mistake((c) => frontendCodes.badParam({ name, expected: expectation(base), got: `'${text}'` }, c));
  switch (typeof base) {
    case 'number': {
      const n = Number(text);
      return text.trim() === '' || !Number.isFinite(n) ? refuse() : n;
    }
    case 'boolean':
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : refuse();
    case 'string':
      return text;
    default:
      return tryDType(text) ?? refuse();
  }
}
