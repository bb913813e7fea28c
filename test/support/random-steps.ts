/**
 * The steps that random kernels are made of. What goes on from step to step has one exact result (correctly rounded
 * arithmetic, integers, comparisons, selections, extremes), so that any two ways of running a kernel must agree to the bit.
 */

import { unknownLoc } from '../../src/diagnostics/location.js';
import { createOp, RegionBuilder } from '../../src/ir/builder.js';
import {
  bf16,
  bool,
  type DType,
  dtypes,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  isFloat,
  isInt,
  isWide,
  u8,
  u16,
  u32,
  u64,
} from '../../src/ir/dtypes.js';
import type { ReduceKind } from '../../src/ir/ops/contraction.js';
import type { AttrsFor, OperandsFor, OpName } from '../../src/ir/ops/index.js';
import { mathOps } from '../../src/ir/ops/math.js';
import { indexType, type RefType, type TileType, tileType } from '../../src/ir/types.js';
import { type Region, type Value, value } from '../../src/ir/value.js';

/** Dtypes of arrays. */
export const storable: readonly DType[] = [f32, f16, bf16, f64, i32, i16, i8, i64, u8, u16, u32, u64];
/** Dtypes of functions that are not exact. */
export const mathDTypes: readonly DType[] = [f32, f16, bf16, f64];

/** These round once, whatever computes them. */
const exactMath: readonly string[] = ['sqrt', 'fma'];
const mathOf = (operands: number): readonly string[] =>
  mathOps.filter((d) => Object.keys(d.operands).length === operands).map((d) => d.name);
const operandNames = (name: string): readonly string[] => Object.keys(mathOps.find((d) => d.name === name)!.operands);

export type Pick = <T>(list: readonly T[]) => T;

export const typeOf = (v: Value): TileType => v.type as TileType;

/** What the steps of a kernel share: its arrays, and where its program works. */
export interface Frame {
  readonly shape: readonly [number, number];
  /** First row and column of the block, and how many lie within the arrays from there on. */
  readonly start: readonly [Value, Value];
  readonly rest: readonly [Value, Value];
  /** Columns of the whole. */
  readonly columns: Value;
  /** A tile as it was loaded: its valid extents are `rest`. */
  readonly loaded: Value;
  /** As long as a row: read at computed places. */
  readonly vector: Value<RefType>;
  /** Of the size of the whole; each program changes its own block only, so that the order of programs does not matter. */
  readonly cells: Value<RefType>;
  /** The last result of a function that is not exact, outside of loops and branches. */
  inexact?: Value;
}

/** Appends an op to a region and gives its first result. */
export function emit<N extends OpName>(
  region: RegionBuilder,
  name: N,
  operands: object,
  attrs: AttrsFor<N>,
  types?: readonly TileType[],
  regions?: readonly Region[],
): Value {
  return region.emit(name, operands as OperandsFor<N>, attrs, unknownLoc, {
    ...(types ? { types } : {}),
    ...(regions ? { regions } : {}),
  });
}

const makers = [
  'binary',
  'binary',
  'binary',
  'unary',
  'integer',
  'logic',
  'bits',
  'select',
  'convert',
  'bitcast',
  'reduce',
  'combined',
  'scan',
  'sort',
  'iota',
  'scalar',
  'inside',
  'transpose',
  'arrange',
  'takeAlong',
  'padded',
  'philox',
  'math',
  'math',
  'dot',
  'gather',
  'atomic',
  'report',
  'loop',
  'branch',
] as const;

export class Steps {
  readonly region: RegionBuilder;
  /** Tiles of the block's shape. */
  readonly pool: Value[] = [];
  /** i32 scalars. */
  readonly scalars: Value[] = [];

  constructor(
    readonly frame: Frame,
    private readonly pick: Pick,
    args: readonly Value[] = [],
    region?: RegionBuilder,
  ) {
    this.region = region ?? new RegionBuilder(args);
  }

  private get shape(): readonly [number, number] {
    return this.frame.shape;
  }

  private get coin(): boolean {
    return this.pick([true, false]);
  }

  emit<N extends OpName>(
    name: N,
    operands: object,
    attrs: AttrsFor<N>,
    types?: readonly TileType[],
    regions?: readonly Region[],
  ): Value {
    return emit(this.region, name, operands, attrs, types, regions);
  }

  private constant(x: number, type: TileType): Value {
    return this.emit('constant', {}, { value: isWide(type.dtype) ? BigInt(x) : x }, [type]);
  }

  private full(x: number, dtype: DType): Value {
    return this.constant(x, tileType(dtype, this.shape));
  }

  cast(v: Value, dtype: DType): Value {
    return typeOf(v).dtype === dtype ? v : this.emit('cast', { input: v }, {}, [tileType(dtype, typeOf(v).shape)]);
  }

  private get any(): Value {
    return this.pick(this.pool);
  }

  /** A tile of one of the given kinds of dtype, converted if it must be. */
  private operand(wanted: (d: DType) => boolean, otherwise: DType): Value {
    const v = this.any;
    return wanted(typeOf(v).dtype) ? v : this.cast(v, otherwise);
  }

  private condition(): Value {
    const left = this.any;
    const right = this.cast(this.any, typeOf(left).dtype);
    return this.emit(this.pick(['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const), { left, right }, {});
  }

  /** The tile with 1 instead of every NaN: the bits of a NaN are nobody's promise. */
  private withoutNaN(v: Value): Value {
    if (!isFloat(typeOf(v).dtype)) return v;
    const condition = this.emit('eq', { left: v, right: v }, {});
    return this.emit('select', { condition, on_true: v, on_false: this.full(1, typeOf(v).dtype) }, {});
  }

  /** A scalar as a tile of the block. */
  private spread(scalar: Value): Value {
    return this.emit('broadcast', { input: scalar }, {}, [tileType(typeOf(scalar).dtype, this.shape)]);
  }

  step(depth: number): void {
    const maker = this.pick(makers);
    const nested = maker === 'loop' || maker === 'branch';
    this.pool.push(nested && depth > 1 ? this.any : this[maker](depth));
  }

  private binary(): Value {
    const left = this.operand((d) => d !== bool, f32);
    const right = this.cast(this.any, typeOf(left).dtype);
    const names = ['add', 'sub', 'mul', 'max', 'min'] as const;
    const onFloats = [...names, 'div', 'max_num', 'min_num'] as const;
    return this.emit(this.pick(isFloat(typeOf(left).dtype) ? onFloats : names), { left, right }, {});
  }

  private unary(): Value {
    const input = this.operand((d) => d !== bool, f32);
    const onFloats = ['neg', 'abs', 'floor', 'ceil', 'round'] as const;
    const onInts = ['neg', 'abs', 'not', 'count_leading_zeros', 'population_count'] as const;
    return this.emit(this.pick(isFloat(typeOf(input).dtype) ? onFloats : onInts), { input }, {});
  }

  private integer(): Value {
    const left = this.operand(isInt, i32);
    const right = this.cast(this.any, typeOf(left).dtype);
    const names = ['and', 'or', 'xor', 'shl', 'shr', 'mul_hi', 'div', 'rem', 'floor_div', 'mod', 'cdiv'] as const;
    // Division by zero too: nobody promises what it gives, but it never traps, and here it gives the same.
    return this.emit(this.pick(names), { left, right }, {});
  }

  private logic(): Value {
    if (this.coin) return this.emit('not', { input: this.condition() }, {});
    const [left, right] = [this.condition(), this.cast(this.any, bool)];
    return this.emit(this.pick(['and', 'or', 'xor'] as const), { left, right }, {});
  }

  /** Shifts by what lies around the width. */
  private bits(): Value {
    const left = this.operand(isInt, u32);
    const { dtype } = typeOf(left);
    const by = this.full(this.pick([0, 1, dtype.bits - 1, dtype.bits]), dtype);
    return this.emit(this.pick(['shl', 'shr'] as const), { left, right: by }, {});
  }

  private select(): Value {
    const condition = this.condition();
    const on_true = this.any;
    return this.emit('select', { condition, on_true, on_false: this.cast(this.any, typeOf(on_true).dtype) }, {});
  }

  /** To any dtype, also those that no arithmetic is done in: from those it comes back at once. */
  private convert(): Value {
    const dtype = this.pick(Object.values(dtypes) as DType[]);
    const there = this.cast(this.any, dtype);
    const stays = dtype === bool || storable.includes(dtype);
    return stays ? there : this.cast(there, isFloat(dtype) ? f32 : this.pick([i8, u8, i32]));
  }

  private bitcast(): Value {
    const input = this.withoutNaN(this.operand((d) => d !== bool, u16));
    const width = typeOf(input).dtype.bits;
    const to = this.pick(storable.filter((d) => d.bits === width));
    return this.emit('bitcast', { input }, {}, [tileType(to, this.shape)]);
  }

  private padded(): Value {
    return this.pad(this.any);
  }

  private pad(input: Value): Value {
    return this.emit('pad', { input, fill: this.constant(1, tileType(typeOf(input).dtype)) }, {});
  }

  reduced(kind: ReduceKind, v: Value, axis: number): Value {
    // Sums of floats depend on their order; those of integers do not.
    const dtype = typeOf(v).dtype;
    const input =
      kind === 'any' || kind === 'all'
        ? this.cast(v, bool)
        : kind === 'sum' || kind === 'prod'
          ? this.cast(v, isFloat(dtype) || dtype === bool ? i32 : dtype)
          : kind === 'max_num' || kind === 'min_num'
            ? this.cast(v, isFloat(dtype) ? dtype : f32)
            : dtype === bool
              ? this.cast(v, i8)
              : v;
    return this.emit('reduce', { input }, { kind, axis });
  }

  private reduce(): Value {
    const axis = this.pick([0, 1]);
    const kinds = ['max', 'min', 'max_num', 'min_num', 'argmax', 'argmin', 'sum', 'prod', 'any', 'all'] as const;
    return this.back(this.reduced(this.pick(kinds), this.any, axis), axis);
  }

  private back(reduced: Value, axis: number): Value {
    const unit = this.shape.map((n, i) => (i === axis ? 1 : n));
    const { dtype } = typeOf(reduced);
    const expanded = this.emit('reshape', { input: reduced }, {}, [tileType(dtype, unit)]);
    return this.emit('broadcast', { input: expanded }, {}, [tileType(dtype, this.shape)]);
  }

  /** A reduction or scan by a body, alone or of the place of the best with the best. */
  private combined(): Value {
    const axis = this.pick([0, 1]);
    const reduces = this.coin;
    const input = this.operand(isInt, i32);
    const scalar = tileType(typeOf(input).dtype);
    const alone = this.coin;
    const places = tileType(i32);
    const [a, i, b, j] = [value(scalar, 'a'), value(places, 'i'), value(scalar, 'b'), value(places, 'j')];
    const body = new RegionBuilder(alone ? [a, b] : [a, i, b, j]);
    const make = (name: OpName, operands: object): Value => emit(body, name, operands, {} as never);
    let values: Value[];
    if (alone) values = [make(this.pick(['add', 'mul', 'xor', 'or', 'max'] as const), { left: a, right: b })];
    else {
      const greater = make('gt', { left: b, right: a });
      const equal = make('eq', { left: a, right: b });
      const earlier = make('lt', { left: j, right: i });
      const tie = make('and', { left: equal, right: earlier });
      const condition = make('or', { left: greater, right: tie });
      values = [
        make('select', { condition, on_true: b, on_false: a }),
        make('select', { condition, on_true: j, on_false: i }),
      ];
    }
    make('yield', { values });
    const inputs = alone ? [input] : [input, this.emit('iota', {}, { axis }, [tileType(i32, this.shape)])];
    const results = this.region.append(
      createOp(
        reduces ? 'reduce_with' : 'scan_with',
        { inputs: inputs as readonly Value<TileType>[] },
        (reduces || this.coin ? { axis } : { axis, reverse: true }) as never,
        unknownLoc,
        { regions: [body.finish()] },
      ),
    ).results;
    const given = this.pick(results);
    return reduces ? this.back(given, axis) : given;
  }

  private scan(): Value {
    const axis = this.pick([0, 1]);
    const kind = this.pick(['sum', 'prod', 'max', 'min'] as const);
    const ordered = kind === 'max' || kind === 'min';
    const input = this.operand((d) => isInt(d) || (ordered && isFloat(d)), i32);
    return this.emit('scan', { input }, { kind, axis, ...(this.coin ? { reverse: true } : {}) });
  }

  private sort(): Value {
    const input = this.operand((d) => d !== bool, i8);
    const attrs = { axis: this.pick([0, 1]), ...(this.coin ? { descending: true } : {}) };
    return this.pick(this.region.append(createOp('sort', { input: input as never }, attrs, unknownLoc)).results);
  }

  private iota(): Value {
    return this.emit('iota', {}, { axis: this.pick([0, 1]) }, [tileType(i32, this.shape)]);
  }

  /** An i32 scalar that is computed from others, with promises that hold. */
  private scalar(): Value {
    const { pick } = this;
    const axis = pick(['i', 'j'] as const);
    const id = this.emit('program_id', {}, { axis });
    const programs = this.emit('num_programs', {}, { axis });
    const below = this.emit('lt', { left: id, right: programs }, {});
    const within = this.emit('ge', { left: this.frame.rest[0], right: this.constant(1, indexType) }, {});
    if (this.coin) this.emit('assume', { condition: pick([below, within]) }, {});
    const factor = pick([1, 2, 8, 12]);
    const product = this.emit('mul', { left: pick([id, programs]), right: this.constant(factor, indexType) }, {});
    const promised = this.coin ? this.emit('multiple_of', { input: product }, { multiple: factor }) : product;
    const names = ['add', 'sub', 'max', 'min'] as const;
    const made = this.emit(pick(names), { left: promised, right: pick([...this.scalars, programs]) }, {});
    this.scalars.push(made);
    return this.spread(made);
  }

  /** Where an element lies within extents that may be anything. */
  private mask(): Value {
    const extents = this.shape.map((n, axis) =>
      this.pick([this.frame.rest[axis]!, ...this.scalars, this.constant(this.pick([0, 1, n, n + 1, -1]), indexType)]),
    );
    return this.emit('extent_mask', { extents }, {}, [tileType(bool, this.shape)]);
  }

  private inside(): Value {
    const on_true = this.any;
    const on_false = this.cast(this.any, typeOf(on_true).dtype);
    return this.emit('select', { condition: this.mask(), on_true, on_false }, {});
  }

  private transpose(): Value {
    const turned = this.emit('transpose', { input: this.any }, { permutation: [1, 0] });
    const changed = typeOf(turned).dtype === bool ? turned : this.emit('neg', { input: turned }, {});
    return this.emit('transpose', { input: changed }, { permutation: [1, 0] });
  }

  /** Takes a full tile apart and puts it together again. */
  private arrange(): Value {
    const { pick, shape } = this;
    const input = this.padded();
    const { dtype } = typeOf(input);
    const axis = pick([0, 1] as const);
    const index = [0, 1].map(() => pick([...this.scalars, this.constant(0, indexType)]));
    switch (pick(['flip', 'join', 'concatenate', 'insert'] as const)) {
      case 'flip':
        return this.emit('flip', { input }, { axis });
      case 'join': {
        const joined = this.emit('join', { left: input, right: this.cast(this.any, dtype) }, {});
        return pick(this.region.append(createOp('split', { input: joined as never }, {}, unknownLoc)).results);
      }
      case 'concatenate': {
        const twice = this.emit(
          'concatenate',
          { inputs: [input, this.padded()].map((v) => this.cast(v, dtype)) },
          { axis },
        );
        return this.emit('slice', { input: twice, index }, {}, [tileType(dtype, shape)]);
      }
      case 'insert': {
        const part = tileType(dtype, shape.with(axis, 1));
        const line = this.emit('slice', { input, index }, {}, [part]);
        const at = [0, 1].map(() => pick(this.scalars));
        return this.emit('insert', { input, value: line, index: at }, {});
      }
    }
  }

  private takeAlong(): Value {
    const index = this.operand(isInt, i32);
    return this.emit('take_along', { input: this.padded(), index }, { axis: this.pick([0, 1]) });
  }

  private philox(): Value {
    const word = (): Value => this.cast(this.coin ? this.any : this.full(this.pick([0, 1, 7]), u32), u32);
    const names = ['counter0', 'counter1', 'counter2', 'counter3', 'key0', 'key1'];
    return this.emit('philox', Object.fromEntries(names.map((n) => [n, word()])), { word: this.pick([0, 1, 2, 3]) });
  }

  /**
   * A function that the C library of the CPU and that of the interpreter round differently, within the bounds of the op.
   * Its result leaves the kernel by an array of its own, where it is compared within them; another step would turn the
   * last bit into any number of bits. Further steps see what is exact of it: where it is NaN.
   */
  private math(depth: number): Value {
    const { pick } = this;
    const name = pick(mathOf(pick([1, 1, 1, 2, 3])));
    const first = this.operand((d) => mathDTypes.includes(d), f32);
    const operands = operandNames(name).map((group, i) => [
      group,
      i === 0 ? first : this.cast(this.any, typeOf(first).dtype),
    ]);
    const result = this.emit(name as 'exp', Object.fromEntries(operands), {});
    if (exactMath.includes(name)) return result;
    if (depth === 0) this.frame.inexact = result;
    const condition = this.emit('eq', { left: result, right: result }, {});
    return this.emit('select', { condition, on_true: first, on_false: this.full(1, typeOf(first).dtype) }, {});
  }

  /** A product of small integers: exact in any order. */
  private dot(): Value {
    const a = this.cast(this.any, i8);
    const b = this.emit('transpose', { input: this.cast(this.any, i8) }, { permutation: [1, 0] });
    const square = this.emit('dot', { a, b }, { precision: 'ieee' });
    return this.back(this.emit('reduce', { input: square }, { kind: 'max', axis: 1 }), 1);
  }

  private gather(): Value {
    const places = this.operand((d) => d === i32, i32);
    const last = this.emit('sub', { left: this.frame.columns, right: this.constant(1, indexType) }, {});
    const low = this.emit('max', { left: places, right: this.full(0, i32) }, {});
    const index = [this.emit('min', { left: low, right: this.spread(last) }, {})];
    const ref = this.frame.vector;
    if (this.coin) return this.emit('gather', { ref, index }, {});
    const other = this.constant(2, tileType(ref.type.dtype));
    return this.emit('gather', { ref, index, mask: this.condition(), other }, {});
  }

  /** Changes the program's own cells; where it has none, the old value is 0. */
  private atomic(): Value {
    const { start, rest, cells: ref } = this.frame;
    const { dtype } = ref.type;
    const index = start.map((from, axis) => {
      const places = this.emit('iota', {}, { axis }, [tileType(i32, this.shape)]);
      return this.emit('add', { left: places, right: this.spread(from) }, {});
    });
    const own = this.emit('extent_mask', { extents: rest }, {}, [tileType(bool, this.shape)]);
    const mask = this.coin ? own : this.emit('and', { left: own, right: this.pad(this.condition()) }, {});
    const cell = (): Value => this.pad(this.withoutNaN(this.cast(this.any, dtype)));
    const common = { ref, value: cell(), index, mask };
    const order = this.pick(['relaxed', 'acq_rel'] as const);
    const swaps = this.coin;
    const old = swaps
      ? this.emit(
          'atomic_cas',
          { ...common, compare: this.coin ? this.full(0, dtype) : cell() },
          { order, scope: 'device' },
        )
      : this.emit('atomic_rmw', common, {
          kind: this.pick(isFloat(dtype) ? (['max', 'min', 'exchange'] as const) : (['add', 'xor', 'max'] as const)),
          order,
          scope: 'device',
        });
    return this.emit('select', { condition: mask, on_true: old, on_false: this.full(0, dtype) }, {});
  }

  /** Prints a few numbers, or checks what holds. */
  private report(): Value {
    const v = this.any;
    switch (this.pick(['tile', 'scalar', 'always', 'masked', 'within'] as const)) {
      case 'tile': {
        const extents = [1, 2].map((n) => this.constant(n, indexType));
        const corner = this.emit('extent_mask', { extents }, {}, [tileType(bool, this.shape)]);
        this.emit('debug_print', { values: [v, this.any], mask: corner }, { format: 'a {} b {}%' });
        break;
      }
      case 'scalar':
        this.emit('debug_print', { values: [this.pick(this.scalars)] }, { format: '{}' });
        break;
      case 'always': {
        const equal = this.emit('eq', { left: v, right: v }, {});
        const different = this.emit('ne', { left: v, right: v }, {});
        this.emit(
          'assert',
          { condition: this.emit('or', { left: equal, right: different }, {}) },
          { message: 'equal' },
        );
        break;
      }
      case 'masked': {
        const condition = this.condition();
        this.emit('assert', { condition, mask: condition }, { message: 'masked' });
        break;
      }
      case 'within': {
        const { rest, loaded } = this.frame;
        const own = this.emit('extent_mask', { extents: rest }, {}, [tileType(bool, this.shape)]);
        const never = this.emit('gt', { left: loaded, right: loaded }, {});
        // As ragged as what was loaded: beyond its extents nobody asks.
        this.emit('assert', { condition: this.emit('or', { left: own, right: never }, {}) }, { message: 'within' });
      }
    }
    return v;
  }

  private nested(
    args: readonly Value[],
    given: { readonly tiles?: readonly Value[]; readonly scalars?: readonly Value[] },
    result: DType,
    depth: number,
  ): Region {
    const body = new Steps(this.frame, this.pick, args);
    body.pool.push(...this.pool, ...(given.tiles ?? []));
    body.scalars.push(...this.scalars, ...(given.scalars ?? []));
    for (let i = this.pick([1, 2, 3]); i > 0; i--) body.step(depth + 1);
    const last = body.cast(body.pool.at(-1)!, result);
    // All extents of one axis are one here, so a tile fits with and without its edge.
    body.emit('yield', { values: [this.coin ? last : body.pad(last)] }, {});
    return body.region.finish();
  }

  private loop(depth: number): Value {
    // A full initial value fits whatever the body returns: it is narrowed to it.
    const init = this.padded();
    const type = typeOf(init);
    if (this.pick([true, true, false])) {
      const args = [value(indexType, 'k'), value(type, 'acc')];
      const region = this.nested(args, { tiles: [args[1]!], scalars: [args[0]!] }, type.dtype, depth);
      const [from, to, step] = [0, this.pick([0, 1, 3]), 1].map((x) => this.constant(x, indexType));
      return this.emit('for', { from, to, step, init: [init] }, {}, undefined, [region]);
    }
    return this.while(init, depth);
  }

  private while(init: Value, depth: number): Value {
    const type = typeOf(init);
    const [zero, limit] = [0, this.pick([0, 1, 2])].map((x) => this.constant(x, indexType)) as [Value, Value];
    const asked = [value(indexType, 'k'), value(type, 'acc')];
    const question = new RegionBuilder(asked);
    const condition = emit(question, 'lt', { left: asked[0]!, right: limit }, {});
    emit(question, 'condition', { condition }, {});
    const args = [value(indexType, 'k'), value(type, 'acc')];
    const inner = new Steps(this.frame, this.pick, args);
    inner.pool.push(...this.pool, args[1]!);
    inner.scalars.push(...this.scalars, args[0]!);
    for (let i = this.pick([1, 2]); i > 0; i--) inner.step(depth + 1);
    const next = inner.emit('add', { left: args[0]!, right: inner.constant(1, indexType) }, {});
    inner.emit('yield', { values: [next, inner.pad(inner.cast(inner.pool.at(-1)!, type.dtype))] }, {});
    const regions = [question.finish(), inner.region.finish()];
    const made = this.region.append(createOp('while', { init: [zero, init] as never }, {}, unknownLoc, { regions }));
    return made.results[1]!;
  }

  private branch(depth: number): Value {
    const dtype = this.pick(storable);
    const left = this.pick([this.emit('program_id', {}, { axis: this.pick(['i', 'j']) }), ...this.scalars]);
    const condition = this.emit(
      this.pick(['eq', 'lt'] as const),
      { left, right: this.constant(this.pick([0, 1]), indexType) },
      {},
    );
    const [then, otherwise] = [this.nested([], {}, dtype, depth), this.nested([], {}, dtype, depth)];
    return this.emit('if', { condition }, {}, [tileType(dtype, this.shape)], [then, otherwise]);
  }
}
