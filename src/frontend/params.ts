/** Parameters of kernels: compile-time constants with defaults, read from `-D NAME=VALUE` by the type of the default. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { didYouMean } from '../diagnostics/nearest.js';
import { type DType, tryDType } from '../ir/dtypes.js';
import { mistake } from './errors.js';
import { checkRecord, describe, isDType, refuse } from './handle.js';

/** A default and the values that a tuner may try. */
export class Choice<T> {
  constructor(
    readonly initial: T,
    readonly values: readonly T[],
  ) {}
}

/** A parameter with a space of values; the default is `initial`, or the first. */
export function choice<T>(values: readonly T[], initial?: NoInfer<T>): Choice<T> {
  if (!Array.isArray(values) || values.length === 0) refuse("'choice' takes a list of at least one value", values);
  return new Choice(initial ?? values[0]!, values);
}

/** A dtype parameter: one of these, the first by default. */
export function dtypes<const L extends readonly [DType, ...DType[]]>(...list: L): Choice<L[number]> {
  for (const x of list.length > 0 ? list : [undefined]) if (!isDType(x)) refuse("'dtypes' takes dtypes", x);
  return new Choice<L[number]>(list[0], list);
}

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

/** A target's own defaults; where they depend on other parameters (most often the dtype), as a function of those. */
type TargetParams<P> = Partial<Params<P>> | ((params: Params<P>) => Partial<Params<P>>);
type Override = Readonly<Record<string, unknown>> | ((params: unknown) => Readonly<Record<string, unknown>>);
type Overridden = { readonly [overrides]?: Readonly<Record<string, Override>> };

/**
 * Defaults that differ by target: `perTarget({ gfx942: { bm: 64 } }, { bm: 128 })`. `cuda` stands for all targets of NVIDIA and
 * `hip` for all of AMD; one target's own values go before those. A function gets the other parameters as given or by default:
 * `perTarget({ cuda: ({ dtype }) => ({ bm: dtype === f32 ? 64 : 128 }) }, { dtype: dtypes(f32, f16), bm: 256 })`.
 */
export function perTarget<P extends ParamSpecs>(
  targets: Readonly<Record<string, TargetParams<NoInfer<P>>>>,
  defaults: P,
): P {
  checkRecord("'perTarget' takes parameters by target", targets);
  for (const [target, values] of Object.entries(targets))
    if (typeof values !== 'function') checkRecord(`'${target}' of perTarget is a record`, values);
  checkRecord("'perTarget' takes a record of defaults", defaults);
  return Object.defineProperty({ ...defaults }, overrides, { value: targets }) as P;
}

/** Values for a target: defaults, then the target's own, then what the user gave. */
export function resolveParams(
  specs: ParamSpecs,
  target: string | undefined,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const general: Record<string, unknown> = {};
  for (const [name, spec] of Object.entries(specs)) general[name] = given[name] ?? defaultOf(spec);
  if (target === undefined) return general;
  const targets = (specs as Overridden)[overrides] ?? {};
  const values = { ...general };
  for (const spelling of spellings(target))
    for (const [name, value] of Object.entries(ownParams(targets[spelling], general)))
      if (given[name] === undefined && value !== undefined) values[name] = value;
  return values;
}

const ownParams = (own: Override | undefined, params: unknown): Readonly<Record<string, unknown>> =>
  typeof own === 'function' ? own(params) : (own ?? {});

/**
 * How a target may be spelled in `perTarget`, the particular after the general: `cuda` is every `sm_…` and `hip` every
 * `gfx…`, `sm_90` is also `sm_90a`, `cpu` also `cpu:native`.
 */
const spellings = (target: string): readonly string[] => [
  ...(target.startsWith('sm_') ? ['cuda'] : []),
  ...(target.startsWith('gfx') ? ['hip'] : []),
  ...new Set([target.split(':')[0]!, target.replace(/^(sm_\d+)a$/, '$1'), target]),
];

const defaultOf = (spec: ParamSpec): unknown => (spec instanceof Choice ? spec.initial : spec);

const show = (v: unknown): string => (isDType(v) ? v.name : describe(v));

const isParam = (v: unknown): boolean => ['number', 'boolean', 'string'].includes(typeof v) || isDType(v);

/** Checks that every parameter has a default of a kind that `-D` can read, and what `perTarget` says. */
export function checkParamSpecs(kernel: string, specs: ParamSpecs): void {
  checkRecord("'kernel' takes a record of parameters", specs);
  for (const [name, spec] of Object.entries(specs))
    if (!isParam(defaultOf(spec)))
      refuse(`parameter '${name}' is a number, boolean, text, dtype, choice(…) or dtypes(…)`, spec);
  const general = resolveParams(specs, undefined, {});
  for (const own of Object.values((specs as Overridden)[overrides] ?? {}))
    checkParams(kernel, specs, ownParams(own, general));
}

/** Checks names and kinds of given values; dtypes must be among the declared ones. */
export function checkParams(kernel: string, specs: ParamSpecs, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    const spec = specOf(kernel, specs, name);
    if (value === undefined) continue;
    const base = defaultOf(spec);
    const allowed = dtypesOf(spec);
    const fits = allowed ? allowed.includes(value) : isDType(base) ? isDType(value) : typeof value === typeof base;
    if (!fits || (typeof value === 'number' && !Number.isFinite(value)))
      mistake((c) => frontendCodes.badParam({ name, expected: expectation(spec), got: show(value) }, c));
  }
}

/** The dtypes that a parameter may be, where it names them. */
const dtypesOf = (spec: ParamSpec): readonly unknown[] | undefined =>
  spec instanceof Choice && isDType(spec.initial) ? spec.values : undefined;

function specOf(kernel: string, specs: ParamSpecs, name: string): ParamSpec {
  if (Object.hasOwn(specs, name)) return specs[name]!;
  const help = didYouMean(name, Object.keys(specs)) ?? `its parameters are ${Object.keys(specs).join(', ') || 'none'}`;
  return mistake((c) => frontendCodes.unknownParam({ name, kernel }, c), { help });
}

function expectation(spec: ParamSpec): string {
  const allowed = dtypesOf(spec);
  if (allowed) return `one of ${allowed.map(show).join(', ')}`;
  const base = defaultOf(spec);
  if (isDType(base)) return 'a dtype';
  return { string: 'text', boolean: 'true or false' }[typeof base as string] ?? `a ${typeof base}`;
}

/** A parameter's value from the text of `-D NAME=TEXT`. */
export function parseParam(kernel: string, specs: ParamSpecs, name: string, text: string): unknown {
  const spec = specOf(kernel, specs, name);
  const refused = (): never =>
    mistake((c) => frontendCodes.badParam({ name, expected: expectation(spec), got: `'${text}'` }, c));
  switch (typeof defaultOf(spec)) {
    case 'number': {
      const n = Number(text);
      return text.trim() === '' || !Number.isFinite(n) ? refused() : n;
    }
    case 'boolean':
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : refused();
    case 'string':
      return text;
    default:
      return tryDType(text) ?? refused();
  }
}
