/** The stages of the kernel IR: `kir` as traced, `lowered.kir` as back ends take it; and what may remain in the latter. */

import { irCodes } from '../diagnostics/codes/ir.js';
import type { Diagnostic } from '../diagnostics/diagnostic.js';
import { RaggedAnalysis } from './analyses/ragged.js';
import type { Kernel } from './kernel.js';
import { definitionOf } from './ops/index.js';
import { walk } from './walk.js';

/** What is not legal in `lowered.kir`: ops whose definition says so, and tiles that are still ragged. */
export function illegalInLowered(kernel: Kernel): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const stage = 'lowered.kir';
  for (const launch of kernel.launches) {
    const ragged = new RaggedAnalysis(launch);
    walk(launch.body, (op) => {
      if (!definitionOf(op).lowered) diagnostics.push(irCodes.illegalOp({ op: op.name, stage }, { loc: op.loc }));
      else if (op.results.some((r) => ragged.isRagged(r)))
        diagnostics.push(irCodes.illegalOp({ op: `ragged ${op.name}`, stage }, { loc: op.loc }));
    });
  }
  return diagnostics;
}
