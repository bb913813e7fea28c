/**
 * Seeded random kernels over two ragged arrays. Every op in them has one exact result (correctly rounded arithmetic,
 * integers, comparisons, selections, extremes), so that any two ways of running one must agree to the bit.
 */

import { unknownLoc } from '../../src/diagnostics/location.js';
import { RegionBuilder } from '../../src/ir/builder.js';
import { bf16, bool, type DType, f16, f32, i8, i16, i32, isFloat, isInt, u8 } from '../../src/ir/dtypes.js';
import type { ArrayParam, Kernel } from '../../src/ir/kernel.js';
import type { ReduceKind } from '../../src/ir/ops/contraction.js';
import type { AttrsFor, OperandsFor, OpName } from '../../src/ir/ops/index.js';
import { argument, type Extent, symbolic } from '../../src/ir/symbolic.js';
import { indexType, refType, type TileType, tileType } from '../../src/ir/types.js';
import { type Region, type Value, value } from '../../src/ir/value.js';
import { nd } from '../../src/testing/index.js';

const storable: readonly DType[] = [f32, f16, bf16, i32, i16, i8, u8];
const extents = [1, 2, 3, 4, 7, 8, 16, 17, 33, 40];

type Pick = <T>(list: readonly T[]) => T;

/** Picks from lists by a seed. */
export function picker(seed: number): Pick {
  const next = nd.words(seed);
  return (list) => list[next() % list.length]!;
}

const typeOf = (v: Value): TileType => v.type as TileType;

class Body {
  readonly region: RegionBuilder;
  /** Tiles of the block's shape. */
  readonly pool: Value[] = [];

  constructor(
    readonly shape: readonly number[],
    private readonly pick: Pick,
    args: readonly Value[] = [],
  ) {
    this.region = new RegionBuilder(args);
  }

  emit<N extends OpName>(
    name: N,
    operands: object,
    attrs: AttrsFor<N>,
    types?: readonly TileType[],
    regions?: readonly Region[],
  ): Value {
    return this.region.emit(name, operands as OperandsFor<N>, attrs, unknownLoc, {
      ...(types ? { types } : {}),
      ...(regions ? { regions } : {}),
    });
  }

  constant(x: number, type: TileType): Value {
    return this.emit('constant', {}, { value: x }, [type]);
  }

  cast(v: Value, dtype: DType): Value {
    return typeOf(v).dtype === dtype ? v : this.emit('cast', { input: v }, {}, [tileType(dtype, typeOf(v).shape)]);
  }

  /** A tile of one of the given kinds of dtype, converted if it must be. */
  operand(wanted: (d: DType) => boolean, otherwise: DType): Value {
    const v = this.pick(this.pool);
    return wanted(typeOf(v).dtype) ? v : this.cast(v, otherwise);
  }

  step(depth: number): void {
    const made = this.make(depth);
    this.pool.push(made);
  }

  private make(depth: number): Value {
    const { pick } = this;
    switch (
      pick([
        'binary',
        'binary',
        'binary',
        'unary',
        'integer',
        'select',
        'cast',
        'reduce',
        'iota',
        'transpose',
        'pad',
        'loop',
        'branch',
      ] as const)
    ) {
      case 'binary': {
        const left = this.operand((d) => d !== bool, f32);
        const right = this.cast(pick(this.pool), typeOf(left).dtype);
        return this.emit(pick(['add', 'sub', 'mul', 'max', 'min'] as const), { left, right }, {});
      }
      case 'unary': {
        const input = this.operand((d) => d !== bool, f32);
        const names = isFloat(typeOf(input).dtype)
          ? (['neg', 'abs', 'floor', 'ceil', 'round', 'sqrt'] as const)
          : (['neg', 'abs', 'not'] as const);
        return this.emit(pick(names), { input }, {});
      }
      case 'integer': {
        const left = this.operand(isInt, i32);
        const right = this.cast(pick(this.pool), typeOf(left).dtype);
        return this.emit(
          pick(['and', 'or', 'xor', 'shl', 'shr', 'div', 'rem', 'floor_div', 'mod', 'cdiv'] as const),
          { left, right },
          {},
        );
      }
      case 'select': {
        const left = pick(this.pool);
        const right = this.cast(pick(this.pool), typeOf(left).dtype);
        const condition = this.emit(pick(['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const), { left, right }, {});
        const on_true = pick(this.pool);
        return this.emit(
          'select',
          { condition, on_true, on_false: this.cast(pick(this.pool), typeOf(on_true).dtype) },
          {},
        );
      }
      case 'cast':
        return this.cast(pick(this.pool), pick([...storable, bool]));
      case 'reduce': {
        const axis = pick([0, 1]);
        const kind = pick(['max', 'min', 'argmax', 'argmin', 'sum', 'any', 'all'] as const);
        return this.back(this.reduce(kind, pick(this.pool), axis), axis);
      }
      case 'iota':
        return this.emit('iota', {}, { axis: pick([0, 1]) }, [tileType(i32, this.shape)]);
      case 'transpose': {
        const turned = this.emit('transpose', { input: pick(this.pool) }, { permutation: [1, 0] });
        const changed = typeOf(turned).dtype === bool ? turned : this.emit('neg', { input: turned }, {});
        return this.emit('transpose', { input: changed }, { permutation: [1, 0] });
      }
      case 'pad':
        return this.pad(pick(this.pool));
      case 'loop':
        return depth > 1 ? pick(this.pool) : this.loop(depth);
      case 'branch':
        return depth > 1 ? pick(this.pool) : this.branch(depth);
    }
  }

  pad(input: Value): Value {
    return this.emit('pad', { input, fill: this.constant(1, tileType(typeOf(input).dtype)) }, {});
  }

  reduce(kind: ReduceKind, v: Value, axis: number): Value {
    // Sums of floats depend on their order; those of integers do not.
    const dtype = typeOf(v).dtype;
    const input =
      kind === 'any' || kind === 'all'
        ? this.cast(v, bool)
        : kind === 'sum'
          ? this.cast(v, isFloat(dtype) ? i32 : dtype)
          : dtype === bool
            ? this.cast(v, i8)
            : v;
    return this.emit('reduce', { input }, { kind, axis });
  }

  private back(reduced: Value, axis: number): Value {
    const unit = this.shape.map((n, i) => (i === axis ? 1 : n));
    const { dtype } = typeOf(reduced);
    const expanded = this.emit('reshape', { input: reduced }, {}, [tileType(dtype, unit)]);
    return this.emit('broadcast', { input: expanded }, {}, [tileType(dtype, this.shape)]);
  }

  private inner(
    args: readonly Value[],
    tiles: readonly Value[],
    result: DType,
    depth: number,
  ): { region: Region; result: Value } {
    const body = new Body(this.shape, this.pick, args);
    body.pool.push(...this.pool, ...tiles);
    for (let i = this.pick([1, 2, 3]); i > 0; i--) body.step(depth + 1);
    const last = body.cast(body.pool.at(-1)!, result);
    // All extents of one axis are one here, so a tile fits with and without its edge.
    const given = this.pick([true, false]) ? last : body.pad(last);
    body.emit('yield', { values: [given] }, {});
    return { region: body.region.finish(), result: given };
  }

  private loop(depth: number): Value {
    const seed = this.pick(this.pool);
    const { dtype } = typeOf(seed);
    // A full initial value fits whatever the body returns: it is narrowed to it.
    const init = this.pad(seed);
    const args = [value(indexType, 'k'), value(tileType(dtype, this.shape), 'acc')];
    const { region } = this.inner(args, [args[1]!], dtype, depth);
    const [from, to, step] = [0, this.pick([0, 1, 3]), 1].map((x) => this.constant(x, indexType));
    return this.emit('for', { from, to, step, init: [init] }, {}, undefined, [region]);
  }

  private branch(depth: number): Value {
    const dtype = this.pick(storable);
    const id = this.emit('program_id', {}, { axis: this.pick(['i', 'j']) });
    const condition = this.emit('eq', { left: id, right: this.constant(0, indexType) }, {});
    const [then, otherwise] = [this.inner([], [], dtype, depth), this.inner([], [], dtype, depth)];
    return this.emit('if', { condition }, {}, [tileType(dtype, this.shape)], [then.region, otherwise.region]);
  }
}

export interface RandomKernel {
  readonly kernel: Kernel;
  readonly sizes: { readonly m: number; readonly n: number };
}

/** A kernel of `steps` random steps; the same for the same seed. */
export function randomKernel(seed: number, steps: number): RandomKernel {
  const pick = picker(seed);
  const [bm, bn] = [pick(extents), pick(extents)];
  const [m, n] = [argument('m'), argument('n')];
  const array = (role: 'in' | 'out', name: string, dtype: DType, shape: readonly Extent[]): ArrayParam => ({
    kind: 'array',
    role,
    name,
    value: value(refType('gmem', dtype, shape), name),
    loc: unknownLoc,
  });
  const columns = symbolic('cdiv', n, bn);
  const x = array('in', 'x', pick(storable), [m, n]);
  const v = array('in', 'v', pick(storable), [n]);
  const y = array('out', 'y', pick(storable), [m, n]);
  const kind: ReduceKind = pick(['max', 'min', 'argmax', 'sum', 'any'] as const);

  const body = new Body([bm, bn], pick);
  const start = (axis: 'i' | 'j', block: number): Value =>
    body.emit('mul', { left: body.emit('program_id', {}, { axis }), right: body.constant(block, indexType) }, {});
  const [row, column] = [start('i', bm), start('j', bn)];
  const rest = (name: string, at: Value): Value =>
    body.emit('sub', { left: body.emit('dim', {}, { name }), right: at }, {});
  const [rows, cols] = [rest('m', row), rest('n', column)];
  body.pool.push(
    body.emit('load', { ref: x.value, index: [row, column], valid: [rows, cols] }, {}, [
      tileType(x.value.type.dtype, [bm, bn]),
    ]),
  );
  const vector = body.emit('load', { ref: v.value, index: [column], valid: [cols] }, {}, [
    tileType(v.value.type.dtype, [bn]),
  ]);
  body.pool.push(body.emit('broadcast', { input: vector }, {}, [tileType(v.value.type.dtype, [bm, bn])]));
  for (let i = 0; i < steps; i++) body.step(0);
  const last = body.pool.at(-1)!;
  body.region.append({
    name: 'store',
    operands: { ref: y.value, value: body.cast(last, y.value.type.dtype), index: [row, column], valid: [rows, cols] },
    attrs: {},
    results: [],
    regions: [],
    loc: unknownLoc,
  });
  const reduced = body.reduce(kind, last, 1);
  const r = array('out', 'r', typeOf(reduced).dtype, [m, columns]);
  const column0 = body.emit('program_id', {}, { axis: 'j' });
  body.region.append({
    name: 'store',
    operands: { ref: r.value, value: reduced, index: [row, column0], valid: [rows] },
    attrs: { axes: [0] },
    results: [],
    regions: [],
    loc: unknownLoc,
  });
  const kernel: Kernel = {
    name: `random_${seed}_${steps}`,
    dims: [
      { name: 'm', loc: unknownLoc },
      { name: 'n', loc: unknownLoc },
    ],
    params: [x, v, y, r],
    launches: [
      {
        name: `random_${seed}_${steps}`,
        grid: [
          { name: 'i', extent: symbolic('cdiv', m, bm) },
          { name: 'j', extent: columns },
        ],
        backendParams: [],
        body: body.region.finish(),
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
