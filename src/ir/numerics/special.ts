/** Functions that JavaScript's Math lacks, in double precision. */

/** exp(-x²) without the error of a rounded square: the square of x's upper half is exact. */
function gaussian(x: number): number {
  const upper = Math.fround(x);
  return Math.exp(-upper * upper) * Math.exp(-(x - upper) * (x + upper));
}

/** erfc of t >= ¾ by its continued fraction (Abramowitz and Stegun, 7.1.14), whose terms settle the sooner the larger t is. */
function erfcTail(t: number): number {
  if (t > 28) return 0; // below half of the smallest double
  let fraction = t;
  for (let k = Math.ceil(40 + 300 / (t * t)); k >= 1; k--) fraction = t + k / 2 / fraction;
  return gaussian(t) / (Math.sqrt(Math.PI) * fraction);
}

/** erf near 0 by its series (Abramowitz and Stegun, 7.1.5). */
function erfSeries(x: number): number {
  let power = x;
  let total = 0;
  for (let n = 1; Math.abs(power) > 1e-18 * Math.abs(x); n++) {
    power *= (-x * x) / n;
    total += power / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * (x + total);
}

/** The error function. */
export function erf(x: number): number {
  const t = Math.abs(x);
  if (!(t > 0)) return x;
  return t < 0.75 ? erfSeries(x) : Math.sign(x) * (1 - erfcTail(t));
}

/** 1 - erf(x), accurate where erf is near 1. */
export function erfc(x: number): number {
  return x < 0.75 ? 1 - erf(x) : Number.isNaN(x) ? x : erfcTail(x);
}

/** x to the power y as IEEE 754 has it: 1 to any power and (-1) to an infinite one are 1, which `**` does not say. */
export const pow = (x: number, y: number): number => (x === 1 || (x === -1 && Math.abs(y) === Infinity) ? 1 : x ** y);

interface Exact {
  /** Value: significand · 2^exponent. */
  readonly significand: bigint;
  readonly exponent: number;
}

const words = new DataView(new ArrayBuffer(8));

function exactly(x: number): Exact {
  words.setFloat64(0, x);
  const bits = words.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const magnitude = biased === 0 ? fraction : fraction | (1n << 52n);
  return { significand: bits >> 63n ? -magnitude : magnitude, exponent: Math.max(biased, 1) - 1075 };
}

/** Nearest double of `significand · 2^exponent`, ties to even. Past 2^60 a sticky bit stands for what is cut off. */
function nearest({ significand, exponent }: Exact, precision: number): number {
  const magnitude = significand < 0n ? -significand : significand;
  const length = magnitude.toString(2).length;
  // The result's last place: that of its precision, or of the smallest subnormal.
  const least = precision === 53 ? -1074 : -149;
  const drop = Math.max(length - precision, least - exponent);
  if (drop <= 0) return Number(significand) * 2 ** exponent;
  const shift = BigInt(drop);
  const kept = magnitude >> shift;
  const rest = magnitude - (kept << shift);
  const half = 1n << (shift - 1n);
  const up = rest > half || (rest === half && (kept & 1n) === 1n) ? 1n : 0n;
  const power = exponent + drop;
  // Two factors: 2^power alone may lie outside of what a double holds.
  const value = Number(kept + up) * 2 ** Math.max(power, -1022) * 2 ** Math.min(power + 1022, 0);
  const rounded = precision === 24 && value >= 2 ** 128 ? Number.POSITIVE_INFINITY : value;
  return significand < 0n ? -rounded : rounded;
}

/** (x · y + z) · 2^power, rounded once to the precision of a dtype: 24 bits (f32) or 53 (f64). */
export function fma(precision: 24 | 53): (x: number, y: number, z: number, power?: number) => number {
  return (x, y, z, power = 0) => {
    const product = x * y;
    if (!Number.isFinite(x) || !Number.isFinite(y) || !Number.isFinite(z)) return product + z;
    const [a, b, c] = [exactly(x), exactly(y), exactly(z)];
    const exponent = Math.min(a.exponent + b.exponent, c.exponent);
    const significand =
      ((a.significand * b.significand) << BigInt(a.exponent + b.exponent - exponent)) +
      (c.significand << BigInt(c.exponent - exponent));
    // Of an exact zero the sign is that of the sum of the signed zeros.
    if (significand === 0n) return product === 0 ? product + z : 0;
    return nearest({ significand, exponent: exponent + power }, precision);
  };
}
