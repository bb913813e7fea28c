import { defineCode } from '../diagnostic.js';

/** What the interpreter finds while it runs a kernel (TW5xxx). */
export const interpreterCodes = {
  outOfBounds: defineCode<{
    access: string;
    ref: string;
    axis: number;
    index: number;
    extent: number;
    program: string;
  }>(
    'TW5001',
    'error',
    'an access outside of an array',
    'An element that is neither masked off nor beyond a stated valid extent lies outside of its array. On a device this reads or writes foreign memory.',
    ({ access, ref, axis, index, extent, program }) =>
      `${access} of '${ref}' is out of bounds: index ${index} on axis ${axis} of extent ${extent}, in program ${program}`,
  ),
  tooManySteps: defineCode<{ limit: number; program: string }>(
    'TW5002',
    'error',
    'the interpreter stopped a kernel that runs too long',
    'The kernel executed more ops than `--max-steps` allows; a loop whose condition never fails is the usual cause.',
    ({ limit, program }) => `stopped after ${limit} steps in program ${program}`,
  ),
  badStep: defineCode<{ step: number; program: string }>(
    'TW5003',
    'error',
    'a loop step that is not positive',
    'The step of a counted loop must be at least 1.',
    ({ step, program }) => `loop step is ${step} in program ${program}; it must be at least 1`,
  ),
  emptyReduction: defineCode<{ op: string; program: string }>(
    'TW5004',
    'error',
    'a reduction of nothing that has no value',
    'The position of the largest of no elements, or no elements combined by a function, has no value. A block lies wholly beyond its array along the reduced axis.',
    ({ op, program }) => `'${op}' of no elements in program ${program}`,
  ),
  assertionFailed: defineCode<{ message: string; program: string }>(
    'TW5005',
    'error',
    'an assertion of the kernel failed',
    'The condition of `assertTrue` does not hold: in the program, and for the element of the tile, that the message names. Compiled kernels check as well; there the first program to fail is reported.',
    ({ message, program }) => `assertion failed: ${message}, in program ${program}`,
  ),
  brokenPromise: defineCode<{ promise: string; program: string }>(
    'TW5006',
    'error',
    'a promise of the kernel is broken',
    'What `assume` or `multipleOf` promise does not hold. A compiled kernel relies on it without looking.',
    ({ promise, program }) => `${promise}, in program ${program}`,
  ),
  nothingToShow: defineCode<{ name: string }>(
    'TW5007',
    'error',
    'no value of a name or line that is to be printed',
    '`--print-values` takes the name of a value, as `.kir` text shows it, or `FILE:LINE`: all that is computed or stored there.',
    ({ name }) => `no value to print is meant by '${name}'`,
  ),
  phaseMissed: defineCode<{ barrier: string; waited: number; completed: number; warpgroup: string }>(
    'TW5008',
    'error',
    'a phase of a barrier that was missed',
    'A barrier tells odd phases from even ones only. A warpgroup that waits for a phase when the next one is complete as well hangs on a device. Let whoever arrives wait for those who wait.',
    ({ barrier, waited, completed, warpgroup }) =>
      `${warpgroup} waits for phase ${waited} of barrier '${barrier}', which has completed ${completed}`,
  ),
  barrierOverrun: defineCode<{ barrier: string; arrivals: number; warpgroup: string }>(
    'TW5009',
    'error',
    'more arrivals on a barrier than it counts',
    'All arrivals of a phase are in, but bytes that they announced are not: one more belongs to no phase.',
    ({ barrier, arrivals, warpgroup }) =>
      `${warpgroup} arrives on barrier '${barrier}', which has all ${arrivals} arrivals of its phase`,
  ),
  unfinished: defineCode<{ what: string; count: number; warpgroup: string }>(
    'TW5010',
    'error',
    'an asynchronous operation that nothing waits for',
    'The shared memory of a block ends with the block. What still reads or writes it then reads or writes that of another.',
    ({ what, count, warpgroup }) => `${warpgroup} ends with ${count} ${what} that nothing has waited for`,
  ),
} as const;
