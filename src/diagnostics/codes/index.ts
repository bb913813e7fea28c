/** The codes of every area. A new `codes/<area>.ts` is added here; a test holds that none is missing. */

import { argumentCodes } from './arguments.js';
import { cliCodes } from './cli.js';
import { irCodes } from './ir.js';

export const areas = [irCodes, argumentCodes, cliCodes] as const;
