/** Elementwise functions that read better free than as methods, or that are made of several ops. */

import { frontendCodes } from '../diagnostics/codes/frontend.js';
import { type Bool, type DType, f32, f64, i16, i32, i64, isFloat, isInt } from '../ir/dtypes.js';
import { printType, tileType } from '../ir/types.js';
import { mistake } from './errors.js';
import { refuse } from './handle.js';
import { maximum, minimum, select } from './operations.js';
import type { Max, Rank } from './rank.js';
import {
  type AnyTile,
  asOperand,
  asTile,
  binary,
  broadcastShape,
  broadcastTile,
  checkDType,
  checkDTypes,
  constant,
  lift,
  type Other,
  type Tile,
  traced,
  unary,
  useTile,
} from './tile.js';
import { needTrace } from './trace.js';

function floatTile(what: string, x: unknown): Tile {
  const tile = asTile(`'${what}' takes a tile of floats`, x);
  if (!isFloat(tile.dtype)) refuse(`'${what}' takes a tile of floats`, tile, { help: 'convert with .to(f32)' });
  return tile as Tile;
}

function intTile(what: string, x: unknown): Tile {
  const tile = asTile(`'${what}' takes a tile of integers`, x);
  if (!isInt(tile.dtype)) refuse(`'${what}' takes a tile of integers`, tile);
  return tile as Tile;
}

/** In f32 at least, and back: a function of several ops rounds once to a narrow dtype. */
function widened<D extends DType, R extends Rank>(what: string, x: Tile<D, R>, f: (x: Tile) => Tile): Tile<D, R> {
  const tile = floatTile(what, x);
  return f(tile.dtype === f64 ? tile : (tile.to(f32) as unknown as Tile)).to(tile.dtype) as never;
}

/** x to the power y, within 4 ulp in f32. A negative x with a y that is no integer gives NaN. */
export function pow<D extends DType, R extends Rank>(x: Tile<D, R>, y: Other<D, R>): Tile<D, R>;
export function pow<D extends DType, A extends Rank, B extends Rank>(x: Tile<D, A>, y: Other<D, B>): Tile<D, Max<A, B>>;
export function pow(x: AnyTile, y: number | AnyTile): never {
  return binary('pow', floatTile('pow', x), asOperand("'pow' takes tiles and numbers", y));
}

/** x · x. */
export const square = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> => x.mul(x);

/** x to an integer power that is known while tracing, by repeated squaring; 1 / xⁿ for a negative one. Anything to the power 0 is 1. */
export function integerPow<D extends DType, R extends Rank>(x: Tile<D, R>, n: number): Tile<D, R> {
  if (!Number.isInteger(n) || Math.abs(n) > 1024)
    mistake((c) =>
      frontendCodes.badNumber({ value: String(n), dtype: 'i32', why: 'an exponent is an integer up to 1024' }, c),
    );
  const base = asTile("'integerPow' takes a tile", x) as Tile;
  if (n === 0) return constant(1, base.dtype, base.type.shape) as never;
  if (n > 0 && !isFloat(base.dtype)) return powerOf(base, n) as never;
  return widened('integerPow', x, (t) => (n < 0 ? reciprocal(powerOf(t, -n)) : powerOf(t, n)));
}

function powerOf(base: Tile, n: number): Tile {
  let result: Tile | undefined;
  for (let rest = n, power = base; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = result ? (result.mul(power) as Tile) : power;
    if (rest > 1) power = square(power);
  }
  return result!;
}

/** Angle of the point (x, y) in [-π, π], within 2 ulp. */
export function atan2<D extends DType, R extends Rank>(y: Tile<D, R>, x: Other<D, R>): Tile<D, R>;
export function atan2<D extends DType, A extends Rank, B extends Rank>(
  y: Tile<D, A>,
  x: Other<D, B>,
): Tile<D, Max<A, B>>;
export function atan2(y: AnyTile, x: number | AnyTile): never {
  return binary('atan2', floatTile('atan2', y), asOperand("'atan2' takes tiles and numbers", x));
}

/** a · b + c, rounded once. */
export function fma<D extends DType, R extends Rank>(a: Tile<D, R>, b: Other<D, R>, c: Other<D, R>): Tile<D, R> {
  const trace = needTrace("'fma'");
  const first = floatTile('fma', a);
  const [second, third] = [b, c].map((x) => lift(asOperand("'fma' takes tiles and numbers", x), first.dtype));
  for (const x of [second!, third!]) checkDTypes('fma', first, x);
  const shape = [second!, third!].reduce<readonly number[]>(
    (s, t) => broadcastShape('fma', s, t.type.shape),
    first.type.shape,
  );
  const use = (t: AnyTile): never => useTile(broadcastTile(t, shape)) as never;
  return traced(trace.emit('fma', { a: use(first), b: use(second!), c: use(third!) }, {})[0]!) as never;
}

/** x held within [low, high]; NaN stays NaN. */
export function clamp<D extends DType, R extends Rank>(x: Tile<D, R>, low: Other<D, R>, high: Other<D, R>): Tile<D, R> {
  return minimum(maximum(x, low), high);
}

/** 1 / x. */
export const reciprocal = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> =>
  binary('div', lift(1, floatTile('reciprocal', x).dtype), x as AnyTile);

/** 1 / (1 + e^-x): the logistic function, within 2 ulp. */
export function logistic<D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> {
  return widened('logistic', x, (t) => {
    const decayed = t.abs().neg().exp();
    return select(t.lt(0), decayed, decayed.mul(0).add(1)).div(decayed.add(1)) as Tile;
  });
}

/** -1, 0 or 1 by the sign; of floats the sign of zero and NaN are kept. */
export function sign<D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> {
  if (!x.dtype.signed) return select(x.gt(0), 1, x) as never;
  return select(x.gt(0), 1, select(x.lt(0), -1, x)) as never;
}

/** Rounded toward zero to an integer value. */
export function trunc<D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> {
  floatTile('trunc', x);
  return select(x.lt(0), x.ceil(), x.floor()) as never;
}

/** Nearest integer value, ties away from zero. */
export function roundAway<D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> {
  return widened('roundAway', x, (t) => {
    const whole = trunc(t);
    const further = t.sub(whole).abs().ge(0.5);
    return copysign(select(further, whole.abs().add(1), whole.abs()) as Tile, t);
  });
}

/** Whether each element is NaN. */
export const isNaN = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<Bool, R> =>
  binary('ne', floatTile('isNaN', x), x as AnyTile);
export const isInfinite = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<Bool, R> =>
  binary('eq', floatTile('isInfinite', x).abs() as AnyTile, Number.POSITIVE_INFINITY);
export const isFinite = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<Bool, R> =>
  binary('lt', floatTile('isFinite', x).abs() as AnyTile, Number.POSITIVE_INFINITY);

/** Integers of the width of a float. */
function bitsOf(what: string, x: unknown): { tile: Tile; int: DType; signBit: number | bigint } {
  const tile = floatTile(what, x);
  const int = { 16: i16, 32: i32, 64: i64 }[tile.dtype.bits as 16 | 32 | 64];
  if (!int) return refuse(`'${what}' takes f16, bf16, f32 or f64`, tile);
  return { tile, int, signBit: -(2 ** (int.bits - 1)) };
}

/** The magnitude of the first with the sign of the second. */
export function copysign<D extends DType, R extends Rank>(magnitude: Tile<D, R>, from: Tile<D, R>): Tile<D, R> {
  const { tile, int, signBit } = bitsOf('copysign', magnitude);
  const [kept, given] = [bitcast(tile.abs(), int) as Tile, bitcast(floatTile('copysign', from), int) as Tile];
  return bitcast(kept.or(given.and(signBit as number)) as Tile, tile.dtype) as never;
}

/** The float next to x toward `to`; `to` where they are equal, NaN where either is. Past the largest number lies infinity. */
export function nextAfter<D extends DType, R extends Rank>(x: Tile<D, R>, to: Tile<D, R>): Tile<D, R> {
  const { tile, int } = bitsOf('nextAfter', x);
  const target = floatTile('nextAfter', to);
  const bits = bitcast(tile, int) as Tile;
  // The bits below the sign count up with the magnitude.
  const away = tile.lt(0).xor(target.gt(tile)) as Tile<Bool>;
  const stepped = bitcast(select(away, bits.add(1), bits.sub(1)) as Tile, tile.dtype) as Tile;
  const least = copysign(bitcast(bits.mul(0).add(1) as Tile, tile.dtype) as Tile, target);
  const next = select(tile.eq(0), least, stepped) as Tile;
  const nan = isNaN(tile).or(isNaN(target)) as Tile<Bool>;
  return select(nan, tile.add(target), select(tile.eq(target), target, next) as Tile) as never;
}

/**
 * The inverse of erf, within 2 ulp in f32; NaN outside of [-1, 1]. Computed in f64: S. Winitzki's approximation, made exact by
 * two steps of Halley's method.
 */
export function erfInv<D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> {
  const tile = floatTile('erfInv', x).to(f64) as unknown as Tile;
  const t = tile.abs() as Tile;
  const gap = t.neg().add(1) as Tile;
  const logarithm = gap.mul(t.add(1)).log() as Tile;
  const shape = 0.147;
  const half = logarithm.mul(0.5).add(2 / (Math.PI * shape)) as Tile;
  const far = half.mul(half).sub(logarithm.div(shape)).sqrt().sub(half).sqrt() as Tile;
  let y = select(t.lt(0.1), t.mul(Math.sqrt(Math.PI) / 2), far) as Tile;
  for (let step = 0; step < 2; step++) {
    // Near 1 the distance to 1 is exact, and erf is not.
    const error = select(t.lt(0.5), y.erf().sub(t), gap.sub(y.erfc())) as Tile;
    const ratio = error.div(
      y
        .mul(y)
        .neg()
        .exp()
        .mul(2 / Math.sqrt(Math.PI)),
    ) as Tile;
    y = y.sub(ratio.div(ratio.mul(y).add(1))) as Tile;
  }
  const whole = select(t.eq(1), Number.POSITIVE_INFINITY, y) as Tile;
  return copysign(whole, tile).to(x.dtype) as never;
}

/** The bits of each element read as another dtype of the same width. */
export function bitcast<D extends DType, E extends DType, R extends Rank>(x: Tile<D, R>, dtype: E): Tile<E, R> {
  checkDType("'bitcast' takes a dtype", dtype);
  const tile = asTile("'bitcast' takes a tile", x);
  if (tile.dtype === (dtype as DType)) return tile as never;
  if (tile.dtype.bits !== dtype.bits)
    refuse(`'bitcast' keeps the width: ${printType(tile.type)} has ${tile.dtype.bits} bits an element`, dtype.name);
  const types = [tileType(dtype, tile.type.shape)];
  return traced(needTrace("'bitcast'").emit('bitcast', { input: useTile(tile) as never }, {}, { types })[0]!) as never;
}

/** Zero bits above the highest set bit; the width for 0. */
export const countLeadingZeros = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> =>
  unary('count_leading_zeros', intTile('countLeadingZeros', x));
/** Set bits. */
export const populationCount = <D extends DType, R extends Rank>(x: Tile<D, R>): Tile<D, R> =>
  unary('population_count', intTile('populationCount', x));

/** Upper half of the product of twice the width. */
export function mulHi<D extends DType, R extends Rank>(a: Tile<D, R>, b: Other<D, R>): Tile<D, R>;
export function mulHi<D extends DType, A extends Rank, B extends Rank>(
  a: Tile<D, A>,
  b: Other<D, B>,
): Tile<D, Max<A, B>>;
export function mulHi(a: AnyTile, b: number | AnyTile): never {
  return binary('mul_hi', intTile('mulHi', a), asOperand("'mulHi' takes tiles and numbers", b));
}
