import { defineCode } from '../diagnostic.js';

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
/** How many elements a finding is about, where it is more than the one that it names. */
const andMore = (count: number): string => (count > 1 ? ` and ${plural(count - 1, 'more element')}` : '');

/** What the interpreter's sanitizer finds (TW51xx). */
export const sanitizerCodes = {
  race: defineCode<{
    access: string;
    element: string;
    count: number;
    program: string;
    other: string;
    otherProgram: string;
  }>(
    'TW5101',
    'error',
    'a data race between programs',
    'Two programs of one launch touch the same element, at least one of them writes, not both by atomics of device scope, and nothing orders them. Programs of a grid run in any order and side by side. It is found in every run, whatever the order was. Give each program its own elements, use atomics, make two launches of it, or order the accesses by a release and an acquire.',
    ({ access, element, count, program, other, otherProgram }) =>
      `race: ${access} of ${element}${andMore(count)} in program ${program} and ${other} in program ${otherProgram}, which nothing orders`,
  ),
  uninitialised: defineCode<{ access: string; element: string; count: number; program: string }>(
    'TW5102',
    'error',
    'a read of memory that nothing has written',
    'An output or temporary holds whatever was there before until a program stores to it. List it in `zeroed` if it is to start as zeros.',
    ({ access, element, count, program }) =>
      `${access} of ${element}${andMore(count)} in program ${program} reads what nothing has written`,
  ),
  neverStored: defineCode<{ ref: string; element: string; count: number; total: number }>(
    'TW5103',
    'error',
    'elements of an output that no program stores',
    'They keep what the buffer held before. A grid that is too small, a mask that is off by one or an index map that skips blocks are the usual causes. List the output in `zeroed` if the rest is to be zero.',
    ({ ref, element, count, total }) =>
      `${count} of ${plural(total, 'element')} of output '${ref}' ${count === 1 ? 'is' : 'are'} never stored, the first is ${element}`,
  ),
  unspecified: defineCode<{ what: string; use: string; count: number; program: string }>(
    'TW5104',
    'error',
    'an unspecified value that counts',
    'Where the mask of a load is false and no `other` is given, the lane holds anything. It may be computed with, but must not reach an output, an address or a branch.',
    ({ what, use, count, program }) => `${what} ${use}${andMore(count)}, in program ${program}`,
  ),
  division: defineCode<{ what: string; use: string; count: number; program: string }>(
    'TW5105',
    'error',
    'an integer division by zero, or one that overflows',
    'Division by zero gives an unspecified value that differs between devices; the smallest integer divided by -1 wraps. Only results that are used count: a lane that is masked off may divide by zero.',
    ({ what, use, count, program }) => `${what} ${use}${andMore(count)}, in program ${program}`,
  ),
  offsetOverflow: defineCode<{ what: string; use: string; count: number; program: string }>(
    'TW5106',
    'error',
    'an address from arithmetic that wrapped around',
    'Index arithmetic is done in 32 bits and wraps. Convert to i64 before the product gets large, promise a bound with `dim(name, { max })`, or index axis by axis instead of by one flat offset.',
    ({ what, use, count, program }) => `${what} ${use}${andMore(count)}, in program ${program}`,
  ),
  scatterConflict: defineCode<{ element: string; count: number; program: string; first: string; second: string }>(
    'TW5107',
    'error',
    'a scatter that gives one element two values',
    'Two lanes of one scatter have the same address and different values; which of them stays differs between devices. Use atomics, or make the addresses distinct.',
    ({ element, count, program, first, second }) =>
      `scatter stores both ${first} and ${second} to ${element}${andMore(count)}, in program ${program}`,
  ),
  schedule: defineCode<{
    element: string;
    count: number;
    first: string;
    second: string;
    seeds: readonly [number, number];
  }>(
    'TW5108',
    'error',
    'a result that depends on the schedule',
    'Programs were run in several orders, side by side, and gave different results. `--replay SEED` runs one of these orders again.',
    ({ element, count, first, second, seeds }) =>
      `${element}${andMore(count)} depends on the schedule: ${first} with seed ${seeds[0]}, ${second} with seed ${seeds[1]}`,
  ),
  notFinite: defineCode<{ op: string; value: string; from: string; place: string; program: string }>(
    'TW5109',
    'error',
    'the first NaN or infinity',
    'With `--trap-nan` the op is reported that makes a NaN out of numbers, or an infinity out of finite ones. Infinities that the kernel states do not count.',
    ({ op, value, from, place, program }) => `${op} gives ${value} from ${from}${place}, in program ${program}`,
  ),
  deadlock: defineCode<{ waits: readonly string[] }>(
    'TW5110',
    'error',
    'programs that wait for ever',
    'Every program that runs is in a loop that waits for memory to change, and none of them changes any. On a device this hangs.',
    ({ waits }) => `deadlock: ${waits.join('; ')}`,
  ),
  blockOutside: defineCode<{
    access: string;
    ref: string;
    axis: number;
    index: number;
    extent: number;
    program: string;
  }>(
    'TW5111',
    'error',
    'a block that lies wholly outside of its array',
    'Nothing of the block is read or stored: the index map or the grid is off. A block that lies outside in part is ordinary. Guard it with `when()` if it is meant.',
    ({ access, ref, axis, index, extent, program }) =>
      `${access} of a block of '${ref}' that lies wholly outside: it starts at ${index} on axis ${axis} of extent ${extent}, in program ${program}`,
  ),
  tooLarge: defineCode<{ programs: number; limit: number }>(
    'TW5112',
    'error',
    'a launch that is too large for the interpreter',
    'The interpreter runs every program in TypeScript, one op after the other. Compile the kernel instead, or test it at a smaller size.',
    ({ programs, limit }) => `the launch has ${programs} programs; the interpreter runs at most ${limit}`,
  ),
  sharedRace: defineCode<{ access: string; element: string; count: number; who: string; other: string }>(
    'TW5113',
    'error',
    'a race on shared memory',
    'Warpgroups of a block, its asynchronous copies and its products touch the same element, at least one of them writes, and nothing orders them: the wait for a barrier, a copy or a product is missing, names the wrong one, or comes too late. It is found in every schedule.',
    ({ access, element, count, who, other }) =>
      `race: ${access} of ${element}${andMore(count)} in ${who}, not ordered behind the ${other}`,
  ),
  missingFence: defineCode<{ access: string; element: string; count: number; who: string }>(
    'TW5114',
    'error',
    'shared memory that asynchronous work reads without a fence',
    'What ordinary stores write to shared memory is visible to copies and products only behind `commitSmem()`, by the writer or, once it knows of the store, by the reader.',
    ({ access, element, count, who }) =>
      `${access} reads ${element}${andMore(count)} in ${who}, which was stored without a fence`,
  ),
} as const;
