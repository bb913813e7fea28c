/** What Mosaic GPU cannot do, told at the user's line before any compiler runs. */

import { backendCodes } from '../../diagnostics/codes/backend.js';
import type { Diagnostic } from '../../diagnostics/diagnostic.js';
import type { Loc } from '../../diagnostics/location.js';
import type { DType } from '../../ir/dtypes.js';
import type { Kernel } from '../../ir/kernel.js';
import { argumentsOf, printExtent } from '../../ir/symbolic.js';
import { walk } from '../../ir/walk.js';

/** The dtypes that registers and shared memory hold. */
const held: readonly string[] = [
  'bool',
  ...[8, 16, 32, 64].flatMap((bits) => [`i${bits}`, `u${bits}`]),
  'f16',
  'bf16',
  'f32',
  'f64',
  'f8e4m3fn',
  'f8e5m2',
];

/** Findings about a kernel; empty where the back end takes all of it. */
export function mosaicGates(kernel: Kernel): Diagnostic[] {
  return [...dynamicGrids(kernel), ...unheldDTypes(kernel)];
}

/** Grids whose bounds name a scalar argument. */
function dynamicGrids({ params, launches }: Kernel): Diagnostic[] {
  const scalars = new Set(params.filter((p) => p.kind === 'scalar').map((p) => p.name));
  return launches.flatMap(({ grid, loc }) => {
    const axis = grid.find(({ extent }) => [...argumentsOf(extent)].some((name) => scalars.has(name)));
    if (!axis) return [];
    const notes = [{ message: `grid axis '${axis.name}' is ${printExtent(axis.extent)}` }];
    const help =
      'make the bound of dims or numbers and let programs past the scalar do nothing, or compile with the Triton back end';
    return [backendCodes.dynamicGrid({}, { loc, notes, help })];
  });
}

/** One finding for each dtype, where it comes in first. */
function unheldDTypes({ params, launches }: Kernel): Diagnostic[] {
  const found = new Map<string, Loc>();
  const see = ({ name }: DType, loc: Loc): void => {
    if (!held.includes(name) && !found.has(name)) found.set(name, loc);
  };
  for (const { value, loc } of params) see(value.type.dtype, loc);
  for (const { body } of launches)
    walk(body, (op) => {
      for (const { type } of op.results) if ('dtype' in type) see(type.dtype, op.loc);
    });
  return [...found].map(([dtype, loc]) =>
    backendCodes.badDType({ dtype }, { loc, help: `convert at the host, to one of ${held.join(', ')}` }),
  );
}
