/** Kernels that apply ops of the table to arrays, one output per op: what edge tables run in every way there is. */

import type { KernelSource } from '../../src/api/source.js';
import { unknownLoc } from '../../src/diagnostics/location.js';
import { RegionBuilder } from '../../src/ir/builder.js';
import type { DType } from '../../src/ir/dtypes.js';
import type { ArrayParam, Kernel } from '../../src/ir/kernel.js';
import { argument, symbolic } from '../../src/ir/symbolic.js';
import { indexType, refType, type TileType, tileType } from '../../src/ir/types.js';
import { type Value, value } from '../../src/ir/value.js';

const block = 16;

/** Emits the op's result from the loaded operands. */
export type Emit = (body: RegionBuilder, operands: readonly Value[]) => Value;

/** `out = op(in0, in1, …)` elementwise over arrays of n elements, for several ops at once. */
export function elementwiseKernel(
  inputs: readonly DType[],
  ops: Readonly<Record<string, { readonly emit: Emit; readonly dtype: DType }>>,
): KernelSource {
  const n = argument('n');
  const array = (role: 'in' | 'out', name: string, dtype: DType): ArrayParam => ({
    kind: 'array',
    role,
    name,
    value: value(refType('gmem', dtype, [n]), name),
    loc: unknownLoc,
  });
  const ins = inputs.map((d, i) => array('in', `in${i}`, d));
  const outs = Object.entries(ops).map(([name, { dtype }]) => array('out', name, dtype));
  const body = new RegionBuilder();
  const emit = (name: never, operands: object, attrs: object, types?: readonly TileType[]): Value =>
    body.emit(name, operands as never, attrs as never, unknownLoc, types ? { types } : {});
  const start = emit(
    'mul' as never,
    {
      left: emit('program_id' as never, {}, { axis: 'i' }),
      right: emit('constant' as never, {}, { value: block }, [indexType]),
    },
    {},
  );
  const rest = emit('sub' as never, { left: emit('dim' as never, {}, { name: 'n' }), right: start }, {});
  const loaded = ins.map((p) =>
    emit('load' as never, { ref: p.value, index: [start], valid: [rest] }, {}, [tileType(p.value.type.dtype, [block])]),
  );
  for (const p of outs) {
    const result = ops[p.name]!.emit(body, loaded);
    body.append({
      name: 'store',
      operands: { ref: p.value, value: result, index: [start], valid: [rest] },
      attrs: {},
      results: [],
      regions: [],
      loc: unknownLoc,
    });
  }
  const kernel: Kernel = {
    name: 'edges',
    dims: [{ name: 'n', loc: unknownLoc }],
    params: [...ins, ...outs],
    launches: [
      {
        name: 'edges',
        grid: [{ name: 'i', extent: symbolic('cdiv', n, block) }],
        backendParams: [],
        body: body.finish(),
        loc: unknownLoc,
      },
    ],
    loc: unknownLoc,
  };
  return { kernel, warnings: [], folder: '.' };
}

/** An op whose operands are the inputs, in order. */
export const plainOp =
  (
    name: string,
    groups: readonly string[],
    attrs: object = {},
    types?: (operands: readonly Value[]) => readonly TileType[],
  ): Emit =>
  (body, operands) =>
    body.emit(
      name as never,
      Object.fromEntries(groups.map((g, i) => [g, operands[i]])) as never,
      attrs as never,
      unknownLoc,
      types ? { types: types(operands) } : {},
    );
