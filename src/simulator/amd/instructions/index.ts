/** The instruction table: every opcode that the simulator has, in the words of gfx9. */

import type { InstructionTable } from '../instruction.js';
import { compare } from './compare.js';
import { control } from './control.js';
import { conversions } from './convert.js';
import { float } from './float.js';
import { halves } from './half.js';
import { integer } from './integer.js';
import { lanes } from './lanes.js';
import { lds } from './lds.js';
import { matrix } from './matrix.js';
import { memory } from './memory.js';
import { scalar, scalarFamilies } from './scalar.js';

export const instructions: InstructionTable = {
  ...float,
  ...halves,
  ...integer,
  ...compare,
  ...conversions,
  ...lanes,
  ...scalar,
  ...scalarFamilies,
  ...control,
  ...memory,
  ...lds,
  ...matrix,
};
