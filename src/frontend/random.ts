/** Random numbers drawn from counters: the same on every back end, whatever the order and size of programs. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { type DType, type F32, f32, type I32, type I64, i32, i64, type U32, type U64, u32, u64 } from '../ir/dtypes.js';
import { mistake } from './errors.js';
import { refuse } from './handle.js';
import type { Rank } from './rank.js';
import { type AnyTile, asTile, broadcastTile, constant, Tile, traced, useTile } from './tile.js';
import { needTrace } from './trace.js';

type Integer = I32 | U32 | I64 | U64;

/** What a stream of random numbers is drawn from: an integer of JavaScript, or an integer scalar. */
export type Seed = number | Tile<I32, 0> | Tile<U32, 0> | Tile<I64, 0> | Tile<U64, 0>;

/** Which number of the stream each element is. */
export type Counter<R extends Rank> = Tile<I32, R> | Tile<U32, R> | Tile<I64, R> | Tile<U64, R>;

const integers: readonly DType[] = [i32, u32, i64, u64] satisfies readonly Integer[];

/** Low and high word of integers; of those with 32 bits the high word is 0. */
function wordsOf(takes: string, x: unknown, shape: readonly number[]): [AnyTile, AnyTile] {
  const tile = asTile(takes, x) as Tile;
  if (!integers.includes(tile.dtype)) refuse(takes, tile, { help: 'convert with .to(u32) or .to(u64)' });
  const word = (t: Tile): AnyTile => broadcastTile(t.to(u32) as unknown as AnyTile, shape);
  if (tile.dtype.bits === 32) return [word(tile), constant(0, u32, shape)];
  return [word(tile), word(tile.shr(32) as Tile)];
}

function seedWords(what: string, seed: unknown, shape: readonly number[]): [AnyTile, AnyTile] {
  const takes = `the seed of '${what}' is an integer or a 32- or 64-bit integer scalar`;
  if (typeof seed !== 'number') {
    if (seed instanceof Tile && seed.type.shape.length > 0) refuse(takes, seed);
    return wordsOf(takes, seed, shape);
  }
  if (!Number.isSafeInteger(seed))
    mistake((c) =>
      frontendCodes.badNumber({ value: String(seed), dtype: 'i64', why: 'a seed is an integer up to 2^53' }, c),
    );
  return [constant(seed >>> 0, u32, shape), constant(Math.floor(seed / 2 ** 32) >>> 0, u32, shape)];
}

function draw(what: string, seed: unknown, counter: unknown, words: readonly number[]): Tile[] {
  const trace = needTrace(`'${what}'`);
  const takes = `the counter of '${what}' is a tile of 32- or 64-bit integers`;
  const { shape } = asTile(takes, counter).type;
  const [low, high] = wordsOf(takes, counter, shape);
  const [key0, key1] = seedWords(what, seed, shape);
  const zero = useTile(constant(0, u32, shape));
  const operands = {
    counter0: useTile(low),
    counter1: useTile(high),
    counter2: zero,
    counter3: zero,
    key0: useTile(key0),
    key1: useTile(key1),
  };
  return words.map((word) => {
    if (![0, 1, 2, 3].includes(word)) refuse(`'${what}' gives words 0 to 3`, word);
    return traced(trace.emit('philox', operands, { word })[0]!);
  });
}

/**
 * Random numbers by Philox-4x32-10, bit-exact: the number of an element depends on the seed (the key: low and high word)
 * and on its counter (c, 0, 0, 0; of 64 bits: low, high, 0, 0) alone.
 */
export const random = {
  /** 32 random bits for each counter: word 0 of the four that a counter has, or another. */
  bits<R extends Rank>(seed: Seed, counter: Counter<R>, word: 0 | 1 | 2 | 3 = 0): Tile<U32, R> {
    return draw('random.bits', seed, counter, [word])[0] as never;
  },
  /** All four words of each counter. */
  words<R extends Rank>(
    seed: Seed,
    counter: Counter<R>,
  ): readonly [Tile<U32, R>, Tile<U32, R>, Tile<U32, R>, Tile<U32, R>] {
    return draw('random.words', seed, counter, [0, 1, 2, 3]) as never;
  },
  /** Numbers from 0 up to, but not including, 1: 31 bits of word 0, rounded to f32. */
  uniform<R extends Rank>(seed: Seed, counter: Counter<R>): Tile<F32, R> {
    return random.toUniform(random.bits(seed, counter));
  },
  /** Bits as numbers from 0 up to 1: as i32, negative ones inverted, times 2^-31 less a little, so that 1 is never reached. */
  toUniform<R extends Rank>(bits: Tile<U32, R>): Tile<F32, R> {
    const signed = (asTile("'random.toUniform' takes a tile of u32", bits) as Tile).to(i32);
    // -s - 1 of a negative s is what s is with every bit inverted; its sign, copied to every bit, inverts or not.
    return signed.xor(signed.shr(31)).to(f32).mul(4.6566127342e-10) as never;
  },
} as const;
