/** An array as text, with the elements that accesses touch. */

import { elementCount } from '../types.js';

const maxColumns = 64;
const maxRows = 16;

/** Letters in the order of what shows where several elements share a cell. */
export interface MapLayer {
  readonly letter: string;
  readonly meaning: string;
  /** Flat offsets of its elements. */
  readonly elements: Iterable<number>;
}

/** Every offset of an array that `has` holds of. */
export function* offsetsWhere(n: number, has: (at: number) => boolean): Generator<number> {
  for (let i = 0; i < n; i++) if (has(i)) yield i;
}

/** `[2, 3]` of a flat offset. */
export function indexText(shape: readonly number[], at: number): string {
  const index: number[] = [];
  for (let axis = shape.length - 1, rest = at; axis >= 0; axis--) {
    index.unshift(rest % shape[axis]!);
    rest = Math.floor(rest / shape[axis]!);
  }
  return `[${index.join(', ')}]`;
}

/**
 * Draws the last two axes of an array around element `at`; on the axes before them the map shows the place of `at`.
 * Later layers lie above earlier ones.
 */
export function accessMap(name: string, shape: readonly number[], at: number, layers: readonly MapLayer[]): string {
  const columns = shape.at(-1) ?? 1;
  const rows = shape.at(-2) ?? 1;
  const plane = rows * columns;
  const first = Math.floor(at / plane) * plane;
  const [across, down] = [Math.ceil(columns / maxColumns), Math.ceil(rows / maxRows)];
  const [width, height] = [Math.ceil(columns / across), Math.ceil(rows / down)];
  const cells = Array.from({ length: height }, () => new Array<string>(width).fill('.'));
  for (const { letter, elements } of layers)
    for (const element of elements) {
      const inPlane = element - first;
      if (inPlane < 0 || inPlane >= plane) continue;
      const row = Math.floor(inPlane / columns);
      cells[Math.floor(row / down)]![Math.floor((inPlane % columns) / across)] = letter;
    }
  const leading = indexText(shape.slice(0, -2), Math.floor(at / plane)).slice(1, -1);
  const shown = shape.length > 2 ? `'${name}' at [${leading}, :, :]` : `'${name}'`;
  const scale = across * down === 1 ? '' : `, a character for ${down} x ${across} elements`;
  const legend = layers.map(({ letter, meaning }) => `${letter} ${meaning}`).join(', ');
  const area = elementCount(shape.slice(-2)) === 0 ? [] : cells.map((row) => row.join(''));
  return [`${shown}, ${rows} x ${columns}${scale}: ${legend}`, ...area].join('\n');
}

/** Draws where a block lies that reaches out of its array: the plane of the first two axes that it lies along. */
export function blockMap({
  buffer,
  start,
  axes,
  limits,
}: {
  readonly buffer: { readonly name: string; readonly shape: readonly number[] };
  readonly start: readonly number[];
  readonly axes: readonly number[];
  readonly limits: readonly number[];
}): string {
  const rank = buffer.shape.length;
  const [down, across] = rank > 1 ? [rank - 2, rank - 1] : [-1, rank - 1];
  const span = (axis: number): { from: number; to: number; extent: number } => {
    if (axis < 0) return { from: 0, to: 1, extent: 1 };
    const along = axes.indexOf(axis);
    return { from: start[axis]!, to: start[axis]! + (along < 0 ? 1 : limits[along]!), extent: buffer.shape[axis]! };
  };
  const [rows, columns] = [span(down), span(across)];
  const scale = (s: ReturnType<typeof span>, cells: number): { first: number; step: number; cells: number } => {
    const first = Math.min(0, s.from);
    const step = Math.ceil((Math.max(s.extent, s.to) - first) / cells);
    return { first, step, cells: Math.ceil((Math.max(s.extent, s.to) - first) / step) };
  };
  const [y, x] = [scale(rows, maxRows), scale(columns, maxColumns)];
  const meets = (from: number, to: number, at: number, step: number): boolean => at < to && at + step > from;
  const lines = Array.from({ length: y.cells }, (_, j) => {
    const row = y.first + j * y.step;
    return Array.from({ length: x.cells }, (__, i) => {
      const column = x.first + i * x.step;
      const isInside = meets(0, rows.extent, row, y.step) && meets(0, columns.extent, column, x.step);
      const isTouched = meets(rows.from, rows.to, row, y.step) && meets(columns.from, columns.to, column, x.step);
      return isTouched ? (isInside ? 'a' : 'X') : isInside ? '.' : ' ';
    }).join('');
  });
  const each = x.step * y.step === 1 ? '' : `, a character for ${y.step} x ${x.step} elements`;
  const others = rank > 2 ? ', its last two axes' : '';
  return [
    `'${buffer.name}'${others}, ${rows.extent} x ${columns.extent}${each}: a this access, X outside`,
    ...lines.map((line) => line.trimEnd()),
  ].join('\n');
}
