import { defineCode } from '../diagnostic.js';

/** The values a kernel is called with (TW41xx). */
export const argumentCodes = {
  missingArgument: defineCode<{ kernel: string; name: string; expected: string }>(
    'TW4101',
    'error',
    'an argument is missing',
    'Every input array and scalar of the kernel needs a value. Dims are read off the shapes of the input arrays; a dim that no input has alone as an extent is given by name.',
    ({ kernel, name, expected }) => `kernel '${kernel}' needs '${name}' (${expected})`,
  ),
  unknownArgument: defineCode<{ kernel: string; name: string }>(
    'TW4102',
    'error',
    'an argument that the kernel does not have',
    'The name is none of the kernel’s inputs, scalars and dims.',
    ({ kernel, name }) => `kernel '${kernel}' has no input, scalar or dim '${name}'`,
  ),
  wrongKind: defineCode<{ name: string; expected: string; got: string }>(
    'TW4103',
    'error',
    'an argument of the wrong kind, dtype or rank',
    'Arrays are passed for arrays and numbers for scalars and dims; dtype and rank must be those of the declaration. Nothing is converted silently.',
    ({ name, expected, got }) => `'${name}': expected ${expected}, got ${got}`,
  ),
  shapeMismatch: defineCode<{ name: string; axis: number; expected: string; got: number }>(
    'TW4104',
    'error',
    'the shapes of the arguments do not fit each other',
    'All extents that name one dim must agree, and static extents must be met exactly.',
    ({ name, axis, expected, got }) => `'${name}': axis ${axis} must be ${expected}, got ${got}`,
  ),
  brokenPromise: defineCode<{ name: string; value: number; promise: string }>(
    'TW4105',
    'error',
    'a dim breaks what the kernel promised about it',
    'The kernel was compiled under a promise on this dim (`multipleOf`, `min`, `max`); other values would compute wrong results or read outside of arrays.',
    ({ name, value, promise }) => `dim '${name}' is ${value}, but the kernel promises ${promise}`,
  ),
  gridTooLarge: defineCode<{ launch: string; programs: string }>(
    'TW4106',
    'error',
    'a grid of more than 2^31 - 1 programs',
    'The number of programs of one launch is limited to 2^31 - 1 on every back end. A larger block or a loop inside the program makes fewer.',
    ({ launch, programs }) => `launch '${launch}' has ${programs} programs; at most 2147483647 are possible`,
  ),
} as const;
