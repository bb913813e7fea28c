/** Options of Triton: what a kernel or the command line may set, what each target takes, and what holds without. */

import { loweringCodes } from '../../diagnostics/codes/lowering.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import type { Loc } from '../../diagnostics/location.js';
import { didYouMean } from '../../diagnostics/nearest.js';
import type { GpuTarget } from '../../lowering/gpu-target.js';

export type OptionValue = string | number | boolean;

/** Options by Triton's own names. All that change the result are there, so a build depends on nothing that is not told. */
export type TritonOptions = Readonly<Record<string, OptionValue>>;

interface OptionSpec {
  /** Triton's name. */
  readonly key: string;
  readonly vendors: readonly GpuTarget['vendor'][];
  /** Undefined: left to the compiler. */
  readonly initial: (target: GpuTarget) => OptionValue | undefined;
  /** What a value must be. */
  readonly expected: (target: GpuTarget) => string;
  readonly accepts: (value: OptionValue, target: GpuTarget) => boolean;
}

const isCount = (x: OptionValue, least = 1): x is number => typeof x === 'number' && Number.isInteger(x) && x >= least;
const isPower = (x: OptionValue): x is number => isCount(x) && Number.isInteger(Math.log2(x));

const both = ['nvidia', 'amd'] as const;

const flag = (key: string, initial: boolean, vendors: OptionSpec['vendors'] = both): OptionSpec => ({
  key,
  vendors,
  initial: () => initial,
  expected: () => 'true or false',
  accepts: (x) => typeof x === 'boolean',
});

const most = (target: GpuTarget): number => target.limits.threads / target.warpSize;

/** By the names of `pltriton.CompilerParams`. */
const optionTable: Readonly<Record<string, OptionSpec>> = {
  numWarps: {
    key: 'num_warps',
    vendors: both,
    // Of a text alone; whoever has the kernel chooses by its tiles.
    initial: () => 4,
    expected: (target) => `a power of two up to ${most(target)}`,
    accepts: (x, target) => isPower(x) && x <= most(target),
  },
  numStages: {
    key: 'num_stages',
    vendors: both,
    initial: ({ vendor }) => (vendor === 'nvidia' ? 3 : 2),
    expected: () => 'a whole number from 1 to 16',
    accepts: (x) => isCount(x) && x <= 16,
  },
  numCtas: {
    key: 'num_ctas',
    vendors: both,
    initial: () => 1,
    expected: ({ limits: { clusterPrograms } }) =>
      clusterPrograms === 1 ? '1: this target has no clusters' : `a power of two up to ${clusterPrograms}`,
    accepts: (x, { limits }) => isPower(x) && x <= limits.clusterPrograms,
  },
  maxnreg: {
    key: 'maxnreg',
    vendors: ['nvidia'],
    initial: () => undefined,
    expected: () => 'a whole number from 16 to 255',
    accepts: (x) => isCount(x, 16) && x <= 255,
  },
  // Products and sums are contracted only where the program says so, and then op by op.
  enableFpFusion: flag('enable_fp_fusion', false),
  // Subnormals are kept by library functions.
  enableReflectFtz: flag('enable_reflect_ftz', false, ['nvidia']),
  wavesPerEu: {
    key: 'waves_per_eu',
    vendors: ['amd'],
    initial: () => 0,
    expected: () => 'a whole number from 0 (the compiler chooses) to 16',
    accepts: (x) => isCount(x, 0) && x <= 16,
  },
  matrixInstrNonkdim: {
    key: 'matrix_instr_nonkdim',
    vendors: ['amd'],
    initial: () => 0,
    expected: () => '0 (the compiler chooses), 4, 16 or 32',
    accepts: (x) => x === 0 || x === 4 || x === 16 || x === 32,
  },
  kpack: {
    key: 'kpack',
    vendors: ['amd'],
    initial: () => 1,
    expected: ({ name }) => (name === 'gfx950' ? '1 on gfx950' : '1 or 2'),
    accepts: (x, { name }) => x === 1 || (x === 2 && name !== 'gfx950'),
  },
  allowFlushDenorm: flag('allow_flush_denorm', false, ['amd']),
};

const entries = Object.entries(optionTable);

const findOption = (name: string): readonly [string, OptionSpec] | undefined =>
  entries.find(([own, { key }]) => own === name || key === name);

/**
 * Every option of a target: as given (by our name or Triton's), else as it holds without. What only the other vendor's
 * compiler has is left out: a kernel may carry options for both.
 *
 * @param loc of what carries them.
 * @throws CompileError TW2010 (no such option), TW2011 (a value that does not do).
 */
export function resolveOptions(
  given: Readonly<Record<string, OptionValue>>,
  target: GpuTarget,
  loc?: Loc,
): TritonOptions {
  const at = loc ? { loc } : {};
  const chosen = new Map<string, OptionValue>();
  for (const [name, value] of Object.entries(given)) {
    const found = findOption(name);
    if (!found) {
      const names = entries.flatMap(([own, { key }]) => [own, key]);
      const help = didYouMean(name, names) ?? `its options are ${entries.map(([own]) => own).join(', ')}`;
      throw new CompileError([loweringCodes.unknownOption({ backend: 'triton', option: name }, { ...at, help })]);
    }
    const [own, spec] = found;
    if (!spec.vendors.includes(target.vendor)) continue;
    if (!spec.accepts(value, target))
      throw new CompileError([
        loweringCodes.badOption(
          { option: own, target: target.name, expected: spec.expected(target), got: String(value) },
          at,
        ),
      ]);
    chosen.set(spec.key, value);
  }
  const options: Record<string, OptionValue> = {};
  for (const [, { key, vendors, initial }] of entries) {
    const value = chosen.get(key) ?? (vendors.includes(target.vendor) ? initial(target) : undefined);
    if (value !== undefined) options[key] = value;
  }
  return options;
}

/** `num_warps=8` of `-Xtriton`, as an option and its value. */
export function parseOption(text: string): readonly [string, OptionValue] {
  const at = text.indexOf('=');
  const [name, value] = at < 0 ? [text, 'true'] : [text.slice(0, at), text.slice(at + 1)];
  if (/^(true|false)$/i.test(value)) return [name, value.toLowerCase() === 'true'];
  return [name, value !== '' && Number.isFinite(Number(value)) ? Number(value) : value];
}

/** Flags of the command line that set these options again. */
export const optionFlags = (options: TritonOptions): string[] =>
  Object.entries(options).flatMap(([key, value]) => ['-Xtriton', `${key}=${value}`]);
