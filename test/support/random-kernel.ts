/**
 * Seeded random kernels over two ragged arrays: `y`, `r` and the cells `c` are exact, `t` holds what is exact only within
 * the bounds of the functions that made it (`random-steps.ts`).
 */

import { unknownLoc } from '../../src/diagnostics/location.js';
import { RegionBuilder } from '../../src/ir/builder.js';
import { type DType, f16, f32, i16, i32, i64, u32 } from '../../src/ir/dtypes.js';
import type { ArrayParam, Kernel } from '../../src/ir/kernel.js';
import type { ReduceKind } from '../../src/ir/ops/contraction.js';
import { argument, type Extent, symbolic } from '../../src/ir/symbolic.js';
import { indexType, refType, tileType } from '../../src/ir/types.js';
import { type Value, value } from '../../src/ir/value.js';
import { nd } from '../../src/testing/index.js';
import { emit, type Frame, type Pick, Steps, storable, typeOf } from './random-steps.js';

const extents = [1, 2, 3, 4, 7, 8, 16, 17, 33, 40];

/** Picks from lists by a seed. */
export function picker(seed: number): Pick {
  const next = nd.words(seed);
  return (list) => list[next() % list.length]!;
}

export interface RandomKernel {
  readonly kernel: Kernel;
  readonly sizes: { readonly m: number; readonly n: number };
}

/** A kernel of `steps` random steps; the same for the same seed. Its dims, arrays and launch are called `prefix` and more. */
export function randomKernel(seed: number, steps: number, prefix = ''): RandomKernel {
  const pick = picker(seed);
  const [bm, bn] = [pick(extents), pick(extents)];
  const [m, n] = [argument(`${prefix}m`), argument(`${prefix}n`)];
  const array = (role: 'in' | 'out', name: string, dtype: DType, shape: readonly Extent[]): ArrayParam => ({
    kind: 'array',
    role,
    name: prefix + name,
    value: value(refType('gmem', dtype, shape), prefix + name),
    loc: unknownLoc,
  });
  const columns = symbolic('cdiv', n, bn);
  const x = array('in', 'x', pick(storable), [m, n]);
  const v = array('in', 'v', pick(storable), [n]);
  const y = array('out', 'y', pick(storable), [m, n]);
  const c: ArrayParam = { ...array('out', 'c', pick([i32, u32, i64, i16, f32, f16]), [m, n]), zeroed: true };
  const kind: ReduceKind = pick(['max', 'min', 'argmax', 'sum', 'any'] as const);

  const region = new RegionBuilder();
  const made = (name: 'program_id' | 'dim', text: string): Value =>
    emit(region, name, {}, (name === 'dim' ? { name: text } : { axis: text }) as never);
  const times = (axis: 'i' | 'j', block: number): Value => {
    const right = emit(region, 'constant', {}, { value: block }, [indexType]);
    return emit(region, 'mul', { left: made('program_id', axis), right }, {});
  };
  const start = [times('i', bm), times('j', bn)] as const;
  const length = made('dim', `${prefix}n`);
  const rest = [
    emit(region, 'sub', { left: made('dim', `${prefix}m`), right: start[0] }, {}),
    emit(region, 'sub', { left: length, right: start[1] }, {}),
  ] as const;
  const [row, column] = start;
  const [rows, cols] = rest;
  const loaded = emit(region, 'load', { ref: x.value, index: [row, column], valid: [rows, cols] }, {}, [
    tileType(x.value.type.dtype, [bm, bn]),
  ]);
  const vector = emit(region, 'load', { ref: v.value, index: [column], valid: [cols] }, {}, [
    tileType(v.value.type.dtype, [bn]),
  ]);
  const frame: Frame = { shape: [bm, bn], start, rest, loaded, columns: length, vector: v.value, cells: c.value };
  const body = new Steps(frame, pick, [], region);
  body.scalars.push(rows, cols);
  body.pool.push(loaded, body.emit('broadcast', { input: vector }, {}, [tileType(v.value.type.dtype, [bm, bn])]));
  for (let i = 0; i < steps; i++) body.step(0);

  const last = body.pool.at(-1)!;
  const block = { index: [row, column], valid: [rows, cols] };
  body.emit('store', { ref: y.value, value: body.cast(last, y.value.type.dtype), ...block }, {});
  const inexact = frame.inexact ?? body.cast(last, f32);
  const t = array('out', 't', typeOf(inexact).dtype, [m, n]);
  body.emit('store', { ref: t.value, value: inexact, ...block }, {});
  const reduced = body.reduced(kind, last, 1);
  const r = array('out', 'r', typeOf(reduced).dtype, [m, columns]);
  const place = { index: [row, made('program_id', 'j')], valid: [rows] };
  body.emit('store', { ref: r.value, value: reduced, ...place }, { axes: [0] });

  const name = `${prefix}random_${seed}_${steps}`;
  const kernel: Kernel = {
    name,
    dims: ['m', 'n'].map((d) => ({ name: prefix + d, loc: unknownLoc })),
    params: [x, v, y, r, t, c],
    launches: [
      {
        name,
        grid: [
          { name: 'i', extent: symbolic('cdiv', m, bm) },
          { name: 'j', extent: columns },
        ],
        backendParams: [],
        body: region.finish(),
        loc: unknownLoc,
      },
    ],
    loc: unknownLoc,
  };
  return {
    kernel,
    sizes: { m: pick([1, bm, 2 * bm, bm + 1, 2 * bm - 1]), n: pick([1, bn, 2 * bn, bn + 1, 2 * bn - 1]) },
  };
}
