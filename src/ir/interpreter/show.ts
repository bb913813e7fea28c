/** Tiles as text, for `--print-values`. */

import { interpreterCodes } from '../../diagnostics/codes/interpreter.js';
import { CompileError } from '../../diagnostics/diagnostic.js';
import { type Loc, primaryLoc } from '../../diagnostics/location.js';
import { didYouMean } from '../../diagnostics/nearest.js';
import type { Launch } from '../kernel.js';
import type { TileValue } from '../tile-value.js';
import { printType, tileType } from '../types.js';
import type { Value } from '../value.js';
import { operandsOf, walk } from '../walk.js';
import { elementText } from './element-text.js';

/** Elements of an axis that are shown at each end of a long one. */
const shownEnds = 4;

/**
 * The values that `wanted` names, with their labels: by their name in the source, or `FILE:LINE` for all that is
 * computed, or stored, at a line.
 *
 * @throws CompileError: nothing is meant.
 */
export function shownValues(launch: Launch, wanted: readonly string[]): Map<Value, string> {
  const shown = new Map<Value, string>();
  const names = new Set<string>();
  const used = new Set<string>();
  const offer = (value: Value, label: string, loc: Loc | undefined): void => {
    if (value.type.kind !== 'tile') return;
    const at = loc && primaryLoc(loc);
    if (value.hint !== undefined) names.add(value.hint);
    for (const text of wanted) {
      const [, file, line] = /^(.*):(\d+)$/.exec(text) ?? [];
      const isMeant = file === undefined ? value.hint === text : at?.line === Number(line) && isFile(at.file, file);
      if (!isMeant) continue;
      used.add(text);
      shown.set(value, `${value.hint ?? label}${at ? ` (line ${at.line})` : ''}`);
    }
  };
  walk(launch.body, (op) => {
    for (const value of op.results) offer(value, op.name, op.loc);
    for (const region of op.regions) for (const value of region.args) offer(value, `argument of ${op.name}`, op.loc);
    if (op.results.length === 0)
      for (const value of operandsOf(op)) if (!shown.has(value)) offer(value, `operand of ${op.name}`, op.loc);
  });
  for (const text of wanted)
    if (!used.has(text))
      throw new CompileError([
        interpreterCodes.nothingToShow(
          { name: text },
          { loc: launch.loc, help: didYouMean(text, names) ?? 'name a value, or FILE:LINE' },
        ),
      ]);
  return shown;
}

/** Whether `given` is the end of a path, whole names only. */
const isFile = (path: string, given: string): boolean => path === given || path.endsWith(`/${given}`);

/** `acc (line 12): f32[2, 2] = [[1, 2], [3, 4]]`; what lies beyond the valid extents is `_`. */
export function tileText(label: string, { dtype, shape, data, valid }: TileValue): string {
  const part = (axis: number, base: number, isValid: boolean): string => {
    if (axis === shape.length) return isValid ? elementText(dtype, data[base]!) : '_';
    const n = shape[axis]!;
    const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
    const items: string[] = [];
    for (let i = 0; i < n; i++) {
      if (n > 2 * shownEnds + 1 && i === shownEnds) {
        items.push('…');
        i = n - shownEnds;
      }
      items.push(part(axis + 1, base + i * inner, isValid && i < (valid?.[axis] ?? n)));
    }
    return `[${items.join(', ')}]`;
  };
  return `${label}: ${printType(tileType(dtype, shape))} = ${part(0, 0, true)}`;
}
