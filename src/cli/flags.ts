/** Every flag of the program, once: the reader of arguments, `--help` and the test of `docs/cli.md` derive from this table. */

import { type CheckName, checkNames } from '../ir/sanitizer/checks.js';
import { parseDefine, parseFileBinding, parseInput } from './bindings.js';
import { badValue } from './usage-error.js';

/**
 * How a flag takes its value: `none`; `next`, the next argument (`--x V`, also `--x=V`; `-k V`, also `-kV`);
 * `equals`, only `--x=V`, which may be left out; `attached`, what follows the spelling (`-Wno-CODE`);
 * `verbatim`, the next argument whatever it looks like (`-Xcc -march=native`).
 */
export type FlagForm = 'none' | 'next' | 'equals' | 'attached' | 'verbatim';

export interface Flag<T> {
  readonly spelling: string;
  readonly aliases: readonly string[];
  readonly form: FlagForm;
  /** The value as help writes it; empty for `none`. */
  readonly value: string;
  readonly summary: string;
  /** Turns the texts of all its occurrences, in order, into what a command works with. Throws UsageError. */
  readonly read: (texts: readonly string[]) => T;
}

const toggle = (spelling: string, summary: string, ...aliases: string[]): Flag<boolean> => ({
  spelling,
  aliases,
  form: 'none',
  value: '',
  summary,
  read: (texts) => texts.length > 0,
});

type Parse<T> = (text: string, spelling: string) => T;

const formOf = (spelling: string): FlagForm => (spelling.startsWith('-X') ? 'verbatim' : 'next');

/** The last occurrence counts, as compilers have it, so that a Makefile can append to its flags. */
const last = <T>(spelling: string, value: string, summary: string, parse: Parse<T>): Flag<T | undefined> => ({
  spelling,
  aliases: [],
  form: formOf(spelling),
  value,
  summary,
  read: (texts) => (texts.length === 0 ? undefined : parse(texts.at(-1)!, spelling)),
});

const each = <T>(spelling: string, value: string, summary: string, parse: Parse<T>): Flag<readonly T[]> => ({
  spelling,
  aliases: [],
  form: formOf(spelling),
  value,
  summary,
  read: (texts) => texts.map((text) => parse(text, spelling)),
});

/** Comma-separated and repeatable; duplicates count once. */
const list = (spelling: string, value: string, summary: string): Flag<readonly string[]> => ({
  spelling,
  aliases: [],
  form: 'next',
  value,
  summary,
  read: (texts) => {
    const items = texts.flatMap((text) => text.split(',').map((item) => item.trim()));
    if (items.includes('')) throw badValue(spelling, `${value} without empty items`, texts.join(','));
    return [...new Set(items)];
  },
});

const optional = (spelling: string, value: string, summary: string): Flag<string | true | undefined> => ({
  spelling,
  aliases: [],
  form: 'equals',
  value,
  summary,
  read: (texts) => texts.at(-1) || (texts.length > 0 ? true : undefined),
});

const text: Parse<string> = (given) => given;

const oneOf =
  <const C extends readonly string[]>(...choices: C): Parse<C[number]> =>
  (given, spelling) => {
    if (!choices.includes(given)) throw badValue(spelling, choices.join(' or '), given);
    return given;
  };

const tolerance: Parse<number> = (given, spelling) => {
  const value = /^[\d.]/.test(given) ? Number(given) : Number.NaN;
  if (!Number.isFinite(value)) throw badValue(spelling, 'a number that is not negative', given);
  return value;
};

const positiveInteger: Parse<number> = (given, spelling) => {
  const value = /^\d+$/.test(given) ? Number(given) : 0;
  if (value < 1 || !Number.isSafeInteger(value)) throw badValue(spelling, 'a whole number from 1 up', given);
  return value;
};

const seedNumber: Parse<number> = (given, spelling) => {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (!(value < 2 ** 32)) throw badValue(spelling, 'a whole number below 2^32', given);
  return value;
};

/** The checks of `--sanitize`; undefined where it is not given. The last one counts. */
function readChecks(texts: readonly string[]): readonly CheckName[] | undefined {
  const given = texts.at(-1);
  if (given === undefined) return undefined;
  if (given === 'none') return [];
  return given.split(',').map((item) => {
    const name = checkNames.find((known) => known === item.trim());
    if (name === undefined) throw badValue('--sanitize', `none, or some of ${checkNames.join(', ')}`, given);
    return name;
  });
}

const parseHttpUrl: Parse<string> = (given, spelling) => {
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw badValue(spelling, 'an http or https address', given);
  return given;
};

const parseSize: Parse<number> = (given, spelling) => {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)([kMGT]?)$/.exec(given) ?? [];
  if (digits === undefined) throw badValue(spelling, 'a size, as 500M or 2G', given);
  return Number(digits) * 1024 ** ' kMGT'.indexOf(unit || ' ');
};

const parsePython: Parse<readonly [string, string]> = (given, spelling) => {
  const [, set, path] = /^(\w+)=(.+)$/.exec(given) ?? [];
  if ((set !== 'triton' && set !== 'mosaic') || path === undefined)
    throw badValue(spelling, 'triton=PATH or mosaic=PATH', given);
  return [set, path];
};

const toolPath = (tool: string): Flag<string | undefined> => last(`--${tool}`, 'PATH', `use this ${tool}`, text);

export const flags = {
  kernels: each('-k', 'NAME', 'a kernel, by the name of its export or its own; repeatable', text),
  defines: each('-D', 'PARAM=VALUE', 'set a kernel parameter; repeatable', parseDefine),
  targets: list(
    '--target',
    'TARGET[,TARGET]…',
    'what to compile for: cpu (the default), cpu:native, sm_80 … sm_121, gfx942 …',
  ),
  backend: last(
    '--backend',
    'BACKEND',
    'what compiles: cpu, triton or mosaic_gpu, instead of what the kernel and the target say',
    oneOf('cpu', 'triton', 'mosaic_gpu'),
  ),
  runTarget: last(
    '--target',
    'TARGET',
    'where to run: cpu (the default), interpret, the GPU of this machine: cuda or hip, or a simulated device: sim:sm_80, sim:sm_90a, sim:sm_100a, sim:gfx942, sim:gfx950, sim:gfx1100, sim:gfx1201',
    text,
  ),
  emit: list(
    '--emit',
    'STAGE[,STAGE]…',
    'stages to write: kir, lowered.kir, plan.json; cpu: mlir, llvm.mlir, ll, s, obj, so; GPUs: ttir, ttgir, llir, and ptx, cubin or amdgcn, hsaco; Mosaic GPU: mgpu.mlir, nvvm.mlir, ptx, cubin; of all targets together: launcher (.c and .h), obj, so, exe',
  ),
  output: last('-o', 'FILE|DIR/|-', 'where to write; the extension of FILE names the stage', text),

  inputs: each('--input', 'NAME=SOURCE', '@FILE.npy[:DTYPE], a number, or random:SEED; repeatable', parseInput),
  outputs: each('--output', 'NAME=@FILE.npy', 'write an output; repeatable', (given) =>
    parseFileBinding('--output', given),
  ),
  expect: each('--expect', 'NAME=@FILE.npy', 'compare an output with a reference; repeatable', (given) =>
    parseFileBinding('--expect', given),
  ),
  rtol: last('--rtol', 'R', 'relative tolerance of --expect', tolerance),
  atol: last('--atol', 'A', 'absolute tolerance of --expect', tolerance),
  time: last('--time', 'N', 'run N times and print the median time', positiveInteger),

  pipeline: last('--pipeline', "'PASS,PASS{x=1}'", 'the passes to run, in order', text),
  list: toggle('--list', 'list the passes'),
  json: toggle('--json', 'as JSON on stdout'),

  saveTemps: optional('--save-temps', 'DIR', 'keep the files that tools read and wrote (default: beside the output)'),
  dumpDir: last('--dump-dir', 'DIR', 'write every stage as NN-stage.ext, and manifest.json', text),
  printAfter: each('--print-ir-after', 'PASS', 'print the kernel IR after a pass; repeatable', text),
  printAfterAll: toggle('--print-ir-after-all', 'print the kernel IR after every pass'),
  printDiff: toggle('--print-ir-diff', 'print what each pass changed'),
  timePasses: toggle('--time-passes', 'print the time of each pass and tool'),
  dryRun: toggle('--dry-run', 'print the commands, ready to be pasted into a shell, and run none', '-###'),
  startFrom: last('--start-from', 'STAGE', 'FILE is this stage, as a dump or --emit wrote it', text),

  xMlirOpt: each('-Xmlir-opt', 'FLAG', 'pass a flag to mlir-opt; repeatable', text),
  xCc: each('-Xcc', 'FLAG', 'pass a flag to the C compiler; repeatable', text),
  xNvcc: each('-Xnvcc', 'FLAG', 'compile launchers by nvcc, with this flag; repeatable', text),
  xHipcc: each('-Xhipcc', 'FLAG', 'compile launchers by hipcc, with this flag; repeatable', text),
  xPtxas: each('-Xptxas', 'FLAG', 'pass a flag to ptxas; repeatable', text),
  xTriton: each('-Xtriton', 'KEY=VALUE', 'set an option of Triton, as num_warps=8; repeatable', text),

  depfile: toggle('-MD', 'write a depfile: what was read, the installation included, as a rule for make and Ninja'),
  userDepfile: toggle('-MMD', "the same with the user's files alone"),
  depfilePath: last('-MF', 'FILE', 'where the depfile goes (default: beside the output, as .d)', text),
  depfileTargets: each('-MT', 'TARGET', 'target of its rule instead of the outputs, as it is; repeatable', text),
  depfilePhony: toggle('-MP', 'a rule for each file that was read, so that one that is removed is no error'),

  jobs: last('-j', 'N', 'compile this many kernels at once (default: one for each processor)', positiveInteger),

  noLineInfo: toggle('-g0', 'leave out the line tables that lead from machine code to TypeScript'),
  profile: optional(
    '--profile',
    'FILE.json',
    'sim: print opcodes, memory traffic and lines of the device code; with a file, write it there',
  ),
  maxSteps: last(
    '--max-steps',
    'N',
    'stop after N ops of one program (interpret) or N instructions of all warps (sim)',
    positiveInteger,
  ),
  maxPrograms: last(
    '--max-programs',
    'N',
    'the largest grid that the interpreter runs (default 4194304)',
    positiveInteger,
  ),
  sanitize: {
    ...list(
      '--sanitize',
      'LIST|none',
      `what the interpreter looks for: ${checkNames.join(', ')} (default: all of them), or none`,
    ),
    read: readChecks,
  } satisfies Flag<readonly CheckName[] | undefined>,
  seed: last('--seed', 'N', 'run programs in an order drawn from this seed, taking turns', seedNumber),
  seeds: last('--seeds', 'N', 'run in N orders, from --seed (1) on, and compare the results', positiveInteger),
  replay: last('--replay', 'SEED', 'run the order of this seed again, and no other', seedNumber),
  trapNaN: toggle('--trap-nan', 'report the first NaN or infinity that an op makes'),
  printValues: each(
    '--print-values',
    'NAME|FILE:LINE',
    'print a value whenever it is computed, or all those of a line; repeatable',
    text,
  ),

  cacheDir: last('--cache-dir', 'DIR', 'where built artifacts are kept', text),
  remoteCache: last(
    '--remote-cache',
    'URL',
    'a server to share artifacts by: GET and PUT of URL/ac/KEY; TILEWRIGHT_REMOTE_CACHE_TOKEN is its bearer token',
    parseHttpUrl,
  ),
  remoteCacheMode: last(
    '--remote-cache-mode',
    'ro|rw',
    'read only, or give it what is new (the default)',
    oneOf('ro', 'rw'),
  ),
  maxSize: last('--max-size', 'SIZE', 'prune to this many bytes, as 500M or 2G (default: 2G)', parseSize),
  noCache: toggle('--no-cache', 'neither read nor fill the cache'),

  mlirOpt: toolPath('mlir-opt'),
  cc: toolPath('cc'),
  ptxas: toolPath('ptxas'),
  nvcc: last('--nvcc', 'PATH', 'compile launchers by this nvcc', text),
  hipcc: last('--hipcc', 'PATH', 'compile launchers by this hipcc', text),
  pythons: each(
    '--python',
    'SET=PATH',
    'use this Python, which must be able to import the set (triton, mosaic)',
    parsePython,
  ),

  diagnostics: last(
    '--diagnostics',
    'FORMAT',
    'text (the default), json or sarif, on stderr',
    oneOf('text', 'json', 'sarif'),
  ),
  warningsAreErrors: toggle('-Werror', 'a warning is an error'),
  noWarnings: {
    ...each('-Wno-', 'CODE', 'turn off a warning; repeatable', text),
    form: 'attached',
  } satisfies Flag<readonly string[]>,
  color: toggle('--color', 'colour the diagnostics also where stderr is not a terminal'),
  verbose: toggle('-v', 'say more: the tools that run, the stack of an internal error'),
  help: toggle('--help', 'show this', '-h'),
} as const;

export type FlagName = keyof typeof flags;
export type FlagValue<K extends FlagName> = ReturnType<(typeof flags)[K]['read']>;

/** Flags that show what the passes do. */
export const passFlags = [
  'printAfter',
  'printAfterAll',
  'printDiff',
  'timePasses',
] as const satisfies readonly FlagName[];

/** Flags that every command has. */
export const commonFlags = [
  'diagnostics',
  'warningsAreErrors',
  'noWarnings',
  'color',
  'verbose',
  'help',
] as const satisfies readonly FlagName[];
export type CommonFlag = (typeof commonFlags)[number];
