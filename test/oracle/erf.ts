/** The error function to about 1e-15, for the oracle alone. */

/** erf by its series near 0, by the continued fraction of erfc elsewhere (Abramowitz and Stegun, 7.1.5 and 7.1.14). */
export function erf(x: number): number {
  const t = Math.abs(x);
  if (!(t < 3)) return Number.isNaN(x) ? x : Math.sign(x) * (1 - erfcTail(t));
  let term = x;
  let total = x;
  for (let n = 1; Math.abs(term) > 1e-18 * Math.abs(total); n++) {
    term *= (-x * x) / n;
    total += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * total;
}

function erfcTail(t: number): number {
  let fraction = t;
  for (let k = 60; k >= 1; k--) fraction = t + k / 2 / fraction;
  return Math.exp(-t * t) / (Math.sqrt(Math.PI) * fraction);
}
