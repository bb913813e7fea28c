import { defineCode } from '../diagnostic.js';

/** What the simulators of device code refuse, and what they find while they run it (TW6xxx). */
export const simulatorCodes = {
  syntax: defineCode<{ what: string; line: number; language?: string }>(
    'TW6001',
    'error',
    'device code that cannot be read',
    'The text is not PTX or AMD assembly as compilers write it. A file that was cut off or edited by hand is the usual cause.',
    ({ what, line, language = 'PTX' }) => `line ${line} of the ${language}: ${what}`,
  ),
  unknownInstruction: defineCode<{ text: string; line: number; why: string; language?: string }>(
    'TW6002',
    'error',
    'an instruction that the simulator does not have',
    'The simulator refuses what it does not know instead of guessing: a result would prove nothing. `docs/simulator.md` lists what is modelled.',
    ({ text, line, why, language = 'PTX' }) => `line ${line} of the ${language}: ${why}: '${text}'`,
  ),
  newerVersion: defineCode<{ version: string; newest: string }>(
    'TW6003',
    'error',
    'PTX of a newer version',
    'The version is newer than what the simulator was written for; instructions may mean something else or be missing.',
    ({ version, newest }) => `the PTX is of version ${version}; the simulator reads up to ${newest}`,
  ),
  parameters: defineCode<{ entry: string; expected: number; got: number }>(
    'TW6004',
    'error',
    'a launch with the wrong number of parameters',
    'Every parameter of the compiled function takes a value, also those that the compiler appends (scratch memory of Triton).',
    ({ entry, expected, got }) => `'${entry}' takes ${expected} parameters, the launch gives ${got}`,
  ),
  parameter: defineCode<{ entry: string; index: number; expected: string; got: string }>(
    'TW6005',
    'error',
    'a parameter of the wrong size or an unknown buffer',
    'The value must have the size that the compiled function declares, and a pointer must name a buffer of the launch.',
    ({ entry, index, expected, got }) => `parameter ${index} of '${entry}': expected ${expected}, got ${got}`,
  ),
  unknownEntry: defineCode<{ entry: string; known: readonly string[] }>(
    'TW6006',
    'error',
    'a function that the device code does not have',
    'The launch names the compiled function; the text must define it.',
    ({ entry, known }) =>
      known.length === 0
        ? 'the device code defines no entry'
        : `the device code has no entry '${entry}', only ${known.map((k) => `'${k}'`).join(', ')}`,
  ),
  tooManySteps: defineCode<{ limit: number }>(
    'TW6007',
    'error',
    'the simulator stopped a kernel that runs too long',
    'The kernel executed more instructions than `maxSteps` allows (one instruction of one warp is one step). A loop whose condition never fails is the usual cause; a smaller grid runs fewer.',
    ({ limit }) => `stopped after ${limit} instructions`,
  ),
  badLaunch: defineCode<{ what: string }>(
    'TW6008',
    'error',
    'a launch that no device accepts',
    'Grid, block, cluster and shared memory must be positive and within the limits of the device, and the grid a multiple of the cluster.',
    ({ what }) => what,
  ),
  badAccess: defineCode<{ what: string }>(
    'TW6010',
    'error',
    'a memory access out of bounds or misaligned',
    'The address lies outside of every allocation, crosses the end of one, or is not a multiple of the size of the access. A device faults or reads foreign memory.',
    ({ what }) => what,
  ),
  misuse: defineCode<{ what: string }>(
    'TW6011',
    'error',
    'an instruction used against its rules',
    'What the instruction asks for is not met: a barrier that was not initialised, lanes that do not take part, a descriptor of an unknown form. A device does something undefined.',
    ({ what }) => what,
  ),
  deadlock: defineCode<{ warps: readonly string[] }>(
    'TW6012',
    'error',
    'warps that wait for each other for ever',
    'No warp of the cluster can go on and no asynchronous work is left that could release one. The message lists where each one waits.',
    ({ warps }) => `deadlock: ${warps.join('; ')}`,
  ),
  race: defineCode<{ what: string }>(
    'TW6020',
    'error',
    'a data race in device code',
    'Two warps, blocks or asynchronous copies touch the same bytes, at least one of them writing, and nothing orders them: a barrier or a wait is missing.',
    ({ what }) => what,
  ),
  uninitialised: defineCode<{ what: string }>(
    'TW6021',
    'error',
    'device code reads what nothing has written',
    'The bytes or the register hold whatever was there before. The simulator fills both with a NaN pattern.',
    ({ what }) => what,
  ),
  missingFence: defineCode<{ what: string }>(
    'TW6022',
    'error',
    'a missing fence between ordinary and asynchronous accesses',
    'Ordinary writes to shared memory are seen by TMA, wgmma and tcgen05 only behind `fence.proxy.async`, on the side of the writer or of the reader.',
    ({ what }) => what,
  ),
  inFlight: defineCode<{ what: string }>(
    'TW6023',
    'error',
    'a use of what an asynchronous operation is still working on',
    'A load, copy or matrix instruction was started and not yet waited for. Memory and registers that it reads or writes must be left alone until then.',
    ({ what }) => what,
  ),
  unfinished: defineCode<{ what: string }>(
    'TW6024',
    'error',
    'asynchronous work that is unfinished when the kernel ends',
    'A block that exits gives its shared memory away; copies out of it must have been waited for.',
    ({ what }) => what,
  ),
  schedules: defineCode<{ buffer: string; index: number; first: string; second: string }>(
    'TW6025',
    'error',
    'a result that depends on the schedule',
    'Asynchronous work may be done at once or as late as the waits allow, and warps may run in any order. Correct code gives the same result in all of them.',
    ({ buffer, index, first, second }) =>
      `byte ${index} of '${buffer}' differs between the schedules '${first}' and '${second}'`,
  ),
  hazard: defineCode<{ what: string }>(
    'TW6026',
    'error',
    'an instruction that comes too early after another',
    'The device does not wait by itself here: the instruction would read what was there before. The compiler puts `s_nop` or other instructions between the two.',
    ({ what }) => what,
  ),
} as const;
