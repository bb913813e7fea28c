/** The codes of every area. A new `codes/<area>.ts` is added here; a test holds that none is missing. */

import { argumentCodes } from './arguments.js';
import { backendCodes } from './backend.js';
import { cliCodes } from './cli.js';
import { fileCodes } from './files.js';
import { frontendCodes } from './frontend.js';
import { interpreterCodes } from './interpreter.js';
import { irCodes } from './ir.js';
import { loweringCodes } from './lowering.js';
import { sanitizerCodes } from './sanitizer.js';
import { simulatorCodes } from './simulator.js';
import { toolCodes } from './tools.js';

export const areas = [
  irCodes,
  frontendCodes,
  loweringCodes,
  backendCodes,
  toolCodes,
  argumentCodes,
  fileCodes,
  cliCodes,
  interpreterCodes,
  sanitizerCodes,
  simulatorCodes,
] as const;
