import { RaggedAnalysis } from '../analyses/ragged.js';
import type { ScalarConstant } from '../attributes.js';
import { type DType, i32, isFloat } from '../dtypes.js';
import type { Kernel } from '../kernel.js';
import { isOp, type OpName, type OpOf } from '../ops/index.js';
import { philoxKeySteps, philoxMultipliers, philoxRounds } from '../ops/random.js';
import { lastValue } from '../ops/sort.js';
import type { Pass, PassOptions } from '../pass.js';
import { mapBodies, Rewriter } from '../rewrite.js';
import { indexType, type TileType, tileType } from '../types.js';
import type { GenericOp, Value } from '../value.js';

const typeOf = (v: Value): TileType => v.type as TileType;
const shapeOf = (v: Value): readonly number[] => typeOf(v).shape;

/** Emits simpler ops in place of one. */
class Expansion {
  constructor(
    private readonly rewriter: Rewriter,
    private readonly origin: GenericOp,
  ) {}

  private emit(name: OpName, operands: object, attrs: object = {}, types?: readonly TileType[]): Value {
    const made = this.rewriter.emit(name, operands as never, attrs as never, this.origin, types ? { types } : {});
    return made.results[0]!;
  }

  constant(value: ScalarConstant, dtype: DType, shape: readonly number[] = []): Value {
    return this.emit('constant', {}, { value }, [tileType(dtype, shape)]);
  }

  binary(name: OpName, left: Value, right: Value | ScalarConstant): Value {
    const { dtype, shape } = typeOf(left);
    const other = typeof right === 'object' ? right : this.constant(right, dtype, shape);
    return this.emit(name, { left, right: other });
  }

  select(condition: Value, on_true: Value, on_false: Value): Value {
    return this.emit('select', { condition, on_true, on_false });
  }

  not(input: Value): Value {
    return this.emit('not', { input });
  }

  positions(shape: readonly number[], axis: number): Value {
    return this.emit('iota', {}, { axis }, [tileType(i32, shape)]);
  }

  splat(input: Value, shape: readonly number[]): Value {
    return this.emit('broadcast', { input }, {}, [tileType(typeOf(input).dtype, shape)]);
  }

  takeAlong(input: Value, index: Value, axis: number): Value {
    return this.emit('take_along', { input, index }, { axis });
  }

  /** Where a part of `size` of `n` elements begins, moved so that it lies within. */
  start(index: Value, size: number, n: number): Value {
    const most = this.binary('min', index, this.constant(n - size, indexType.dtype));
    return this.binary('max', most, 0);
  }

  slice(input: Value, index: readonly Value[], shape: readonly number[]): Value {
    return shape.reduce((x, size, axis) => {
      const n = shapeOf(x)[axis]!;
      if (size === n) return x;
      const taken = shapeOf(x).with(axis, size);
      const from = this.splat(this.start(index[axis]!, size, n), taken);
      return this.takeAlong(x, this.binary('add', this.positions(taken, axis), from), axis);
    }, input);
  }

  insert(input: Value, part: Value, index: readonly Value[]): Value {
    const shape = shapeOf(input);
    let [spread, inside]: [Value, Value | undefined] = [part, undefined];
    shape.forEach((n, axis) => {
      const size = shapeOf(part)[axis]!;
      if (size === n) return;
      const from = this.start(index[axis]!, size, n);
      const wide = shapeOf(spread).with(axis, n);
      // Outside of the part an index means its nearer end; nothing of that is chosen.
      spread = this.takeAlong(spread, this.binary('sub', this.positions(wide, axis), this.splat(from, wide)), axis);
      const offset = this.binary('sub', this.positions(shape, axis), this.splat(from, shape));
      const within = this.binary('and', this.binary('ge', offset, 0), this.binary('lt', offset, size));
      inside = inside ? this.binary('and', inside, within) : within;
    });
    return inside ? this.select(inside, spread, input) : spread;
  }

  concatenate(inputs: readonly Value[], axis: number, shape: readonly number[]): Value {
    const at = this.positions(shape, axis);
    let offset = 0;
    return inputs
      .map((x) => {
        const start = offset;
        offset += shapeOf(x)[axis]!;
        return { start, spread: this.takeAlong(x, start === 0 ? at : this.binary('sub', at, start), axis) };
      })
      .reduce((before, { start, spread }) => ({
        start,
        spread: this.select(this.binary('ge', at, start), spread, before.spread),
      })).spread;
  }

  flip(input: Value, axis: number): Value {
    const shape = shapeOf(input);
    const last = this.constant(shape[axis]! - 1, i32, shape);
    return this.takeAlong(input, this.binary('sub', last, this.positions(shape, axis)), axis);
  }

  /**
   * A bitonic network over the next power of two. Positions are sorted along and decide between equal values, so that it is
   * stable although the network is not.
   */
  sort({ operands: { input }, attrs: { axis, descending = false }, results }: OpOf<'sort'>): [Value, Value] {
    const n = shapeOf(this.rewriter.mapped(input))[axis]!;
    const wide = shapeOf(input).with(axis, 2 ** Math.ceil(Math.log2(n)));
    const at = this.positions(wide, axis);
    let values = this.rewriter.mapped(input);
    if (wide[axis] !== n) {
      const last = this.constant(lastValue(typeOf(input).dtype, descending), typeOf(input).dtype, wide);
      values = this.select(this.binary('lt', at, n), this.takeAlong(values, at, axis), last);
    }
    // One element is in order; its position is valid only where it is, as after the steps of a network.
    let positions = n === 1 ? this.select(this.binary('eq', values, values), at, at) : at;
    for (let run = 2; run <= wide[axis]!; run *= 2)
      for (let distance = run / 2; distance >= 1; distance /= 2) {
        const partner = this.binary('xor', at, distance);
        const [value, position] = [this.takeAlong(values, partner, axis), this.takeAlong(positions, partner, axis)];
        const isClear = (bit: number): Value => this.binary('eq', this.binary('and', at, bit), 0);
        // Of each pair the lower place wants what comes first, in runs that go up.
        const wantsFirst = this.not(this.binary('xor', isClear(run), isClear(distance)));
        const behind = this.before(values, value, descending);
        const earlier = this.binary('and', this.not(behind), this.binary('lt', position, positions));
        const first = this.binary('or', this.before(value, values, descending), earlier);
        const take = this.not(this.binary('xor', first, wantsFirst));
        values = this.select(take, value, values);
        positions = this.select(take, position, positions);
      }
    const kept = shapeOf(results[0]!);
    if (kept[axis] === wide[axis]) return [values, positions];
    const head = this.positions(kept, axis);
    return [this.takeAlong(values, head, axis), this.takeAlong(positions, head, axis)];
  }

  /** Whether `a` comes before `b` by its value alone. */
  private before(a: Value, b: Value, descending: boolean): Value {
    const less = this.binary(descending ? 'gt' : 'lt', a, b);
    if (!isFloat(typeOf(a).dtype)) return less;
    return this.binary('or', less, this.binary('and', this.binary('eq', a, a), this.binary('ne', b, b)));
  }

  philox(counter: readonly Value[], key: readonly Value[], word: number): Value {
    const xor = (...all: readonly [Value, ...Value[]]): Value => all.reduce((a, b) => this.binary('xor', a, b));
    let [c0, c1, c2, c3] = counter as [Value, Value, Value, Value];
    let [k0, k1] = key as [Value, Value];
    for (let round = 0; round < philoxRounds; round++) {
      const [m0, m1] = philoxMultipliers;
      const [high0, low0] = [this.binary('mul_hi', c0, m0), this.binary('mul', c0, m0)];
      const [high1, low1] = [this.binary('mul_hi', c2, m1), this.binary('mul', c2, m1)];
      [c0, c1, c2, c3] = [xor(high1, c1, k0), low1, xor(high0, c3, k1), low0];
      [k0, k1] = [this.binary('add', k0, philoxKeySteps[0]), this.binary('add', k1, philoxKeySteps[1])];
    }
    return [c0, c1, c2, c3][word]!;
  }
}

/** Which ops are expanded: each option is 1 or 0. */
const families = { moves: 1, sorts: 1, random: 1 };

function expandOp(
  op: GenericOp,
  rewriter: Rewriter,
  { moves, sorts, random }: PassOptions,
  isRagged: (v: Value, axis: number) => boolean,
): void {
  const expansion = new Expansion(rewriter, op);
  const mapped = (v: Value): Value => rewriter.mapped(v);
  const replace = (...by: readonly Value[]): void => rewriter.replace(op, by);
  if (moves && isOp(op, 'flip')) return replace(expansion.flip(mapped(op.operands.input), op.attrs.axis));
  if (moves && isOp(op, 'slice')) {
    const { input, index = [] } = op.operands;
    return replace(expansion.slice(mapped(input), index.map(mapped), shapeOf(op.results[0]!)));
  }
  if (moves && isOp(op, 'insert')) {
    const { input, value, index = [] } = op.operands;
    return replace(expansion.insert(mapped(input), mapped(value), index.map(mapped)));
  }
  if (moves && isOp(op, 'concatenate')) {
    const { inputs = [] } = op.operands;
    return replace(expansion.concatenate(inputs.map(mapped), op.attrs.axis, shapeOf(op.results[0]!)));
  }
  // Which elements are valid is told by a mask first; a choice along a ragged axis has no meaning.
  if (sorts && isOp(op, 'sort') && !isRagged(op.operands.input, op.attrs.axis)) return replace(...expansion.sort(op));
  if (random && isOp(op, 'philox')) {
    const { counter0, counter1, counter2, counter3, key0, key1 } = op.operands;
    const counter = [counter0, counter1, counter2, counter3].map(mapped);
    return replace(expansion.philox(counter, [key0, key1].map(mapped), op.attrs.word));
  }
  rewriter.keep(op);
}

export const expand: Pass = {
  name: 'expand',
  summary:
    'Make flips, slices, insertions and concatenations (moves), sorts and random bits out of simpler ops, for back ends that lack them.',
  options: families,
  run: (kernel: Kernel, options: PassOptions): Kernel =>
    mapBodies(kernel, (body, launch) => {
      let ragged: RaggedAnalysis | undefined;
      const isRagged = (v: Value, axis: number): boolean => {
        ragged ??= new RaggedAnalysis(launch);
        return ragged.of(v)[axis] !== undefined;
      };
      const wanted = { ...families, ...options };
      return new Rewriter('expand', (op, rewriter) => expandOp(op, rewriter, wanted, isRagged)).region(body);
    }),
};
