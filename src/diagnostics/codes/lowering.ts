import { defineCode } from '../diagnostic.js';

/** Lowering to a back end, targets and gates (TW2xxx). */
export const loweringCodes = {
  unsupported: defineCode<{ what: string; target: string }>(
    'TW2001',
    'error',
    'a back end cannot do this',
    'The op or dtype has no lowering for the chosen target. `docs/ops.md` lists what each back end does; the interpreter (`--target interpret`) runs everything.',
    ({ what, target }) => `target '${target}' does not support ${what}`,
  ),
  unknownTarget: defineCode<{ target: string; known: string }>(
    'TW2002',
    'error',
    'an unknown target',
    'Targets are `cpu`, `cpu:native`, `interpret`, and GPU architectures such as `sm_90` and `gfx942`.',
    ({ target, known }) => `unknown target '${target}'; known are ${known}`,
  ),
  unknownStage: defineCode<{ stage: string; target: string }>(
    'TW2004',
    'error',
    'an unknown stage',
    'A stage is named by the extension of what it makes; each target has its own. `--emit` takes those of the target.',
    ({ stage, target }) => `target '${target}' has no stage '${stage}'`,
  ),
  noBackend: defineCode<{ target: string }>(
    'TW2003',
    'error',
    'no back end for a target yet',
    'The target is known, but this version of tilewright has no back end that compiles for it.',
    ({ target }) => `this version of tilewright cannot compile for '${target}' yet`,
  ),
  unknownOption: defineCode<{ backend: string; option: string }>(
    'TW2010',
    'error',
    'an unknown option of a back end',
    'Options of a back end come from the kernel (`compilerParams`) and from `-Xtriton KEY=VALUE`; they are known by the names of `pltriton.CompilerParams` and by Triton’s own.',
    ({ backend, option }) => `back end ${backend} has no option '${option}'`,
  ),
  badOption: defineCode<{ option: string; target: string; expected: string; got: string }>(
    'TW2011',
    'error',
    'an option of a back end with a value that does not do',
    'The target cannot be compiled for with this value.',
    ({ option, target, expected, got }) => `option '${option}' for '${target}': expected ${expected}, got ${got}`,
  ),
  overLimit: defineCode<{ launch: string; target: string; what: string; used: string; limit: string }>(
    'TW2020',
    'error',
    'a kernel that takes more than the target has',
    'One program of the launch needs more of a resource than any program can get, so it could never be launched. The notes list what takes it; fewer pipeline stages (`numStages`) or smaller tiles need less.',
    ({ launch, target, what, used, limit }) => `launch '${launch}' takes ${used} ${what}; '${target}' has ${limit}`,
  ),
  spills: defineCode<{ launch: string; target: string; spilled: string; registers: number }>(
    'TW2021',
    'warning',
    'registers that were spilled to memory',
    'The launch keeps more values at once than a thread has registers; the rest goes through memory, which is slow. Smaller tiles or more warps (`numWarps`) leave each thread less to hold.',
    ({ launch, target, spilled, registers }) =>
      `launch '${launch}' on '${target}' uses all ${registers} registers and spills ${spilled}`,
  ),
  hugeCode: defineCode<{ launch: string; perThread: number; instructions: number }>(
    'TW2022',
    'warning',
    'tiles so large that compiling takes very long',
    'Each thread holds its share of a tile in registers and has instructions for every element of it. With thousands of elements per thread the compiler runs for minutes, and the code spills. Smaller tiles, or more warps (`numWarps`), compile and run faster.',
    ({ launch, perThread, instructions }) =>
      `launch '${launch}' has tiles with ${perThread} elements per thread, about ${instructions} instructions; compiling may take minutes`,
  ),
  launcherDiffers: defineCode<{ kernel: string; first: string; second: string }>(
    'TW2060',
    'error',
    'targets of one launcher that take different arguments',
    'A launcher is one C function for all its targets, so the kernel must have the same arguments for each. Parameters whose default differs by target (`perTarget`) may change dtypes or shapes; fix them with -D.',
    ({ kernel, first, second }) => `'${kernel}' has different arguments: ${first}; ${second}`,
  ),
} as const;
