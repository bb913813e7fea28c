/** What `debug: true` prints: the grid of each launch, which block of each array a program gets, and the kernel IR. */

import { type Loc, printLoc } from '../diagnostics/location.js';
import type * as ir from '../ir/kernel.js';
import { printKernel } from '../ir/printer.js';
import type { Program } from './program.js';
import type { Extent } from './ref.js';
import { forDisplay } from './site.js';
import { ArraySpec, type BlockDim, gridExtents } from './spec.js';
import { printSymbol } from './symbol.js';
import { asSymbol, Tile } from './tile.js';

const extentText = (x: Extent): string => printSymbol(asSymbol(x)!);

function dimText(d: BlockDim): string {
  if (d instanceof Tile || typeof d === 'number') return extentText(d);
  return d.kind === 'squeezed' ? 'squeezed' : `element(${d.size})`;
}

// biome-ignore lint/suspicious/noExplicitAny: specs are invariant in their dtype
function arrayText({ dtype, extents, blocked }: ArraySpec<any, any, any>): string {
  const whole = `${dtype.name}[${extents.map(extentText).join(', ')}]`;
  if (!blocked) return `${whole}, whole`;
  return `${whole}, block [${blocked.dims.map(dimText).join(', ')}] at [${blocked.index.map(extentText).join(', ')}]`;
}

function programText({ spec }: Program<never, never>, launch: ir.Launch): string[] {
  const { extents, sequential } = spec.grid[gridExtents];
  const axes = Object.entries(extents).map(
    ([axis, x]) => `${axis} = ${extentText(x)}${sequential.includes(axis) ? ' (sequential)' : ''}`,
  );
  const arrays = [...Object.entries(spec.inputs), ...Object.entries(spec.outputs)].map(
    ([name, declared]) =>
      `    ${name}: ${declared instanceof ArraySpec ? arrayText(declared) : `${declared.dtype.name}, scalar`}`,
  );
  return [`  launch ${launch.name}: grid ${axes.length > 0 ? axes.join(', ') : 'of one program'}`, ...arrays];
}

export function debugText(kernel: ir.Kernel, programs: readonly Program<never, never>[], loc: Loc): string {
  const mapping = programs.flatMap((p, i) => programText(p, kernel.launches[i]!));
  const headline = `kernel '${kernel.name}' at ${printLoc(forDisplay(loc))}`;
  return `${headline}\n${mapping.join('\n')}\n${printKernel(kernel)}`;
}
