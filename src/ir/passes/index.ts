/** All passes, and the pipeline that leads from a traced kernel to what back ends lower. */

import type { Pass } from '../pass.js';
import { canonicalize } from './canonicalize.js';
import { cse } from './cse.js';
import { dce } from './dce.js';
import { elideMasks } from './elide-masks.js';
import { expand } from './expand.js';
import { fuseAccumulate } from './fuse-accumulate.js';
import { legalizeRagged } from './legalize-ragged.js';
import { licm } from './licm.js';

export const passes: readonly Pass[] = [
  canonicalize,
  cse,
  dce,
  licm,
  elideMasks,
  fuseAccumulate,
  legalizeRagged,
  expand,
];

/**
 * From `kir` to `lowered.kir`: simplified, masks where they are needed and nowhere else. Loop-invariant extents leave
 * their loops first, so that masks behind a loop can use them.
 */
export const loweringPipeline: readonly Pass[] = [
  canonicalize,
  licm,
  cse,
  elideMasks,
  fuseAccumulate,
  legalizeRagged,
  canonicalize,
  licm,
  cse,
  dce,
];

/** Passes and pipelines by the name that `--pipeline` takes. */
export const passRegistry: ReadonlyMap<string, readonly Pass[]> = new Map([
  ...passes.map((p) => [p.name, [p]] as const),
  ['lower', loweringPipeline] as const,
]);
