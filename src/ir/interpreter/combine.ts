/** Reductions and scans by a body: the body runs on all lines of the axis at once, one position after the other. */

import { allocate } from '../numerics/registers.js';
import { linesAlong } from '../ops/combine.js';
import { definitionOf, isOp, type OpOf } from '../ops/index.js';
import type { TileValue } from '../tile-value.js';
import { tileType } from '../types.js';
import type { Region, Value } from '../value.js';
import { operandsOf } from '../walk.js';
import { poison } from './memory.js';

/** What a body of scalar elementwise ops gives for tiles of one shape in place of its arguments. */
function runBody(body: Region, args: readonly TileValue[], outside: (v: Value) => TileValue): TileValue[] {
  const { shape } = args[0]!;
  const values = new Map(body.args.map((v, i) => [v, args[i]!]));
  const use = (v: Value): TileValue => {
    let found = values.get(v);
    if (!found) {
      const { dtype, data } = outside(v);
      const repeated = allocate(dtype, args[0]!.data.length) as Float64Array;
      found = { dtype, shape, data: repeated.fill(data[0] as number) };
      values.set(v, found);
    }
    return found;
  };
  for (const op of body.ops) {
    const inputs = operandsOf(op).map(use);
    if (isOp(op, 'yield')) return inputs;
    const types = op.results.map((r) => tileType((r.type as { dtype: TileValue['dtype'] }).dtype, shape));
    const outputs = definitionOf(op).evaluate!(inputs, op.attrs as never, types);
    op.results.forEach((r, i) => values.set(r, outputs[i]!));
  }
  return [];
}

/** Reduces or scans along the op's axis, as far as all inputs are valid. @param outside values that the body captures. */
export function combineTiles(
  op: OpOf<'reduce_with' | 'scan_with'>,
  inputs: readonly TileValue[],
  outside: (v: Value) => TileValue,
): TileValue[] {
  const { shape } = inputs[0]!;
  const { axis } = op.attrs;
  const reverse = isOp(op, 'scan_with') && (op.attrs.reverse ?? false);
  const scans = isOp(op, 'scan_with');
  const { outer, count, inner } = linesAlong(shape, axis);
  const valid = Math.min(count, ...inputs.map((x) => x.valid?.[axis] ?? count));
  const lines = outer * inner;
  /** Visits the elements at one position of the axis: `visit(line, element)`. */
  const slice = (position: number, visit: (line: number, element: number) => void): void => {
    for (let o = 0; o < outer; o++)
      for (let i = 0; i < inner; i++) visit(o * inner + i, (o * count + position) * inner + i);
  };
  const outputs = inputs.map((x) => allocate(x.dtype, scans ? x.data.length : lines));
  outputs.forEach((y, i) => poison(inputs[i]!.dtype, y));
  let acc: readonly TileValue[] | undefined;
  for (let n = 0; n < valid; n++) {
    const position = reverse ? valid - 1 - n : n;
    const next = inputs.map(({ dtype, data }): TileValue => {
      const line = allocate(dtype, lines) as Float64Array;
      slice(position, (at, element) => {
        line[at] = data[element] as number;
      });
      return { dtype, shape: [lines], data: line };
    });
    acc = acc ? runBody(op.regions[0]!, [...acc, ...next], outside) : next;
    const current = acc;
    if (scans)
      outputs.forEach((y, i) =>
        slice(position, (at, element) => {
          (y as Float64Array)[element] = current[i]!.data[at] as number;
        }),
      );
  }
  if (!scans && acc) outputs.forEach((y, i) => (y as Float64Array).set(acc[i]!.data as Float64Array));
  const kept = scans ? shape : shape.filter((_, i) => i !== axis);
  return outputs.map((data, i) => ({ dtype: inputs[i]!.dtype, shape: kept, data }));
}
