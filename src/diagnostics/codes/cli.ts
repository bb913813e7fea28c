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
  givenTwice: defineCode<{ flag: string; name: string }>(
    'TW4008',
    'error',
    'one name is given two values',
    'A kernel parameter, an input, an output or an expected result is named by two flags, so it is unclear which is meant.',
    ({ flag, name }) => `'${flag}' gives '${name}' twice`,
  ),
  conflict: defineCode<{ message: string }>(
    'TW4009',
    'error',
    'flags that exclude each other',
    'The flags ask for things that cannot both be done in one call.',
    ({ message }) => message,
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
  notWritable: defineCode<{ path: string; reason: string }>(
    'TW4020',
    'error',
    'an output cannot be written',
    'The file could not be created or filled: its folder is missing or read-only, the disk is full, or a folder stands in its place. Files are written beside their place and renamed at the end, so what was there before is unchanged.',
    ({ path, reason }) => `cannot write '${path}': ${reason}`,
  ),
  notReadable: defineCode<{ path: string; reason: string }>(
    'TW4021',
    'error',
    'an input cannot be read',
    'The file does not exist, is a folder, or may not be read.',
    ({ path, reason }) => `cannot read '${path}': ${reason}`,
  ),
  internal: defineCode<{ message: string }>(
    'TW9001',
    'error',
    'internal error',
    'This is a bug in tilewright, not in your input. Please report it with the command line and, if you can, the kernel; `-v` adds the stack trace.',
    ({ message }) => `internal error: ${message}`,
  ),
} as const;
