/** The instruction table: every opcode that the simulator has. */

import { arithmetic } from './arithmetic.js';
import { asynchronous } from './async.js';
import { atomics } from './atomics.js';
import { bits } from './bits.js';
import { conversions } from './convert.js';
import { matrix } from './matrix.js';
import { memory } from './memory.js';
import { tensorMemory } from './tensor-memory.js';
import { warpInstructions } from './warp.js';

export const instructions = {
  ...arithmetic,
  ...bits,
  ...conversions,
  ...memory,
  ...atomics,
  ...warpInstructions,
  ...asynchronous,
  ...matrix,
  ...tensorMemory,
} as const;
