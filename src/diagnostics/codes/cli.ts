import { defineCode } from '../diagnostic.js';

/** The command line itself (TW40xx, exit code 2) and our own bugs (TW9001). */
export const cliCodes = {
  unknownFlag: defineCode<{ flag: string; command: string | undefined }>(
    'TW4001',
    'error',
    'an unknown flag',
    'The command does not have this flag. Flags are never abbreviated. `tilewright COMMAND --help` lists those of a command.',
    ({ flag, command }) =>
      command === undefined ? `unknown flag '${flag}'` : `'tilewright ${command}' has no flag '${flag}'`,
  ),
  unknownCommand: defineCode<{ command: string }>(
    'TW4002',
    'error',
    'an unknown command',
    'The first argument names the command. `tilewright --help` lists the commands.',
    ({ command }) => `unknown command '${command}'`,
  ),
  missingValue: defineCode<{ flag: string; value: string }>(
    'TW4003',
    'error',
    'a flag without its value',
    'The flag takes a value, as the next argument or, for flags with two dashes, behind `=`. A value that begins with a dash can only be given with `=`.',
    ({ flag, value }) => `'${flag}' needs a value: ${value}`,
  ),
  unexpectedValue: defineCode<{ flag: string; got: string }>(
    'TW4004',
    'error',
    'a value for a flag that takes none',
    'The flag is on when it is given and off when it is not.',
    ({ flag, got }) => `'${flag}' takes no value, got '${got}'`,
  ),
  badValue: defineCode<{ flag: string; expected: string; got: string }>(
    'TW4005',
    'error',
    'a flag with a value that it cannot take',
    'The message says what the flag takes. `tilewright COMMAND --help` shows the form of each flag.',
    ({ flag, expected, got }) => `'${flag}': expected ${expected}, got '${got}'`,
  ),
  missingOperand: defineCode<{ command: string; operand: string }>(
    'TW4006',
    'error',
    'an argument is missing',
    'The command works on something that was not named. `tilewright COMMAND --help` shows its form.',
    ({ command, operand }) => `'tilewright ${command}' needs ${operand}`,
  ),
  extraOperand: defineCode<{ command: string; got: string }>(
    'TW4007',
    'error',
    'one argument too many',
    'The command takes fewer arguments. `tilewright COMMAND --help` shows its form.',
    ({ command, got }) => `'tilewright ${command}' has no use for '${got}'`,
  ),
  severalArtifacts: defineCode<{ output: string; artifacts: readonly string[] }>(
    'TW4010',
    'error',
    'several artifacts for one output file',
    '`-o FILE` and `-o -` take exactly one artifact. `-o DIR/` writes each into a file `NAME.TARGET.EXT` of that folder; `-k`, `--target` and `--emit` narrow down what is made.',
    ({ output, artifacts }) =>
      `'-o ${output}' takes one artifact, but this makes ${artifacts.length}: ${artifacts.join(', ')}`,
  ),
  sameOutput: defineCode<{ path: string; first: string; second: string }>(
    'TW4011',
    'error',
    'two artifacts with one file name',
    'Two kernels of one name would be written to the same file. `-k` chooses one, or build them into two folders.',
    ({ path, first, second }) => `'${path}' would hold both ${first} and ${second}`,
  ),
  unknownCode: defineCode<{ text: string }>(
    'TW4012',
    'error',
    'an unknown diagnostic code',
    'Codes are `TW` and four digits; `docs/errors.md` lists all of them.',
    ({ text }) => `there is no diagnostic '${text}'`,
  ),
  notAWarning: defineCode<{ code: string }>(
    'TW4013',
    'error',
    '-Wno- for a code that is an error',
    'Only warnings can be turned off: an error means that there is no right result to go on with.',
    ({ code }) => `'-Wno-${code}': ${code} is an error, only warnings can be turned off`,
  ),
  definesForIr: defineCode<{ file: string }>(
    'TW4014',
    'error',
    'parameters for kernel IR',
    '`-D` sets parameters of a kernel in TypeScript. In a `.kir` file they have had their values already.',
    ({ file }) => `'${file}' is kernel IR, which has no parameters: '-D' does not apply`,
  ),
  nothingToReduce: defineCode<{ command: string }>(
    'TW4017',
    'error',
    'a command that does not fail',
    '`tilewright reduce FILE.kir -- COMMAND…` makes a kernel smaller while a command fails. It must fail with the kernel as it is.',
    ({ command }) => `\`${command}\` does not fail, so there is nothing to reduce`,
  ),
  severalKernels: defineCode<{ file: string; kernels: readonly string[] }>(
    'TW4015',
    'error',
    'a file with several kernels',
    '`run` runs one kernel; `-k NAME` says which of the file it is.',
    ({ file, kernels }) => `'${file}' has ${kernels.length} kernels: ${kernels.join(', ')}`,
  ),
  unknownOutput: defineCode<{ name: string; kernel: string }>(
    'TW4016',
    'error',
    'an unknown output',
    '`--output` and `--expect` take the names of the kernel’s outputs.',
    ({ name, kernel }) => `kernel '${kernel}' has no output '${name}'`,
  ),
  internal: defineCode<{ message: string }>(
    'TW9001',
    'error',
    'internal error',
    'This is a bug in tilewright, not in your input. Please report it with the command line and, if you can, the kernel; `-v` adds the stack trace.',
    ({ message }) => `internal error: ${message}`,
  ),
} as const;
