/**
 * Random kernels of one ragged tile that is scanned, sorted, reduced, taken apart and put together. All arithmetic is on
 * i32, which is exact in any order, so every way of running one agrees to the bit.
 */

import {
  array,
  blockProgram,
  concatenate,
  dim,
  ds,
  flip,
  grid,
  type I32,
  type Index,
  i32,
  ifElse,
  insert,
  iota,
  join,
  kernel,
  loop,
  reduce,
  scan,
  select,
  slice,
  sort,
  split,
  type Tile,
  takeAlong,
  topK,
} from 'tilewright';
import { nd } from '../../src/testing/index.js';
import { picker } from './random-kernel.js';

/** Of whatever rank; two stand for all, so that axes type-check. */
type Any = Tile<I32, 2>;
const any = (t: unknown): Any => t as Any;

/** Tiles stay below this many elements. */
const largest = 1024;
const extents: readonly number[] = [1, 2, 3, 5, 8, 17, 40];
/** What the block reaches beyond the array, on an axis. */
const slacks: readonly number[] = [0, 0, 0, 1, 3, 8];

class Steps {
  constructor(
    private readonly pick: <T>(list: readonly T[]) => T,
    private readonly scalars: readonly Index[],
  ) {}

  private below(n: number): number {
    return this.pick(Array.from({ length: n }, (_, i) => i));
  }

  private get coin(): boolean {
    return this.pick([false, true]);
  }

  private axisOf(t: Any): 0 | 1 {
    return this.below((t.shape as readonly number[]).length) as 0;
  }

  /** Where a part begins: a number that fits, or whatever a scalar says. */
  private starts(shape: readonly number[], part: readonly number[]): (number | Index)[] {
    return shape.map((n, i) => (this.coin ? this.below(n - part[i]! + 1) : this.pick(this.scalars)));
  }

  /** The steps that keep type and raggedness, so that a loop can carry them. */
  private keeping(t: Any): Any {
    const axis = this.axisOf(t);
    const reverse = this.coin;
    switch (this.below(5)) {
      case 0:
        return t.cumsum(axis, { reverse });
      case 1:
        return this.coin ? t.cummax(axis, { reverse }) : t.cummin(axis, { reverse });
      case 2: {
        const { values, positions } = sort(t, axis, { descending: this.coin });
        return values.mul(3).add(positions);
      }
      case 3: {
        const parts = { sum: t, start: t.rem(5).eq(0) };
        const segments = scan(
          parts,
          axis,
          (a, b) => ({ sum: select(b.start, b.sum, a.sum.add(b.sum)), start: a.start.or(b.start) }),
          { reverse },
        );
        return segments.sum;
      }
      default:
        return t.max(axis, { keepDims: true }).sub(t);
    }
  }

  private part(t: Any): { shape: number[]; from: (number | Index)[] } {
    const whole = t.shape as readonly number[];
    const shape = whole.map((n) => 1 + this.below(n));
    return { shape, from: this.starts(whole, shape) };
  }

  /** One step; what it does not take ragged is made full. */
  step(t: Any): Any {
    const shape = t.shape as readonly number[];
    const axis = this.axisOf(t);
    const rank = shape.length;
    const full = (): Any => t.pad(7);
    switch (this.below(12)) {
      case 0:
        return flip(full(), axis);
      case 1: {
        const { shape: size, from } = this.part(t);
        return slice(full(), from, size);
      }
      case 2: {
        const { shape: size, from } = this.part(t);
        const zeros = shape.map(() => 0);
        return insert(full(), slice(full(), zeros, size).mul(2), from);
      }
      case 3: {
        const first = slice(
          full(),
          shape.map(() => 0),
          shape.with(axis, 1),
        );
        const size = shape.reduce((a, b) => a * b, 3);
        return size > largest ? first : concatenate([full(), full().neg(), first], axis);
      }
      case 4: {
        if (rank > 5) return t;
        const [a, b] = split(join(t, t.add(3)));
        return this.coin ? any(a).sub(any(b).mul(2)) : any(b);
      }
      case 5: {
        const picked = shape.with(axis, 1 + this.below(20));
        const index = any(iota(picked, axis))
          .mul(3)
          .rem(shape[axis]! + 1);
        return takeAlong(full(), index, axis);
      }
      case 6: {
        if (rank < 2) return t;
        const best = reduce({ value: t, at: any(iota(shape, axis)) }, axis, (a, b) => {
          const better = b.value.gt(a.value).or(b.value.eq(a.value).and(b.at.lt(a.at)));
          return { value: select(better, b.value, a.value), at: select(better, b.at, a.at) };
        });
        return any(any(best.value).sub(any(best.at)));
      }
      case 7: {
        const { values, positions } = topK(t, 1 + this.below(shape[axis]!), axis, { smallest: this.coin });
        return values.add(positions);
      }
      case 8:
        return loop({ to: 2, carry: t }, (_, carried) => this.keeping(carried));
      case 9: {
        const tile = full();
        const condition = this.pick(this.scalars).gt(1);
        return ifElse(
          condition,
          () => flip(tile, axis),
          () => tile.cumsum(axis),
        );
      }
      case 10:
        return rank < 2 ? t.mul(2) : t.transpose();
      default:
        return this.keeping(t);
    }
  }
}

/** A kernel `x[…], s[4] → y[64], z[…]` and arguments for it. */
export function randomArrangement(seed: number, steps: number) {
  const pick = picker(seed);
  const shape = Array.from({ length: pick([1, 2, 2, 3]) }, () => pick(extents));
  const block = shape.map((n) => n + pick(slacks));
  const dims = shape.map((_, i) => dim(`n${i}`));
  const whole = array(i32, dims as readonly Index[]);
  const choices = pick([...Array(1000).keys()]);
  const k = kernel('arrangement', {}, () =>
    blockProgram(
      { grid: grid({}), inputs: { x: whole, s: array(i32, [4]) }, outputs: { y: array(i32, [64]), z: whole } },
      ({ x, s, y, z }) => {
        const at = block.map((n) => ds(0, n));
        const tile = any(x.at(...at).load());
        const writer = new Steps(
          picker(seed + choices),
          [0, 1, 2, 3].map((i) => s.at(i).load() as Index),
        );
        let t = tile;
        for (let i = 0; i < steps; i++) t = writer.step(t);
        const line = t.pad(0);
        const n = (line.shape as readonly number[]).reduce((a, b) => a * b, 1);
        const flat = line.reshape([n]);
        y.at(ds(0, Math.min(64, n))).store(slice(flat, [0], [Math.min(64, n)]));
        z.at(...at).store(tile.add(flat.sum(0)) as never);
      },
    ),
  );
  const count = shape.reduce((a, b) => a * b, 1);
  const numbers = Array.from({ length: count }, (_, i) => ((i * 37) % 23) - 9);
  return { kernel: k, given: { x: nd.from(i32, shape, numbers), s: nd.from(i32, [4], [0, 2, -3, 100]) } };
}
